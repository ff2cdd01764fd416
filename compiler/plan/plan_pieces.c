/* Cuts the range of one dim into pieces in which every digit of both layouts is linear.
 *
 * If each cut divides the next, 1 | c1 | .. | ck, the range is a partial block at the
 * start (from the smallest cut to the largest), then full blocks, then a partial block at
 * the end.  With ends left to run time the pieces are the same; the number of blocks of a
 * piece is then a digit of an end.  Otherwise the cuts make segments over one period,
 * their lcm; these are used for the full periods and for the remainder. */

#include "plan_parts.h"

/* Only digits of the variable alone: those of a shifted one have phases (plan_phase.c), and
 * one of a sum is left in the residual. */
static void
cuts_of_digit(void *arg, const DigitUse *u)
{
    cuts_add(arg, u->lo);
    cuts_add(arg, u->hi);
}

int
pieces_cuts(const Ex *x, int var, i64 below, i64 *cuts, int n)
{
    Cuts c = {.cut = cuts, .below = below, .n = n, .most = MAX_CUTS};
    if (n == 0)
        cuts[c.n++] = 1;
    ex_each_digit(x, var, cuts_of_digit, &c);
    return c.n;
}

typedef struct {
    Scalars *s;
    Exprs *e;
    const i64 *cuts, *phase;
    int ncuts;
    Piece *out;
    int n;
    bool full;            /* there are too many pieces */
} Cutter;

static bool
is_chain(const i64 *cuts, int n)
{
    for (int i = 0; i + 1 < n; i++)
        if (cuts[i + 1] % cuts[i])
            return false;
    return n <= MAX_LOOPS;
}

static const Ex *
number(Cutter *c, i64 v)
{
    return ex_const(c->e, v);
}

static Piece *
add_piece(Cutter *c, const Ex *start, int loops)
{
    c->full |= c->n == MAX_PIECES;
    Piece *p = &c->out[c->full ? 0 : c->n++];
    *p = (Piece){.start = start, .from = start};
    p->loop = arena_array(ex_arena(c->e), PieceLoop, loops);
    return p;
}

static void
add_loop(Piece *p, PieceLoop l)
{
    ((PieceLoop *)p->loop)[p->nloops++] = l;
}

/* Adds a loop of n iterations to the piece, unless n is 1. */
static void
add_count(Cutter *c, Piece *p, i64 step, i64 n, int level)
{
    if (n > 1)
        add_loop(p, (PieceLoop){step, n - 1, number(c, 0), number(c, n), level});
}

/* Digit i of x: the digit between cut i and the next cut; without a next cut, x div cut. */
static const Ex *
digit(Cutter *c, const Ex *x, int i)
{
    i64 lo = c->cuts[i], hi = i + 1 < c->ncuts ? c->cuts[i + 1] : 0;
    return scalar_of(c->s, ex_dig(c->e, x, lo, hi), hi ? hi / lo - 1 : INF);
}

/* x rounded down to a multiple of cut i + 1. */
static const Ex *
upper(Cutter *c, const Ex *x, int i)
{
    const Ex *sum = number(c, 0);
    for (int k = i + 1; k < c->ncuts; k++)
        sum = ex_add_scaled(c->e, sum, digit(c, x, k), c->cuts[k]);
    return sum;
}

/* Adds a piece of n blocks of cut i, from block `first` of the block of the next cut that
 * begins at `start`.  All lower digits take their full range. */
static Piece *
add_blocks(Cutter *c, const Ex *start, int i, const Ex *first, const Ex *n)
{
    if (ex_is(n, 0))
        return NULL;
    Piece *p = add_piece(c, start, i + 1);
    p->from = ex_add_scaled(c->e, start, first, c->cuts[i]);
    p->to = ex_add_scaled(c->e, p->from, n, c->cuts[i]);
    if (ex_is_const(first) && ex_is_const(n)) {
        p->start = p->from;
        add_count(c, p, c->cuts[i], n->base, i);
    } else {
        i64 most = i + 1 < c->ncuts ? c->cuts[i + 1] / c->cuts[i] - 1 : INF;
        add_loop(p, (PieceLoop){c->cuts[i], most, first, n, i});
    }
    for (int k = i - 1; k >= 0; k--)
        add_count(c, p, c->cuts[k], c->cuts[k + 1] / c->cuts[k], k);
    return p;
}

