/* The runs that a nest reads and writes, by its loops, for the cost model. */
#include "kernel_family.h"

/* What is walked so far, from the innermost loop outward: the elements that are contiguous;
 * the places at which so many were; the elements from one to the next of these, 0 if there
 * is only one.  `first` elements were walked at each of `turns` places before one of these went
 * on.  A run may have gaps that are shorter than a cache line, of whose lines all are
 * transferred: `piece` elements of every `every` are walked. */
typedef struct {
    i64 run, places, apart, first, turns;
    int bits;             /* of an element */
    bool sets;            /* places that share sets of the first cache are told apart */
    i64 piece, every;     /* every 0: no gaps */
} CostWalk;

enum { LINE_BITS = 512 };

/* A loop that makes a run with gaps, or that fills gaps while the first cache holds the
 * lines.  Wider gaps take as long as runs that are apart (part_of_line). */
static bool
walk_gaps(CostWalk *w, i64 stride, i64 count, i64 held)
{
    enum { WIDEST = 16 };
    bool close = stride < LINE_BITS / w->bits && stride <= WIDEST * w->run;
    if (w->places == 1 && !w->every && close && stride > w->run && count > 1) {
        w->piece = w->run;
        w->every = stride;
        if (!int_mul(stride, count, &w->run))
            w->run = INF;
        return true;
    }
    if (!w->every || stride != w->piece || w->places > 1 || count > w->every / w->piece ||
        w->run > held * LINE_BITS / w->bits)
        return false;
    w->piece *= count;
    return true;
}

/* The lines that the first cache holds of places so far apart: in as many sets as a page has
 * lines at that distance.  Copies lose little unless it is whole pages. */
static i64
held_of(const CostWalk *w)
{
    enum { HELD = 256, HELD_OF_A_SET = 8, SETS = 64 };
    i64 bits = w->apart % (SETS * LINE_BITS) * w->bits % (SETS * LINE_BITS);
    if (!w->apart || bits % LINE_BITS || (!w->sets && bits))
        return HELD;
    i64 held = SETS * HELD_OF_A_SET;
    for (i64 lines = int_abs(bits / LINE_BITS) | SETS; lines % 2 == 0; lines /= 2)
        held /= 2;
    return held < HELD ? held : HELD;
}

/* One more loop.  It goes on where the run ends, as long as the first cache holds the lines
 * of all places; else those lines are read again. */
static void
walk_loop(CostWalk *w, i64 stride, i64 count)
{
    const i64 held = held_of(w);
    bool on = int_abs(stride) == w->run && w->places <= held;
    if (!on && walk_gaps(w, int_abs(stride), count, held))
        return;
    i64 *more = on ? &w->run : &w->places;
    if (count > 1 && !on && !w->apart)
        w->apart = stride;
    if (count > 1 && !on && !w->first)
        w->first = w->run;
    if (count > 1 && on && w->places > 1 && !w->turns)
        w->turns = w->places;
    if (count > 1 && !int_mul(*more, count, more))
        *more = INF;
}

/* The loop of a table, or of the columns, that goes on where a run ends; else the one with
 * the shortest stride in the residual of an address: loops there permute a compact set in most
 * layouts.  -1: there is none. */
static int
next_of_table(const Nest *n, int role, bool source, i64 run, const bool walked[MAX_LOOPS])
{
    int first = n->nloops - n->inner, end = first + n->table, best = -1;
    i64 least = 0;
    for (int i = first; i <= end; i++) {
        int at = i < end ? i : n->role[role];
        if (at < 0 || walked[at])
            continue;
        i64 stride = int_abs(source ? n->loop[at].ss : n->loop[at].ds);
        if (stride == run)
            return at;
        if (n->loop[at].residual && (best < 0 || stride < least)) {
            best = at;
            least = stride;
        }
    }
    return best;
}

/* The loops of a table and the columns, in any order; sets walked[] to those that make the
 * run. */
static void
walk_table(CostWalk *w, const Nest *n, int role, bool source, bool walked[MAX_LOOPS])
{
    const int first = n->nloops - n->inner, end = first + n->table;
    for (int at; (at = next_of_table(n, role, source, w->run, walked)) >= 0;) {
        walked[at] = true;
        walk_loop(w, w->run, at == n->role[role] ? nest_tile(n, role) : n->loop[at].n);
    }
    for (int i = first; i < end; i++)
        if (!walked[i])
            walk_loop(w, 0, n->loop[i].n);
}

/* Runs of the source that no loop continues, in whatever order: the line of each is read for
 * the run alone. */
