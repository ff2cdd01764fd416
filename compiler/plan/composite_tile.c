/* The tile of a nest: which loops, and how much of each. */
#include <string.h>

#include "../../templates/c/composite_size.h"
#include "../../templates/c/unpack_size.h"
#include "composite.h"

/* First loops, of elements of 4 bytes and more and of smaller ones, and kept runs of so
 * many bytes or of whole lines are for other kernels; words of a table. */
enum { LONG_LOOP = 64, LONG_LOOP_OF_SMALL = 256, LONG_KEPT = 512,
       LINE = 64, WORDS_MAX = 8192 };

/* Nanoseconds of a run of the source and of the destination, in addition to those of its
 * bytes. */
static const double FROM_NS = 6, TO_NS = 18;

/* To begin a part of a tile that has several. */
static const double PART_NS = 10;

/* To unpack or pack a run, in addition to its elements; to unpack and pack an element. */
static const double RUN_NS = 4, PACK_NS = 0.03;

static bool
rises(const Ex *stride)
{
    return ex_is_const(stride) || stride->f.min >= 0;
}

bool
composite_is_plain(const Nest *n, const Loop *l)
{
    return kernel_is_known(l) || (n->near && rises(l->ex.ss) && rises(l->ex.ds));
}

/* The iterations that a tile can take of a loop; few of one whose count depends on the shape,
 * since the last tile overlaps the one before. */
static i64
room_of(const Composite *c, const Loop *l)
{
    enum { FEW = 64, FEW_BYTES = 256 };
    i64 n = kernel_fewest(l), most = c->per > 1 ? FEW_BYTES * c->per : FEW_BYTES / c->kept;
    most = most < FEW ? FEW : most;
    return ex_is_const(l->ex.n) || n < most ? n : most;
}

bool
composite_takes_all(const Nest *n, const Composite *c, int loop)
{
    return ex_is_const(n->loop[loop].ex.n) && c->taken[loop] == n->loop[loop].n;
}

/* The loop that continues a run of `run` elements; -1: there is none. */
static int
next_loop(const Nest *n, const Composite *c, int side, i64 run)
{
    int i = kernel_next_loop(n, c->skip, side, run);
    if (i >= 0)
        return kernel_stride(&n->loop[i], side) > 0 ? i : -1;
    for (i = 0; i < c->residual.n; i++) {
        const int loop = c->residual.loop[i];
        if (!c->residual.varies[side][loop] && n->loop[loop].n > 1 &&
            ex_is_const(kernel_stride_ex(&n->loop[loop], side)) &&
            kernel_stride(&n->loop[loop], side) == run)
            return loop;
    }
    return -1;
}

/* The elements that are contiguous on both sides: those of the loop with stride 1 in both,
 * if there is one. */
static bool
find_kept(const Nest *n, int bits, Composite *c)
{
    c->per = bits < 8 ? 8 / bits : 1;
    c->unit = bits < 8 ? 1 : bits / 8;
    c->kept = c->unit;
    c->kept_loop = kernel_run_loop(n);
    for (int i = 0; i < n->nloops; i++)
        c->skip[i] = i == c->kept_loop || n->loop[i].residual ||
                     !composite_is_plain(n, &n->loop[i]);
    if (c->kept_loop < 0)
        return true;
    const Loop *l = &n->loop[c->kept_loop];
    i64 kept = l->n * c->kept, most = c->per > 1 ? LINE : LONG_KEPT;
    if (l->residual || !kernel_is_known(l) || kept >= most || kept % LINE == 0)
        return false;
    c->kept = (int)kept;
    return true;
}

/* The iterations of one of the about equal parts of a loop, about `wanted` or fewer and a
 * multiple of `unit`; n: the loop is not divided. */
static i64
part_of(i64 n, i64 wanted, i64 unit)
{
    if (wanted >= n)
        return n;
    i64 part = int_ceil_div(n, int_ceil_div(n, wanted));
    part = int_ceil_div(part, unit) * unit;
    return 10 * part >= 7 * n ? n : part;
}

/* Takes loops into the tile until the run of the side has that many bytes. */
static void
take_run(const Nest *n, int side, i64 bytes, Composite *c)
{
    i64 run = c->kept / c->unit, wanted = int_ceil_div(bytes, c->unit);
    i64 vector = c->per > 1 ? LINE / c->kept : 1;
    for (int i; run < wanted && (i = next_loop(n, c, side, run)) >= 0;) {
        i64 room = room_of(c, &n->loop[i]);
        i64 part = composite_has(&c->residual, i) ? room
                   : part_of(room, int_ceil_div(wanted, run), run == c->kept ? vector : 1);
        c->taken[i] = part > c->taken[i] ? part : c->taken[i];
        if (part < room || !ex_is_const(n->loop[i].ex.n))
            break;
        run *= part;
    }
}

