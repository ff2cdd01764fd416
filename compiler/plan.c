/* The boxes of a relayout: products of the pieces of its dims. */
#include <string.h>

#include "plan.h"

static int
position(const LayoutDef *d, int rank, const char *name)
{
    for (int i = 0; i < d->ndims; i++)
        if (!strcmp(d->dims[i], name))
            return rank - d->ndims + i;
    return -1;
}

static const char *
names_of(Arena *a, const LayoutDef *d)
{
    Buf b = buf_new(a);
    buf_add(&b, d->batch ? "(..., " : "(");
    for (int i = 0; i < d->ndims; i++)
        buf_printf(&b, "%s%s", i ? "," : "", d->dims[i]);
    buf_add(&b, ")");
    return b.s;
}

void
plan_match(Arena *a, const LayoutRef *src, const LayoutRef *dst, int rank, int *map)
{
    const LayoutDef *s = src->def, *d = dst->def;
    int shared = 0, moved = 0;
    for (int i = 0; i < rank; i++)
        map[i] = i;
    for (int i = 0; i < d->ndims; i++) {
        int from = position(s, rank, d->dims[i]), to = rank - d->ndims + i;
        shared += from >= 0;
        moved += from >= 0 && from != to;
    }
    if (!moved)
        return;
    if (shared != rank || s->ndims != rank || d->ndims != rank)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "the dims of '%s' %s and of '%s' %s share names in different "
                   "places: name them alike, as in '(N,C,H,W){N, H, W, C}'", s->name,
                   names_of(a, s), d->name, names_of(a, d));
    for (int i = 0; i < rank; i++)
        map[i] = position(s, rank, d->dims[i]);
}

/* The pieces of one dim's range [lo, hi). */
typedef struct {
    const Piece *piece;
    int n;
    i64 lo, hi;
} Range;

typedef struct {
    Plan *p;
    Arena *arena;
    Range valid[MAX_RANK];         /* both sides' digits */
    Range valid_dst[MAX_RANK];     /* the destination's only */
    Range pad[MAX_RANK];
    Range full[MAX_RANK];
    Piece scratch[MAX_PIECES];
} Boxes;

static Range
range_of(Boxes *b, const i64 *cuts, int n, i64 lo, i64 hi)
{
    int m = lo < hi ? pieces_of(cuts, n, lo, hi, b->scratch) : 0;
    const Piece *p = arena_copy(b->arena, b->scratch, (size_t)m * sizeof *p);
    return (Range){p, m, lo, hi};
}

static void
cut_dim(Boxes *b, int d)
{
    i64 cuts[MAX_CUTS], both[MAX_CUTS];
    const Plan *p = b->p;
    const Dim *to = &p->dst->dim[d], *from = &p->src->dim[p->map[d]];
    int n = pieces_cuts(p->dst->addr, to->var, to->padded, cuts, 0);
    int m = pieces_cuts(p->dst->addr, to->var, to->n, both, 0);
    m = pieces_cuts(p->src->addr, from->var, to->n, both, m);
    b->valid[d] = range_of(b, both, m, 0, to->n);
    b->valid_dst[d] = range_of(b, cuts, n, 0, to->n);
    b->pad[d] = range_of(b, cuts, n, to->n, to->padded);
    b->full[d] = range_of(b, cuts, n, 0, to->padded);
}

/* The most loops that a piece of the range has. */
static int
loops_of(const Range *r)
{
    int most = 0;
    for (int i = 0; i < r->n; i++)
        most = r->piece[i].nloops > most ? r->piece[i].nloops : most;
    return most;
}

static bool
too_many(const Range *r, int rank, i64 limit)
{
    i64 product = 1, loops = 0;
    for (int d = 0; d < rank; d++) {
        loops += loops_of(&r[d]);
        product *= product <= limit && r[d].n ? r[d].n : 1;
    }
    return product > limit || loops > MAX_LOOPS;
}

