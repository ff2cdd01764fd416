/* The index arrays that a proof makes up: numbers that the array's type has, below the extent
 * of the dim, though that may be larger than the type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../runtime/library.h"

enum { N = 1000 };

typedef struct {
    const Plan *plan;
    int64_t at[PLAN_ARRAYS];
    Arena arena;
} Case;

static void
invent(void *arg)
{
    Case *c = arg;
    arrays_invent(&c->arena, c->plan, c->at);
}

static void
numbers_fit(const char *from, int64_t bound)
{
    const int64_t shape[] = {N};
    ravel_request rq = {.from = from, .to = "ROW_MAJOR", .dtype = "u1", .rank = 1,
                        .shape = shape, .threads = 1};
    ravel_context *cx;
    ravel_plan *p;
    ravel_error err;
    ravel_array a;
    Diag d;
    assert_int_equal(ravel_context_new(&cx, &err), RAVEL_OK);
    if (ravel_compile(cx, &rq, &p, &err) != RAVEL_OK)
        fail_msg("%s", err.text);
    assert_int_equal(ravel_plan_arrays(p, &a), 1);
    Case c = {.plan = p->plan};
    assert_true(arena_run(&c.arena, &d, invent, &c));
    const int32_t *narrow = (const int32_t *)(intptr_t)c.at[0];
    const int64_t *wide = (const int64_t *)(intptr_t)c.at[0];
    int64_t most = 0;
    for (int i = 0; i < N; i++) {
        int64_t v = a.bits == 32 ? narrow[i] : wide[i];
        assert_in_range(v, 0, bound - 1);
        most = v > most ? v : most;
    }
    assert_true(most > bound / 2);
    arena_free(&c.arena);
    ravel_plan_free(p);
    ravel_context_free(cx);
}

static void
of_32_bits(void **state)
{
    (void)state;
    numbers_fit("ROW_MAJOR(3000000000)[i32 i]", (int64_t)1 << 31);
    numbers_fit("ROW_MAJOR(1000000)[i32 i]", 1000000);
}

static void
of_64_bits(void **state)
{
    (void)state;
    numbers_fit("ROW_MAJOR(3000000000)[i]", 3000000000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_32_bits),
                                       cmocka_unit_test(of_64_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