/* Finds the run of the side: loops of the tile that are contiguous together. */
static void
find_run(const Nest *n, int side, Composite *c)
{
    TileSide *s = &c->side[side];
    s->n = 0;
    s->run = c->kept / c->unit;
    for (int i; (i = next_loop(n, c, side, s->run)) >= 0 && c->taken[i] > 1;) {
        s->loop[s->n++] = i;
        s->run *= c->taken[i];
        if (!composite_takes_all(n, c, i))
            break;
    }
    s->whole = composite_reach(&c->residual, side, s->run);
}

/* Lines of a run in the buffer: an odd number, so that runs share no set of a cache. */
static i64
pitch_of(i64 bytes)
{
    return (int_ceil_div(bytes, LINE) | 1) * LINE;
}

/* The tile for runs of so many bytes.  False if it takes the same of all loops as the one before,
 * whose iterations are in before[]. */
static bool
try_tile(const Nest *n, const i64 bytes[2], i64 before[MAX_LOOPS], Composite *c)
{
    const size_t all = (size_t)n->nloops * sizeof c->taken[0];
    c->elements = c->kept / c->unit;
    for (int i = 0; i < n->nloops; i++)
        c->taken[i] = i == c->kept_loop || composite_has(&c->residual, i) ? n->loop[i].n : 1;
    for (int side = SRC; side <= DST; side++)
        take_run(n, side, bytes[side], c);
    if (!memcmp(before, c->taken, all))
        return false;
    memcpy(before, c->taken, all);
    for (int i = 0; i < n->nloops; i++)
        c->elements *= i == c->kept_loop ? 1 : c->taken[i];
    for (int side = SRC; side <= DST; side++)
        find_run(n, side, c);
    c->pitch = pitch_of(c->side[DST].run * c->unit);
    c->from = c->per > 1 ? pitch_of(c->side[SRC].run) : 0;
    return true;
}

