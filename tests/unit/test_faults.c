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

/* The calls.  What each is given outlives the injections. */

static ravel_context *cx, *walking;   /* walking: no machine code */
static ravel_plan *plan, *any;        /* any: of walking, at any shape */
static char file_name[128];
static unsigned char buffer[2][1 << 16], proven_source[1 << 13], proven[1 << 13];
static int64_t addresses[1 << 12];

static const char SPEC[] =
    "local names = {}\n"
    "for i = 1, 40 do names[i] = string.format('%d', i) .. 'x' end\n"
    "layout 'FAULTY' { doc = table.concat(names), dims = {N, C, H, W},\n"
    "  C0 = 32 // bytes, pitch = {H = 64}, fill = 0,\n"
    "  order = {N, C // C0, H, W, C % C0} }\n"
    "layout 'FAULTY_XOR' { dims = {R, C},\n"
    "  order = {R // 8, C // 8, R % 8, (C ~ R) % 8} }\n";

static const char WRONG[] = "layout 'A' { dims = {R, C}, order = {R, C.x} }";

typedef struct {
    const char *name;
    ravel_status (*call)(const char *const *arg, ravel_error *err);
    const char *arg[3];            /* source and destination, or text; dtype */
    ravel_status untouched;        /* its answer where nothing fails */
} Case;

static ravel_status
new_context(const char *const *arg, ravel_error *err)
{
    ravel_context *c = (ravel_context *)buffer;
    (void)arg;
    ravel_status s = ravel_context_new(&c, err);
    assert_true(s ? !c : !!c);
    ravel_context_free(c);
    return s;
}

/* A text that loads stays in its context, so each goes to a context without any. */
static ravel_status
load_text(const char *const *arg, ravel_error *err)
{
    bool on = fault.on;
    ravel_context *c;
    fault.on = false;
    assert_int_equal(ravel_context_new(&c, NULL), RAVEL_OK);
    fault.on = on;
    ravel_status s = ravel_load(c, arg[0], strlen(arg[0]), "faulty.lua", err);
    fault.on = false;
    ravel_context_free(c);
    return s;
}

static const char WISDOM[] = "ravel wisdom 1\n"
    "a\tavx2\t1\tf16\t(2)\tx\ty\t1:copy:in order of reads;2:fill:in order of writes\n"
    "b\tavx2\t1\tf16\t(2)\tx\ty\t1:copy:in order of reads\n";

/* As load_text: what was told before stands, and nothing else. */
static ravel_status
load_wisdom(const char *const *arg, ravel_error *err)
{
    bool on = fault.on;
    char *text;
    ravel_context *c;
    fault.on = false;
    assert_int_equal(ravel_context_new(&c, NULL), RAVEL_OK);
    fault.on = on;
    ravel_status s = ravel_wisdom_load(c, arg[0], strlen(arg[0]), err);
    fault.on = false;
    assert_int_equal(ravel_wisdom_text(c, &text, NULL, NULL), RAVEL_OK);
    assert_string_equal(text, s ? "ravel wisdom 1\n" : arg[0]);
    free(text);
    ravel_context_free(c);
    return s;
}

static ravel_status
wisdom_text(const char *const *arg, ravel_error *err)
{
    char *text = (char *)buffer;
    (void)arg;
    ravel_status s = ravel_wisdom_text(cx, &text, NULL, err);
    assert_true(s ? !text : !!text);
    free(text);
    return s;
}

static const int64_t SHAPE[] = {2, 20, 5, 7};

static ravel_status
make_plan(const char *const *arg, ravel_plan **out, ravel_error *err)
{
    int rank = strchr(arg[1], 'R') ? 2 : 4;
    ravel_request rq = {arg[0], arg[1], arg[2], rank, SHAPE + (rank == 2), 0, 0};
    return ravel_compile(cx, &rq, out, err);
}

static ravel_status
compile(const char *const *arg, ravel_error *err)
{
    ravel_plan *p = (ravel_plan *)buffer;
    ravel_status s = make_plan(arg, &p, err);
    assert_true(s ? !p : !!p);
    ravel_plan_free(p);
    return s;
}

static ravel_status
verify(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_verify(plan, err);
}

static ravel_status
run(const char *const *arg, ravel_error *err)
{
    (void)arg;
    (void)err;
    return ravel_run(plan, buffer[0], buffer[1]);
}

static ravel_status
run_shape(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_run_shape(any, buffer[0], buffer[1], SHAPE, err);
}

static ravel_status
bytes_at(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_plan_bytes_at(any, SHAPE, addresses, addresses + 1, err);
}

static ravel_status
shapes_at(const char *const *arg, ravel_error *err)
{
    ravel_extents e[2];
    (void)arg;
    return ravel_plan_shapes_at(any, SHAPE, e, e + 1, err);
}

static ravel_status
verify_any(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return ravel_verify(any, err);
}

static const int64_t LEFT[] = {RAVEL_RUNTIME, 20, RAVEL_RUNTIME, 7};

static ravel_status
compile_any(const char *const *arg, ravel_error *err)
{
    ravel_plan *p = (ravel_plan *)buffer;
    ravel_request rq = {arg[0], arg[1], arg[2], 4, LEFT, 0, 0};
    ravel_status s = ravel_compile(walking, &rq, &p, err);
    assert_true(s ? !p : !!p);
    ravel_plan_free(p);
    return s;
}

static ravel_status
table(const char *const *arg, ravel_error *err)
{
    return ravel_table(cx, arg[0], arg[2], 4, SHAPE, addresses, err);
}

