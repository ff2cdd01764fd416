/* How much a tile takes of each loop: for runs of a few lengths, of which the quickest are taken. */
#include <string.h>

#include "../../templates/c/composite_size.h"
#include "../../templates/c/unpack_size.h"
#include "composite.h"

/* Words of a table. */
enum { WORDS_MAX = 8192 };

/* Nanoseconds of a run of the source and of the destination, in addition to those of its
 * bytes. */
static const double FROM_NS = 6, TO_NS = 18;

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

/* How many runs make one of the wanted length: rather fewer of those that are packed by lines. */
static i64
runs_of(const Composite *c, i64 wanted, i64 run)
{
    i64 n = wanted / run;
    return c->per > 1 && 4 * n * run >= 3 * wanted ? n : int_ceil_div(wanted, run);
}

/* How often a loop of which the tile takes so much repeats a run of the side. */
static i64
times_of(const Composite *c, int side, int loop, i64 taken)
{
    return taken * (side == SRC && c->whole == DST ? composite_each(c, loop) : 1);
}

/* Takes loops into the tile until the run of the side has that many bytes. */
static void
take_run(const Nest *n, int side, i64 bytes, Composite *c)
{
    i64 run = c->kept / c->unit, wanted = int_ceil_div(bytes, c->unit);
    i64 vector = c->per > 1 ? RAVEL_LINE / c->kept : 1;
    const i64 padding = side == DST ? n->pad.n : 0;
    for (int i; run < wanted && (i = composite_next(n, c, side, run)) >= 0;) {
        i64 room = room_of(c, &n->loop[i]);
        i64 part = composite_has(&c->residual, i) ? room
                   : part_of(room, runs_of(c, wanted, run), run == c->kept ? vector : 1);
        c->taken[i] = part > c->taken[i] ? part : c->taken[i];
        if (part < room || !ex_is_const(n->loop[i].ex.n))
            break;
        run = run * times_of(c, side, i, part) + (n->loop[i].ds == 1 ? padding : 0);
    }
}

/* Takes what writes to the same lines as the run of the destination, of one more loop: a line is
 * written whole before the first cache loses it. */
static void
take_line(const Nest *n, Composite *c)
{
    int best = -1;
    for (int i = 0; i < n->nloops && c->per == 1; i++) {
        const Loop *l = &n->loop[i];
        bool near = !c->skip[i] && c->taken[i] == 1 && kernel_is_known(l) && l->n > 1 &&
                    l->ds > 0 && l->ds * c->unit < RAVEL_LINE;
        if (near && (best < 0 || l->ds < n->loop[best].ds))
            best = i;
    }
    if (best >= 0)
        c->taken[best] = part_of(n->loop[best].n,
                                 int_ceil_div(RAVEL_LINE, n->loop[best].ds * c->unit), 1);
}

/* Finds the run of the side: loops of the tile that are contiguous together. */
static void
find_run(const Nest *n, const TilePlaces *p, int side, Composite *c)
{
    TileSide *s = &c->side[side];
    s->n = 0;
    s->run = s->held = c->kept / c->unit;
    for (int i; (i = composite_next(n, c, side, s->run)) >= 0 && c->taken[i] > 1;) {
        s->loop[s->n++] = i;
        const i64 times = times_of(c, side, i, c->taken[i]);
        s->held *= times;
        s->run = s->run * times + (side == DST && n->loop[i].ds == 1 ? n->pad.n : 0);
        if (!composite_takes_all(n, c, i))
            break;
    }
    s->whole = composite_reach(p, side, s->run);
}

/* Lines of a run in the buffer: an odd number, so that runs share no set of a cache; or two, of which a
 * buffer of elements smaller than a byte has few. */
static i64
pitch_of(const Composite *c, i64 bytes)
{
    const i64 lines = int_ceil_div(bytes, RAVEL_LINE);
    return (c->per > 1 && lines == 2 ? lines : lines | 1) * RAVEL_LINE;
}

/* The tile for runs of so many bytes.  False if it takes the same of all loops as the one before,
 * whose iterations are in before[]. */
static bool
try_tile(const Nest *n, const TilePlaces *p, const i64 bytes[2], i64 before[MAX_LOOPS],
         Composite *c)
{
    const size_t all = (size_t)n->nloops * sizeof c->taken[0];
    c->elements = c->kept / c->unit;
    for (int i = 0; i < n->nloops; i++)
        c->taken[i] = i == c->kept_loop || composite_has(&c->residual, i) ? n->loop[i].n : 1;
    for (int side = SRC; side <= DST; side++)
        take_run(n, side, bytes[side], c);
    take_line(n, c);
    for (int i = 0; i < n->nloops && n->pad.n; i++)
        if (n->loop[i].ds == 1 && c->taken[i] != n->loop[i].n)
            return false;
    if (!memcmp(before, c->taken, all))
        return false;
    memcpy(before, c->taken, all);
    for (int i = 0; i < n->nloops; i++)
        c->elements *= i == c->kept_loop ? 1 : c->taken[i];
    for (int side = SRC; side <= DST; side++)
        find_run(n, p, side, c);
    c->parts = c->per > 1 ? composite_parts(c) : 1;
    c->pitch = pitch_of(c, c->side[DST].run * c->unit);
    c->from = c->per > 1 && c->whole != SRC ? pitch_of(c, c->side[SRC].run) : 0;
    return true;
}