/* x rounded up to a multiple of cut i. */
static const Ex *
block_end(Cutter *c, const Ex *x, int i)
{
    return ex_scale(c->e, scalar_ceil(c->s, x, c->cuts[i]), c->cuts[i]);
}

/* The greatest cut with a full block in [lo, hi].  With ends left to run time: the greatest
 * cut of which hi is a multiple for every shape. */
static int
topmost(Cutter *c, const Ex *lo, const Ex *hi)
{
    int i = c->ncuts - 1;
    bool known = ex_is_const(lo) && ex_is_const(hi);
    for (; i > 0 && !ex_is(lo, 0); i--)
        if (known ? int_ceil_div(lo->base, c->cuts[i]) <= hi->base / c->cuts[i]
                  : ex_is(ex_mod(c->e, hi, c->cuts[i]), 0))
            break;
    return i;
}

/* With ends left to run time, digits above the topmost cut stay expressions over the
 * blocks, and at most `most` elements are between lo and hi. */
static void
cut_chain(Cutter *c, const Ex *lo, const Ex *hi, i64 most)
{
    int top = topmost(c, lo, hi), all = c->ncuts;
    const Ex *end = block_end(c, lo, top);
    const Ex *lack = scalar_of(c->s, ex_sub(c->e, end, lo), c->cuts[top] - 1);
    for (int i = 0; i < top; i++) {
        const Ex *n = digit(c, lack, i), *of = number(c, c->cuts[i + 1] / c->cuts[i]);
        const Ex *first = i ? ex_sub(c->e, of, n) : digit(c, lo, 0);
        Piece *p = add_blocks(c, upper(c, lo, i), i, first, n);
        if (!p)
            continue;
        p->from = block_end(c, lo, i);
        p->to = block_end(c, lo, i + 1);
    }
    const Ex *from = scalar_ceil(c->s, lo, c->cuts[top]);
    const Ex *to = scalar_of(c->s, ex_div(c->e, hi, c->cuts[top]), INF);
    const Ex *n = scalar_of(c->s, ex_sub(c->e, to, from),
                            most == INF ? INF : most / c->cuts[top]);
    c->ncuts = top + 1;
    Piece *p = add_blocks(c, number(c, 0), top, from, n);
    if (p)
        p->to = ex_scale(c->e, to, c->cuts[top]);
    c->ncuts = all;
    for (int i = top - 1; i >= 0; i--)
        add_blocks(c, upper(c, hi, i), i, number(c, 0), digit(c, hi, i));
}

/* The least place of any cut above x. */
static i64
next_cut(const Cutter *c, i64 x)
{
    i64 next = INF;
    for (int i = 1; i < c->ncuts; i++) {
        i64 m, at = c->phase ? c->phase[i] : 0;
        if (int_mul(int_div(x - at, c->cuts[i]) + 1, c->cuts[i], &m) &&
            int_add(m, at, &m) && m < next)
            next = m;
    }
    return next;
}

static i64
least(i64 a, i64 b)
{
    return a < b ? a : b;
}

/* The lcm of the cuts; INF if it exceeds `most` or 64 bits. */
static i64
period_of(const Cutter *c, i64 most)
{
    i64 period = 1;
    for (int i = 0; i < c->ncuts; i++)
        if (!int_lcm(period, c->cuts[i], &period) || period > most)
            return INF;
    return period;
}

/* False if a period has so many segments that, with an end left to run time, they would
 * make too much code. */
static bool
has_few_segments(const Cutter *c, i64 period)
{
    enum { MAX_SEGMENTS = 16 };
    i64 x = 0;
    for (int i = 0; i < MAX_SEGMENTS && x < period; i++)
        x = next_cut(c, x);
    return x >= period;
}

