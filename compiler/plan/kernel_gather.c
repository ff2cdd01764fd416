/* Runs at offsets that a table holds: addresses that are not affine, and those of many
 * small loops.  Runs of elements smaller than a byte are whole bytes. */
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

/* All offsets in bytes fit 32 bits, as far as they are numbers. */
static bool
is_near(const Nest *n, int bits, const bool in[MAX_LOOPS])
{
    const Ex *x[] = {n->src, n->dst};
    for (int s = 0; s < 2; s++) {
        double far = reach_of(n, x[s], in);
        for (int i = 0; i < n->nloops; i++) {
            double stride = (double)kernel_stride_ex(&n->loop[i], s ? DST : SRC)->base;
            if (in[i])
                far += (stride < 0 ? -stride : stride) * (double)n->loop[i].n;
        }
        if (far * bits / 8 > TABLE_NEAR)
            return false;
    }
    return true;
}

/* The table can have the loop: it has numbers or, if the nest assumes that offsets are near,
 * strides that depend on the shape. */
static bool
is_plain(const Nest *n, const Loop *l)
{
    return kernel_is_known(l) || (n->near && ex_is_const(l->ex.n));
}

/* All loops in the residual, and the last ones.  Where a residual has loops, and these are too
 * few, also those past one that is too long, which is for the rows. */
static i64
entries_of(const Nest *n, int run, bool in[MAX_LOOPS])
{
    i64 entries = 1;
    for (int i = 0; i < n->nloops; i++) {
        in[i] = n->loop[i].residual;
        if (in[i] && !is_plain(n, &n->loop[i]))
            entries = INF;
        entries *= in[i] && entries <= MOST ? n->loop[i].n : 1;
    }
    bool passed = entries == 1;
    for (int i = n->nloops - 1; i >= 0; i--) {
        if (in[i] || i == run)
            continue;
        bool fits = entries <= MOST && is_plain(n, &n->loop[i]) &&
                    entries * n->loop[i].n <= ENOUGH;
        if (!fits && (passed || entries >= FEWEST))
            break;
        passed |= !fits;
        in[i] = fits;
        entries *= fits ? n->loop[i].n : 1;
    }
    return entries;
}

static bool
has_scalars(const Nest *n, const bool in[MAX_LOOPS])
{
    i64 taken[MAX_LOOPS];
    TableScalars s;
    for (int i = 0; i < n->nloops; i++)
        taken[i] = in[i] ? n->loop[i].n : 1;
    return table_scalars(n, taken, &s);
}

/* All runs begin at whole bytes, and so do the parts of their addresses in the table and outside
 * of it. */
static bool
runs_are_bytes(const Nest *n, i64 per, int run, const bool in[MAX_LOOPS])
{
    bool whole = per == 1 || (run >= 0 && kernel_multiple(n->loop[run].ex.n, per));
    for (int s = SRC; s <= DST && per > 1; s++) {
        whole &= kernel_multiple(kernel_terms(n, in, s == SRC, false), per) &&
                 kernel_multiple(kernel_terms(n, in, s == SRC, true), per);
        for (int i = 0; i < n->nloops; i++)
            whole &= i == run || kernel_terms_multiple(kernel_stride_ex(&n->loop[i], s), per);
    }
    return whole;
}

/* The run is a loop by one on both sides, or one element.  Padding has the destination's side. */
static bool
gather_applies(const Nest *n, int bits, int role[ROLES])
{
    bool in[MAX_LOOPS];
    role[BATCH] = role[ROW] = -1;
    role[COL] = n->kind == NEST_FILL ? kernel_unit_loop(n, false) : kernel_run_loop(n);
    i64 entries = entries_of(n, role[COL], in);
    for (int i = n->nloops - 1; i >= 0 && role[ROW] < 0; i--)
        if (i != role[COL] && !in[i])
            role[ROW] = i;
    return entries >= FEWEST && entries <= MOST && is_near(n, bits, in) &&
           has_scalars(n, in) && runs_are_bytes(n, bits < 8 ? 8 / bits : 1, role[COL], in);
}

