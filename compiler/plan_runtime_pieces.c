/* One dim of an extent left to run time: its coordinates cut into pieces.
 *
 * With cuts 1 | c1 | .. | ck, full blocks of ck, then of the rest full blocks of c(k-1),
 * and so on: k + 1 pieces, each a count that is a digit of the extent n.  Padding is cut
 * alike, by the digits of what is missing to a whole block.  Cuts that do not nest are
 * segments over one period, their lcm: once for the full periods, once for the rest. */
#include "plan_runtime.h"

/* Segments at most in one period: more make code that is no use to anyone. */
enum { MAX_SEGMENTS = 16 };

typedef struct {
    Scalars *s;
    Exprs *e;
    const i64 *cuts;
    int ncuts;
    RuntimePiece *out;
    int n;
} Cutter;

static const Ex *
number(Cutter *c, i64 v)
{
    return ex_const(c->e, v);
}

static void
add_loop(RuntimePiece *p, i64 step, const Ex *first, const Ex *n, i64 most, int level)
{
    p->loop[p->nloops].step = step;
    p->loop[p->nloops].first = first;
    p->loop[p->nloops].n = n;
    p->loop[p->nloops].most = most;
    p->loop[p->nloops++].level = level;
}

static void
add_constant(Exprs *e, RuntimePiece *p, i64 step, i64 n, int level)
{
    if (n > 1)
        add_loop(p, step, ex_const(e, 0), ex_const(e, n), n - 1, level);
}

RuntimePiece
runtime_piece(Exprs *e, const Piece *p)
{
    RuntimePiece r = {.start = ex_const(e, p->start)};
    i64 run = 1;
    bool gaps = false;
    for (int i = p->nloops - 1; i >= 0; i--) {
        gaps |= p->loop[i].step != run;
        run = p->loop[i].step * p->loop[i].n;
    }
    for (int i = 0; i < p->nloops; i++)
        add_constant(e, &r, p->loop[i].step, p->loop[i].n, p->loop[i].level);
    r.from = r.start;
    r.to = gaps ? NULL : ex_const(e, p->start + run);
    return r;
}

static bool
is_chain(const i64 *cuts, int n)
{
    for (int i = 0; i + 1 < n; i++)
        if (cuts[i + 1] % cuts[i])
            return false;
    return n <= MAX_LOOPS;
}

/* Digit i of x: from cut i to the next, if there is one. */
static const Ex *
digit(Cutter *c, const Ex *x, int i)
{
    i64 lo = c->cuts[i], hi = i + 1 < c->ncuts ? c->cuts[i + 1] : 0;
    return scalar_of(c->s, ex_dig(c->e, x, lo, hi), hi ? hi / lo - 1 : INF);
}

/* A piece of blocks of cut i, n of them from first, within a block of the next cut that
 * begins at `start`; all lower digits are full. */
static void
add_blocks(Cutter *c, const Ex *start, int i, const Ex *first, const Ex *n)
{
    if (ex_is_const(n) && n->base == 0)
        return;
    RuntimePiece *p = &c->out[c->n++];
    i64 most = i + 1 < c->ncuts ? c->cuts[i + 1] / c->cuts[i] - 1 : INF;
    *p = (RuntimePiece){.start = start};
    p->from = ex_add(c->e, start, ex_scale(c->e, first, c->cuts[i]));
    p->to = ex_add(c->e, p->from, ex_scale(c->e, n, c->cuts[i]));
    add_loop(p, c->cuts[i], first, n, most, i);
    for (int k = i - 1; k >= 0; k--)
        add_constant(c->e, p, c->cuts[k], c->cuts[k + 1] / c->cuts[k], k);
}

/* x without its digits below cut i + 1. */
static const Ex *
upper(Cutter *c, const Ex *x, int i)
{
    const Ex *sum = number(c, 0);
    for (int k = i + 1; k < c->ncuts; k++)
        sum = ex_add(c->e, sum, ex_scale(c->e, digit(c, x, k), c->cuts[k]));
    return sum;
}

static void
cut_chain(Cutter *c, const Ex *n)
{
    for (int i = c->ncuts - 1; i >= 0; i--)
        add_blocks(c, upper(c, n, i), i, number(c, 0), digit(c, n, i));
}

/* What is missing from n to the end of its block of cut `top`. */
static const Ex *
missing(Cutter *c, const Ex *n, int top)
{
    i64 block = c->cuts[top];
    const Ex *end = ex_scale(c->e, scalar_ceil(c->s, n, block), block);
    return scalar_of(c->s, ex_sub(c->e, end, n), block - 1);
}

/* The topmost cut that padded is whole blocks of for every shape. */
static int
whole_blocks(Cutter *c, const Ex *padded)
{
    int i = c->ncuts - 1;
    while (i > 0 && ex_mod(c->e, padded, c->cuts[i]) != number(c, 0))
        i--;
    return i;
}

