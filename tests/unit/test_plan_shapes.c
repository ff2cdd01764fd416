/* The shapes at which plans with run-time extents are proven: each variant of a nest runs at
 * one of them.  Variants whose table has offsets of 32 bits run where these suffice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../compiler/compile.h"
#include "../../compiler/plan/plan_parts.h"

enum { OPEN = RUNTIME_EXTENT };

static const struct {
    const char *from, *to, *dtype;
    int rank, variants;            /* nests with a test of the shape, at least */
    i64 shape[6];
} pairs[] = {
    {"(A,B,C){A, B, C}", "(A,B,C){A, C, B}", "u8", 3, 2, {OPEN, OPEN, OPEN}},
    {"(A,B,C,D){A, B, C, D}", "(A,B,C,D){C, B, D, A}", "f16", 4, 2, {OPEN, 5, OPEN, 7}},
    {"(A,B,C,D,E,F){A, B, C, D, E, F}", "(A,B,C,D,E,F){A, E, C, B, D, F}", "u8", 6, 2,
     {5, OPEN, 2, 3, OPEN, 7}},
    {"(A,B,C,D,E,F){A, B, C, D, E, F}", "(A,B,C,D,E,F){E, B, A, F, D, C}", "u4", 6, 2,
     {5, 5, OPEN, OPEN, 3, 5}},
    {"(N,C,H,W){N, C, H, W}", "(N,C,H,W){N, C//16, H, W, C%16}", "f16", 4, 2,
     {OPEN, 20, OPEN, OPEN}},
    {"(A,B,C,D){A, B, C, D}", "(A,B,C,D){B, C, D, A}", "u4", 4, 2, {3, 17, 26, OPEN}},
    {"(A,B,C,D){A, B, C, D}", "(A,B,C,D){C, A, D, B}", "f16", 4, 2, {OPEN, OPEN, 2, OPEN}},
    {"(N,C,H,W){N, C, H, W}", "(N,C,H,W){N, H, W, C}", "f32", 4, 2, {OPEN, OPEN, OPEN, 5}},
    {"(N,C,H,W){N, C, H, W}", "(N,C,H,W){N, C//16, H, W, C%16}", "u4", 4, 2,
     {2, OPEN, OPEN, OPEN}},
};

typedef struct {
    int pair, variants, idle;
    Arena arena;
} Case;

static bool
runs_at(Arena *a, const Plan *p, const Nest *n, const i64 *shape)
{
    i64 extent[MAX_RANK];
    assert_null(plan_extents(a, p, shape, extent));
    const i64 *val = plan_values(a, p, extent);
    return val && nest_elements_at(n, val) > 0;
}

static void
count(void *arg)
{
    Case *c = arg;
    static const char *const name[] = {"a", "b", "c", "d", "e", "f"};
    Request rq = {.from = pairs[c->pair].from, .to = pairs[c->pair].to,
                  .dtype = pairs[c->pair].dtype, .rank = pairs[c->pair].rank,
                  .shape = pairs[c->pair].shape, .extent = name, .name = "f"};
    const Plan *p = compile_plan(&c->arena, NULL, &rq);
    ShapeList list = plan_boundaries(&c->arena, p);
    assert_int_equal(list.idle, 0);
    for (int k = 0; k < p->n; k++) {
        int at = 0;
        while (at < list.n && !runs_at(&c->arena, p, p->nest[k], list.shape[at]))
            at++;
        c->variants += p->nest[k]->narrow > 0;
        c->idle += at == list.n && !p->nest[k]->merged && !p->nest[k]->far;
    }
}

static void
each_variant_runs(void **state)
{
    (void)state;
    for (int i = 0; i < LEN(pairs); i++) {
        Diag d;
        Case c = {.pair = i};
        if (!arena_run(&c.arena, &d, count, &c))
            fail_msg("%s", d.text);
        if (c.variants < pairs[i].variants || c.idle)
            fail_msg("%s to %s: %d variants, %d idle", pairs[i].from, pairs[i].to, c.variants,
                     c.idle);
        arena_free(&c.arena);
    }
}

/* The nests with such a table that run at a shape. */
typedef struct {
    i64 shape[4];
    int running;
    Arena arena;
} Tables;

static void
count_tables(void *arg)
{
    Tables *t = arg;
    static const char *const name[] = {"a", "b", "c", "d"};
    const i64 shape[] = {3, 17, 26, OPEN};
    Request rq = {.from = "(A,B,C,D){A, B, C, D}", .to = "(A,B,C,D){B, C, D, A}",
                  .dtype = "u4", .rank = 4, .shape = shape, .extent = name, .name = "f"};
    const Plan *p = compile_plan(&t->arena, NULL, &rq);
    for (int k = 0; k < p->n; k++)
        t->running += p->nest[k]->near && runs_at(&t->arena, p, p->nest[k], t->shape);
}

static void
offsets_of_tables_fit(void **state)
{
    static const struct { i64 d; bool run; } at[] = {
        {1, true}, {2, true}, {1000000, true}, {2000000, false}, {1 << 30, false}};
    (void)state;
    for (int i = 0; i < LEN(at); i++) {
        Diag d;
        Tables t = {.shape = {3, 17, 26, at[i].d}};
        if (!arena_run(&t.arena, &d, count_tables, &t))
            fail_msg("%s", d.text);
        assert_int_equal(t.running > 0, at[i].run);
        arena_free(&t.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_variant_runs),
                                       cmocka_unit_test(offsets_of_tables_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
