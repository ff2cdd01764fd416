/* case_injective against the values themselves: sums of products of random variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/decide/decide.h"
#include "random.h"

enum { ROUNDS = 4000, VALUES = 4, ALL = 6 * 6 * 6 * 6 };

typedef struct {
    uint64_t state;
    Arena arena;
    Exprs *e;
    DecideValue value[VALUES];
    int n;
} Draw;

static i64
pick(Draw *r, i64 n)
{
    return random_below(&r->state, n);
}

/* A mixed radix of the values from `first` on, in a random order, some of them downwards and
 * sometimes with a step that is too short, and a start. */
static const Ex *
sum(Draw *r, int first)
{
    i64 step = 1 + pick(r, 3);
    int turn = (int)pick(r, r->n);
    const Ex *x = ex_const(r->e, pick(r, 40));
    for (int i = first, rest = r->n - first; i < r->n; i++) {
        const DecideValue *v = &r->value[first + (i + turn) % rest];
        x = ex_add_scaled(r->e, x, ex_of_var(r->e, v->var), pick(r, 3) ? step : -step);
        step *= v->size + (pick(r, 6) ? 0 : -1);
    }
    return x;
}

/* The first value, of two, says which of two sums of the others it is. */
static const Ex *
draw(Draw *r)
{
    for (r->n = 0; r->n < VALUES; r->n++) {
        i64 size = r->n ? 2 + pick(r, 5) : 2;
        r->value[r->n] = (DecideValue){ex_var(r->e, "v", 0, size - 1), size};
    }
    const Ex *which = ex_of_var(r->e, r->value[0].var);
    const Ex *other = ex_add_scaled(r->e, ex_const(r->e, 1), which, -1);
    const Ex *far = ex_add(r->e, sum(r, 1), ex_const(r->e, pick(r, 400)));
    return ex_add(r->e, ex_mul(r->e, which, sum(r, 1)), ex_mul(r->e, other, far));
}

static bool
is_distinct(Draw *r, const Ex *x)
{
    i64 *val = arena_array(&r->arena, i64, ex_nvars(r->e)), got[ALL];
    i64 n = 0, all = 1;
    for (int i = 0; i < r->n; i++)
        all *= r->value[i].size;
    for (i64 k = 0; k < all; k++) {
        i64 left = k;
        for (int i = 0; i < r->n; left /= r->value[i++].size)
            val[r->value[i].var] = left % r->value[i].size;
        assert_true(ex_eval(x, val, &got[n++]));
        for (i64 j = 0; j + 1 < n; j++)
            if (got[j] == got[n - 1])
                return false;
    }
    return true;
}

static void
sums_of_products(void **state)
{
    const uint64_t seed = 17;
    int yes = 0, distinct = 0;
    (void)state;
    printf("# seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < ROUNDS; i++) {
        Diag d;
        Draw r = {.state = seed * 6364136223846793005u + (uint64_t)i * 1442695040888963407u,
                  .arena = {.diag = &d}};
        if (diag_catch(&d))
            fail_msg("%s", d.text);
        r.e = ex_new(&r.arena);
        i64 examined = 0;
        const Ex *x = draw(&r);
        bool say = case_injective(r.e, x, r.value, r.n, &examined) == YES;
        bool is = is_distinct(&r, x);
        if (say && !is)
            fail_msg("round %d: %s has a value twice", i, ex_text(r.e, x));
        yes += say;
        distinct += is;
        arena_free(&r.arena);
    }
    printf("# %d of %d distinct ones were recognized\n", yes, distinct);
    assert_true(yes * 2 > distinct && distinct > ROUNDS / 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
