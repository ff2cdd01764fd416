/* test_faults.c: out of memory at every allocation of every library call.
 *
 * This program defines malloc and its kin itself, so that libc's and Lua's own calls
 * come here too.  A first run of a call notes the stack of each allocation; then the
 * call is repeated with one of them failing, or that one and all after it.  Each time
 * the answer must be a status with a sentence, nothing may be left allocated, and the
 * same context must compile a plan that does what the proven one did.
 *
 * FAULTS=all takes every allocation; the default takes all of a short call, and of a
 * long one the first of each call stack and some between. */
#define _GNU_SOURCE
#include "../../runtime/npy.h"
#include "../../runtime/ravel.h"
#include "sample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#define REAL(f) __interceptor_##f
int __lsan_do_recoverable_leak_check(void);
#else
#define SANITIZED false
#define REAL(f) __libc_##f
#endif

void *REAL(malloc)(size_t n);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *p, size_t n);
void *REAL(memalign)(size_t align, size_t n);
void REAL(free)(void *p);

/* Called before the sanitizer is ready. */
#define EARLY __attribute__((no_sanitize_address))

enum { MAX_NOTES = 1 << 17, MAX_STACKS = 1 << 14, SHORT_CALL = 300, BETWEEN = 40 };

typedef enum { ONE, REST, NMODES } Mode;

/* volatile: the compiler knows malloc, and that it changes no variable. */
static volatile struct {
    bool on, noting;
    Mode mode;
    long n;                        /* allocations so far */
    long at;                       /* which one fails, -1 for none */
    atomic_long live;              /* blocks and mappings, over the whole process: a
                                    * sanitizer's threads allocate as they start */
    uint64_t note[MAX_NOTES];      /* of each, its call stack */
} fault;

/* FNV's way to mix. */
static _Unwind_Reason_Code
mix(struct _Unwind_Context *frame, void *hash)
{
    uint64_t *h = hash;
    *h = (*h ^ _Unwind_GetIP(frame)) * 1099511628211u;
    return _URC_NO_REASON;
}

static uint64_t
stack_hash(void)
{
    uint64_t h = 14695981039346656037u;
    _Unwind_Backtrace(mix, &h);
    return h;
}

/* Only the thread that makes the call is refused: others are the sanitizer's where they
 * allocate. */
static _Thread_local bool calls;

EARLY static bool
refused(void)
{
    if (!fault.on || !calls)
        return false;
    long i = fault.n++;
    if (fault.noting && i < MAX_NOTES) {
        fault.on = false;
        fault.note[i] = stack_hash();
        fault.on = true;
    }
    if (fault.at < 0 || i < fault.at || (i > fault.at && fault.mode == ONE))
        return false;
    errno = ENOMEM;
    return true;
}

EARLY static void *
counted(void *p)
{
    fault.live += p != NULL;
    return p;
}

/* What the shared libraries are to find first must be seen from outside. */
#pragma GCC visibility push(default)

EARLY void *
malloc(size_t n)
{
    return refused() ? NULL : counted(REAL(malloc)(n));
}

EARLY void *
calloc(size_t n, size_t size)
{
    return refused() ? NULL : counted(REAL(calloc)(n, size));
}

EARLY void *
realloc(void *p, size_t n)
{
    if (refused())
        return NULL;
    void *q = REAL(realloc)(p, n);
    fault.live += !p && q;
    fault.live -= p && n == 0;
    return q;
}

EARLY void *
aligned_alloc(size_t align, size_t n)
{
    return refused() ? NULL : counted(REAL(memalign)(align, n));
}

int
posix_memalign(void **out, size_t align, size_t n)
{
    void *p = aligned_alloc(align, n);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

char *
strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = malloc(n);
    return p ? memcpy(p, s, n) : NULL;
}

EARLY void
free(void *p)
{
    fault.live -= p != NULL;
    REAL(free)(p);
}

EARLY void *
mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    if (refused())
        return MAP_FAILED;
    long r = syscall(SYS_mmap, at, n, prot, flags, fd, offset);
    fault.live += r != -1 && !(flags & MAP_FIXED);
    return (void *)r;
}

EARLY int
munmap(void *p, size_t n)
{
    fault.live--;
    return (int)syscall(SYS_munmap, p, n);
}

