/* Cuts a dim that a layout shifts around its slots, with its extent left to run time: the coordinates
 * that are shifted past the last slot are pieces of their own.  In a piece a slot is a coordinate plus
 * a number, so digits of the slots stay expressions of the loops. */
#include "plan_parts.h"

typedef struct {
    Exprs *e;
    Scalars *s;
    const Rolled *side[2];
    Piece *piece;
    int n;
    int most;             /* loops of a piece: pieces of shifted dims are not joined later */
} RolledCutter;

const Ex *
plan_slot(Exprs *e, const Rolled *r, const Piece *q, int side, const Ex *x)
{
    if (!r->by)
        return x;
    if (r->end)
        return ex_add(e, q->at[side], ex_sub(e, x, q->start));
    const Ex *at = ex_add(e, ex_sub(e, x, q->start), q->at[side]);
    return r->flip ? ex_sub(e, ex_add_scaled(e, r->slots, at, -1), ex_const(e, 1)) : at;
}

static const Ex *
sum(RolledCutter *c, const Ex *a, const Ex *b, i64 by)
{
    return ex_add_scaled(c->e, a, b, by);
}

/* x, which is 0 or more wherever it is used. */
static const Ex *
start(RolledCutter *c, const Ex *x)
{
    return x->f.min >= 0 ? x : scalar_named(c->s, x, INF);
}

/* min(max(x, 0), n), where n is 0 or more. */
static const Ex *
between(RolledCutter *c, const Ex *x, const Ex *n)
{
    x = x->f.min < 0 ? ex_max(c->e, x, ex_const(c->e, 0)) : x;
    return scalar_of(c->s, ex_min(c->e, x, n), n->f.max);
}

/* The first coordinate that is shifted past the last slot, if there are such. */
static const Ex *
border(RolledCutter *c, int side)
{
    return start(c, sum(c, c->side[side]->slots, c->side[side]->by, -1));
}

/* How many of the n coordinates are shifted past the last slot. */
static const Ex *
wrapped(RolledCutter *c, int side, const Ex *n)
{
    const Rolled *r = c->side[side];
    return r->by ? between(c, ex_sub(c->e, r->by, ex_const(c->e, r->more)), n) : ex_const(c->e, 0);
}

/* Gives a piece the slots of both sides; past[]: they are past the last one. */
static void
set_slots(RolledCutter *c, Piece *q, const bool past[2])
{
    for (int i = 0; i < 2; i++)
        if (c->side[i]->by)
            q->at[i] = start(c, past[i] ? sum(c, q->start, border(c, i), -1)
                                        : sum(c, q->start, c->side[i]->by, 1));
}

/* n coordinates from `from` on. */
static void
add(RolledCutter *c, const Ex *from, const Ex *n, bool src_past, bool dst_past, bool pad)
{
    if (ex_is(n, 0))
        return;
    Piece *q = &c->piece[c->n++];
    *q = (Piece){.start = from, .from = from, .to = ex_add(c->e, from, n), .pad = pad};
    set_slots(c, q, (bool[2]){src_past, dst_past});
    PieceLoop *loop = arena_array(ex_arena(c->e), PieceLoop, 1);
    loop[0] = (PieceLoop){1, ex_is_const(n) ? n->base - 1 : INF, ex_const(c->e, 0), n, 0};
    q->loop = loop;
    q->nloops = !ex_is(n, 1);
}

static Range
range(RolledCutter *c, const Ex *from, const Ex *to)
{
    Range r = {arena_copy(ex_arena(c->e), c->piece, (size_t)c->n * sizeof *c->piece), c->n, from, to,
               true};
    c->n = 0;
    return r;
}

