/* The plans that a context keeps: which request gets which, what goes, and what stays
 * with those who have it. */
#define _GNU_SOURCE
#include "../../runtime/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const int64_t A[] = {2, 20, 5, 7}, B[] = {2, 20, 7, 5};
static const ravel_request FIRST = {"NCHW", "NC1HWC0", "f16", 4, A, 0, 0};

static ravel_context *cx;

static int
set_up(void **state)
{
    (void)state;
    return ravel_context_new(&cx, NULL);
}

static int
tear_down(void **state)
{
    (void)state;
    ravel_context_free(cx);
    return 0;
}

static ravel_plan *
compiled(const ravel_request *rq)
{
    ravel_plan *p;
    ravel_error err;
    if (ravel_compile(cx, rq, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

/* Whether a request gets p again; it is given back. */
static bool
again(const ravel_request *rq, const ravel_plan *p)
{
    ravel_plan *q = compiled(rq);
    bool same = p == q;
    ravel_plan_free(q);
    return same;
}

/* The strings and extents are compared, not where they are. */
static void
same_request(void **state)
{
    char from[] = "NCHW", to[] = "NC1HWC0", dtype[] = "f16";
    int64_t shape[4];
    (void)state;
    memcpy(shape, A, sizeof shape);
    ravel_request rq = {from, to, dtype, 4, shape, 0, 0};
    ravel_plan *p = compiled(&rq);
    from[0] = to[0] = dtype[0] = 'x';
    shape[0] = -1;
    assert_true(again(&FIRST, p));
    assert_true(again(&FIRST, p));
    assert_int_equal(ravel_verify(p, NULL), RAVEL_OK);
    ravel_plan_free(p);
}

/* Each differs from the first in one thing. */
static void
other_requests(void **state)
{
    static const ravel_request rq[] = {
        {"NCHW", "NC1HWC0", "f16", 4, A, 0, 0},
        {"NCHW", "NC1HWC0", "bf16", 4, A, 0, 0},
        {"NCHW", "NC1HWC0", "f16", 4, B, 0, 0},
        {"NCHW", "NC1HWC0", "f16", 4, A, 1, 0},
        {"NCHW", "NC1HWC0 ", "f16", 4, A, 0, 0},
        {"NCHW", "NC1HWC0{C0=8}", "f16", 4, A, 0, 0},
        {"NC1HWC0", "NCHW", "f16", 4, A, 0, 0},
        {"NHWC", "NC1HWC0", "f16", 4, A, 0, 0},
        {"{A}", "{A, pad = {A = 4}}", "u8", 1, A, 0, 0},
        {"{A}", "{A, pad = {A = 4}}", "i8", 1, A, 0, 0},
        {"ROW_MAJOR", "COL_MAJOR", "u8", 1, A, 0, 0},
        {"ROW_MAJOR", "COL_MAJOR", "u8", 2, A, 0, 0},
    };
    enum { N = sizeof rq / sizeof *rq };
    ravel_plan *p[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        p[i] = compiled(&rq[i]);
        for (int k = 0; k < i; k++)
            assert_ptr_not_equal(p[i], p[k]);
    }
    for (int i = 0; i < N; i++) {
        assert_true(again(&rq[i], p[i]));
        ravel_plan_free(p[i]);
    }
}

static void
load(int block)
{
    char text[200];
    ravel_error err;
    snprintf(text, sizeof text, "layout 'MINE' { dims = {A}, order = {A %% %d, A // %d},"
             " fill = 0 }", block, block);
    if (ravel_load(cx, text, strlen(text), "mine.lua", &err))
        fail_msg("%s", err.text);
}

static unsigned char
second_byte(const ravel_plan *p)
{
    unsigned char s[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, d[12];
    assert_int_equal(ravel_run(p, d, s), RAVEL_OK);
    return d[1];
}

/* A name may come to stand for another layout, on either side; the old plan stays what
 * it was. */
static void
names_change(void **state)
{
    static const int64_t n[] = {12};
    static const ravel_request to = {"{A}", "MINE", "u8", 1, n, 0, 0},
                               from = {"MINE", "{A}", "u8", 1, n, 0, 0};
    (void)state;
    load(3);
    ravel_plan *p = compiled(&to), *q = compiled(&from);
    assert_int_equal(second_byte(p), 3);
    assert_int_equal(second_byte(q), 4);
    assert_int_equal(ravel_load(cx, "layout 'ELSE' { dims = {A}, order = {A} }", 41, "e.lua",
                                NULL), RAVEL_OK);
    assert_true(again(&to, p) && again(&from, q));
    load(4);
    ravel_plan *p4 = compiled(&to), *q4 = compiled(&from);
    assert_int_equal(second_byte(p4), 4);
    assert_int_equal(second_byte(q4), 3);
    assert_true(again(&to, p4) && again(&from, q4));
    assert_int_equal(second_byte(p), 3);
    ravel_plan_free(p);
    ravel_plan_free(q);
    ravel_plan_free(p4);
    ravel_plan_free(q4);
}

static void
lend(void *host, ravel_task *task, void *arg, int parts)
{
    (void)host;
    for (int i = 0; i < parts; i++)
        task(arg, i, parts);
}

static void
threads_change(void **state)
{
    int host[2];
    (void)state;
    ravel_plan *p = compiled(&FIRST);
    assert_int_equal(ravel_set_threads(cx, 0, lend, &host[0], NULL), RAVEL_OK);
    ravel_plan *q = compiled(&FIRST);
    assert_ptr_not_equal(p, q);
    assert_true(again(&FIRST, q));
    assert_int_equal(ravel_set_threads(cx, 0, lend, &host[1], NULL), RAVEL_OK);
    assert_false(again(&FIRST, q));
    ravel_plan_free(p);
    ravel_plan_free(q);
}

static ravel_request
of_length(int64_t *n)
{
    return (ravel_request){"{A}", "{A//2, A%2, fill = 0}", "u8", 1, n, 0, 0};
}

static void
oldest_goes(void **state)
{
    int64_t n[] = {1, 2, 3, 4};
    ravel_plan *p[4];
    (void)state;
    assert_int_equal(ravel_set_cache(cx, 3, INT64_MAX, NULL), RAVEL_OK);
    for (int i = 0; i < 3; i++) {
        ravel_request rq = of_length(&n[i]);
        p[i] = compiled(&rq);
    }
    ravel_request first = of_length(&n[0]), second = of_length(&n[1]),
                  third = of_length(&n[2]), fourth = of_length(&n[3]);
    assert_true(again(&first, p[0]));
    p[3] = compiled(&fourth);
    assert_true(again(&first, p[0]));      /* used since */
    assert_true(again(&third, p[2]));
    assert_true(again(&fourth, p[3]));
    assert_false(again(&second, p[1]));    /* and pushes out the first */
    assert_true(again(&third, p[2]));
    assert_true(again(&fourth, p[3]));
    assert_false(again(&first, p[0]));
    for (int i = 0; i < 4; i++) {
        unsigned char s[4] = {1, 2, 3, 4}, d[4] = {0};
        assert_int_equal(ravel_run(p[i], d, s), RAVEL_OK);   /* those that went too */
        assert_memory_equal(s, d, (size_t)n[i]);
        ravel_plan_free(p[i]);
    }
}

static void
bounds(void **state)
{
    ravel_error err;
    (void)state;
    ravel_plan *p = compiled(&FIRST);
    assert_true(again(&FIRST, p));
    assert_int_equal(ravel_set_cache(cx, 100, 1000, NULL), RAVEL_OK);
    assert_false(again(&FIRST, p));        /* larger than that */
    assert_int_equal(ravel_set_cache(cx, 0, INT64_MAX, NULL), RAVEL_OK);
    assert_false(again(&FIRST, p));
    assert_int_equal(ravel_set_cache(cx, 1, INT64_MAX, NULL), RAVEL_OK);
    ravel_plan *q = compiled(&FIRST);
    assert_true(again(&FIRST, q));
    assert_int_equal(ravel_set_cache(cx, -1, 0, &err), RAVEL_ERR_ARGUMENT);
    assert_string_equal(err.text, "a cache of -1 plans, 0 bytes");
    assert_int_equal(ravel_set_cache(cx, 0, -1, &err), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_set_cache(NULL, 1, 1, &err), RAVEL_ERR_ARGUMENT);
    ravel_plan_free(p);
    ravel_plan_free(q);
}

static const int64_t ANY[] = {RAVEL_RUNTIME, RAVEL_RUNTIME, RAVEL_RUNTIME, RAVEL_RUNTIME};
static const int64_t COLUMNS[] = {RAVEL_RUNTIME, 64};

/* The request's plan is kept by a cache of so many bytes: it has no more in memory. */
static void
fits(const ravel_request *rq, int64_t bytes)
{
    assert_int_equal(ravel_set_cache(cx, 0, 0, NULL), RAVEL_OK);
    assert_int_equal(ravel_set_cache(cx, 1, bytes, NULL), RAVEL_OK);
    ravel_plan *p = compiled(rq);
    if (!again(rq, p))
        fail_msg("%s -> %s takes more than %lld bytes", rq->from, rq->to,
                 (long long)bytes);
    ravel_plan_free(p);
}

/* With extents left to run time: plans of 3 to 8 nests, of about 30, of 50 to 96, and the
 * largest of the catalogue, of 191. */
static const ravel_request USUAL[] = {
    {"NCHW", "NHWC", "f16", 4, ANY, 0, 0},
    {"NHWC", "NCHW", "f16", 4, ANY, 0, 0},
    {"NCHW", "NC1HWC0", "f16", 4, ANY, 0, 0},
    {"NC1HWC0", "NCHW", "f16", 4, ANY, 0, 0},
    {"NCHW", "FRACTAL_Z", "f16", 4, ANY, 0, 0},
    {"ROW_MAJOR", "FRACTAL_NZ", "f16", 2, ANY, 0, 0},
    {"ROW_MAJOR", "FRACTAL_NZ", "f16", 3, ANY, 0, 0},
    {"ROW_MAJOR", "SW128", "f16", 2, COLUMNS, 0, 0},
}, LARGE[] = {
    {"ROW_MAJOR", "MARLIN", "u4", 2, ANY, 0, 0},
    {"ROW_MAJOR", "QSERVE", "u4", 2, ANY, 0, 0},
    {"ROW_MAJOR", "INTEL_W", "u8", 2, ANY, 0, 0},
    {"ROW_MAJOR", "INTEL_TILE4", "u8", 2, ANY, 0, 0},
    {"ROW_MAJOR", "CROUTON_16", "bf16", 4, ANY, 0, 0},
    {"ROW_MAJOR", "TENSOR_OP_64_CROSS", "i64", 2, ANY, 0, 0},
    {"ROW_MAJOR", "MORTON8", "f32", 2, ANY, 0, 0},
    {"MORTON16", "ROW_MAJOR", "f32", 2, ANY, 0, 0},
    {"(A,B){A//7, B//5, A%7, B%5}", "(A,B){A//11, B//8, A%11, B%8}", "f32", 2, ANY, 0, 0},
}, LARGEST[] = {
    {"ROW_MAJOR", "MORTON32", "f32", 2, ANY, 0, 0},
    {"ROW_MAJOR", "VOLTA_CROSS", "bf16", 2, ANY, 0, 0},
    {"ROW_MAJOR", "MALI_TILE", "u8", 2, ANY, 0, 0},
}, FULLEST[] = {
    {"ROW_MAJOR", "GFX10_64K_Z_X_8", "u8", 2, ANY, 0, 0},
};
static const int64_t F[] = {8, 71, 56, 56}, G[] = {1024, 1024};
static const ravel_request FIXED[] = {
    {"NCHW", "NHWC", "f32", 4, F, 0, 0},
    {"NCHW", "FRACTAL_Z", "f16", 4, F, 0, 0},
    {"ROW_MAJOR", "MARLIN", "u4", 2, G, 0, 0},
    {"ROW_MAJOR", "MORTON16", "f32", 2, G, 0, 0},
};

/* Of a plan: what the compiler leaves of it without code, which are layouts, sizes and tables, and of
 * one without arguments its nests; the same with the interpreter's steps; all memory, with the machine
 * code; and with the steps. */
static const struct { const ravel_request *rq; size_t n; int64_t arena[2], plan[2]; } SMALL[] = {
#define ALL(rq) rq, sizeof rq / sizeof *rq
    {ALL(USUAL), {64 << 10, 64 << 10}, {70 << 10, 70 << 10}},
    {ALL(LARGE), {100 << 10, 120 << 10}, {130 << 10, 120 << 10}},
    {ALL(LARGEST), {100 << 10, 130 << 10}, {140 << 10, 130 << 10}},
    {ALL(FULLEST), {220 << 10, 300 << 10}, {400 << 10, 300 << 10}},
    {ALL(FIXED), {220 << 10, 160 << 10}, {160 << 10, 160 << 10}},
};

static void
are_small(bool steps)
{
    for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++)
        for (size_t k = 0; k < SMALL[i].n; k++) {
            const ravel_request *rq = &SMALL[i].rq[k];
            ravel_plan *p = compiled(rq);
            assert_true(!steps || p->steps);
            if (!p->steps == !steps && (int64_t)p->arena.held > SMALL[i].arena[steps])
                fail_msg("%s -> %s: %zu bytes", rq->from, rq->to, p->arena.held);
            ravel_plan_free(p);
            fits(rq, SMALL[i].plan[steps]);
        }
}

static void
plans_are_small(void **state)
{
    (void)state;
    are_small(!jit_is_built);
}

static void
steps_are_small(void **state)
{
    ravel_context *with_code = cx;
    (void)state;
    setenv("RAVEL_CODE", "interpreter", 1);
    assert_int_equal(ravel_context_new(&cx, NULL), RAVEL_OK);
    unsetenv("RAVEL_CODE");
    are_small(true);
    ravel_context_free(cx);
    cx = with_code;
}

/* As many as the default cache is for; it kept 15 when each took 4 MB. */
static void
plans_of_any_shape_are_kept(void **state)
{
    enum { N = 64 };
    char to[N][80];
    ravel_request rq[N];
    ravel_plan *p[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(to[i], sizeof to[i], "(N,C,H,W){N, C//%d, H, W, C%%%d, fill = 0}", i + 2,
                 i + 2);
        rq[i] = (ravel_request){"NCHW", to[i], "f16", 4, ANY, 0, 0};
        p[i] = compiled(&rq[i]);
    }
    for (int i = 0; i < N; i++)
        if (!again(&rq[i], p[i]))
            fail_msg("%s was let go", to[i]);
    for (int i = 0; i < N; i++)
        ravel_plan_free(p[i]);
}

/* Errors are not kept. */
static void
errors(void **state)
{
    static const int64_t n[] = {12};
    static const ravel_request rq = {"{A}", "LATER", "u8", 1, n, 0, 0};
    static const char text[] = "layout 'LATER' { dims = {A}, order = {A} }";
    ravel_plan *p;
    (void)state;
    assert_int_equal(ravel_compile(cx, &rq, &p, NULL), RAVEL_ERR_SPEC);
    assert_null(p);
    assert_int_equal(ravel_load(cx, text, sizeof text - 1, "l.lua", NULL), RAVEL_OK);
    ravel_plan_free(compiled(&rq));
}

/* Plans outlive their context, and what it was told. */
static void
after_the_context(void **state)
{
    ravel_context *own, *old = cx;
    (void)state;
    assert_int_equal(ravel_context_new(&own, NULL), RAVEL_OK);
    cx = own;
    load(3);
    static const int64_t n[] = {12};
    ravel_plan *p = compiled(&(ravel_request){"{A}", "MINE", "u8", 1, n, 0, 0}),
               *q = compiled(&FIRST);
    cx = old;
    ravel_context_free(own);
    assert_int_equal(second_byte(p), 3);
    assert_int_equal(ravel_verify(p, NULL), RAVEL_OK);
    ravel_plan_free(p);
    assert_int_equal(ravel_verify(q, NULL), RAVEL_OK);
    ravel_plan_free(q);
}

static int64_t
nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Said, not asked for: other work may be going on. */
static void
what_a_hit_costs(void **state)
{
    enum { HITS = 20000 };
    int64_t least = INT64_MAX;
    (void)state;
    ravel_plan *p = compiled(&FIRST);
    for (int k = 0; k < 5; k++) {
        int64_t start = nanoseconds();
        for (int i = 0; i < HITS; i++)
            assert_true(again(&FIRST, p));
        int64_t took = nanoseconds() - start;
        least = took < least ? took : least;
    }
    print_message("# cache: a hit and its free in %lld ns\n", (long long)least / HITS);
    ravel_plan_free(p);
}

/* Scalars that only the text of a plan needed are gone when its sizes are asked for. */
static void
sizes_at_a_shape(void **state)
{
    static const int64_t any[] = {-1, -1};
    static const struct { int64_t shape[2], src, dst; } at[] = {
        {{64, 64}, 2048, 2048}, {{3, 11}, 17, 24}, {{1, 1}, 1, 4}, {{100, 8}, 400, 400},
    };
    const ravel_request rq = {"ROW_MAJOR", "AWQ", "u4", 2, any, 0, 0};
    ravel_error err;
    (void)state;
    ravel_plan *p = compiled(&rq);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        int64_t src, dst;
        if (ravel_plan_bytes_at(p, at[i].shape, &src, &dst, &err))
            fail_msg("%s", err.text);
        assert_int_equal(src, at[i].src);
        assert_int_equal(dst, at[i].dst);
    }
    ravel_plan_free(p);
}

/* The estimates of many extents do not overflow, which the sanitizers see; what the plan does with
 * each of two elements a dim is right. */
static void
many_extents(void **state)
{
    enum { RANK = 10, ELEMENTS = 1 << RANK };
    static const int64_t any[RANK] = {[0 ... RANK - 1] = RAVEL_RUNTIME};
    static const int64_t two[RANK] = {[0 ... RANK - 1] = 2};
    static const char *const type[] = {"u8", "u16", "f32", "f64", "c128"};
    static unsigned char src[16 * ELEMENTS], dst[16 * ELEMENTS];
    const ravel_request rq = {"(A,B,C,D,E,F,G,H,I,J){A,B,C,D,E,F,G,H,I,J}",
                              "(A,B,C,D,E,F,G,H,I,J){J,I,H,G,F,E,D,C,B,A}", "u8", RANK, any, 0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (unsigned char)(i * 97 >> 3);
    for (int t = 0; t < 5; t++) {
        ravel_request of = rq;
        of.dtype = type[t];
        ravel_plan *p = compiled(&of);
        assert_int_equal(ravel_run_shape(p, dst, src, two, NULL), RAVEL_OK);
        for (int i = 0; i < ELEMENTS; i++) {
            int to = 0;
            for (int k = 0; k < RANK; k++)
                to |= (i >> k & 1) << (RANK - 1 - k);
            assert_memory_equal(dst + ((size_t)to << t), src + ((size_t)i << t), (size_t)1 << t);
        }
        ravel_plan_free(p);
    }
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(same_request), TEST(other_requests), TEST(names_change), TEST(threads_change),
        TEST(oldest_goes), TEST(plans_are_small), TEST(steps_are_small),
        TEST(plans_of_any_shape_are_kept), TEST(bounds), TEST(errors), TEST(after_the_context),
        TEST(what_a_hit_costs), TEST(sizes_at_a_shape), TEST(many_extents),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
