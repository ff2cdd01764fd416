/* Transposes: the rows of a plane are contiguous in the source, its columns in the
 * destination.  The kernel writes lines of columns directly to the destination, or blocks
 * through buffers. */
#include <stdint.h>
#include <string.h>

#include "../../templates/c/transpose_size.h"
#include "../../templates/c/vector_size.h"
#include "kernel_transpose.h"

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

bool
transpose_joins(i64 cols, i64 size)
{
    return size <= TRANSPOSE_MOST && RAVEL_TOGETHER(cols, size) > 1;
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
    if (k >= LEN(large) || (large[k].stream == 2 && size > TRANSPOSE_MOST))
        return false;
    const Schedule *s = &large[k];
    n->order = s->what;
    n->stream = s->stream;
    n->ahead = n->stream == 1 ? size < 4 ? 512 : 256 : 0;
    add_scheduled(n, s, size);
    bool known = ex_is_const(cols_of(n));
    if (s->groups && ((known && !transpose_joins(nest_tile(n, COL), size)) || !take_groups(n)))
        return false;
    n->spare |= s->stream == 2 && !s->groups && !known && groups_of(n) >= 0;
    const Loop *col = &n->loop[n->role[COL]];
    if (n->ahead && ex_is_const(col->ex.ss) &&
        nest_chain(n, nest_tile(n, ROW), true) * size < 1024)
        n->ahead = RAVEL_LINE * col->ss;
    return true;
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
