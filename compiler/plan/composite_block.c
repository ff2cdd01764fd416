/* The blocks of a tile: how many loops of its runs are rows and columns, and what these take. */
#include "../../templates/c/composite_size.h"
#include "../../templates/c/copy_size.h"
#include "composite.h"

/* To begin a part of a tile that has several. */
static const double PART_NS = 10;

/* To unpack and to pack a run and, together, a line of each, with AVX2 and with VBMI.  Blocks of
 * unpacked elements are in the first cache, so they take less than others: slim ones least if their
 * short rows or columns follow one another (EVEN), two or four rows still less (LOW).  Fitted to 85
 * permutations of 4 bits on Emerald Rapids. */
static const double RUN_NS[] = {5, 2}, LINE_NS[] = {3.2, 2.4};
static const double NEAR = 0.6, NEAR_SLIM = 0.9, NEAR_EVEN = 0.5, NEAR_LOW = 0.25;

/* Two runs that are read together, or written one after the other, of which one takes 1. */
static const double PAIRED[] = {[SRC] = 0.8, [DST] = 3};

/* To move a run that stays together, and a byte of it; less if it is moved whole (unpacked.c).  PARTS_NS:
 * more for two moves; LOOP_NS: more for a byte of those that a loop moves. */
static const double PARTS_NS = 0.3, LOOP_NS = 0.03;
static const double MOVE_NS[] = {0.3, 0.25}, MOVED_NS[] = {0.012, 0.03};

bool
composite_moves(int kept)
{
    return kept > 8 || !int_is_pow2(kept);
}

static double
least(i64 a, double b)
{
    return (double)a < b ? (double)a : b;
}

static double
move_cost(i64 kept, bool near)
{
    const double parts = kept & (kept - 1) ? PARTS_NS + kernel_overlap(kept) : 0;
    const double more = kept > RAVEL_MOVED_BYTES ? LOOP_NS * (double)kept : parts;
    return MOVE_NS[near] + MOVED_NS[near] * (double)kept + (near ? 0 : more);
}

/* Nanoseconds an element in registers, of blocks of 16 bytes of rows: by a line of columns,
 * or two blocks of as many columns at a time, which begin sooner if they are of the same
 * columns.  The loads, rounds of the network and stores of templates/c/composite.h are
 * counted, PER_NS each nanosecond; a line of 8-byte columns is stored in short pieces.
 * SET_NS: to look up where rows and columns begin. */
static double
block_cost(i64 rows, i64 cols, int unit)
{
    enum { SET_NS = 4 };
    const double PER_NS = 3.4, start = rows * unit < 32 ? 8 : 0, pieces = unit == 8 ? 5 : rows * unit < 16 ? 8 : 0;
    i64 m = 16 / unit, wide = cols * unit >= RAVEL_LINE ? RAVEL_LINE / unit : m;
    double turns = (double)m * (unit == 1 ? 4 : unit == 2 ? 3 : unit == 4 ? 2 : 1);
    double blocks = (double)(int_ceil_div(rows, m) * int_ceil_div(cols, wide));
    double short_row = cols < m ? 2.2 : 1, each;
    if (wide > m)
        each = (double)wide + turns + 1.5 * least(rows, (double)m) + pieces;
    else
        each = (start + 1.5 * least(cols, (double)m) + turns / 2) / 2 +
               short_row * least(rows, (double)m);
    return (SET_NS + blocks * each / PER_NS) / (double)(rows * cols);
}

/* The same of blocks with few rows or columns, which are padded to n (templates/c/composite_slim.h):
 * loads, insertions of short rows, rounds, and stores, of short columns from memory; two of each
 * overlap unless there are n.  Fitted to 500 shapes on Zen 1.  `next`: short rows or columns follow one
 * another, and are loaded or stored by registers. */