static double
least(i64 a, double b)
{
    return (double)a < b ? (double)a : b;
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
    const double PER_NS = 3.4, start = rows * unit < 32 ? 8 : 0, pieces = unit == 8 ? 5 : 0;
    i64 m = 16 / unit, wide = cols * unit >= LINE ? LINE / unit : m;
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

static bool
shares_loop(const TileSide *a, int an, const TileSide *b, int bn)
{
    for (int i = 0; i < an; i++)
        for (int k = 0; k < bn; k++)
            if (a->loop[i] == b->loop[k])
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

/* The values of the loops in the residual that are neither rows nor columns. */
static i64
parts_of(const Composite *c)
{
    i64 parts = 1;
    for (int i = 0; i < c->residual.n; i++) {
        const int loop = c->residual.loop[i];
        bool apart = true;
        for (int side = SRC; side <= DST; side++)
            for (int k = 0; k < c->side[side].used; k++)
                apart &= c->side[side].loop[k] != loop;
        parts *= apart ? c->taken[loop] : 1;
    }
    return parts;
}

/* How many loops of the runs are rows and columns: what takes least. */
static void
find_block(Composite *c)
{
    TileSide *r = &c->side[SRC], *k = &c->side[DST];
    bool moves = composite_moves(c->kept);
    c->cost = 1e9;
    for (int i = !moves; i <= (moves ? 0 : r->n); i++)
        for (int j = 1; j <= k->n; j++) {
            i64 rows = product(c, r, i), cols = product(c, k, j);
            double cost = moves ? 0.5 + 0.025 * c->kept + 1.0 / (double)cols
                                : block_cost(rows, cols, c->kept);
            cost = cost * c->unit / c->kept;
            if (cost >= c->cost || shares_loop(r, i, k, j))
                continue;
            c->cost = cost;
            r->used = i;
            k->used = j;
            r->count = rows;
            k->count = cols;
        }
    c->parts = parts_of(c);
    c->inner = c->elements / (r->count * k->count * (c->kept / c->unit)) / c->parts;
    c->cost += c->parts > 1 ? PART_NS * (double)c->parts / (double)c->elements : 0;
    c->cost += c->per > 1 ? RUN_NS / (double)r->run + RUN_NS / (double)k->run + PACK_NS : 0;
}

static bool
fits(const Composite *c)
{
    i64 room = c->per > 1 ? RAVEL_UNPACKED_BYTES : RAVEL_TILE_BYTES;
    return c->elements / c->side[DST].run * c->pitch <= room &&
           c->elements / c->side[SRC].run * c->from <= room;
}

/* Nanoseconds an element: what is read and written of lines in part, and the registers. */
static double
cost_of(const Composite *c)
{
    return c->cost + (FROM_NS / (double)c->side[SRC].whole + TO_NS / (double)c->side[DST].whole);
}

/* Of a few runs' lengths those that take least. */
static bool
find_tile(const Nest *n, Composite *c)
{
    static const i64 from[] = {1024, 256, 128, 64};
    static const i64 to[] = {4096, 2048, 1024, 512, 256, 64};
    bool found = false;
    double least = 0;
    i64 before[MAX_LOOPS] = {0};
    for (int i = 0; i < LEN(from); i++)
        for (int k = 0; k < LEN(to); k++) {
            Composite one = *c;
            if (!try_tile(n, (i64[2]){from[i], to[k]}, before, &one) || !fits(&one))
                continue;
            find_block(&one);
            double cost = cost_of(&one);
            i64 words = composite_words(&one) * (n->near ? 1 + TABLE_SCALARS : 1);
            if ((found && cost >= least) || words > WORDS_MAX)
                continue;
            found = true;
            least = cost;
            *c = one;
        }
    return found;
}

/* The loops that the kernel runs: those in part, and others that move the source least.  With
 * extents left to run time the others are outer loops, which threads can share. */
static void
find_roles(const Nest *n, Composite *c)
{
    bool used[MAX_LOOPS] = {false};
    int m = 0, loop[3];
    for (int i = 0; i < n->nloops; i++) {
        used[i] = n->loop[i].residual || composite_takes_all(n, c, i);
        if (c->taken[i] > 1 && !used[i]) {
            used[i] = true;
            loop[m++] = i;
        }
    }
    for (int best; m < 3; loop[m++] = best) {
        best = -1;
        for (int i = 0; i < n->nloops && !n->near; i++)
            if (!used[i] && (best < 0 || n->loop[i].ss < n->loop[best].ss ||
                             (n->loop[i].ss == n->loop[best].ss &&
                              n->loop[i].var < n->loop[best].var)))
                best = i;
        if (best >= 0)
            used[best] = true;
    }
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && loop[k] >= 0 &&
             (loop[k - 1] < 0 || n->loop[loop[k - 1]].ss * c->taken[loop[k - 1]] >
                                 n->loop[loop[k]].ss * c->taken[loop[k]]); k--) {
            int l = loop[k];
            loop[k] = loop[k - 1];
            loop[k - 1] = l;
        }
    c->role[GROUP] = -1;
    c->role[ROW] = loop[0];
    c->role[COL] = loop[1];
    c->role[BATCH] = loop[2];
}

/* All offsets of a tile fit 32 bits, as far as they are numbers. */
static bool
is_near(const Nest *n, const Composite *c)
{
    for (int side = SRC; side <= DST; side++) {
        double far = 0;
        for (int i = 0; i < n->nloops; i++) {
            double s = (double)kernel_stride_ex(&n->loop[i], side)->base *
                       (double)(c->taken[i] - 1);
            far += c->taken[i] > 1 ? (s < 0 ? -s : s) * c->unit : 0;
        }
        if (far > TABLE_NEAR)
            return false;
    }
    return true;
}

static bool
is_long(const Nest *n, const Composite *c)
{
    int from = next_loop(n, c, SRC, c->kept / c->unit);
    int to = next_loop(n, c, DST, c->kept / c->unit);
    bool moves = composite_moves(c->kept);
    if (to < 0 || (from < 0 && !moves))
        return true;
    i64 most = c->kept < 4 ? LONG_LOOP_OF_SMALL : LONG_LOOP;
    return !moves && c->per == 1 && n->loop[from].n * c->kept >= most &&
           n->loop[to].n * c->kept >= most;
}

bool
composite_moves(int kept)
{
    return kept > 8 || !int_is_pow2(kept);
}

/* What stays together, with loops in the residual if the tile can have them; runs that are moved
 * one at a time are as fast by the kernel gather. */
static bool
start(const Nest *n, int bits, Composite *c)
{
    if (!find_kept(n, bits, c))
        return false;
    if (c->per > 1 || composite_moves(c->kept) || !composite_residual(n, &c->residual))
        c->residual.n = c->residual.places[SRC] = c->residual.places[DST] = 0;
    return true;
}

static bool
has_tile(const Nest *n, Composite *c)
{
    return !is_long(n, c) && find_tile(n, c) && is_near(n, c) &&
           table_scalars(n, c->taken, &c->scalars);
}

int
composite_kept(const Nest *n, int bits)
{
    Composite c;
    return start(n, bits, &c) && !is_long(n, &c) ? c.kept : 0;
}

bool
composite_make(const Nest *n, int bits, bool buffer, Composite *c)
{
    if (!start(n, bits, c))
        return false;
    bool found = has_tile(n, c);
    if (!found && c->residual.n) {
        c->residual.n = 0;
        found = has_tile(n, c);
    }
    if (!found)
        return false;
    find_roles(n, c);
    c->pitch = (buffer && !c->residual.n) || c->per > 1 ? c->pitch : 0;
    return true;
}