static ravel_status
storage_bytes(const char *const *arg, ravel_error *err)
{
    return ravel_storage_bytes(cx, arg[0], arg[2], 4, SHAPE, addresses, err);
}

static ravel_status
storage_shape(const char *const *arg, ravel_error *err)
{
    ravel_extents e;
    return ravel_storage_shape(cx, arg[0], arg[2], 4, SHAPE, &e, err);
}

static ravel_status
logical_shape(const char *const *arg, ravel_error *err)
{
    int64_t shape[4];
    return ravel_logical_shape(cx, arg[0], arg[2], 4, SHAPE, shape, err);
}

static ravel_status
any_dtype(const char *const *arg, ravel_error *err)
{
    const char *t;
    return ravel_any_dtype(cx, arg[0], &t, err);
}

static ravel_status
address(const char *const *arg, ravel_error *err)
{
    static const int64_t x[] = {1, 17, 4, 6};
    return ravel_index(cx, arg[0], arg[2], 4, SHAPE, x, addresses, err);
}

static ravel_status
element(const char *const *arg, ravel_error *err)
{
    int found;
    return ravel_element(cx, arg[0], arg[2], 4, SHAPE, 2225, addresses, &found, err);
}

static ravel_status
check(const char *const *arg, ravel_error *err)
{
    ravel_verdict v;
    return ravel_check(cx, arg[0], arg[2], 4, SHAPE, &v, err);
}

static ravel_status
equal(const char *const *arg, ravel_error *err)
{
    ravel_equality e;
    return ravel_equal(cx, arg[0], arg[1], arg[2], 0, NULL, &e, err);
}

static ravel_status
draw(const char *const *arg, ravel_error *err)
{
    char *text = (char *)buffer;
    ravel_status s = ravel_svg(cx, arg[0], arg[2], 4, SHAPE, &text, err);
    assert_true(s ? !text : !!text);
    free(text);
    return s;
}

static ravel_status
write_npy(const char *const *arg, ravel_error *err)
{
    (void)arg;
    return npy_write(file_name, "i8", 8, 2, (int64_t[]){3, 4}, buffer[1], err);
}

static ravel_status
read_npy(const char *const *arg, ravel_error *err)
{
    Npy a;
    (void)arg;
    ravel_status s = npy_read(file_name, &a, err);
    assert_true(s ? !a.data : !!a.data);
    npy_free(&a);
    return s;
}

static const Case CASES[] = {
    {"context_new", new_context, {0}, RAVEL_OK},
    {"load", load_text, {SPEC}, RAVEL_OK},
    {"load, wrong", load_text, {WRONG}, RAVEL_ERR_SPEC},
    {"compile, blocks", compile, {"NCHW", "NC1HWC0", "f16"}, RAVEL_OK},
    {"compile, segments", compile, {"NCHW{}", "{N, C//6, H, W, C%6}", "f32"}, RAVEL_OK},
    {"compile, long", compile, {"{N, C//6, H//4, W//3, H%4, W%3, C%6}",
     "{N//2, C//16, H//3, W//4, N%2, H%3, W%4, C%16}", "f16"}, RAVEL_OK},
    {"compile, parameters", compile, {"NCHW", "NC1HWC0{C0=8}", "i4"}, RAVEL_OK},
    {"compile, xor", compile, {"(R,C){R, C}", "(R,C){R//8, C//8, R%8, (C ~ R)%8}", "u8"},
     RAVEL_OK},
    {"compile, unknown", compile, {"NCHW", "NC1HWCO", "f16"}, RAVEL_ERR_SPEC},
    {"compile, collision", compile, {"NCHW", "{N, C//2, H, W}", "f16"}, RAVEL_ERR_LAYOUT},
    {"verify", verify, {0}, RAVEL_OK},
    {"compile, any shape", compile_any, {"NCHW", "NC1HWC0", "f16"}, RAVEL_OK},
    {"run_shape", run_shape, {0}, RAVEL_OK},
    {"bytes_at", bytes_at, {0}, RAVEL_OK},
    {"shapes_at", shapes_at, {0}, RAVEL_OK},
    {"verify, any shape", verify_any, {0}, RAVEL_OK},
    {"table", table, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"storage_bytes", storage_bytes, {"FRACTAL_Z", 0, "i8"}, RAVEL_OK},
    {"storage_shape", storage_shape, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"logical_shape", logical_shape, {"NHWC", 0, "f16"}, RAVEL_OK},
    {"any_dtype", any_dtype, {"NHWC"}, RAVEL_OK},
    {"index", address, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"element", element, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"check", check, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"check, collision", check, {"{N, C//2, H, W}", 0, "f16"}, RAVEL_OK},
    {"equal", equal, {"NHWC", "(N,C,H,W){N, H, W, C}", "f16"}, RAVEL_OK},
    {"equal, no", equal, {"NHWC", "NCHW", "f16"}, RAVEL_OK},
    {"svg", draw, {"NC1HWC0", 0, "f16"}, RAVEL_OK},
    {"wisdom_load", load_wisdom, {WISDOM}, RAVEL_OK},
    {"wisdom_load, wrong", load_wisdom, {"ravel wisdom 1\nx\n"}, RAVEL_ERR_ARGUMENT},
    {"wisdom_text", wisdom_text, {0}, RAVEL_OK},
    {"npy_write", write_npy, {0}, RAVEL_OK},
    {"npy_read", read_npy, {0}, RAVEL_OK},
};

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
    const char *all = getenv("FAULTS"), *sample = getenv("SAMPLE");
    int every = sample && atoi(sample) > 0 ? atoi(sample) : 1, turn = 0;
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