/* One piece for all of a dim, the one with the most pieces and loops, until nests and
 * loops are few enough: its digits stay expressions, which is slower and as right. */
static void
coarsen(Boxes *b, Range *r, i64 limit)
{
    static const i64 one[1] = {1};
    int rank = b->p->dst->rank;
    while (too_many(r, rank, limit)) {
        int most = 0;
        for (int d = 1; d < rank; d++)
            if (r[d].n * loops_of(&r[d]) > r[most].n * loops_of(&r[most]))
                most = d;
        r[most] = range_of(b, one, 1, r[most].lo, r[most].hi);
    }
}

static Nest *
new_nest(Boxes *b)
{
    Plan *p = b->p;
    if ((p->n & (p->n - 1)) == 0) {
        Nest *old = p->nest;
        p->nest = arena_array(b->arena, Nest, p->n ? 2 * p->n : 1);
        if (p->n)
            memcpy(p->nest, old, (size_t)p->n * sizeof *old);
    }
    return &p->nest[p->n++];
}

/* A nest for every choice of one piece a dim, at most about `limit`. */
static void
add_boxes(Boxes *b, NestKind kind, Range *range, i64 limit)
{
    int rank = b->p->dst->rank, at[MAX_RANK] = {0}, d;
    const Piece *piece[MAX_RANK];
    for (d = 0; d < rank; d++)
        if (range[d].n == 0)
            return;
    coarsen(b, range, limit);
    do {
        for (d = 0; d < rank; d++)
            piece[d] = &range[d].piece[at[d]];
        nest_make(b->p, kind, piece, new_nest(b));
        for (d = rank - 1; d >= 0 && ++at[d] == range[d].n; d--)
            at[d] = 0;
    } while (d >= 0);
}

/* Padding, disjoint: dims before k real, dim k padding, dims after k all. */
static void
add_padding(Boxes *b, NestKind kind)
{
    int rank = b->p->dst->rank;
    bool copy = kind == NEST_COPY;
    Range range[MAX_RANK];
    for (int k = 0; k < rank; k++) {
        for (int d = 0; d < rank; d++)
            range[d] = d == k ? b->pad[d] : d > k ? b->full[d]
                       : copy ? b->valid[d] : b->valid_dst[d];
        add_boxes(b, kind, range, NESTS_MAX / rank);
    }
}

/* For padding that repeats the last element: real and padded coordinates in pieces
 * of their own, so that "the last element" is one coordinate in each. */
static void
separate_padding(Boxes *b)
{
    for (int d = 0; d < b->p->dst->rank; d++) {
        const Range *v = &b->valid[d], *p = &b->pad[d];
        Piece *all = arena_array(b->arena, Piece, v->n + p->n);
        memcpy(all, v->piece, (size_t)v->n * sizeof *all);
        if (p->n)
            memcpy(all + v->n, p->piece, (size_t)p->n * sizeof *all);
        b->full[d] = (Range){all, v->n + p->n, 0, b->p->dst->dim[d].padded};
    }
}

Plan *
plan_make(Layout *src, Layout *dst, const int *map)
{
    Arena *a = ex_arena(dst->e);
    Plan *p = arena_new(a, Plan);
    Boxes *b = arena_new(a, Boxes);
    *p = (Plan){.src = src, .dst = dst, .e = dst->e};
    *b = (Boxes){.p = p, .arena = a};
    memcpy(p->map, map, sizeof p->map);
    for (int d = 0; d < dst->rank; d++)
        cut_dim(b, d);
    if (dst->ref->def->fill == FILL_EDGE)
        separate_padding(b);
    add_boxes(b, NEST_COPY, b->valid, NESTS_MAX);
    if (dst->ref->def->fill != FILL_NONE)
        add_padding(b, dst->ref->def->fill == FILL_EDGE ? NEST_COPY : NEST_FILL);
    plan_merge(p);
    plan_order(p);
    return p;
}
