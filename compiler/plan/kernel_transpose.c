/* Transposes: the rows of a plane are contiguous in the source, its columns in the
 * destination.  The kernel writes lines of columns directly to the destination, or blocks
 * through buffers. */
#include <stdint.h>
#include <string.h>

#include "../../templates/c/transpose_size.h"
#include "../../templates/c/vector_size.h"
#include "kernel_family.h"

/* The largest element, in bytes, for which the kernel has buffers. */
enum { MOST_SIZE = 8 };

static bool
transpose_applies(const Nest *n, int bits, int role[ROLES])
{
    (void)bits;
    return kernel_plane(n, role);
}

/* Nanoseconds of an element in a full block of a line of columns, and in a plane with fewer
 * rows or columns than a block of 16 bytes has. */
static const struct {
    int size;
    double full, few;
} blocks[] = {
    {1, 0.032, 0.75},
    {2, 0.06, 0.55},
    {4, 0.10, 0.6},
    {8, 0.13, 0.3},
    {16, 0.42, 0.45},
};

/* SPREAD: elements of 16 bytes are written to more rows than AT_ONCE in turn. */
static double
transpose_work(const Nest *n, int bits)
{
    enum { PLANE_NS = 8, AT_ONCE = 16 };
    static const double SPREAD = 1.5;
    int i = 0;
    while (8 * blocks[i].size < bits)
        i++;
    i64 block = RAVEL_ROW_BYTES / blocks[i].size;
    i64 p = nest_tile(n, ROW), q = nest_tile(n, COL);
    double plane = (double)(p * q);
    i64 cols = int_ceil_div(q, block) * block, lines = q / (RAVEL_LINE / blocks[i].size);
    i64 narrow = cols - lines * (RAVEL_LINE / blocks[i].size);
    double full = (double)(int_ceil_div(p, block) * block) * ((double)cols + (double)narrow / 2);
    if (block == 1 && p > AT_ONCE)
        full *= SPREAD;
    double each = p < block || q < block ? blocks[i].few : blocks[i].full * full / plane;
    return (double)n->elements * (each + PLANE_NS / plane);
}

/* True if the buffers hold several groups of `cols` columns at a time. */
static bool
joins(i64 cols, i64 size)
{
    return size <= MOST_SIZE && RAVEL_TOGETHER(cols, size) > 1;
}

/* Makes the innermost outer loop the planes of one call, unless a call takes only a part
 * of it. */
static void
take_planes(Nest *n)
{
    int to = n->role[BATCH];
    if (n->nouter == 0 || to < 0)
        return;
    const OuterLoop *last = &n->outer[n->nouter - 1];
    int from = last->loop;
    if (last->step > 1 || n->loop[from].residual)
        return;
    n->nouter--;
    if (from == to)
        return;
    Loop l = n->loop[from];
    n->loop[from] = n->loop[to];
    n->loop[to] = l;
    for (int i = 0; i < n->nouter; i++)
        if (n->outer[i].loop == to)
            n->outer[i].loop = from;
}

/* The columns of a call: an expression over the shape. */
static const Ex *
cols_of(const Nest *n)
{
    int outer = nest_outer(n, n->role[COL]);
    return outer < 0 ? n->loop[n->role[COL]].ex.n : ex_const(n->e, n->outer[outer].step);
}

/* The place in outer[] of the loop that can be the groups of the kernel: in the destination the
 * columns of each iteration follow those of the iteration before, for every shape, and no call
 * takes only a part of the loop.  -1: there is none. */
static int
groups_of(const Nest *n)
{
    const Ex *cols = cols_of(n);
    for (int k = 0; k < n->nouter; k++) {
        const Loop *l = &n->loop[n->outer[k].loop];
        if (n->outer[k].step == 1 && !l->residual && l->ex.ds == cols)
            return n->outer[k].loop == n->role[BATCH] ? -1 : k;
    }
    return -1;
}

static bool
take_groups(Nest *n)
{
    int k = groups_of(n), to = n->nloops - n->inner - 1;
    if (k < 0)
        return false;
    int from = n->outer[k].loop;
    Loop l = n->loop[from];
    memmove(&n->loop[from], &n->loop[from + 1], (size_t)(to - from) * sizeof l);
    n->loop[to] = l;
    memmove(&n->outer[k], &n->outer[k + 1],
            (size_t)(--n->nouter - k) * sizeof n->outer[0]);
    for (int i = 0; i < n->nouter; i++)
        n->outer[i].loop -= n->outer[i].loop > from && n->outer[i].loop <= to;
    n->role[GROUP] = to;
    n->inner++;
    return true;
}