static void
walk_sparse(CostWalk *w, const Nest *n)
{
    i64 half = LINE_BITS / 2 / w->bits, next = INF;
    for (int i = 0; i < n->nloops; i++) {
        i64 stride = int_abs(n->loop[i].ss);
        if (n->loop[i].residual)
            return;
        if (n->loop[i].n > 1 && stride >= w->run && stride < next)
            next = stride;
    }
    if (w->every || w->run >= half || next < half)
        return;
    w->piece = w->run;
    w->run = w->every = half;
}

/* What a nest reads (writes) contiguously.  Of bytes the other kernels are as fast as those that run
 * rows inside columns, which wait for what they read far apart. */
static CostWalk
walk_of(const Nest *n, int bits, bool source)
{
    const bool copies = n->kernel->family->by->speeds == AS_COPIES;
    CostWalk w = {.run = 1, .places = 1, .bits = bits, .piece = 1,
                  .sets = !copies && !n->stream};
    bool walked[MAX_LOOPS] = {false}, inside = bits < 8 && n->kernel->family->by->rows_inside;
    if (n->table)
        walk_table(&w, n, inside ? ROW : COL, source, walked);
    const int row = inside ? n->role[ROW] : -1;
    if (row >= 0 && !walked[row]) {
        walked[row] = true;
        walk_loop(&w, source ? n->loop[row].ss : n->loop[row].ds, nest_tile(n, ROW));
    }
    for (int i = n->nloops - 1; i >= n->nloops - n->inner + n->table; i--) {
        const Loop *l = &n->loop[i];
        int outer = nest_outer(n, i);
        if (!walked[i])
            walk_loop(&w, source ? l->ss : l->ds, outer < 0 ? l->n : n->outer[outer].step);
    }
    for (int i = n->nouter - 1; i >= 0; i--) {
        const Loop *l = &n->loop[n->outer[i].loop];
        i64 step = n->outer[i].step, stride = source ? l->ss : l->ds;
        if (!int_mul(stride, step, &stride))
            break;
        walk_loop(&w, l->residual ? 0 : stride, int_ceil_div(l->n, step));
    }
    if (source)
        walk_sparse(&w, n);
    if (!w.turns)
        w.turns = w.places;
    return w;
}

bool
nest_walks_again(const Nest *n)
{
    for (int i = 0; i < n->nouter; i++)
        if (n->loop[n->outer[i].loop].residual && n->outer[i].loop < n->nloops - n->inner)
            return true;
    return false;
}

/* The nanoseconds of rows past the caches that are not whole cache lines: those at their ends
 * are read first, or are still in a cache if the next row continues them soon.  Copies of rows
 * of less than a line take a bit longer too, unless the next row touches. */
static double
ends_of(const Nest *n, const CostWalk *to, int bits)
{
    enum { JOINED_NS = ENDS_NS / 2, SHORT_NS = 3, LEAST_BITS = 192 };
    i64 cols = nest_tile(n, COL), row = cols;
    if (n->table || nest_walks_again(n))
        return 0;
    if (nest_stride(n, ROW, false) == cols && !int_mul(row, nest_tile(n, ROW), &row))
        return 0;
    double rows = (double)n->elements / (double)row;
    bool whole = row % 512 * bits % 512 == 0 && to->apart % 512 * bits % 512 == 0;
    bool copies = n->kernel->family->by->speeds == AS_COPIES;
    if (row < 512 && row * bits < 512)
        return copies && to->turns > 1 && row * bits >= LEAST_BITS ? rows * SHORT_NS : 0;
    return whole || !n->stream ? 0 : rows * (to->run > row ? JOINED_NS : ENDS_NS);
}

/* The nanoseconds of runs that are copied from more places in turn than a hardware prefetcher
 * follows, until one of the places goes on. */
static double
starts_of(const Nest *n, const CostWalk *from, int bits)
{
    enum { FOLLOWED = 32, START_NS = 2, SHORT = 16, LONG = 1024 };
    double bytes = (double)from->first * bits / 8;
    bool copies = n->kernel->family->by->speeds == AS_COPIES;
    if (!copies || from->turns <= FOLLOWED || bytes < SHORT || bytes > LONG)
        return 0;
    return (double)n->elements / (double)from->first * START_NS;
}

static double
gaps_of(const CostWalk *w)
{
    return w->every ? (double)(w->every - w->piece) / (double)w->piece : 0;
}

/* A fill has no source: it is charged with a read of what it writes. */
Runs
nest_runs(const Nest *n, int bits)
{
    CostWalk to = walk_of(n, bits, false);
    CostWalk from = n->kind == NEST_FILL ? to : walk_of(n, bits, true);
    double size = (double)bits / 8;
    i64 apart;
    return (Runs){.read = (double)from.run * size, .written = (double)to.run * size,
                  .read_gaps = gaps_of(&from), .written_gaps = gaps_of(&to),
                  .apart = int_mul(to.apart, bits, &apart) ? apart / 8 : INF,
                  .more = ends_of(n, &to, bits) + starts_of(n, &from, bits)};
}
