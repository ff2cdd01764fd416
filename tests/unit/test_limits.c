/* The library under what setrlimit limits: an answer, a sentence where it is no result,
 * and never a signal.  Each limit in a process of its own, from before the first call or
 * from before the program's start. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../runtime/jit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

enum { N = 1100, SKIPPED = 77 };

static unsigned char src[N * N / 2], dst[N * N / 2];   /* elements of 4 bits */

/* What a run of work said. */
typedef struct {
    int right, refused;            /* answers; errors for want of memory */
    bool machine_code;             /* all plans */
} Tally;

/* False: an answer that is no error, and wrong; or an error without a sentence. */
static bool
note(Tally *t, ravel_status s, const ravel_error *err)
{
    t->right += s == RAVEL_OK;
    t->refused += s == RAVEL_ERR_MEMORY;
    if (s && s != RAVEL_ERR_MEMORY)
        fprintf(stderr, "status %d: %s\n", s, err->text);
    return s == RAVEL_OK || (s == RAVEL_ERR_MEMORY && err->text[0]);
}

static int
element(const unsigned char *p, int i)
{
    return p[i / 2] >> i % 2 * 4 & 15;
}

static bool
turned(void)
{
    for (int i = 0; i < N * N; i++)
        if (element(dst, i % N * N + i / N) != element(src, i))
            return false;
    return true;
}

/* One plan, compiled, run and proven. */
static bool
use(ravel_context *cx, Tally *t, bool runtime)
{
    static const int64_t now[] = {N, N}, later[] = {RAVEL_RUNTIME, RAVEL_RUNTIME};
    const ravel_request rq = {"(A,B){A, B}", "(A,B){B, A}", "u4", 2,
                              runtime ? later : now, 2, 0};
    ravel_plan *p;
    ravel_error err = {0};
    ravel_status s = ravel_compile(cx, &rq, &p, &err);
    bool ok = note(t, s, &err);
    if (s)
        return ok;
    if (runtime)          /* the other one has too few calls of kernels */
        t->machine_code &= !strcmp(ravel_plan_way(p), "machine code");
    memset(dst, 0, sizeof dst);
    s = runtime ? ravel_run_shape(p, dst, src, now, &err) : ravel_run(p, dst, src);
    ok = ok && note(t, s, &err) && (s || turned());
    if (!runtime)
        ok = note(t, ravel_verify(p, &err), &err) && ok;
    ravel_plan_free(p);
    return ok;
}

static bool
work(Tally *t)
{
    ravel_context *cx;
    ravel_error err = {0};
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (unsigned char)((unsigned)i * 2654435761u >> 19);
    *t = (Tally){0, 0, true};
    ravel_status s = ravel_context_new(&cx, &err);
    bool ok = note(t, s, &err);
    if (s)
        return ok;
    ok = use(cx, t, false) && ok;
    ok = use(cx, t, true) && ok;
    ravel_context_free(cx);
    return ok;
}

/* All of it done, by machine code or not. */
static int
done(bool machine_code)
{
    Tally t;
    if (!work(&t) || t.refused || t.right != 6)
        return 1;
    return t.machine_code == (machine_code && jit_is_built) ? 0 : 2;
}

static int
answered(void)
{
    Tally t;
    return work(&t) && t.right + t.refused ? 0 : 1;
}

static void
set_limit(int what, rlim_t n)
{
    struct rlimit r;
    getrlimit((__rlimit_resource_t)what, &r);
    r.rlim_cur = n;
    if (setrlimit((__rlimit_resource_t)what, &r))
        _exit(SKIPPED);
}

static void
expect(int status, const char *what, long long n)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        print_message("# skipped: %s %lld cannot be set\n", what, n);
    else if (status)
        fail_msg("%s %lld: signal %d, exit code %d", what, n,
                 WIFSIGNALED(status) ? WTERMSIG(status) : 0, WEXITSTATUS(status));
}