/* A schedule of a transpose: the tile of a call, in bytes, and the loops around it. */
typedef struct {
    const char *what;
    int stream;
    Order order;
    enum { TILE_INNER, TILE_OUTER, TILE_BETWEEN } place;
    i64 cols;
    bool groups;          /* a call takes several planes' columns, for long writes */
} Schedule;

/* Schedules of large transposes:
 * - tiles of 256 bytes of columns by 4 KB of rows.  They prefetch along the rows or, if
 *   the rows are short, the next line of columns;
 * - one or two lines of columns along whole rows of the source, which are 16 streams, over
 *   the innermost loop or over all loops;
 * - blocks through the kernel's buffer.
 * For elements of 1 and 2 bytes there are 64 and 32 rows, more streams than a processor
 * prefetches by itself, so they are prefetched earlier (u8 NCHW to NHWC 1.24 to 0.97 of
 * memcpy, u16 1.39 to 0.85, Zen 3).  Blocks of several groups make longer writes (TTC 40:
 * 192 bytes to 384, 2.2 to 2.0); the kernel itself takes as many as there is room for, so they are
 * given to it wherever the shape decides how long the columns are. */
static const Schedule large[] = {
    {"tiles",                   1, BY_DST,  TILE_INNER,   256,       false},
    {"lines along a loop",      1, BY_SRC,  TILE_BETWEEN, RAVEL_LINE,        false},
    {"lines along the source",  1, BY_SRC,  TILE_OUTER,   RAVEL_LINE,        false},
    {"buffer",                  2, BY_SRC,  TILE_INNER,   INT64_MAX, false},
    {"buffer of several groups", 2, BY_SRC,  TILE_INNER,   INT64_MAX, true},
};

/* The loops outside of the kernel, with its tiles among them. */
static void
add_scheduled(Nest *n, const Schedule *s, i64 size)
{
    if (s->place == TILE_OUTER)
        outer_add_tile(n, COL, s->cols, size);
    outer_add_loops(n, s->order, true);
    if (s->place == TILE_BETWEEN && n->nouter > 0) {
        OuterLoop inner = n->outer[--n->nouter];
        outer_add_tile(n, COL, s->cols, size);
        n->outer[n->nouter++] = inner;
    }
    if (s->place == TILE_INNER)
        outer_add_tile(n, COL, s->cols, size);
    if (s->stream == 1)
        outer_add_tile(n, ROW, 4096, size);
    take_planes(n);
}

static bool
transpose_orders(const Plan *p, Nest *n, int k)
{
    i64 size = p->dst->dtype->bits / 8;
    if (!outer_may_stream(p, n) && k == 0) {
        n->order = in_order_of_writes;
        outer_add_loops(n, BY_DST, true);
        take_planes(n);
        return true;
    }
    n->spare = !outer_may_stream(p, n);
    k -= n->spare;
    if (k >= LEN(large) || (large[k].stream == 2 && size > MOST_SIZE))
        return false;
    const Schedule *s = &large[k];
    n->order = s->what;
    n->stream = s->stream;
    n->ahead = n->stream == 1 ? size < 4 ? 512 : 256 : 0;
    add_scheduled(n, s, size);
    bool known = ex_is_const(cols_of(n));
    if (s->groups && ((known && !joins(nest_tile(n, COL), size)) || !take_groups(n)))
        return false;
    n->spare |= s->stream == 2 && !s->groups && !known && groups_of(n) >= 0;
    const Loop *col = &n->loop[n->role[COL]];
    if (n->ahead && ex_is_const(col->ex.ss) &&
        nest_chain(n, nest_tile(n, ROW), true) * size < 1024)
        n->ahead = RAVEL_LINE * col->ss;
    return true;
}

/* The run length for contiguous rows, which a buffer writes at once: longer than any run in
 * cost.def. */
enum { RUN_BYTES = 32768 };

static i64
piece(i64 elements, i64 most)
{
    return elements < most ? elements : most;
}

/* The number of source elements that are read contiguously along a row.  If a call takes
 * one line of columns, the next call continues the same rows. */
