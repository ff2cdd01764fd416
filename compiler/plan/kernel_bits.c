/* Kernels for elements smaller than a byte: runs that start at any bit, reversal within
 * bytes, transposes of planes. */
#include "../../templates/c/bits_size.h"
#include "kernel_family.h"

static bool
bits_run_applies(const Nest *n, int bits, int role[ROLES])
{
    (void)bits;
    role[COL] = kernel_run_loop(n);
    role[ROW] = role[COL] < 0 ? -1 : kernel_last_loop(n, role[COL]);
    role[BATCH] = -1;
    return role[COL] >= 0;
}

static double
bits_run_work(const Nest *n, int bits)
{
    double run = (double)nest_tile(n, COL);
    return (double)n->elements * (0.1 * bits / 8 + 6.0 / run);
}

const Family bits_run_family = {
    .kind = NEST_COPY,
    .elements = OF_BITS,
    .args = "dxsyrcikb",
    .what = "runs of elements smaller than a byte, from any bit on",
    .by = &(const Method){
        .applies = bits_run_applies,
        .work = bits_run_work,
        .orders = outer_in_order,
    },
};

/* Requires a loop that reads the elements of a source byte in reverse order, and a loop
 * with a stride of one byte. */
static bool
bits_swap_applies(const Nest *n, int bits, int role[ROLES])
{
    i64 per = 8 / bits;
    role[ROW] = role[COL] = role[BATCH] = -1;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (l->ss == -1 && l->ds == 1 && l->n == per && ex_is_const(l->ex.n) && !l->residual)
            role[COL] = i;
        else if (l->ss % per || l->ds % per)
            return false;
        else if (l->ss == per && l->ds == per && !l->residual)
            role[ROW] = i;
    }
    return role[COL] >= 0 && role[ROW] >= 0 &&
           kernel_multiple(n->dst, per) && kernel_remainder(n->src, per) == per - 1;
}

static double
bits_swap_work(const Nest *n, int bits)
{
    double each = n->permutes ? 0.022 : 0.05;
    return (double)n->elements * (each * bits / 8 + 1.0 / (double)nest_tile(n, ROW));
}

const Family bits_swap_family = {
    .kind = NEST_COPY,
    .elements = OF_BITS,
    .args = "dxsyrb",
    .what = "bytes whose elements change places, the first with the last",
    .by = &(const Method){
        .applies = bits_swap_applies,
        .work = bits_swap_work,
        .orders = outer_in_order,
    },
};

static bool
bits_transpose_applies(const Nest *n, int bits, int role[ROLES])
{
    (void)bits;
    bool plane = kernel_plane(n, role);
    role[BATCH] = -1;
    return plane;
}

/* All planes begin at whole bytes. */
static bool
begins_whole(const Nest *n, i64 per, const int role[ROLES])
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (i != role[ROW] && i != role[COL] && (l->residual || l->ss % per || l->ds % per))
            return false;
    }
    return kernel_multiple(n->src, per) && kernel_multiple(n->dst, per);
}

/* As many rows or columns as a byte has elements, all of which touch. */
static bool
is_woven(const Nest *n, int bits, const int role[ROLES])
{
    const Loop *row = &n->loop[role[ROW]], *col = &n->loop[role[COL]];
    i64 per = 8 / bits;
    if (!begins_whole(n, per, role))
        return false;
    return (col->n == per && row->ds == per && col->ss % per == 0) ||
           (row->n == per && col->ss == per && row->ds % per == 0);
}

/* Columns that are near each other in the source: strips of 128 / bits columns, 64 bits of
 * each. */
static double
near_work(i64 p, i64 q, int bits)
{
    double strip = bits == 4 ? 11 : bits == 2 ? 36 : 40;
    i64 strips = int_ceil_div(q * bits, RAVEL_STRIP_BITS);
    return (double)strips * (strip * (double)int_ceil_div(p * bits, RAVEL_NEAR_TALL) + (double)p);
}

/* Rows that touch are joined eight at a time. */
static bool
is_joined(const Nest *n, i64 q, int bits)
{
    return n->permutes && nest_stride(n, ROW, false) == q && q >= 8 / bits &&
           q * bits <= RAVEL_JOINED_BITS;
}

