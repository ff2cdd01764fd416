/* Cuts the dims of a plan into pieces. */
#include <string.h>

#include "plan_parts.h"

typedef struct {
    const Plan *p;
    Arena *arena;
    Ranges *out;
    Piece scratch[MAX_PIECES];
} RangeCutter;

/* The cuts of dim d of one layout.  If `below` is constant, only cuts less than it. */
static int
cuts_of(const Sizes *z, int d, const Ex *below, i64 *cuts, int n)
{
    i64 most = ex_is_const(below) ? below->base : INF;
    n = pieces_cuts(z->addr, z->var[d], most, cuts, n);
    for (int i = 0; i < z->nterms; i++)
        n = pieces_cuts(z->term[i].x, z->var[d], most, cuts, n);
    return n;
}

static int
phases_of(const Sizes *z, int d, Phase *phase, int n)
{
    n = phases_add(z->addr, z->var[d], phase, n);
    for (int i = 0; i < z->nterms; i++)
        n = phases_add(z->term[i].x, z->var[d], phase, n);
    for (int i = 0; i < z->l->dim[d].ncuts && n < MAX_CUTS; i++)
        phase[n++] = (Phase){CUT_ONCE, z->l->dim[d].cut[i]};
    return n;
}

/* The range of the m pieces in c->scratch; m < 0: of one piece, so that the digits stay
 * expressions: slower but correct. */
static Range
range_of_pieces(RangeCutter *c, int m, const Ex *from, const Ex *to)
{
    static const i64 one[1] = {1};
    if (m < 0)
        m = pieces_of(c->p->scalars, one, NULL, 1, from, to, 0, c->scratch);
    for (int i = 0; i < m; i++)
        c->scratch[i].pad = from != ex_const(c->p->e, 0);
    return (Range){arena_copy(c->arena, c->scratch, (size_t)m * sizeof c->scratch[0]), m,
                   from, to, false};
}

/* unit: as in pieces_of; 0 of what is no padding. */
static Range
range_of(RangeCutter *c, const i64 *cuts, int n, const Ex *from, const Ex *to, i64 unit)
{
    return range_of_pieces(c, pieces_of(c->p->scalars, cuts, NULL, n, from, to, unit,
                                        c->scratch), from, to);
}

/* The range [0, to) of dim d, with the cuts of shifted coordinates of both layouts. */
static Range
range_of_both(RangeCutter *c, int d, const i64 *cuts, int n, const Ex *to)
{
    Phase phase[2 * MAX_CUTS];
    const Plan *p = c->p;
    const Ex *zero = ex_const(p->e, 0);
    int m = phases_of(p->box.from, p->box.map[d], phase, phases_of(p->box.to, d, phase, 0));
    if (m == 0)
        return range_of(c, cuts, n, zero, to, 0);
    m = pieces_phased(p->scalars, cuts, n, phase, m, to, c->scratch);
    return range_of_pieces(c, m, zero, to);
}

static void
add_factors(const Sizes *z, int d, Factor *f)
{
    factor_add(z->addr, z->var[d], f);
    for (int i = 0; i < z->nterms; i++)
        factor_add(z->term[i].x, z->var[d], f);
}

/* Splits the pieces of what is copied by the factors of both layouts. */
static void
split_valid(RangeCutter *c, int d)
{
    Factor f = {0, 0};
    Range *r = &c->out->valid[d];
    add_factors(c->p->box.to, d, &f);
    add_factors(c->p->box.from, c->p->box.map[d], &f);
    if (!f.lo)
        return;
    memcpy(c->scratch, r->piece, (size_t)r->n * sizeof c->scratch[0]);
    r->n = factor_split(c->p->e, &f, c->scratch, r->n);
    r->piece = arena_copy(c->arena, c->scratch, (size_t)r->n * sizeof c->scratch[0]);
}

/* Elements from one coordinate of the dim to the next; 0: it has digits, or does not matter. */
static i64
step_of(const Sizes *z, int d)
{
    for (int i = 0; i < z->addr->n; i++) {
        const Term *t = &z->addr->t[i];
        if (t->atom->op == AT_VAR && t->atom->var == z->var[d])
            return t->coef;
    }
    return 0;
}

/* The odd element of 4 bits at the end of a long dim gets a piece of its own where the elements are
 * next to each other on one side and a few apart on the other: whole bytes of the others are
 * shuffled.  Elsewhere it would end runs. */
