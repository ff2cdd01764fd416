/* plan_check on plans with extents left to run time that are wrong at some shapes only. */
#include "planned.h"

static const Pair any = {"(A,B){A, B}", "(A,B){A//4, B//3, A%4, B%3, fill = 'none'}",
                         "f32", 2, {RUNTIME_EXTENT, RUNTIME_EXTENT}};
/* Its first nests: whole blocks of both dims, whole by rest, rest by whole. */
enum { WHOLE, REST = 2 };

static bool
drop(Case *c, int k)
{
    c->plan->nest[k] = c->plan->nest[--c->plan->n];
    return true;
}

static void
check_any(void *arg)
{
    Case *c = arg;
    c->check = plan_check(&c->arena, c->plan, true);
}

/* The rest of A moves where A is 7 or more, as many coordinates as before. */
static void
move_rest(Case *c, i64 by)
{
    Exprs *e = c->plan->e;
    Piece *q = piece(c, REST, 0);
    const Ex *large = ex_min(e, ex_div(e, scalar_ex(c->plan->scalars, 0), 7),
                             ex_const(e, 1));
    q->start = ex_add(e, q->start, ex_scale(e, large, by));
}

static bool
good(Case *c, int nest)
{
    (void)c, (void)nest;
    return true;
}

static bool
rest_too_early(Case *c, int nest)
{
    (void)nest;
    move_rest(c, -1);
    return true;
}

static bool
rest_too_late(Case *c, int nest)
{
    (void)nest;
    move_rest(c, 1);
    return true;
}

static void
broken_at_a_shape(void **state)
{
    static const struct {
        bool (*f)(Case *, int);
        const char *says;          /* NULL: it is right */
    } rows[] = {
        {good, NULL},
        {rest_too_early, "cannot be shown to be disjoint"},
        {rest_too_late, "leaves the coordinates that are its to cover: A"},
        {drop, "the nests copy"},  /* seen where both extents have whole blocks */
    };
    (void)state;
    for (int i = 0; i < LEN(rows); i++) {
        Case c = {.pair = &any};
        guarded(&c, make);
        guarded(&c, own_pieces);
        Diag d;
        c.arena.diag = &d;
        rows[i].f(&c, WHOLE);
        guarded(&c, check_any);
        const char *flaw = c.check.flaw;
        if (rows[i].says ? !flaw || !strstr(flaw, rows[i].says) : !!flaw)
            fail_msg("'%s' does not say '%s'", flaw ? flaw : "nothing",
                     rows[i].says ? rows[i].says : "nothing");
        arena_free(&c.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_at_a_shape),
    };
    return cmocka_run_group_tests_name("plan_at", tests, NULL, NULL);
}