static double
slim_cost(i64 rows, i64 cols, int unit, bool next)
{
    enum { SET_NS = 10, BEGIN = 4 };
    static const double PER_NS = 4;
    const int m = 16 / unit, rounds = unit == 1 ? 4 : unit == 2 ? 3 : 2;
    const i64 few = cols * unit <= 8 ? cols : rows;
    const int n = few <= 2 ? 2 : few <= 4 ? 4 : 8, whole = n * (few == n ? 1 : 2) + BEGIN;
    double work;
    if (few == cols)
        work = (double)int_ceil_div(rows, m) * (double)(cols + n * (n > 4 ? 3 : n / 2) + (next ? whole : 0)) +
               (next ? 0 : (double)rows * (cols == n ? 2 : 4));
    else
        work = (double)int_ceil_div(cols, m) *
               ((next ? whole : 2 * m - n) + n * rounds + 1.5 * (double)rows);
    return (SET_NS + work / PER_NS) / (double)(rows * cols);
}

/* As ravel_is_slim of templates/c/composite_slim.h says for registers of 16 and 32 bytes; with those
 * of 64 bytes few rows are 4 bytes at most. */
static bool
is_slim(i64 rows, i64 cols, int unit)
{
    return unit < 8 && (cols * unit <= 8 || (rows * unit <= 8 && cols * unit >= 16));
}

/* The first loops of `b` continue, in their order, those of `a`: rows (columns) are as far apart as
 * columns (rows) are long. */
static bool
continues(const TileSide *a, int an, const TileSide *b, int bn)
{
    bool same = an + bn <= a->n;
    for (int i = 0; i < bn && same; i++)
        same = a->loop[an + i] == b->loop[i];
    return same;
}

/* Whether the rows or columns of a slim block that are short follow one another. */
static bool
short_ones_touch(const Composite *c, int i, int j, bool low)
{
    const TileSide *r = &c->side[SRC], *k = &c->side[DST];
    return low ? continues(r, i, k, j) && composite_read(c) == r->run : continues(k, j, r, i);
}

/* A slim block of i loops of the rows and j of the columns.  In the first cache it takes less than in
 * memory; where the bytes of registers change places that is in slim_cost. */
static double
slim_of(const Composite *c, int i, i64 rows, int j, i64 cols)
{
    const bool near = c->per > 1, low = cols * c->kept > 8;
    const bool next = !c->coupled && short_ones_touch(c, i, j, low);
    const bool picked = next && !int_is_pow2(low ? rows : cols);
    const double all = slim_cost(rows, cols, c->kept, near ? picked : next);
    if (!near)
        return all;
    if (picked || !(next || (low && rows > 4)))
        return NEAR_SLIM * all;
    return (low && (rows == 2 || rows == 4) ? NEAR_LOW : NEAR_EVEN) * all;
}

/* To unpack and pack an element: nothing on a side with whole bytes; on the other one two runs. */
static double
pack_cost(const Composite *c)
{
    double ns = 0;
    for (int side = SRC; side <= DST; side++) {
        i64 run = side == SRC ? composite_read(c) : c->side[DST].run;
        i64 lines = int_ceil_div(run, RAVEL_LINE);
        double each = RUN_NS[c->permutes] + LINE_NS[c->permutes] / 2 * (double)lines;
        each *= c->whole < 0 ? 1 : c->whole == side ? 0 : PAIRED[side];
        ns += each * (double)composite_count(c, side) * (double)c->parts / (double)c->elements;
    }
    return ns;
}

/* To write a row of coupled columns, and a byte of it, with AVX2 and with VBMI. */
static const double PUT_NS[] = {6, 3}, PUT_BYTE_NS[] = {0.08, 0.05};

