/* Runs at places that the numbers of an index array are. */
#include "kernel_family.h"

/* Whether x is `var` plus what does not vary with it: row by row, numbers follow each other
 * in the array. */
static bool
by_one(Exprs *e, const Ex *x, int var)
{
    bool *of = arena_array(ex_arena(e), bool, ex_nvars(e));
    of[var] = true;
    return ex_part(e, x, of, true) == ex_of_var(e, var);
}

enum { NONE = -1, SEVERAL = -2 };

/* The lookup of a side whose place varies with the variable; NONE; SEVERAL. */
static int
lookup_by(const Nest *n, int side, int var)
{
    int found = NONE;
    for (int i = 0; i < MAX_LOOKUPS && n->at[side][i]; i++)
        if (ex_has(n->at[side][i], var))
            found = found == NONE ? i : SEVERAL;
    return found;
}

/* Whether the iterations of a loop can be the kernel's rows, as far as one side goes: one
 * lookup at most varies with it, number by number; with a lookup the address varies with the
 * loop by that alone, in multiples of its number. */
static bool
side_allows(const Nest *n, int side, const Loop *l)
{
    const Ex *stride = side == SRC ? l->ex.ss : l->ex.ds;
    int i = lookup_by(n, side, l->var);
    if (i == SEVERAL || ex_has(side == SRC ? n->src : n->dst, l->var))
        return false;
    return i == NONE || (ex_is(stride, 0) && by_one(n->e, n->at[side][i], l->var) &&
                         lookup_by(n, side, n->number[side][i]) == NONE &&
                         nest_lookup_terms(n, side, i));
}

static bool
indexed_applies(const Nest *n, int bits, int role[ROLES])
{
    (void)bits;
    role[COL] = kernel_run_loop(n);
    role[ROW] = -1;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        bool reads = lookup_by(n, SRC, l->var) >= 0 || lookup_by(n, DST, l->var) >= 0;
        if (reads && side_allows(n, SRC, l) && side_allows(n, DST, l))
            role[ROW] = i;
    }
    kernel_batch(n, role);
    return role[ROW] >= 0;
}

/* NUMBER_NS: to read a number and to start a run. */
static double
indexed_work(const Nest *n, int bits)
{
    static const double NUMBER_NS = 0.8;
    double run = (double)nest_tile(n, COL);
    return (double)n->elements / run * (NUMBER_NS + 0.02 * run * bits / 8);
}

/* The rows of a call are few enough that the caches hold what one plane has read for the
 * next. */
static bool
indexed_orders(const Plan *p, Nest *n, int k)
{
    enum { STRETCH = 64 * 1024 };
    i64 run = kernel_count(n, n->role[COL]) * p->dst->dtype->bits / 8;
    n->order = in_order_of_writes;
    outer_add_loops(n, BY_DST, false);
    outer_add_tile(n, ROW, STRETCH, run < 64 ? 64 : run);
    return k == 0;
}

const Family indexed_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnrRNMYgfXGF",
    .what = "runs at places that index arrays have",
    .applies = indexed_applies,
    .work = indexed_work,
    .orders = indexed_orders,
    .indexed = true,
};