static i64
reads_of_transpose(const Nest *n, i64 rows, i64 cols, i64 size)
{
    int outer = nest_outer(n, n->role[ROW]);
    if (outer >= 0 && outer == n->nouter - 1 && cols <= RAVEL_LINE_OF(size)) {
        i64 whole = n->loop[n->role[ROW]].n;
        i64 count = n->loop[n->role[COL]].n;
        return nest_stride(n, COL, true) == whole ? whole * count : whole;
    }
    if (nest_stride(n, COL, true) == rows)
        return rows * size < RAVEL_LINE ? piece(rows * cols, RAVEL_LINE_OF(size)) : rows;
    if (outer >= 0)
        return rows;
    return nest_chain(n, rows, true);
}

/* The elements in a row of the destination, from all planes whose columns are adjacent
 * in it. */
static i64
width(const Nest *n, i64 size)
{
    i64 cols = nest_tile(n, COL);
    int role = n->role[GROUP] >= 0 ? GROUP : BATCH;
    bool more = nest_stride(n, role, false) == cols && joins(cols, size);
    return more ? cols * nest_tile(n, role) : cols;
}

static double
least(double a, double b)
{
    return a < b ? a : b;
}

/* The bytes of a - b * c elements modulo 2^64: strides are estimates if the shape is not known. */
static i64
bytes_between(i64 a, i64 b, i64 c, i64 size)
{
    return (i64)(((uint64_t)a - (uint64_t)b * (uint64_t)c) * (uint64_t)size);
}

/* True if the rows of the destination are short and contiguous.  Planes that continue one
 * another in the source are taken as one; in the destination it may have gaps. */
static bool
rows_touch(const Nest *n, i64 size)
{
    i64 all = width(n, size), rows = nest_tile(n, ROW);
    i64 gap = bytes_between(nest_stride(n, BATCH, false), rows, all, size);
    bool one = nest_tile(n, BATCH) > 1 && nest_stride(n, BATCH, true) == rows;
    bool gaps = one && gap != 0 && gap % RAVEL_LINE == 0;
    return nest_stride(n, ROW, false) == all && all * size <= 512 &&
           (!gaps || all * size % RAVEL_LINE == 0);
}

/* True if all rows of all calls begin at cache lines of the destination. */
static bool
begins_at_lines(const Nest *n, i64 size)
{
    int col = n->role[COL], outer = nest_outer(n, col);
    for (int i = 0; i < n->nloops; i++)
        if (i != col && n->loop[i].ds * size % RAVEL_LINE != 0)
            return false;
    return outer < 0 || n->outer[outer].step * size % RAVEL_LINE == 0;
}

/* True if the kernel writes blocks through its buffers. */
static bool
by_buffers(const Nest *n, i64 size)
{
    i64 cols = nest_tile(n, COL), all = width(n, size);
    bool touch = all > cols && all == nest_stride(n, ROW, false);
    return size <= MOST_SIZE &&
           (n->stream == 2 || (n->stream == 1 && (touch || !begins_at_lines(n, size))));
}

/* True if the kernel takes planes that continue one another in the source as one. */
static bool
one_plane(const Nest *n, i64 size)
{
    i64 rows = nest_tile(n, ROW);
    i64 jump = bytes_between(nest_stride(n, BATCH, false), rows, nest_stride(n, ROW, false), size);
    return nest_stride(n, BATCH, true) == rows && jump % RAVEL_LINE == 0;
}

/* The blocks that go through the buffers. */
static double
blocks_of(const Nest *n, i64 size)
{
    i64 rows = nest_tile(n, ROW);
    if (one_plane(n, size))
        rows *= nest_tile(n, BATCH);
    i64 block = piece(rows, RAVEL_TALL(size)) * piece(width(n, size), RAVEL_WIDE(size));
    return (double)n->elements / (double)block;
}

/* True if the kernel prefetches columns that it reads only after so much else that the
 * caches have lost them. */
static bool
prefetches_in_vain(const Nest *n, i64 size)
{
    enum { KEPT = 1 << 20 };
    int outer = nest_outer(n, n->role[COL]);
    if (outer < 0 || n->ahead != RAVEL_LINE * n->loop[n->role[COL]].ss)
        return false;
    double bytes = (double)nest_tile(n, COL) * (double)n->loop[n->role[ROW]].n *
                   (double)size * (double)nest_tile(n, BATCH);
    for (int i = outer + 1; i < n->nouter; i++)
        bytes *= n->outer[i].loop == n->role[ROW] ? 1 : (double)n->loop[n->outer[i].loop].n;
    return bytes > KEPT;
}

