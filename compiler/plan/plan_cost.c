/* How long a nest takes in an order: a model of the memory, not of the processor.
 *
 * Time is bytes read over the speed of reads in runs so long, and bytes written over the
 * speed of writes in runs so long and so far apart; kernels keep up with memory, and a
 * call costs a little.  The speeds are a table, cost.def. */
#include <stdint.h>

#include "plan.h"

typedef struct {
    int64_t bytes;
    double read, written[3];
} Memory;

static const Memory copying[] = {
#define M(bytes, read, ...) {bytes, read, {__VA_ARGS__}},
#define T(...)
#include "cost.def"
#undef M
#undef T
};

static const Memory transposing[] = {
#define M(...)
#define T(bytes, read, ...) {bytes, read, {__VA_ARGS__}},
#include "cost.def"
#undef M
#undef T
};

typedef struct {
    const Memory *row;
    int n;
} Table;

/* Nanoseconds: of a call from jitted code; of a block by way of the transposes' buffers,
 * as 50625 planes of 4 KB took 13 ms longer than by lines (TTC 49, Zen 3). */
enum { CALL_NS = 5, BLOCK_NS = 250 };
static const double cached_speed = 11, in_cache_speed = 30;

/* Of the transposes' buffers: bytes of whole rows that touch; rows and columns of a block
 * by the size of elements, as templates/c/transpose.h has them. */
enum { RUN_BYTES = 32768 };
static const struct {
    i64 rows, cols;
} blocks[] = {[1] = {256, 256}, [2] = {128, 256}, [4] = {128, 128}, [8] = {64, 64}};

/* Between the rows of the table, by the logarithm's nearest lower row. */
static const Memory *
row_of(Table t, double bytes)
{
    int i = 0;
    while (i + 1 < t.n && bytes >= (double)t.row[i + 1].bytes)
        i++;
    return &t.row[i];
}

static double
read_speed(Table t, double run)
{
    return row_of(t, run)->read * (run < 64 ? run / 64 : 1);
}

static double
write_speed(Table t, double run, i64 apart)
{
    bool near = apart > -(2 << 20) && apart < 2 << 20;
    int kind = near && apart % 512 == 0 ? 0 : apart % 256 == 0 ? 1 : 2;
    return row_of(t, run)->written[kind] * (run < 64 ? run / 64 : 1);
}

/* How far one reads (writes) on and on: a run of `run` elements, then the planes of a
 * call, then every loop, from the innermost turn out, that goes on where the last
 * ended. */
i64
nest_chain(const Nest *n, i64 run, bool source)
{
    const Loop *walk[MAX_TURNS + 2];
    const int planes[2] = {n->role[source ? SIDE : BATCH], n->role[source ? BATCH : SIDE]};
    int m = 0;
    for (int i = 0; i < n->nturns; i++)
        walk[m++] = n->turn[i].step > 1 ? NULL : &n->loop[n->turn[i].loop];
    for (int i = 0; i < 2; i++)
        if (planes[i] >= 0 && nest_turn(n, planes[i]) < 0)
            walk[m++] = n->loop + planes[i];
    while (m-- > 0 && walk[m]) {
        i64 more, step = source ? walk[m]->ss : walk[m]->ds;
        if (step != run || !int_mul(run, walk[m]->n, &more))
            break;
        run = more;
    }
    return run;
}

static i64
stride(const Nest *n, int role, bool source)
{
    return n->role[role] < 0 ? 0 : source ? n->loop[n->role[role]].ss
                                          : n->loop[n->role[role]].ds;
}

/* Bytes read, bytes written at a stretch, and from one such write to the next. */
typedef struct {
    double read, written;
    i64 apart;
} Runs;

/* Elements of the source that lie on and on where the rows of a call are read: a part of
 * a row goes on in the next call, where a line of columns is all that a call takes. */
static i64
reads_of_transpose(const Nest *n, i64 rows, i64 cols, i64 size)
{
    int turn = nest_turn(n, n->role[ROW]);
    if (turn >= 0 && turn == n->nturns - 1 && cols * size <= 64) {
        i64 whole = n->loop[n->role[ROW]].n;
        return stride(n, COL, true) == whole ? whole * n->loop[n->role[COL]].n : whole;
    }
    if (turn >= 0 || stride(n, COL, true) == rows)
        return rows;
    return nest_chain(n, rows, true);
}

bool
nest_joins(i64 cols, i64 size)
{
    return size < LEN(blocks) && cols <= 2 * blocks[size].cols / 3;
}

/* Elements that a row of the destination gets of all planes whose columns follow one
 * another in it. */
static i64
width(const Nest *n, i64 size)
{
    i64 cols = nest_tile(n, COL);
    int role = n->role[SIDE] >= 0 ? SIDE : BATCH;
    bool more = stride(n, role, false) == cols && nest_joins(cols, size);
    return more ? cols * nest_tile(n, role) : cols;
}

static i64
piece(i64 elements, i64 most)
{
    return elements < most ? elements : most;
}

static double
least(double a, double b)
{
    return a < b ? a : b;
}

