/* The budget of work: what is spent, what is refused, and that the same question takes
 * the same of it each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/decide/decide.h"
#include "../../compiler/spec/spec.h"
#include "../../runtime/ravel.h"

enum { DEFAULT = WORK_UNITS * WORK_A_UNIT };

static void
limits(void **state)
{
    Budget none = {0}, some = {.most = 7};
    (void)state;
    assert_int_equal(work_most(&none), DEFAULT);
    assert_int_equal(work_most(&some), 7);
    assert_int_equal(work_steps(0), 0);
    assert_int_equal(work_steps(3), 3 * (i64)WORK_A_UNIT);
    assert_int_equal(work_steps(0.5), WORK_A_UNIT / 2);
    assert_true(work_steps(1e300) > INT64_MAX / 8);
    assert_true(work_steps(1e300) < INT64_MAX / 2);
}

static void
taken(void **state)
{
    Budget w = {.most = 10};
    Arena a = {.work = {.most = 100}};
    (void)state;
    assert_true(work_take(&w, 6));
    assert_false(work_take(&w, 5));
    assert_int_equal(w.spent, 6);
    assert_true(work_take(&w, 4));
    assert_false(work_take(&w, 1));
    assert_true(work_take(&w, 0));
    assert_false(work_take(&w, INT64_MAX));
    assert_true(work_try(&a, 75));             /* a quarter is left for the answer */
    assert_false(work_try(&a, 1));
    assert_int_equal(a.work.spent, 75);
    assert_false(work_try(&a, INT64_MAX));
}

typedef struct {
    Arena *a;
    i64 n, units;
} Spend;

static void
spend(void *arg)
{
    Spend *s = arg;
    work_on(s->a, "to decide about layout", "A");
    if (s->n)
        work_spend_each(s->a, s->n, s->units);
    else
        work_spend(s->a, s->units);
}

static void
refused(void **state)
{
    static const struct { i64 n, units, spent; bool ok; } rows[] = {
        {0, 1000, 1000, true}, {0, 1001, 0, false}, {0, INT64_MAX, 0, false},
        {1 << 30, WORK_FREE, 0, true}, {1000, WORK_FREE + 1, 1000, true},
        {1001, WORK_FREE + 1, 0, false}, {INT64_MAX, INT64_MAX, 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Diag d;
        Arena a = {.work = {.most = 1000}};
        Spend s = {&a, rows[i].n, rows[i].units};
        assert_int_equal(arena_run(&a, &d, spend, &s), rows[i].ok);
        assert_int_equal(a.work.spent, rows[i].spent);
        if (rows[i].ok)
            continue;
        assert_int_equal(d.kind, DIAG_LIMIT);
        assert_true(diag_is_final(&d));
        assert_non_null(strstr(d.text, "to decide about layout 'A' takes more work"));
        assert_non_null(strstr(d.text, "--limit"));
    }
}

static void
allocate(void *arg)
{
    for (int i = 0; i < 100; i++)
        arena_alloc(arg, 640);
}

static void
memory_counts(void **state)
{
    Diag d;
    Arena a = {.work = {.most = 1100}}, b = {.work = {.most = 1099}};
    (void)state;
    assert_true(arena_run(&a, &d, allocate, &a));
    assert_int_equal(a.work.spent, 1100);
    assert_false(arena_run(&b, &d, allocate, &b));
    assert_int_equal(d.kind, DIAG_LIMIT);
    arena_free(&a);
    arena_free(&b);
}

/* `between`: each time something else is allocated after it, so it cannot grow in place. */
static void
resize_all(Arena *a, bool between)
{
    static const size_t sizes[] = {40, 100, 5000, 5000, 90000, 16384, 20000, 4096, 16};
    unsigned char *p = NULL;
    size_t old = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p = arena_resize(a, p, old, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[k], k < old ? k % 251 : 0);
        for (size_t k = old; k < sizes[i]; k++)
            p[k] = (unsigned char)(k % 251);
        old = sizes[i];
        if (between)
            memset(arena_alloc(a, 700), 0xa5, 700);
    }
}

static void
resize(void *arg)
{
    resize_all(arg, true);
}

/* What is last in its block grows where it is, for work; and only large ones are dropped. */
static void
grow(void *arg)
{
    Arena *a = arg;
    resize_all(a, false);
    unsigned char *p = arena_alloc(a, 20);
    size_t held = a->held;
    i64 spent = a->work.spent;
    assert_ptr_equal(arena_resize(a, p, 20, 3200), p);
    assert_true(a->work.spent >= spent + 3200 / 64 - 1);
    assert_int_equal(a->held, held);
    arena_drop(a, p, 3200);
    assert_int_equal(a->held, held);
    arena_drop(a, arena_alloc(a, 40000), 40000);
    assert_int_equal(a->held, held);
}

