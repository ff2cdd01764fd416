/* Cuts a dim of which one side is a part that is counted from the end of a tensor, stored in blocks, with
 * its extent left to run time.  Each piece has the coordinate of the tensor that it begins at. */
#include "plan_parts.h"

typedef struct {
    Exprs *e;
    Scalars *s;
    const Rolled *side[2];
    Piece *piece;
    int n;
} EndedCutter;

static Piece *
add(EndedCutter *c, const Ex *from, const Ex *to, int loops)
{
    Piece *q = &c->piece[c->n++];
    *q = (Piece){.start = from, .from = from, .to = to};
    q->loop = arena_array(ex_arena(c->e), PieceLoop, loops);
    return q;
}

static void
add_loop(Piece *q, i64 step, i64 most, const Ex *first, const Ex *n, int level)
{
    ((PieceLoop *)q->loop)[q->nloops++] = (PieceLoop){step, most, first, n, level};
}

/* A piece for each of n coordinates. */
static void
cut_each(EndedCutter *c, i64 n)
{
    for (i64 i = 0; i < n; i++) {
        Piece *q = add(c, ex_const(c->e, i), ex_const(c->e, i + 1), 1);
        for (int k = 0; k < 2; k++)
            if (c->side[k]->end)
                q->at[k] = from_end_at(c->s, c->side[k]->end, i);
    }
}

/* One piece, in which digits stay expressions. */
static void
cut_whole(EndedCutter *c, const Ex *n)
{
    Piece *q = add(c, ex_const(c->e, 0), n, 1);
    add_loop(q, 1, ex_is_const(n) ? n->base - 1 : INF, q->start, n, 0);
    for (int k = 0; k < 2; k++)
        if (c->side[k]->end)
            q->at[k] = from_end_at(c->s, c->side[k]->end, 0);
}

/* Coordinates first to first + n - 1 of the block that begins at coordinate `block` of the tensor, which
 * are those of the part from `from` on. */
static void
add_part(EndedCutter *c, int k, i64 size, const Ex *from, const Ex *block, const Ex *first, const Ex *n)
{
    Piece *q = add(c, ex_sub(c->e, from, first), ex_add(c->e, from, n), 1);
    q->from = from;
    q->at[k] = block;
    add_loop(q, 1, size - 1, first, n, 0);
}

/* The part of a block at the start, full blocks, the part of a block at the end. */
static void
cut_blocks(EndedCutter *c, int k, const i64 *cuts, int ncuts, i64 n)
{
    Exprs *e = c->e;
    const i64 size = cuts[ncuts - 1];
    const Ex *zero = ex_const(e, 0), *lo = from_end_at(c->s, c->side[k]->end, 0);
    const Ex *first = scalar_of(c->s, ex_mod(e, lo, size), size - 1);
    const Ex *block = scalar_of(c->s, ex_div(e, lo, size), INF);
    const Ex *head = scalar_of(c->s, ex_mod(e, ex_scale(e, first, -1), size), size - 1);
    const Ex *rest = ex_sub(e, ex_const(e, n), head);
    const Ex *full = scalar_of(c->s, ex_div(e, rest, size), n / size);
    const Ex *tail = scalar_of(c->s, ex_mod(e, rest, size), size - 1);
    const Ex *next = ex_scale(e, scalar_ceil(c->s, lo, size), size);
    add_part(c, k, size, zero, ex_scale(e, block, size), first, head);
    Piece *q = add(c, head, ex_add_scaled(e, head, full, size), ncuts);
    q->at[k] = next;
    add_loop(q, size, n / size - 1, zero, full, ncuts - 1);
    for (int i = ncuts - 2; i >= 0; i--)
        add_loop(q, cuts[i], cuts[i + 1] / cuts[i] - 1, zero, ex_const(e, cuts[i + 1] / cuts[i]), i);
    add_part(c, k, size, ex_add_scaled(e, head, full, size), ex_add_scaled(e, next, full, size), zero, tail);
}

/* Whether a dim of n coordinates begins with part of a block, and has as many full ones as are worth it. */
static bool
has_blocks(const i64 *cuts, int ncuts, const Ex *n)
{
    bool chain = ncuts > 1 && ex_is_const(n);
    for (int i = 0; i + 1 < ncuts; i++)
        chain &= cuts[i + 1] % cuts[i] == 0;
    return chain && n->base >= 2 * cuts[ncuts - 1];
}

void
plan_cut_ended(const Plan *p, int d, const i64 *cuts, int ncuts, Ranges *out)
{
    Piece piece[MAX_PIECES];
    Arena *a = ex_arena(p->e);
    const Ex *n = p->box.to->n[d];
    EndedCutter c = {.e = p->e, .s = p->scalars, .piece = piece,
                     .side = {&p->box.from->roll[p->box.map[d]], &p->box.to->roll[d]}};
    const int k = c.side[SRC]->end ? SRC : DST;
    if ((c.side[SRC]->by && !c.side[SRC]->end) || (c.side[DST]->by && !c.side[DST]->end) ||
        (c.side[SRC]->end && out->pad[d].n && p->dst->ref->def->fill == FILL_EDGE))
        diag_fatal(a->diag, DIAG_LAYOUT, p->dst->ref->def->loc, "a part that is counted from the end of a "
                   "dim, which '%s' repeats or shifts by an extent left to run time: give that extent as "
                   "a number", p->dst->ref->def->name);
    if (ex_is_const(n) && n->base <= MOST_FROM_END)
        cut_each(&c, n->base);
    else if (has_blocks(cuts, ncuts, n))
        cut_blocks(&c, k, cuts, ncuts, n->base);
    else
        cut_whole(&c, n);
    out->valid[d] = (Range){arena_copy(a, piece, (size_t)c.n * sizeof *piece), c.n, ex_const(p->e, 0), n, true};
    if (c.side[DST]->end)
        out->valid_dst[d] = out->full[d] = out->valid[d];
}
