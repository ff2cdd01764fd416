/* Plans without generated code: when, by what, and that they do the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../runtime/proof.h"
#include "sample.h"

enum { SKIPPED = 77 };

static const int64_t SHAPE[] = {2, 20, 5, 7};
static const ravel_request FIRST = {"NCHW", "NC1HWC0", "f16", 4, SHAPE, 0, 0};
static const int64_t LEFT[] = {RAVEL_RUNTIME, 20, RAVEL_RUNTIME, 7};
static const ravel_request AT_RUN = {"NCHW", "NC1HWC0", "f16", 4, LEFT, 0, 0};

/* One call of a kernel does all the work. */
static const int64_t MATRIX[] = {600, 500};
static const ravel_request ONE_CALL = {"(M,N){M, N}", "(M,N){N, M}", "f32", 2, MATRIX, 1, 0};
static const char COARSE[] = "interpreter: machine code saves less than 1 % of a run";

/* Compile a request in a new context, with RAVEL_CODE as given. */
static ravel_status
compile(const char *code, const ravel_request *rq, ravel_plan **p, ravel_error *err)
{
    ravel_context *cx;
    *p = NULL;
    setenv("RAVEL_CODE", code, 1);
    ravel_status s = ravel_context_new(&cx, err);
    if (s == RAVEL_OK)
        s = ravel_compile(cx, rq, p, err);
    if (cx)
        ravel_context_free(cx);
    return s;
}