/* Segments of `count` periods from 0 on. */
static void
cut_periods(Cutter *c, i64 period, const Ex *count)
{
    for (i64 x = 0, to; x < period && !ex_is(count, 0) && !c->full; x = to) {
        to = least(next_cut(c, x), period);
        Piece *p = add_piece(c, number(c, x), 2);
        if (!ex_is_const(count))
            add_loop(p, (PieceLoop){period, INF, number(c, 0), count, 1});
        else
            add_count(c, p, period, count->base, 1);
        p->to = p->nloops ? NULL : number(c, to);
        add_count(c, p, 1, to - x, 0);
    }
}

/* x - from, limited to 0..n. */
static const Ex *
clamp(Cutter *c, const Ex *x, i64 from, i64 n)
{
    if (ex_is_const(x))
        return number(c, x->base < from ? 0 : least(x->base - from, n));
    const Ex *y = ex_sub(c->e, x, number(c, from));
    y = ex_min(c->e, ex_max(c->e, y, number(c, 0)), number(c, n));
    return scalar_of(c->s, y, n);
}

/* The part of segments from..to - 1 of the period that begins at `last`. */
static void
cut_part(Cutter *c, const Ex *last, const Ex *from, const Ex *to, i64 period)
{
    i64 x = ex_is_const(from) ? from->base : 0, end = ex_is_const(to) ? to->base : period;
    for (i64 next; x < end && !c->full; x = next) {
        next = least(next_cut(c, x), end);
        i64 most = next - x;
        const Ex *first = clamp(c, from, x, most), *upto = clamp(c, to, x, most);
        const Ex *n = scalar_of(c->s, ex_sub(c->e, upto, first), most);
        Piece *p = add_piece(c, ex_add(c->e, last, number(c, x)), 1);
        p->from = ex_add(c->e, p->start, first);
        p->to = ex_add(c->e, p->from, n);
        if (!ex_is_const(n))
            add_loop(p, (PieceLoop){1, most - 1, first, n, 0});
        else
            add_count(c, p, 1, most, 0);
    }
}

/* Segments of [0, hi): of the full periods and, in the period that contains hi, of the part
 * below hi.  For padding: of the part from lo on; with ends left to run time, lo and hi are
 * then in the same period. */
static bool
cut_segments(Cutter *c, const Ex *lo, const Ex *hi, i64 unit)
{
    bool pad = !ex_is(lo, 0), known = ex_is_const(lo) && ex_is_const(hi);
    i64 period = period_of(c, known ? hi->base : INF - 1);
    const Ex *n = pad ? lo : hi, *blocks = number(c, 0), *rest = n;
    if (!known && (!has_few_segments(c, period) || (pad && (!unit || period % unit))))
        return false;
    if (period < INF) {
        blocks = scalar_of(c->s, ex_div(c->e, n, period), INF);
        rest = scalar_of(c->s, ex_mod(c->e, n, period), period - 1);
    }
    const Ex *last = ex_scale(c->e, blocks, period);
    if (!pad) {
        cut_periods(c, period, blocks);
        cut_part(c, last, number(c, 0), rest, period);
    } else {
        const Ex *end = scalar_of(c->s, ex_sub(c->e, hi, last), period);
        cut_part(c, last, rest, end, period);
    }
    return !c->full;
}

int
pieces_of(Scalars *s, const i64 *cuts, const i64 *phase, int ncuts, const Ex *lo,
          const Ex *hi, i64 unit, Piece *out)
{
    Cutter c = {.s = s, .e = s->e, .cuts = cuts, .phase = phase, .ncuts = ncuts,
                .out = out};
    if (lo == hi || (ex_is_const(lo) && ex_is_const(hi) && lo->base >= hi->base))
        return 0;
    if (!phase && is_chain(cuts, ncuts))
        cut_chain(&c, lo, hi, unit ? unit - 1 : INF);
    else if (!cut_segments(&c, lo, hi, unit))
        return -1;
    return c.full ? -1 : c.n;
}
