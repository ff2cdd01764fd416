/* Runs at offsets that a table holds: addresses that are not affine, and those of many
 * small loops. */
#include <math.h>

#include "kernel_family.h"

/* Entries of a table.  MOST: with the loops in the residual alone, all of which it has.  More
 * loops are added up to ENOUGH entries.  FEWEST: with all of them. */
enum { MOST = 4096, ENOUGH = 512, FEWEST = 8 };

/* How far the terms with loops of the table go, in elements; INFINITY where they have
 * more than those loops. */
static double
reach_of(const Nest *n, const Ex *x, const bool in[MAX_LOOPS])
{
    double least = 0, most = 0;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        double k = (double)x->t[i].coef;
        bool own = false, other = false;
        kernel_varies(n, in, a, &own, &other);
        if (own && other)
            return INFINITY;
        if (own) {
            least += k * (double)(k < 0 ? a->f.max : a->f.min);
            most += k * (double)(k < 0 ? a->f.min : a->f.max);
        }
    }
    return -least > most ? -least : most;
}

/* All offsets in bytes fit 32 bits. */
static bool
near(const Nest *n, int bits, const bool in[MAX_LOOPS])
{
    const Ex *x[] = {n->src, n->dst};
    for (int s = 0; s < 2; s++) {
        double far = reach_of(n, x[s], in);
        for (int i = 0; i < n->nloops; i++) {
            double stride = (double)(s ? n->loop[i].ds : n->loop[i].ss);
            if (in[i])
                far += (stride < 0 ? -stride : stride) * (double)n->loop[i].n;
        }
        if (far * bits / 8 > INT32_MAX)
            return false;
    }
    return true;
}

/* All loops in the residual, and the last ones. */
static i64
entries_of(const Nest *n, int run, bool in[MAX_LOOPS])
{
    i64 entries = 1;
    for (int i = 0; i < n->nloops; i++) {
        in[i] = n->loop[i].residual;
        if (in[i] && !kernel_is_known(&n->loop[i]))
            entries = INF;
        entries *= in[i] && entries <= MOST ? n->loop[i].n : 1;
    }
    for (int i = n->nloops - 1; i >= 0; i--) {
        if (in[i] || i == run)
            continue;
        if (entries > MOST || !kernel_is_known(&n->loop[i]) ||
            entries * n->loop[i].n > ENOUGH)
            break;
        in[i] = true;
        entries *= n->loop[i].n;
    }
    return entries;
}

/* The run is a loop by one on both sides, or one element. */
static bool
gather_applies(const Nest *n, int bits, int role[ROLES])
{
    bool in[MAX_LOOPS];
    role[BATCH] = role[ROW] = -1;
    role[COL] = kernel_run_loop(n);
    i64 entries = entries_of(n, role[COL], in);
    for (int i = n->nloops - 1; i >= 0 && role[ROW] < 0; i--)
        if (i != role[COL] && !in[i])
            role[ROW] = i;
    return entries >= FEWEST && entries <= MOST && near(n, bits, in);
}

/* RUN_NS: for a run; ROW_NS: for the runs of a table. */
static double
gather_work(const Nest *n, int bits)
{
    static const double RUN_NS = 0.45, ROW_NS = 1.5;
    double runs = (double)n->elements / (double)nest_tile(n, COL);
    double bytes = (double)nest_tile(n, COL) * bits / 8;
    return runs * (RUN_NS + 0.04 * bytes + ROW_NS / (double)nest_entries(n));
}

static void
gather_table(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    (void)bits;
    entries_of(n, role[COL], out->in);
}

const Family gather_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DStTrRPQ",
    .what = "runs at offsets that a table holds",
    .applies = gather_applies,
    .work = gather_work,
    .orders = outer_in_order,
    .table = gather_table,
};