/* Through the buffers: reads are the rows of a block, in turn.  PIECE_NS: to put 16 bytes of
 * short rows that touch into a buffer, many of them at the ends of lines. */
enum { SHORT = 64, PIECE_NS = 1 };
static void
runs_of_buffers(const Nest *n, i64 size, bool tight, Runs *r)
{
    r->rows = piece(width(n, size), RAVEL_WIDE(size));
    r->along = r->read;
    r->read = least(r->read, 512);
    r->written = tight ? RUN_BYTES : (double)(r->rows * size);
    r->blocks = blocks_of(n, size);
    if (!one_plane(n, size) && nest_tile(n, ROW) * size < SHORT)
        r->brief = (double)n->elements / (double)nest_tile(n, ROW);
    if (tight && width(n, size) * size % RAVEL_LINE)
        r->more += (double)n->elements * (double)size / RAVEL_ROW_BYTES * PIECE_NS;
}

/* The lines of one row are written soon after one another if there are few rows or a tile
 * has four lines of columns.  BRIEF_NS: for a row that is read and is less than a line. */
enum { BRIEF_NS = 4 };
static void
runs_of_lines(const Nest *n, i64 size, bool tight, Runs *r)
{
    i64 rows = nest_tile(n, ROW);
    double line = (double)(nest_tile(n, COL) * size);
    if (prefetches_in_vain(n, size))
        r->read = least(r->read, RAVEL_LINE);
    if (n->stream && rows * size < SHORT)
        r->more += (double)n->elements / (double)rows * BRIEF_NS;
    r->written = tight && line <= RAVEL_LINE ? RUN_BYTES
               : least(line, rows <= 32 ? 256 : line == 256 ? 128 : 64);
}

/* In the caches: by how much more is written if the first cache has lost a line before the next
 * piece of it comes. */
static double
rewritten(const Nest *n, int bits)
{
    enum { HALF = 32 };
    const double run = nest_runs(n, bits).written;
    return run < HALF ? HALF / run - 1 : 0;
}

static Runs
transpose_runs(const Nest *n, int bits)
{
    i64 size = bits / 8, rows = nest_tile(n, ROW), cols = nest_tile(n, COL);
    bool tight = size <= MOST_SIZE && rows_touch(n, size), buffers = by_buffers(n, size);
    bool parts = n->stream && !tight && !begins_at_lines(n, size);
    i64 whole = buffers ? width(n, size) : piece(cols, RAVEL_LINE_OF(size));
    Runs r = {.read = (double)reads_of_transpose(n, rows, cols, size) * (double)size,
              .apart = nest_stride(n, ROW, false) * size,
              .more = parts ? (double)n->elements / (double)whole * ENDS_NS : 0};
    (buffers ? runs_of_buffers : runs_of_lines)(n, size, tight, &r);
    if (!n->stream)
        r.written_gaps = rewritten(n, bits);
    return r;
}

/* Stores past the caches; columns at distances of whole pages; columns that do not fill the
 * lines of blocks. */
enum { STREAM = 1, PAGES = 2, EDGES = 4 };
static const char *const transpose_part[] = {"STREAM", "PAGES", "EDGES", NULL};

static unsigned
transpose_parts(const Nest *n, int bits)
{
    const Loop *col = &n->loop[n->role[COL]];
    i64 line = RAVEL_LINE_OF(bits / 8);
    bool pages = kernel_remainder(kernel_stride_ex(col, SRC), RAVEL_PAGE) <= 0;
    bool whole = kernel_multiple(col->ex.n, line) && nest_tile(n, COL) % line == 0;
    return (n->stream ? STREAM : 0) | (pages ? PAGES : 0) | (whole ? 0 : EDGES);
}

const Family transpose_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnmrcNMOPqHA",
    .what = "a plane contiguous one way in the source, the other way in the destination",
    .part = transpose_part,
    .parts = transpose_parts,
    .by = &(const Method){
        .applies = transpose_applies,
        .work = transpose_work,
        .orders = transpose_orders,
        .runs = transpose_runs,
        .speeds = AS_TRANSPOSES,
    },
};