/* The end of n's block of cut i. */
static const Ex *
block_end(Cutter *c, const Ex *n, int i)
{
    return ex_scale(c->e, scalar_ceil(c->s, n, c->cuts[i]), c->cuts[i]);
}

/* To the end of n's block of the topmost cut that the padding ends with, then such blocks:
 * digits above it stay expressions of them. */
static void
pad_chain(Cutter *c, const Ex *n, const Ex *padded)
{
    int top = whole_blocks(c, padded);
    const Ex *lack = missing(c, n, top), *from, *to;
    for (int i = 0; i < top; i++) {
        const Ex *count = digit(c, lack, i);
        const Ex *all = number(c, c->cuts[i + 1] / c->cuts[i]);
        add_blocks(c, upper(c, n, i), i, ex_sub(c->e, all, count), count);
        c->out[c->n - 1].from = block_end(c, n, i);
        c->out[c->n - 1].to = block_end(c, n, i + 1);
    }
    from = scalar_ceil(c->s, n, c->cuts[top]);
    to = scalar_ceil(c->s, padded, c->cuts[top]);
    c->ncuts = top + 1;
    add_blocks(c, number(c, 0), top, from, ex_sub(c->e, to, from));
}

static bool
period_of(const Cutter *c, i64 *period)
{
    *period = 1;
    for (int i = 0; i < c->ncuts; i++)
        if (!int_lcm(*period, c->cuts[i], period))
            return false;
    return true;
}

/* The first multiple of a cut beyond x. */
static i64
next_cut(const Cutter *c, i64 x, i64 period)
{
    i64 next = period;
    for (int i = 1; i < c->ncuts; i++) {
        i64 m = (x / c->cuts[i] + 1) * c->cuts[i];
        next = m < next ? m : next;
    }
    return next;
}

/* x - from, at least 0 and at most n. */
static const Ex *
clamp(Cutter *c, const Ex *x, i64 from, i64 n)
{
    const Ex *y = ex_sub(c->e, x, number(c, from));
    y = ex_min(c->e, ex_max(c->e, y, number(c, 0)), number(c, n));
    return scalar_of(c->s, y, n);
}

/* The segments over one period: those of full periods below n and, of the one that n is
 * in, what lies below n; or, where `padded` is not NULL, from n to there, which is in the
 * same period as padding goes no further than to a multiple of `unit`. */
static bool
cut_segments(Cutter *c, const Ex *n, const Ex *padded, i64 unit)
{
    i64 period;
    if (!period_of(c, &period) || (padded && (!unit || period % unit)))
        return false;
    const Ex *turns = scalar_of(c->s, ex_div(c->e, n, period), INF), *end = NULL;
    const Ex *rest = scalar_of(c->s, ex_mod(c->e, n, period), period - 1);
    const Ex *last = ex_scale(c->e, turns, period);
    if (padded)
        end = scalar_of(c->s, ex_sub(c->e, padded, last), period);
    for (i64 x = 0, to; x < period; x = to) {
        to = next_cut(c, x, period);
        if (c->n + 2 > 2 * MAX_SEGMENTS)
            return false;
        const Ex *start = ex_add(c->e, last, number(c, x));
        const Ex *below = clamp(c, rest, x, to - x), *first = number(c, 0);
        const Ex *count = below;
        if (padded) {
            first = below;
            count = scalar_of(c->s, ex_sub(c->e, clamp(c, end, x, to - x), below), to - x);
        } else {
            c->out[c->n] = (RuntimePiece){.start = number(c, x), .from = number(c, x)};
            add_loop(&c->out[c->n], period, number(c, 0), turns, INF, 1);
            add_constant(c->e, &c->out[c->n++], 1, to - x, 0);
        }
        RuntimePiece *p = &c->out[c->n++];
        *p = (RuntimePiece){.start = start, .from = ex_add(c->e, start, first)};
        p->to = ex_add(c->e, p->from, count);
        add_loop(p, 1, first, count, to - x - 1, 0);
    }
    return true;
}

int
runtime_pieces(Scalars *s, const i64 *cuts, int ncuts, const Ex *n, RuntimePiece *out)
{
    Cutter c = {.s = s, .e = s->e, .cuts = cuts, .ncuts = ncuts, .out = out};
    if (is_chain(cuts, ncuts))
        cut_chain(&c, n);
    else if (!cut_segments(&c, n, NULL, 0))
        return -1;
    return c.n;
}

int
runtime_padding(Scalars *s, const i64 *cuts, int ncuts, const Ex *n, const Ex *padded,
                i64 unit, RuntimePiece *out)
{
    Cutter c = {.s = s, .e = s->e, .cuts = cuts, .ncuts = ncuts, .out = out};
    if (n == padded)
        return 0;
    if (is_chain(cuts, ncuts))
        pad_chain(&c, n, padded);
    else if (!cut_segments(&c, n, padded, unit))
        return -1;
    for (int i = 0; i < c.n; i++)
        out[i].pad = true;
    return c.n;
}