static int
ended(pid_t pid)
{
    int status;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* The first three are less than the code. */
static void
file_size(void **state)
{
    static const rlim_t size[] = {0, 1, 1000, (rlim_t)1 << 30};
    (void)state;
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            set_limit(RLIMIT_FSIZE, size[i]);
            _exit(done(i == 3));
        }
        expect(ended(pid), "RLIMIT_FSIZE", (long long)size[i]);
    }
}

/* The host's own mask, and a signal that it has waiting, stay as they were. */
static int
with_a_mask(bool waiting)
{
    sigset_t one, now;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    set_limit(RLIMIT_FSIZE, 0);
    if (waiting) {
        sigprocmask(SIG_BLOCK, &one, NULL);
        raise(SIGXFSZ);
    }
    int code = done(false);
    sigprocmask(SIG_SETMASK, NULL, &now);
    if (code || sigismember(&now, SIGXFSZ) != waiting)
        return code ? code : 3;
    sigpending(&now);
    return sigismember(&now, SIGXFSZ) == waiting ? 0 : 4;
}

static void
masks(void **state)
{
    (void)state;
    for (int waiting = 0; waiting < 2; waiting++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(with_a_mask(waiting));
        expect(ended(pid), "SIGXFSZ waiting", waiting);
    }
}

static const struct {
    const char *name;
    int what;
    rlim_t n[6];                   /* up to the first 0 but in place 0 */
} limits[] = {
    {"RLIMIT_NOFILE", RLIMIT_NOFILE, {0, 3, 4}},
    {"RLIMIT_NPROC", RLIMIT_NPROC, {0, 1}},
    {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK, {0}},
    {"RLIMIT_SIGPENDING", RLIMIT_SIGPENDING, {0}},
    {"RLIMIT_CORE", RLIMIT_CORE, {0}},
    {"RLIMIT_DATA", RLIMIT_DATA, {0, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 32 << 20}},
};

static void
others(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int k = 0; k < 6 && (k == 0 || limits[i].n[k]); k++) {
            if (SANITIZED && limits[i].what == RLIMIT_DATA)
                continue;          /* the sanitizer's own memory is more */
            pid_t pid = fork();
            if (pid == 0) {
                set_limit(limits[i].what, limits[i].n[k]);
                _exit(answered());
            }
            expect(ended(pid), limits[i].name, (long long)limits[i].n[k]);
        }
}

static rlim_t
address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        _exit(SKIPPED);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The stack's growth counts as address space, and its want is a signal: ravel.h says how
 * much is used, so that much is there. */
__attribute__((noinline)) static void
grow_stack(void)
{
    volatile char used[1 << 19];
    for (size_t i = 0; i < sizeof used; i += 4096)
        used[i] = 0;
}

static void
room(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    for (int kib = 0; kib < 48000; kib = kib * 5 / 4 + 100) {
        pid_t pid = fork();
        if (pid == 0) {
            grow_stack();
            set_limit(RLIMIT_AS, address_space() + (rlim_t)kib * 1024);
            _exit(answered());
        }
        expect(ended(pid), "RLIMIT_AS", kib);
    }
}

/* Threads have the stack that there was when the program started, unless asked for more;
 * this one has what ravel.h says is used. */
static int
started(void)
{
    set_limit(RLIMIT_STACK, (rlim_t)8 << 20);
    return done(true);
}

static void
stack(void **state)
{
    static const rlim_t kib[] = {64, 128, 512};
    (void)state;
    if (SANITIZED)
        skip();
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            set_limit(RLIMIT_STACK, kib[i] * 1024);
            execl("/proc/self/exe", "test_limits", "work", NULL);
            _exit(SKIPPED);
        }
        expect(ended(pid), "RLIMIT_STACK", (long long)kib[i]);
    }
}

int
main(int argc, char **argv)
{
    unsetenv("RAVEL_CODE");        /* where code may not be loaded, another way is taken */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_size), cmocka_unit_test(masks), cmocka_unit_test(others),
        cmocka_unit_test(room), cmocka_unit_test(stack),
    };
    if (argc == 2 && !strcmp(argv[1], "work"))
        return started();
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