/* Divides a tile of coupled columns, and then its buffers: one has two columns in a run, one a row.  Short
 * rows are near each other. */
static void
couple(Composite *c)
{
    composite_block(c);
    const i64 bytes = composite_columns(c->side[DST].count, c);
    const i64 unit = bytes <= RAVEL_LINE / 2 ? RAVEL_LINE / 4 : RAVEL_LINE / 2;
    c->pitch = int_ceil_div(bytes, unit) * unit;
    c->from = pitch_of(c, c->side[SRC].count);
}

/* The first cache holds both buffers of coupled columns and the lines that rows of them are written to. */
static bool
fits_coupled(const Composite *c)
{
    const i64 rows = composite_count(c, DST);
    const i64 lines = int_ceil_div(c->side[DST].count, 2 * RAVEL_LINE) + 1;
    const i64 wide = composite_count(c, SRC) * c->from, turned = rows * c->pitch;
    return wide <= RAVEL_UNPACKED_BYTES && turned <= RAVEL_UNPACKED_BYTES &&
           wide + turned + rows * lines * RAVEL_LINE <= 2 * RAVEL_UNPACKED_BYTES;
}

static bool
fits(const Composite *c)
{
    if (c->coupled)
        return fits_coupled(c);
    i64 room = c->per > 1 ? RAVEL_UNPACKED_BYTES : RAVEL_TILE_BYTES;
    return composite_count(c, DST) * c->pitch <= room && composite_count(c, SRC) * c->from <= room;
}

/* Whether other blocks of the tile write to the lines of a block. */
static bool
shares_lines(const Nest *n, const Composite *c)
{
    for (int i = 0; i < n->nloops; i++)
        if (i != c->kept_loop && c->taken[i] > 1 && int_abs(n->loop[i].ds) * c->unit < RAVEL_LINE &&
            !composite_among(&c->side[SRC], c->side[SRC].used, i) &&
            !composite_among(&c->side[DST], c->side[DST].used, i))
            return true;
    return false;
}

/* The lines to which a column of rows is written. */
static i64
lines_of(const Nest *n, const Composite *c)
{
    const TileSide *r = &c->side[SRC];
    i64 lines = 1;
    for (int i = 0; i < r->used; i++) {
        i64 count = c->taken[r->loop[i]], step = n->loop[r->loop[i]].ds * c->unit;
        lines *= step > 0 && step < RAVEL_LINE ? int_ceil_div(count * step, RAVEL_LINE) : count;
    }
    return lines;
}

/* Nanoseconds an element of stores to parts of lines if the others follow after more lines than
 * wait for data at a time.  A buffer does not wait. */
static double
waits_of(const Nest *n, const Composite *c)
{
    enum { LINES = 16 };
    static const double WAIT_NS = 3;
    const TileSide *k = &c->side[DST];
    if ((n->near && !n->below) || c->per > 1 || composite_moves(c->kept) ||
        k->count * c->kept >= RAVEL_LINE || n->elements * c->unit > CACHED_BYTES || lines_of(n, c) <= LINES || !shares_lines(n, c))
        return 0;
    return WAIT_NS / (double)k->count * c->unit / c->kept;
}

/* Nanoseconds an element: what is read and written of lines in part, and the registers. */
static double
cost_of(const Nest *n, const Composite *c)
{
    return c->cost + (FROM_NS / (double)c->side[SRC].whole + TO_NS / (double)c->side[DST].whole) +
           waits_of(n, c);
}

/* A run of a side shorter than others, of which a line in memory would be read or written in parts: tried
 * only while nothing is found. */
static bool
is_part(const Composite *c, int side, i64 run)
{
    enum { SHORT = 32, HALVES = 2 };
    return run <= SHORT || (c->per == HALVES && c->whole != side && run < HALVES * RAVEL_LINE);
}

bool
composite_find(const Nest *n, const TilePlaces *p, Composite *c)
{
    enum { HALF_LINE = 128 };
    static const i64 from[] = {1024, 256, 128, 64, 32};
    static const i64 to[] = {4096, 2048, 1024, 512, 256, 128, 64, 32};
    bool found = false;
    double least = 0;
    i64 before[MAX_LOOPS] = {0};
    for (int i = 0; i < LEN(from); i++)
        for (int k = 0; k < LEN(to); k++) {
            Composite one = *c;
            if (to[k] == HALF_LINE && (c->per == 1 || c->whole == DST))
                continue;
            if (found && (is_part(c, SRC, from[i]) || is_part(c, DST, to[k])))
                continue;
            if (!try_tile(n, p, (i64[2]){from[i], to[k]}, before, &one))
                continue;
            if (one.coupled)
                couple(&one);
            if (!fits(&one))
                continue;
            if (!one.coupled)
                composite_block(&one);
            double cost = cost_of(n, &one);
            i64 words = composite_words(&one) * (n->near ? 1 + TABLE_SCALARS : 1);
            if ((found && cost >= least) || words > WORDS_MAX)
                continue;
            found = true;
            least = cost;
            *c = one;
        }
    return found;
}
