/* How a transpose reads and writes memory: the lengths of the runs, and what costs time beside them. */
#include <stdint.h>
#include <string.h>

#include "../../templates/c/transpose_size.h"
#include "../../templates/c/vector_size.h"
#include "kernel_transpose.h"

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
    bool more = nest_stride(n, role, false) == cols && transpose_joins(cols, size);
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
    return size <= TRANSPOSE_MOST &&
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

/* FEW_NS: for an element in memory that is moved by itself, as few rows or columns are. */
static const double FEW_NS = 0.5;
Runs
transpose_runs(const Nest *n, int bits)
{
    i64 size = bits / 8, rows = nest_tile(n, ROW), cols = nest_tile(n, COL);
    bool tight = size <= TRANSPOSE_MOST && rows_touch(n, size), buffers = by_buffers(n, size);
    bool parts = n->stream && !tight && !begins_at_lines(n, size);
    i64 whole = buffers ? width(n, size) : piece(cols, RAVEL_LINE_OF(size));
    Runs r = {.read = (double)reads_of_transpose(n, rows, cols, size) * (double)size,
              .apart = nest_stride(n, ROW, false) * size,
              .more = parts ? (double)n->elements / (double)whole * ENDS_NS : 0};
    (buffers ? runs_of_buffers : runs_of_lines)(n, size, tight, &r);
    if (!n->stream)
        r.written_gaps = rewritten(n, bits);
    if (!n->stream && piece(rows, cols) * size < RAVEL_ROW_BYTES)
        r.more += (double)n->elements * FEW_NS;
    return r;
}