/* Rows of the destination that are short and follow one another. */
static bool
rows_touch(const Nest *n, i64 size)
{
    return stride(n, ROW, false) == width(n, size) && width(n, size) * size <= 512;
}

/* Whether blocks go by way of the kernel's buffers, as templates/c/transpose.h says. */
static bool
by_buffers(const Nest *n, i64 size)
{
    i64 apart = stride(n, ROW, false), all = width(n, size), cols = nest_tile(n, COL);
    bool touch = all > cols && (all == apart || cols * size % 64 != 0);
    return size < LEN(blocks) && (n->stream == 2 || (n->stream == 1 &&
                                  (apart * size % 64 != 0 || touch)));
}

static Runs
runs_of_transpose(const Nest *n, i64 size)
{
    i64 rows = nest_tile(n, ROW), cols = nest_tile(n, COL), apart = stride(n, ROW, false);
    double read = (double)(reads_of_transpose(n, rows, cols, size) * size);
    double line = (double)(cols * size);
    bool tight = rows_touch(n, size);
    Runs r = {.apart = apart * size, .read = read};
    if (by_buffers(n, size)) {
        i64 across = piece(width(n, size), blocks[size].cols);
        r.read = least(read, 512);
        r.written = tight ? RUN_BYTES : (double)(across * size);
    } else if (tight && line <= 64) {
        r.written = RUN_BYTES;
    } else {
        /* lines of one row come soon after one another where there are few rows, or
         * the columns are a tile of four */
        r.written = least(line, rows <= 32 ? 256 : line == 256 ? 128 : 64);
    }
    return r;
}

/* What the blocks cost beyond their bytes. */
static double
cost_of_blocks(const Nest *n, i64 size)
{
    i64 rows = nest_tile(n, ROW);
    if (stride(n, BATCH, true) == rows)
        rows *= nest_tile(n, BATCH);
    i64 block = piece(rows, blocks[size].rows) * piece(width(n, size), blocks[size].cols);
    return (double)n->elements / (double)block * BLOCK_NS;
}

static Runs
runs_of_copy(const Nest *n, int bits)
{
    i64 run = n->role[COL] < 0 ? 1 : n->loop[n->role[COL]].n;
    i64 to = run, from = run;
    for (int role = ROW; role >= BATCH; role--) {
        i64 count = n->role[role] < 0 ? 1 : n->loop[n->role[role]].n;
        to *= stride(n, role, false) == to ? count : 1;
        from *= stride(n, role, true) == from ? count : 1;
    }
    return (Runs){(double)nest_chain(n, from, true) * bits / 8,
                  (double)nest_chain(n, to, false) * bits / 8,
                  stride(n, ROW, false) * bits / 8};
}

/* Planes of a few columns (`weave`) or rows. */
static Runs
runs_of_narrow(const Nest *n, i64 size)
{
    bool weave = kernel_weaves(n->kernel);
    i64 rows = nest_tile(n, ROW), cols = nest_tile(n, COL), planes = nest_tile(n, BATCH);
    i64 read = weave ? rows : stride(n, COL, true) == rows ? rows * cols : rows;
    i64 written = !weave ? cols : stride(n, ROW, false) == cols ? rows * cols : cols;
    const Turn *last = n->nturns ? &n->turn[n->nturns - 1] : NULL;
    if (stride(n, BATCH, false) == written)
        written *= planes;
    if (stride(n, BATCH, true) == read)
        read *= planes;
    else if (last && last->step == 1 && n->loop[last->loop].ss == read)
        read *= n->loop[last->loop].n;
    return (Runs){(double)(read * size), (double)(written * size),
                  n->role[BATCH] < 0 ? 0 : stride(n, ROW, false) * size};
}

static double
calls_of(const Nest *n)
{
    double calls = 1;
    for (int i = 0; i < n->nturns; i++)
        calls *= (double)int_ceil_div(n->loop[n->turn[i].loop].n, n->turn[i].step);
    return calls;
}

double
nest_cost(const Plan *p, const Nest *n)
{
    int bits = p->dst->dtype->bits;
    double bytes = (double)n->elements * bits / 8, call = calls_of(n) * CALL_NS;
    bool plane = kernel_is_transpose(n->kernel);
    double alone = (double)n->elements * n->kernel->cost(n, bits, n->role) + call;
    bool narrow = kernel_is_narrow(n->kernel);
    bool large = layout_bytes(p->dst) >= CACHED_BYTES;
    if (!plane && !kernel_is_copy(n->kernel) && !(narrow && large))
        return alone;
    if (!large)
        return bytes / in_cache_speed + call;
    Runs r = plane ? runs_of_transpose(n, bits / 8)
             : narrow ? runs_of_narrow(n, bits / 8) : runs_of_copy(n, bits);
    Table table = plane ? (Table){transposing, LEN(transposing)}
                        : (Table){copying, LEN(copying)};
    double write = write_speed(table, r.written, r.apart);
    if (!n->stream && write > cached_speed)
        write = cached_speed;
    double memory_ns = bytes / read_speed(table, r.read) + bytes / write + call;
    if (plane && by_buffers(n, bits / 8))
        memory_ns += cost_of_blocks(n, bits / 8);
    return narrow && memory_ns < alone ? alone : memory_ns;
}
