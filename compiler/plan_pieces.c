/* One dim: the range of its coordinates cut into pieces in which every digit of
 * both layouts is linear. */
#include <stdlib.h>

#include "plan.h"

static int
insert_cut(i64 *cuts, int n, i64 c, i64 below)
{
    int i = 0;
    if (c <= 1 || c >= below || n == MAX_CUTS)
        return n;
    while (i < n && cuts[i] < c)
        i++;
    if (i < n && cuts[i] == c)
        return n;
    for (int j = n; j > i; j--)
        cuts[j] = cuts[j - 1];
    cuts[i] = c;
    return n + 1;
}

int
pieces_cuts(const Ex *x, int var, i64 below, i64 *cuts, int n)
{
    if (n == 0)
        cuts[n++] = 1;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (a->op == AT_DIG && ex_as_var(a->x[0]) == var) {
            n = insert_cut(cuts, n, a->lo, below);
            n = insert_cut(cuts, n, a->hi, below);
        }
        for (int j = 0; j < a->n; j++)
            n = pieces_cuts(a->x[j], var, below, cuts, n);
    }
    return n;
}

static bool
is_chain(const i64 *cuts, int n)
{
    for (int i = 0; i + 1 < n; i++)
        if (cuts[i + 1] % cuts[i])
            return false;
    return true;
}

typedef struct {
    const i64 *cuts;
    Piece *out;
    int n;
    bool full;            /* more pieces than there is room for */
} Cutter;

static void
add_loop(Piece *p, i64 step, i64 n, int level)
{
    if (n < 2)
        return;
    p->loop[p->nloops].step = step;
    p->loop[p->nloops].level = level;
    p->loop[p->nloops++].n = n;
}

/* The digits below `level`, all of them full, up to cuts[level]. */
static void
add_full(Cutter *c, Piece *p, int level)
{
    for (int i = level - 1; i >= 0; i--)
        add_loop(p, c->cuts[i], c->cuts[i + 1] / c->cuts[i], i);
}

static Piece *
add_piece(Cutter *c, const Piece *prefix)
{
    if (c->n == MAX_PIECES) {
        c->full = true;
        return &c->out[0];
    }
    c->out[c->n] = *prefix;
    return &c->out[c->n++];
}

/* [lo, hi) within the digits 0..level, after `prefix` fixed those above: a ragged
 * start, a run of full digits, a ragged end. */
static void
cut_chain(Cutter *c, int level, i64 lo, i64 hi, Piece prefix)
{
    if (lo >= hi)
        return;
    i64 p = c->cuts[level], a = lo / p, b = hi / p;
    if (level == 0) {
        Piece *q = add_piece(c, &prefix);
        q->start += lo;
        add_loop(q, 1, hi - lo, 0);
        return;
    }
    Piece at = prefix;
    at.start += a * p;
    if (a == b) {
        cut_chain(c, level - 1, lo - a * p, hi - a * p, at);
        return;
    }
    if (lo % p) {
        cut_chain(c, level - 1, lo % p, p, at);
        a++;
    }
    if (a < b) {
        Piece *q = add_piece(c, &prefix);
        q->start += a * p;
        add_loop(q, p, b - a, level);
        add_full(c, q, level);
    }
    if (hi % p) {
        at = prefix;
        at.start += b * p;
        cut_chain(c, level - 1, 0, hi % p, at);
    }
}

static i64
next_multiple(const i64 *cuts, int n, i64 x)
{
    i64 next = INF;
    for (int i = 1; i < n; i++) {
        i64 m;
        if (int_mul(x / cuts[i] + 1, cuts[i], &m) && m < next)
            next = m;
    }
    return next;
}

/* Cuts that do not nest: segments between the multiples of all cuts, over one
 * period (their lcm), looped over the full periods; the rest after them. */
static void
cut_segments(Cutter *c, int ncuts, i64 lo, i64 hi)
{
    i64 period = 1, count = 0;
    for (int i = 0; i < ncuts; i++)
        if (!int_lcm(period, c->cuts[i], &period) || period > hi)
            period = INF;
    if (lo == 0 && period < INF)
        count = hi / period;
    i64 whole = count * (count ? period : 0);
    for (i64 x = 0, to; count && x < period && !c->full; x = to) {
        to = next_multiple(c->cuts, ncuts, x);
        to = to < period ? to : period;
        Piece *q = add_piece(c, &(Piece){.start = x});
        add_loop(q, period, count, 1);
        add_loop(q, 1, to - x, 0);
    }
    for (i64 x = lo > whole ? lo : whole, to; x < hi && !c->full; x = to) {
        to = next_multiple(c->cuts, ncuts, x);
        to = to < hi ? to : hi;
        Piece *q = add_piece(c, &(Piece){.start = x});
        add_loop(q, 1, to - x, 0);
    }
}

int
pieces_of(const i64 *cuts, int ncuts, i64 lo, i64 hi, Piece *out)
{
    Cutter c = {.cuts = cuts, .out = out};
    if (is_chain(cuts, ncuts) && ncuts <= MAX_LOOPS)
        cut_chain(&c, ncuts - 1, lo, hi, (Piece){0});
    else
        cut_segments(&c, ncuts, lo, hi);
    if (!c.full)
        return c.n;
    out[0] = (Piece){.start = lo};        /* the addresses stay expressions */
    add_loop(&out[0], 1, hi - lo, 0);
    return 1;
}
