/* Kernels for planes with few columns (interleave) or with few rows (deinterleave). */
#include "../../templates/c/interleave_size.h"
#include "../../templates/c/vector_size.h"
#include "kernel_family.h"

enum { MOST_COLS = 15 };

/* Requires few columns, and rows that are contiguous in the destination. */
static bool
interleave_applies(const Nest *n, int bits, int role[ROLES])
{
    i64 size = bits / 8;
    if (!kernel_plane(n, role))
        return false;
    const Loop *row = &n->loop[role[ROW]], *col = &n->loop[role[COL]];
    i64 width = n->pad.n ? n->pad.ex->f.max : 0;
    if (col->most > MOST_COLS || !int_add(width, col->most, &width))
        return false;
    if (ex_is_const(row->ex.ds) && row->ds < width)
        width = row->ds;
    return width <= RAVEL_WOVEN_BYTES / size &&
           row->n >= RAVEL_ROW_BYTES / size && row->ds >= col->n + n->pad.n;
}

/* Rows that do not touch are put together one by one.  Two columns take less than other powers
 * of two, three less than other odd numbers.  PLANE_NS: to begin a plane whose columns are no
 * power of two. */
static double
interleave_work(const Nest *n, int bits)
{
    enum { PLANE_NS = 12 };
    i64 cols = nest_tile(n, COL);
    double plane = (double)(cols * nest_tile(n, ROW)), row = (double)cols;
    bool touch = nest_stride(n, ROW, false) == cols + n->pad.n;
    bool power = !n->pad.n && (cols & (cols - 1)) == 0;
    double size = bits / 8, each = power ? 0.06 * size - 0.03 : 0.05 + 0.05 * size;
    if (cols == 2 && !n->pad.n)
        each = 0.03 * size;
    if (cols == 3 && !n->pad.n)
        each = 0.02 + 0.045 * size;
    if (!touch)
        each = 2.0 + 1.2 / row;
    double start = (power ? size / 2 : PLANE_NS) + 8 / (double)nest_tile(n, BATCH);
    return (double)n->elements * (each + start / plane);
}

static i64
interleave_most(i64 size)
{
    i64 cols = RAVEL_WOVEN_BYTES / size;
    return cols < MOST_COLS ? cols : MOST_COLS;
}

/* Requires fewer rows than fill a vector, and columns that are contiguous in the
 * source. */
static bool
deinterleave_applies(const Nest *n, int bits, int role[ROLES])
{
    i64 least = RAVEL_ROW_BYTES / (bits / 8);
    if (!kernel_plane(n, role))
        return false;
    const Loop *row = &n->loop[role[ROW]], *col = &n->loop[role[COL]];
    return row->most < least && col->n >= least && col->ss >= row->n;
}

/* Columns that do not follow one another are read in pieces. */
static double
deinterleave_work(const Nest *n, int bits)
{
    enum { PLANE_NS = 15 };
    double plane = (double)(nest_tile(n, COL) * nest_tile(n, ROW)), size = bits / 8;
    double gaps = nest_stride(n, COL, true) == nest_tile(n, ROW) ? 0 : 0.1;
    return (double)n->elements * (0.03 + 0.04 * size + gaps + PLANE_NS / plane);
}

static i64
deinterleave_most(i64 size)
{
    return RAVEL_ROW_BYTES / size - 1;
}

/* True if the plane has few columns, false if it has few rows. */
static bool
weaves(const Nest *n)
{
    return n->kernel->family->narrow.role == COL;
}

/* For small planes of `bytes` each: a call takes as many planes as write a kilobyte.  The
 * order is that of the source, so that the rest of a cache line is read soon after. */
static bool
order_planes(Nest *n, i64 bytes)
{
    enum { STRETCH = 1024 };
    int batch = n->role[BATCH];
    if (batch < 0 || bytes >= STRETCH)
        return false;
    outer_add_loops(n, BY_SRC, true);
    OuterLoop *t = &n->outer[nest_outer(n, batch)];
    i64 planes = STRETCH / bytes;
    t->step = (int)(planes < n->loop[batch].n ? planes : n->loop[batch].n);
    return true;
}