/* Contents stay, new bytes are 0, and a large array that grows leaves nothing behind. */
static void
resized(void **state)
{
    Diag d;
    Arena a = {.work = {.most = 1 << 20}};
    (void)state;
    assert_true(arena_run(&a, &d, resize, &a));
    assert_true(a.held < 60000);
    assert_true(a.work.spent > 90000 / 64);
    assert_true(arena_run(&a, &d, grow, &a));
    arena_free(&a);
}

/* What is found by looking at every element, in words. */
typedef struct {
    Arena a;
    const char *text;
    i64 shape[2];
    Verdict *v;
} Ask;

static void
ask(void *arg)
{
    Ask *q = arg;
    const LayoutRef *ref = spec_ref(&q->a, q->text, NULL);
    q->v = decide(layout_make(ex_new(&q->a), ref, dtype_find("u8"), 2, q->shape));
}

static Ask
asked(const char *text, i64 n, i64 most)
{
    Diag d;
    Ask q = {.a = {.work = {.most = most}}, .text = text, .shape = {n, n}};
    if (!arena_run(&q.a, &d, ask, &q))
        fail_msg("%s", d.text);
    return q;
}

static const char by_looking[] = "{(M + K)%211, M}",
                  swizzled[] = "{M, K, swizzle = function(a) return a*7 % 40000 end}";

/* The same question takes the same, and at a limit that it needs it has its answer. */
static void
counted_alike(void **state)
{
    static const char *const texts[] = {by_looking, swizzled};
    (void)state;
    for (int i = 0; i < 2; i++) {
        Ask a = asked(texts[i], 200, 0), b = asked(texts[i], 200, 0);
        assert_int_equal(a.v->injective, YES);
        assert_int_equal(a.v->flaw, FLAW_NONE);
        assert_true(a.a.work.spent > 40000);           /* each element, once at least */
        assert_int_equal(a.a.work.spent, b.a.work.spent);
        Ask enough = asked(texts[i], 200, 2 * a.a.work.spent);
        assert_int_equal(enough.v->flaw, FLAW_NONE);
        Ask less = asked(texts[i], 200, a.a.work.spent);
        assert_int_equal(less.v->flaw, FLAW_UNDECIDED);
        assert_non_null(strstr(less.v->why, "more work than the limit allows"));
        assert_true(less.a.work.spent <= a.a.work.spent);
        arena_free(&a.a);
        arena_free(&b.a);
        arena_free(&enough.a);
        arena_free(&less.a);
    }
}

/* The library's setting: for what comes after it. */
static void
of_a_context(void **state)
{
    ravel_context *cx;
    ravel_error err;
    int64_t shape[] = {1000, 1000}, bytes;
    static const char text[] = "{(M + K)%1009, M}";
    (void)state;
    assert_int_equal(ravel_context_new(&cx, &err), RAVEL_OK);
    assert_int_equal(ravel_set_limit(NULL, 1, &err), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_set_limit(cx, -1, &err), RAVEL_ERR_ARGUMENT);
    assert_int_equal(ravel_set_limit(cx, (double)__builtin_nan(""), &err),
                     RAVEL_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ravel_storage_bytes(cx, text, "u8", 2, shape, &bytes, &err),
                         RAVEL_OK);
        assert_int_equal(ravel_set_limit(cx, 0.01, &err), RAVEL_OK);
        assert_int_equal(ravel_storage_bytes(cx, text, "u8", 2, shape, &bytes, &err),
                         RAVEL_ERR_LAYOUT);
        assert_non_null(strstr(err.text, "more work than the limit allows"));
        assert_int_equal(ravel_set_limit(cx, 1e-6, &err), RAVEL_OK);
        assert_int_equal(ravel_storage_bytes(cx, text, "u8", 2, shape, &bytes, &err),
                         RAVEL_ERR_LIMIT);
        assert_int_equal(ravel_set_limit(cx, i ? 60 : 0, &err), RAVEL_OK);
    }
    assert_string_equal(ravel_status_text(RAVEL_ERR_LIMIT),
                        "it takes more work than the limit allows");
    ravel_context_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(taken),
        cmocka_unit_test(resized),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_counts),
        cmocka_unit_test(counted_alike),
        cmocka_unit_test(of_a_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