static bool
proves(const char *code, const ravel_request *rq, const char *way)
{
    ravel_plan *p;
    ravel_error err;
    if (compile(code, rq, &p, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    bool ok = !ravel_verify(p, &err) && !strncmp(ravel_plan_way(p), way, strlen(way)) &&
              !ravel_plan_source(p) == (way[0] == 'i' && strcmp(way, COARSE));
    if (!ok)
        fprintf(stderr, "%s, by %s\n", err.text, ravel_plan_way(p));
    ravel_plan_free(p);
    return ok;
}

static void
as_asked_for(void **state)
{
    ravel_plan *p;
    ravel_error err;
    (void)state;
    assert_true(proves("interpreter", &FIRST, "interpreter: RAVEL_CODE asks for it"));
    assert_true(proves("interpreter", &AT_RUN, "interpreter: RAVEL_CODE asks for it"));
    if (jit_is_built) {
        assert_true(proves("", &FIRST, "machine code"));
        assert_true(proves("jit", &FIRST, "machine code"));
        assert_true(proves("", &ONE_CALL, COARSE));
        assert_true(proves("jit", &ONE_CALL, "machine code"));
    } else {
        assert_true(proves("", &FIRST, "interpreter: built without libtcc"));
        assert_true(proves("", &AT_RUN, "interpreter: built without libtcc"));
        assert_int_equal(compile("jit", &FIRST, &p, &err), RAVEL_ERR_JIT);
        assert_int_equal(compile("jit", &AT_RUN, &p, &err), RAVEL_ERR_JIT);
    }
    assert_int_equal(compile("magic", &FIRST, &p, &err), RAVEL_ERR_ARGUMENT);
    assert_string_equal(err.text, "RAVEL_CODE is 'magic': jit or interpreter");
    assert_null(ravel_plan_way(NULL));
}

/* From now on no memory of this process becomes executable. */
static bool
forbid_code(void)
{
    enum { NR = offsetof(struct seccomp_data, nr),
           PROT = offsetof(struct seccomp_data, args[2]) };
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NR),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PROT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {sizeof f / sizeof *f, f};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int
without_code(void)
{
    ravel_plan *p;
    ravel_error err;
    if (!forbid_code())
        return SKIPPED;
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
        MAP_FAILED)
        return 2;
    const char *way = jit_is_built ? "interpreter: machine code cannot be loaded: "
                                   : "interpreter: built without";
    if (!proves("", &FIRST, way) || !proves("", &AT_RUN, way))
        return 3;
    return compile("jit", &FIRST, &p, &err) == RAVEL_ERR_JIT ? 0 : 4;
}

static void
when_refused(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        _exit(without_code());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool
is_large(const int64_t *shape)
{
    return shape[0] * shape[1] * (shape[2] ? shape[2] : 1) > 1 << 17;
}

/* Residuals of several kinds: in tables, too large for them, of turns in common; tails of
 * tiles; parts; streams; bits.  Of the large ones one in SAMPLE, where time is short. */
static void
all_kinds(void **state)
{
    int every = sample(), large = 0;
    static const struct {
        const char *from, *to, *dtype;
        int64_t shape[3];
    } t[] = {
        {"(A,B){A, B}", "(A,B){A, A ~ B}", "u8", {256, 256}},
        {"(A,B){A, B}", "(A,B){(A%256) ~ B//2, A//256, B}", "i64", {512, 258}},
        {"(A,B){A, B}", "(A,B){A ~ A // 8, B, A // 8, swizzle = xor(2, 0, 2)}", "u8", {32, 2}},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = xor(3, 4, 3)}", "f16",
         {64, 128}},
        {"(A,B){A, B}", "(A,B){B, A}", "c128", {257, 2053}},
        {"(A,B){A, B}", "(A,B){B//16, A, B%16, fill = 3}", "i64", {131, 1009}},
        {"(A,B){A, B}", "(A,B){A, B//16, B%16, fill = 1}", "u4", {1049, 2003}},
        {"(A,B){A, B//3, B%3}", "(A,B){B, A//5, 4 - A%5, fill = \"edge\"}", "u1", {37, 41}},
        {"(A,B,C){A, B, C}", "(A,B,C){A, C, B}", "u4", {33, 255, 251}},
        {"{A}", "{A}", "c128", {5}},
        /* residuals of few turns, of tails, in strides that are scalars, with both */
        {"(A,B){A, B}", "(A,B){A//8, B//8, A%8, B%8 ~ A%8}", "f16", {-1, -1}},
        {"(A,B){A, B//6, B%6}", "(A,B){B%4 ~ A%4, A//4, B//4, B%4}", "u8", {-1, -1}},
        {"(A,B){A, B}", "(A,B){B//5, A//3, 2 - A%3, B%5, fill = \"edge\"}", "u1", {-1, 7}},
    };
    (void)state;
    for (int i = 0; i < LEN(t); i++) {
        ravel_request rq = {t[i].from, t[i].to, t[i].dtype, 1, t[i].shape, 0, 0};
        while (rq.rank < 3 && t[i].shape[rq.rank])
            rq.rank++;
        if (is_large(t[i].shape) && large++ % every)
            continue;
        if (!proves("interpreter", &rq, "interpreter"))
            fail_msg("%s -> %s %s", t[i].from, t[i].to, t[i].dtype);
    }
}

/* At run time too: blocks of A have 2^16 residuals, more than a table takes.  The proof goes
 * to many shapes, and each is large. */
static void
no_table(void **state)
{
    enum { A = 4099, B = 256 };
    static unsigned char src[A * B], dst[A * B];
    static const int64_t left[] = {RAVEL_RUNTIME, B}, shape[] = {A, B};
    const ravel_request rq = {"(A,B){A, B}", "(A,B){B%256 ~ A%256, A}", "u8", 2, left, 0, 0};
    ravel_plan *p;
    ravel_error err;
    uint32_t x = 1;
    (void)state;
    for (int i = 0; i < A * B; i++, x = x * 1664525 + 1013904223)
        src[i] = (unsigned char)(x >> 24);
    assert_int_equal(compile("interpreter", &rq, &p, &err), RAVEL_OK);
    assert_int_equal(ravel_run_shape(p, dst, src, shape, &err), RAVEL_OK);
    for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++)
            assert_true(dst[(b ^ a % B) * A + a] == src[a * B + b]);
    ravel_plan_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_asked_for),
        cmocka_unit_test(when_refused),
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(no_table),
    };
    return cmocka_run_group_tests_name("interpret", tests, NULL, NULL);
}
