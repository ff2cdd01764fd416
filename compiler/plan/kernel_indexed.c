/* Runs at places that the numbers of an index array are. */
#include "kernel_family.h"

/* Whether x is `var` plus what does not vary with it: row by row, numbers follow each other
 * in the array. */
static bool
by_one(Exprs *e, const Ex *x, int var)
{
    bool *of = ex_flags(e);
    of[var] = true;
    return ex_part(e, x, of, true) == ex_of_var(e, var);
}

/* Whether the place of a lookup that varies with the variable depends on no lookup that does. */
static bool
is_direct(const Nest *n, int side, int lookup, int var)
{
    for (int i = 0; n->at[side][i]; i++)
        if (ex_has(n->at[side][i], var) && ex_has(n->at[side][lookup], n->number[side][i]))
            return false;
    return true;
}

/* How many lookups of a side the rows can be read by, if the iterations of a loop are the
 * kernel's rows: with each the address varies in multiples of its number, which are read one
 * after the other.  -1: they cannot be. */
static int
lookups_by(const Nest *n, int side, const Loop *l)
{
    int count = 0;
    if (ex_has(side == SRC ? n->src : n->dst, l->var))
        return -1;
    for (int i = 0; n->at[side][i]; i++) {
        bool direct = is_direct(n, side, i, l->var);
        if (!ex_has(n->at[side][i], l->var) && direct)
            continue;
        if (!direct || !by_one(n->e, n->at[side][i], l->var) || !nest_lookup_terms(n, side, i))
            return -1;
        count++;
    }
    return count <= ROW_LOOKUPS ? count : -1;
}

static bool
indexed_applies(const Nest *n, int bits, int role[ROLES])
{
    (void)bits;
    role[COL] = kernel_run_loop(n);
    role[ROW] = -1;
    for (int i = 0; i < n->nloops; i++) {
        int src = lookups_by(n, SRC, &n->loop[i]), dst = lookups_by(n, DST, &n->loop[i]);
        if (src >= 0 && dst >= 0 && src + dst > 0)
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
    .args = "DSnrRNMPYgfUuQXGFVz",
    .what = "runs at places that index arrays have",
    .indexed = true,
    .by = &(const Method){
        .applies = indexed_applies,
        .work = indexed_work,
        .orders = indexed_orders,
    },
};