/* The first n coordinates, which neither side shifts past its last slot. */
static void
add_low(RolledCutter *c, const Ex *n, const i64 *cuts, int ncuts)
{
    const Ex *zero = ex_const(c->e, 0);
    n = start(c, n);
    int k = pieces_of(c->s, cuts, NULL, ncuts, zero, n, 0, c->piece);
    for (int i = 0; i < k; i++)
        if (c->piece[i].nloops > c->most)
            k = -1;
    for (int i = 0; i < k; i++)
        set_slots(c, &c->piece[i], (bool[2]){false, false});
    if (k >= 0)
        c->n = k;
    else
        add(c, zero, n, false, false, false);
}

/* The coordinates below n, if at most one side shifts them; high[]: how many past its last slot. */
static Range
of_one(RolledCutter *c, const Ex *n, const Ex *const high[2], const i64 *cuts, int ncuts)
{
    int side = ex_is(high[SRC], 0) ? DST : SRC;
    add_low(c, sum(c, n, high[side], -1), cuts, ncuts);
    if (!ex_is(high[side], 0))
        add(c, border(c, side), high[side], side == SRC, side == DST, false);
    return range(c, ex_const(c->e, 0), n);
}

/* The coordinates below n, which both sides shift: those between the borders are past the last slot
 * of one side. */
static Range
of_both(RolledCutter *c, const Ex *n, const Ex *const high[2])
{
    static const i64 one[1] = {1};
    const Ex *src = sum(c, n, high[SRC], -1), *dst = sum(c, n, high[DST], -1);
    const Ex *least = between(c, high[SRC], high[DST]);
    add_low(c, between(c, src, dst), one, 1);
    add(c, border(c, SRC), between(c, sum(c, dst, src, -1), n), true, false, false);
    add(c, border(c, DST), between(c, sum(c, src, dst, -1), n), false, true, false);
    add(c, start(c, sum(c, n, least, -1)), least, true, true, false);
    return range(c, ex_const(c->e, 0), n);
}

/* The slots from coordinate n on, to which no element belongs; `all`: and the coordinates before. */
static Range
padding(RolledCutter *c, const Ex *n, bool all)
{
    const Rolled *r = c->side[DST];
    const Ex *zero = ex_const(c->e, 0), *more = ex_const(c->e, r->more);
    const Ex *high = between(c, r->by, all ? r->slots : more);
    const Ex *low = start(c, sum(c, all ? r->slots : more, high, -1));
    add(c, all ? zero : n, low, false, false, !all);
    add(c, start(c, sum(c, r->slots, high, -1)), high, false, true, !all);
    return range(c, all ? zero : n, r->slots);
}

void
plan_cut_rolled(const Plan *p, int d, const i64 *cuts, int ncuts, Ranges *out)
{
    enum { SEGMENTS = 8 };
    Piece piece[MAX_PIECES + SEGMENTS];
    static const Rolled no;
    const Ex *n = p->box.to->n[d], *none = ex_const(p->e, 0);
    RolledCutter c = {.e = p->e, .s = p->scalars, .piece = piece,
                .most = MAX_LOOPS / p->box.rank,
                .side = {&p->box.from->roll[p->box.map[d]], &p->box.to->roll[d]}};
    const Ex *const high[2] = {wrapped(&c, SRC, n), wrapped(&c, DST, n)};
    bool both = !ex_is(high[SRC], 0) && !ex_is(high[DST], 0);
    out->valid[d] = both ? of_both(&c, n, high) : of_one(&c, n, high, cuts, ncuts);
    if (c.side[SRC]->by && (c.side[DST]->by || out->pad[d].n) && p->dst->ref->def->fill == FILL_EDGE)
        diag_fatal(ex_arena(p->e)->diag, DIAG_LAYOUT, p->dst->ref->def->loc, "'%s' repeats the last "
                   "element of a dim that '%s' shifts by an extent left to run time: give that "
                   "extent as a number", p->dst->ref->def->name, p->src->ref->def->name);
    if (!c.side[DST]->by)
        return;
    c.side[SRC] = &no;
    out->valid_dst[d] = of_one(&c, n, (const Ex *const[2]){none, high[DST]}, cuts, 1);
    out->pad[d] = padding(&c, n, false);
    out->full[d] = padding(&c, n, true);
}