/* To read coupled columns, two together, and to write rows of them: an element. */
static double
coupled_cost(const Composite *c, i64 rows, i64 cols)
{
    const i64 bytes = composite_columns(cols, c), lines = int_ceil_div(rows, RAVEL_LINE);
    const double read = PAIRED[SRC] * (RUN_NS[c->permutes] + LINE_NS[c->permutes] / 2 * (double)lines);
    const double put = PUT_NS[c->permutes] + PUT_BYTE_NS[c->permutes] * (double)bytes;
    return (read * (double)bytes / (double)rows + put) / (double)cols;
}

static bool
shares_loop(const TileSide *a, int an, const TileSide *b, int bn)
{
    for (int i = 0; i < an; i++)
        if (composite_among(b, bn, a->loop[i]))
            return true;
    return false;
}

static i64
product(const Composite *c, const TileSide *s, int used)
{
    i64 count = 1;
    for (int i = 0; i < used; i++)
        count *= c->taken[s->loop[i]];
    return count;
}

/* The columns of a block, of j loops, between those that the loop tells apart. */
static i64
columns_before(const Composite *c, int j, int loop)
{
    const TileSide *k = &c->side[DST];
    int i = 0;
    while (i < j && k->loop[i] != loop)
        i++;
    return product(c, k, i);
}

/* To read a line of the source again for each row, of i loops, that is a part of it: the first cache
 * has lost it if more columns than it holds come before the next part. */
static double
again_cost(const Composite *c, int i, i64 rows, int j)
{
    enum { LINE = RAVEL_LINE, HELD = 128 };
    const double AGAIN_NS = 0.8;
    const TileSide *r = &c->side[SRC];
    i64 part = rows * c->kept;
    for (; i < r->n && columns_before(c, j, r->loop[i]) <= HELD; i++)
        part *= c->taken[r->loop[i]];
    if (i == r->n || part >= LINE)
        return 0;
    return AGAIN_NS * (double)c->kept * (1 / (double)part - 1 / least(r->run * c->unit, LINE));
}

/* To complete a line that a store of the columns before began: the first cache has lost it if more
 * rows come between.  Of bytes, blocks of fewer rows have rows of less than a line. */
static double
lost_cost(const Composite *c, i64 rows, i64 cols)
{
    enum { HELD = 256 };
    static const double LOST_NS = 2.5;
    bool lost = c->ragged && c->kept > 1 && rows > HELD && cols > RAVEL_TILE_ALONG;
    return lost ? LOST_NS * (double)c->kept / RAVEL_LINE : 0;
}

void
composite_block(Composite *c)
{
    TileSide *r = &c->side[SRC], *k = &c->side[DST];
    bool moves = composite_moves(c->kept), near = c->per > 1;
    const int most = k->held < k->run ? 1 : k->n;    /* padding follows the first loop */
    c->cost = 1e9;
    for (int i = !moves; i <= (moves ? 0 : r->n); i++)
        for (int j = 1; j <= most; j++) {
            i64 rows = product(c, r, i), all = product(c, k, j), cols = composite_columns(all, c);
            double cost = moves ? move_cost(c->kept, near) + 1.0 / (double)cols
                          : is_slim(rows, cols, c->kept) ? slim_of(c, i, rows, j, cols)
                                : (near ? NEAR : 1) * block_cost(rows, cols, c->kept);
            cost += moves || near ? 0 : again_cost(c, i, rows, j) + lost_cost(c, rows, cols);
            cost = cost * c->unit / c->kept;
            if (c->coupled)
                cost = cost * (double)cols / (double)all + coupled_cost(c, rows, all);
            if (cost >= c->cost || shares_loop(r, i, k, j))
                continue;
            c->cost = cost;
            r->used = i;
            k->used = j;
            r->count = rows;
            k->count = all;
        }
    c->parts = composite_parts(c);
    c->inner = c->elements / (r->count * k->count * (c->kept / c->unit)) / c->parts;
    c->cost += c->parts > 1 ? PART_NS * (double)c->parts / (double)c->elements : 0;
    c->cost += near && !c->coupled ? pack_cost(c) : 0;
}