/* True for planes of whole cache lines in the destination with 2, 4 or 8 bytes for each
 * row and no padding.  Kernels store such planes past the caches without a buffer. */
static bool
whole_planes(const Nest *n, i64 bytes, i64 size)
{
    enum { MOST = 8 };
    int batch = n->role[BATCH], row = n->role[ROW];
    i64 cols = nest_tile(n, COL), each = cols * size;
    return weaves(n) && !n->pad.n && batch >= 0 && bytes % RAVEL_LINE == 0 &&
           n->loop[batch].ds * size % RAVEL_LINE == 0 && n->loop[row].ds == cols &&
           cols > 1 && each <= MOST && (each & (each - 1)) == 0;
}

/* The long loop is cut into parts of whole cache lines, enough of them for the threads.
 * A call takes several small planes.  With few columns, stores past the caches through a
 * buffer were slower than plain stores (1.23 against 1.07 of memcpy, 64 MB, Zen 3). */
static bool
narrow_orders(const Plan *p, Nest *n, int k)
{
    enum { LEAST = 4096, MOST = 64 << 10 };
    i64 size = p->dst->dtype->bits / 8;
    int role = weaves(n) ? ROW : COL;
    i64 whole = n->loop[n->role[role]].n;
    i64 part = int_ceil_div(whole, 32 * RAVEL_LINE) * RAVEL_LINE * size;
    i64 row = role == COL ? 64 : (nest_tile(n, COL) + n->pad.n) * size;
    n->stream = row % RAVEL_LINE == 0 && outer_may_stream(p, n);
    if (k == 1) {
        i64 plane = whole * nest_tile(n, role == ROW ? COL : ROW) * size;
        n->order = "planes along the source";
        n->stream |= whole_planes(n, plane, size) && outer_may_stream(p, n);
        return order_planes(n, plane);
    }
    n->order = "parts of the long loop";
    outer_add_loops(n, BY_DST, false);
    outer_add_tile(n, BATCH, int_ceil_div(MOST / size, 16 * whole), 1);
    outer_add_tile(n, role, part < LEAST ? LEAST : part < MOST ? part : MOST, size);
    return k == 0;
}

static Runs
narrow_runs(const Nest *n, int bits)
{
    i64 size = bits / 8;
    bool weave = weaves(n);
    i64 rows = nest_tile(n, ROW), cols = nest_tile(n, COL), planes = nest_tile(n, BATCH);
    i64 read = weave ? rows : nest_stride(n, COL, true) == rows ? rows * cols : rows;
    i64 written = !weave ? cols : nest_stride(n, ROW, false) == cols ? rows * cols : cols;
    const OuterLoop *last = n->nouter ? &n->outer[n->nouter - 1] : NULL;
    if (nest_stride(n, BATCH, false) == written)
        written *= planes;
    if (nest_stride(n, BATCH, true) == read)
        read *= planes;
    else if (last && last->step == 1 && n->loop[last->loop].ss == read)
        read *= n->loop[last->loop].n;
    return (Runs){.read = (double)(read * size), .written = (double)(written * size),
                  .apart = n->role[BATCH] < 0 ? 0 : nest_stride(n, ROW, false) * size};
}

const Family interleave_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnrcWNMPqHAv",
    .what = "a plane of a few columns, which become rows; padded in the same pass",
    .pads = 1.5,
    .narrow = {&transpose_family, COL, interleave_most},
    .by = &(const Method){
        .applies = interleave_applies,
        .work = interleave_work,
        .orders = narrow_orders,
        .runs = narrow_runs,
        .speeds = AS_COPIES,
    },
};

const Family deinterleave_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnrcNMPqHA",
    .what = "a plane of a few rows, from columns that are one after the other",
    .narrow = {&transpose_family, ROW, deinterleave_most},
    .by = &(const Method){
        .applies = deinterleave_applies,
        .work = deinterleave_work,
        .orders = narrow_orders,
        .runs = narrow_runs,
        .speeds = AS_COPIES,
    },
};