/* All rows begin at whole bytes of the destination. */
static bool
rows_whole(const Nest *n, i64 per)
{
    for (int i = 0; i < n->nloops; i++)
        if (i != n->role[COL] && (n->loop[i].residual || n->loop[i].ds % per))
            return false;
    return kernel_multiple(n->dst, per);
}

/* To write a piece, at most `along` elements, of a row: those of whole bytes take least, if they fill
 * lines, and those of rows that touch less than those that begin and end within bytes. */
static double
piece_work(const Nest *n, i64 q, i64 along, int bits)
{
    i64 next = nest_stride(n, ROW, false), per = 8 / bits;
    if (is_joined(n, q, bits))
        return q * bits < 64 ? 0.25 : 0.85;
    double whole = q * bits < 512 ? 3 : 1;
    return next == q && q <= along && q >= per ? 2.5 : rows_whole(n, per) ? whole : 5;
}

/* The kernel reads a vector of each column; strips of 32 bytes of 128 / bits columns, or of half as
 * many, are how the time was fitted.  Where bits of the source are shifted it costs a little
 * more.  Then it writes pieces of each row. */
static double
bits_transpose_work(const Nest *n, int bits)
{
    i64 per = 8 / bits, tall = 256 / bits, wide = RAVEL_STRIP_BITS / bits;
    i64 p = nest_tile(n, ROW), q = nest_tile(n, COL), apart = nest_stride(n, COL, true);
    double planes = (double)n->elements / (double)(p * q);
    if (is_woven(n, bits, n->role)) {
        enum { VECTOR = 64 };      /* bytes of each row (column); fewer go one by one */
        double each = p * q < VECTOR * per * per ? 1.3 : 0.1 * bits / 8;
        return (double)n->elements * each + 20 * planes;
    }
    if (p < 4 || q < 4)
        return (double)n->elements * 2.5 + 20 * planes;
    if (n->permutes && apart > 0 && apart * bits <= RAVEL_NEAR_BITS)
        return planes * (20 + near_work(p, q, bits));
    double strip = (q * bits > 64 ? 320.0 : 230.0) / bits * (apart % per ? 1.15 : 1);
    double piece = piece_work(n, q, RAVEL_BITS_ALONG * per, bits);
    double start = is_joined(n, q, bits) ? 110 : 20;
    return planes * (start + strip * (double)(int_ceil_div(p, tall) * int_ceil_div(q, wide)) +
                     piece * (double)(p * int_ceil_div(q, RAVEL_BITS_ALONG * per)));
}

/* A call takes 256 bytes of columns and 128 of rows. */
static bool
bits_transpose_orders(const Plan *p, Nest *n, int k)
{
    n->order = "tiles";
    outer_add_loops(n, BY_DST, false);
    n->stream = outer_may_stream(p, n);
    outer_add_tile(n, COL, 8 * 256, p->dst->dtype->bits);
    outer_add_tile(n, ROW, 8 * 128, p->dst->dtype->bits);
    return k == 0;
}

/* Few rows or columns that touch: calls one after another go on along the other ones. */
static Runs
woven_runs(const Nest *n, int bits)
{
    double rows = (double)n->loop[n->role[ROW]].n, cols = (double)n->loop[n->role[COL]].n;
    bool weave = n->loop[n->role[COL]].n == 8 / bits;
    return (Runs){.read = (weave ? rows : rows * cols) * bits / 8,
                  .written = (weave ? rows * cols : cols) * bits / 8,
                  .apart = nest_stride(n, ROW, false) * bits / 8};
}

static Runs
bits_transpose_runs(const Nest *n, int bits)
{
    if (is_woven(n, bits, n->role))
        return woven_runs(n, bits);
    return (Runs){.read = (double)nest_tile(n, ROW) * bits / 8,
                  .written = (double)nest_tile(n, COL) * bits / 8,
                  .apart = nest_stride(n, ROW, false) * bits / 8};
}

const Family bits_transpose_family = {
    .kind = NEST_COPY,
    .elements = OF_BITS,
    .args = "dxsyrcilHb",
    .what = "a plane contiguous one way in the source, the other way in the destination",
    .by = &(const Method){
        .applies = bits_transpose_applies,
        .work = bits_transpose_work,
        .orders = bits_transpose_orders,
        .runs = bits_transpose_runs,
    },
};