static int
cut_bytes(const Plan *p, int d, i64 *cuts, int m)
{
    enum { LONG = 64, NEAR = 8 };
    const Ex *n = p->box.to->n[d];
    if (p->dst->dtype->bits != 4 || m > 1 || !ex_is_const(n) || n->base < LONG)
        return m;
    i64 to = step_of(p->box.to, d), from = step_of(p->box.from, p->box.map[d]);
    if ((to == 1 && from > 1 && from <= NEAR) || (from == 1 && to > 1 && to <= NEAR))
        cuts[m++] = 2;
    return m;
}

/* The ranges of a dim that a side counts from the end of a tensor, with all digits of that side. */
static void
cut_ended(RangeCutter *c, int d, bool src, bool dst)
{
    i64 cuts[MAX_CUTS];
    const Plan *p = c->p;
    const Ex *any = scalar_ex(p->scalars, 0);
    int n = src ? cuts_of(p->box.from, p->box.map[d], any, cuts, 0) : cuts_of(p->box.to, d, any, cuts, 0);
    const int other = src ? cuts_of(p->box.to, d, any, (i64[MAX_CUTS]){0}, 0)
                          : cuts_of(p->box.from, p->box.map[d], any, (i64[MAX_CUTS]){0}, 0);
    plan_cut_ended(p, d, cuts, other > 1 || (src && dst) ? 1 : n, c->out);
}

/* The ranges of a dim that a side shifts around: the digits of the other side end pieces. */
static void
cut_rolled(RangeCutter *c, int d, const i64 *cuts, int n)
{
    static const i64 one[1] = {1};
    i64 of_src[MAX_CUTS];
    const Plan *p = c->p;
    const Rolled *src = &p->box.from->roll[p->box.map[d]], *dst = &p->box.to->roll[d];
    if (src->end || dst->end)
        cut_ended(c, d, src->end != NULL, dst->end != NULL);
    else if (src->by && dst->by)
        plan_cut_rolled(p, d, one, 1, c->out);
    else if (src->by)
        plan_cut_rolled(p, d, cuts, n, c->out);
    else if (dst->by)
        plan_cut_rolled(p, d, of_src, cuts_of(p->box.from, p->box.map[d], p->box.to->n[d], of_src, 0),
                        c->out);
}

static void
cut_dim(RangeCutter *c, int d)
{
    i64 cuts[MAX_CUTS], both[MAX_CUTS];
    const Plan *p = c->p;
    const Sizes *to = p->box.to;
    const Ex *zero = ex_const(p->e, 0), *n = to->n[d], *end = to->padded[d];
    int k = cuts_of(to, d, end, cuts, 0);
    int m = cuts_of(p->box.from, p->box.map[d], n, both, cuts_of(to, d, n, both, 0));
    m = cut_bytes(p, d, both, m);
    c->out->valid[d] = range_of_both(c, d, both, m, n);
    split_valid(c, d);
    c->out->valid_dst[d] = range_of(c, cuts, k, zero, n, 0);
    c->out->pad[d] = range_of(c, cuts, k, n, end, to->unit[d]);
    c->out->full[d] = range_of(c, cuts, k, zero, end, 0);
    cut_rolled(c, d, cuts, k);
}

/* For padding that repeats the last element: puts real and padded coordinates in separate
 * pieces, so that the last element is one coordinate for each piece. */
static void
separate_padding(RangeCutter *c)
{
    for (int d = 0; d < c->p->box.rank; d++) {
        const Range *v = &c->out->valid[d], *p = &c->out->pad[d];
        Piece *all = arena_array(c->arena, Piece, v->n + p->n);
        memcpy(all, v->piece, (size_t)v->n * sizeof *all);
        if (p->n)
            memcpy(all + v->n, p->piece, (size_t)p->n * sizeof *all);
        c->out->full[d] = (Range){all, v->n + p->n, v->from, p->to, v->rolled};
    }
}

Range
plan_whole(const Plan *p, const Ex *from, const Ex *to)
{
    static const i64 one[1] = {1};
    RangeCutter c = {.p = p, .arena = ex_arena(p->e)};
    return range_of(&c, one, 1, from, to, 0);
}

void
plan_cut(const Plan *p, Ranges *out)
{
    RangeCutter c = {.p = p, .arena = ex_arena(p->e), .out = out};
    for (int d = 0; d < p->box.rank; d++)
        cut_dim(&c, d);
    if (p->dst->ref->def->fill == FILL_EDGE)
        separate_padding(&c);
}