int
memfd_create(const char *name, unsigned flags)
{
    return refused() ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

#pragma GCC visibility pop

#include "fault_calls.h"

/* Call once; `at` fails, and by `mode` what comes after it. */
static ravel_status
call(const Case *c, long at, Mode mode, ravel_error *err)
{
    fault.n = 0;
    fault.at = at;
    fault.mode = mode;
    calls = true;
    fault.on = true;
    ravel_status s = c->call(c->arg, err);
    fault.on = false;
    return s;
}

static void
still_usable(void)
{
    static const char *const arg[] = {"NCHW", "NC1HWC0", "f16"};
    ravel_plan *p;
    ravel_error err = {0};
    if (make_plan(arg, &p, &err))
        fail_msg("afterwards: %s", err.text);
    memset(buffer[0], 0x5a, sizeof proven);
    assert_int_equal(ravel_run(p, buffer[0], proven_source), RAVEL_OK);
    assert_memory_equal(buffer[0], proven, sizeof proven);
    ravel_plan_free(p);
}

/* What the plan makes of some bytes: it is proven once, and compared with from then on. */
static ravel_status
prove(void)
{
    for (size_t i = 0; i < sizeof proven_source; i++)
        proven_source[i] = (unsigned char)(i * 167 >> 3);
    memset(proven, 0x5a, sizeof proven);
    if (ravel_plan_src_bytes(plan) > (int64_t)sizeof proven_source ||
        ravel_plan_dst_bytes(plan) > (int64_t)sizeof proven || ravel_verify(plan, NULL))
        return RAVEL_ERR_VERIFY;
    return ravel_run(plan, proven, proven_source);
}

/* Whether the call had an allocation number `at`. */
static bool
inject(const Case *c, long at, Mode mode)
{
    ravel_error err = {0};
    long before = fault.live;
    ravel_status s = call(c, at, mode, &err);
    bool reached = fault.n > at;
    if (fault.live != before)
        fail_msg("%s, %ld fails, mode %d: %ld blocks are left", c->name, at, mode,
                 fault.live - before);
    if (s != c->untouched && !(reached && s == RAVEL_ERR_MEMORY))
        fail_msg("%s, %ld fails, mode %d: %s: %s", c->name, at, mode,
                 ravel_status_text(s), err.text);
    if (s && (err.status != s || !err.text[0]))
        fail_msg("%s, %ld fails, mode %d: no sentence", c->name, at, mode);
    if (reached && s)
        still_usable();
    return reached;
}

/* Whether no allocation before came from this call stack, of this call or another. */
static bool
fresh(uint64_t stack)
{
    static uint64_t known[MAX_STACKS];
    static int n;
    for (int i = 0; i < n; i++)
        if (known[i] == stack)
            return false;
    assert_true(n < MAX_STACKS);
    known[n++] = stack;
    return true;
}

static void
survives(const Case *c)
{
    ravel_error err = {0};
    const char *all = getenv("FAULTS");
    int every = sample(), turn = 0;
    long stacks = 0, injected = 0;
    call(c, -1, ONE, &err);            /* whatever is made once is made */
    long before = fault.live;
    fault.noting = true;
    if (call(c, -1, ONE, &err) != c->untouched)
        fail_msg("%s: %s", c->name, err.text);
    fault.noting = false;
    assert_int_equal(fault.live, before);
    long n = fault.n, step = n / BETWEEN + 1;
    assert_in_range(n, 1, MAX_NOTES);
    for (long i = 0; i < n; i++) {
        bool first = fresh(fault.note[i]);
        bool take = first || i % step == 0 || n <= SHORT_CALL;
        stacks += first;
        for (Mode m = 0; m < NMODES && (take || (all && !strcmp(all, "all"))); m++)
            if (turn++ % every == 0)
                injected += inject(c, i, m);
    }
    assert_true(injected > 0);
    print_message("# faults: %-20s %6ld allocations, %5ld new call stacks, "
                  "%6ld injected\n", c->name, n, stacks, injected);
}

static void
test_case(void **state)
{
    survives(*state);
}

/* ravel_run needs no memory, so it cannot fail for want of any. */
static void
test_run_allocates_nothing(void **state)
{
    static const Case c = {"run", run, {0}, RAVEL_OK};
    (void)state;
    assert_int_equal(call(&c, 0, REST, NULL), RAVEL_OK);
    assert_int_equal(fault.n, 0);
}

/* The wrappers are what libc, Lua and libtcc call. */
static void
test_all_come_here(void **state)
{
    (void)state;
    char *text;
    size_t len;
    fault.n = 0;
    fault.at = -1;
    calls = true;
    fault.on = true;
    FILE *f = open_memstream(&text, &len);
    fault.on = false;
    assert_true(fault.n > 0);
    fclose(f);
    free(text);
}

static int
set_up(void **state)
{
    static const char *const arg[] = {"NCHW", "NC1HWC0", "f16"};
    const char *tmp = getenv("TMPDIR");
    (void)state;
    ravel_request rq = {arg[0], arg[1], arg[2], 4, LEFT, 0, 0};
    setenv("RAVEL_CODE", "interpreter", 1);
    ravel_status s = ravel_context_new(&walking, NULL);
    unsetenv("RAVEL_CODE");
    snprintf(file_name, sizeof file_name, "%s/ravel-faults-%ld.npy",
             tmp && strlen(tmp) < 64 ? tmp : "/tmp", (long)getpid());
    return s || ravel_set_cache(walking, 0, 0, NULL) ||
           ravel_compile(walking, &rq, &any, NULL) ||
           ravel_context_new(&cx, NULL) || ravel_set_cache(cx, 0, 0, NULL) ||
           make_plan(arg, &plan, NULL) || prove() ||
           ravel_wisdom_load(cx, WISDOM, sizeof WISDOM - 1, NULL) || write_npy(NULL, NULL);
}

static int
tear_down(void **state)
{
    (void)state;
    ravel_plan_free(plan);
    ravel_plan_free(any);
    ravel_context_free(cx);
    ravel_context_free(walking);
    unlink(file_name);
#if defined(__SANITIZE_ADDRESS__)
    return __lsan_do_recoverable_leak_check();
#else
    return 0;
#endif
}

int
main(void)
{
    enum { N = sizeof CASES / sizeof *CASES };
    struct CMUnitTest tests[N + 2] = {
        cmocka_unit_test(test_all_come_here),
        cmocka_unit_test(test_run_allocates_nothing),
    };
    for (int i = 0; i < N; i++)
        tests[i + 2] = (struct CMUnitTest){CASES[i].name, test_case, NULL, NULL,
                                           (void *)(uintptr_t)&CASES[i]};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