/* For the runs of a table. */
static const double ROW_NS = 1.5;

/* Of short runs each byte takes less where a cache holds the lines.  TWICE_NS: for two moves. */
static double
gather_work(const Nest *n, int bits)
{
    enum { SHORT = 16 };
    static const double RUN_NS[] = {0.45, 0.38}, SHORT_NS[] = {0.04, 0.008}, LONG_NS = 0.03,
                        TWICE_NS = 0.15;
    double runs = (double)n->elements / (double)nest_tile(n, COL);
    double bytes = (double)nest_tile(n, COL) * bits / 8, most = fmin(bytes, SHORT);
    const i64 b = (i64)bytes;
    bool cached = !n->stream && !n->near && runs * bytes <= CACHED_BYTES;
    return runs * (RUN_NS[cached] + SHORT_NS[cached] * most + LONG_NS * (bytes - most) +
                   (b & (b - 1) ? TWICE_NS + kernel_overlap(b) : 0) + ROW_NS / (double)nest_entries(n));
}

static void
gather_table(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    (void)bits;
    entries_of(n, role[COL], out->in);
}

/* The loops of the table of a nest that has this kernel. */
static void
table_of(const Nest *n, i64 taken[MAX_LOOPS])
{
    const int first = n->nloops - n->inner;
    for (int i = 0; i < n->nloops; i++)
        taken[i] = i >= first && i < first + n->table ? n->loop[i].n : 1;
}

static int
scalars_of(const Nest *n, int bits, const Ex *out[TABLE_SCALARS])
{
    i64 taken[MAX_LOOPS];
    TableScalars s;
    (void)bits;
    table_of(n, taken);
    table_scalars(n, taken, &s);
    return table_scalars_list(n, &s, out);
}

static const Ex *
near_of(const Nest *n, int bits)
{
    i64 taken[MAX_LOOPS];
    table_of(n, taken);
    return table_near(n, taken, bits < 8 ? 1 : bits / 8);
}

const Family gather_family = {
    .kind = NEST_COPY,
    .elements = OF_ANY,
    .args = "DStTrRPQ",
    .what = "runs at offsets that a table holds",
    .by = &(const Method){
        .applies = gather_applies,
        .work = gather_work,
        .orders = outer_in_order,
        .table = gather_table,
        .scalars = scalars_of,
        .near = near_of,
    },
};

/* Instead of so many calls of the kernel fill, which runs two loops. */
static bool
fill_at_applies(const Nest *n, int bits, int role[ROLES])
{
    enum { CALLS = 16 };
    const int cols = kernel_last_loop(n, -1), rows = kernel_last_loop(n, cols);
    i64 calls = 1;
    for (int i = 0; i < n->nloops && calls < CALLS; i++)
        calls *= i == cols || i == rows ? 1 : n->loop[i].n;
    return calls >= CALLS && gather_applies(n, bits, role);
}

/* START_NS: to write the values that padding is copied from. */
static double
fill_at_work(const Nest *n, int bits)
{
    enum { START_NS = 10 };
    static const double RUN_NS = 0.45, BYTE_NS = 0.04;
    double runs = (double)n->elements / (double)nest_tile(n, COL);
    return START_NS + runs * (RUN_NS + ROW_NS / (double)nest_entries(n)) +
           BYTE_NS * (double)n->elements * bits / 8;
}

const Family fill_at_family = {
    .kind = NEST_FILL,
    .elements = OF_ANY,
    .args = "DtTrRPvb",
    .what = "padding at offsets that a table holds",
    .by = &(const Method){
        .applies = fill_at_applies,
        .work = fill_at_work,
        .orders = outer_in_order,
        .table = gather_table,
        .scalars = scalars_of,
        .near = near_of,
    },
};
