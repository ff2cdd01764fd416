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

/* The pieces of one dim's range. */
typedef struct {
    const Piece *piece;
    int n;
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
    return (Range){arena_copy(b->arena, b->scratch, (size_t)m * sizeof *b->scratch), m};
}

static void
cut_dim(Boxes *b, int d)
{
    i64 cuts[MAX_CUTS], both[MAX_CUTS];
    const Plan *p = b->p;
    const Dim *to = &p->dst->dim[d], *from = &p->src->dim[p->map[d]];
    int n = pieces_cuts(p->dst->addr, to->var, to->padded, cuts, 0);
    memcpy(both, cuts, sizeof both);
    int m = pieces_cuts(p->dst->addr, to->var, to->n, both, 0);
    m = pieces_cuts(p->src->addr, from->var, to->n, both, m);
    b->valid[d] = range_of(b, both, m, 0, to->n);
    b->valid_dst[d] = range_of(b, cuts, n, 0, to->n);
    b->pad[d] = range_of(b, cuts, n, to->n, to->padded);
    b->full[d] = range_of(b, cuts, n, 0, to->padded);
}

static i64
product(const Boxes *b, const Range *const *range)
{
    i64 n = 1;
    for (int d = 0; d < b->p->dst->rank; d++)
        n *= range[d]->n > 0 && n <= MAX_NESTS ? range[d]->n : 1;
    return n;
}

/* One piece for the whole of the dim with the most pieces: its digits stay
 * expressions in the nests, which is slower and as right. */
static void
coarsen(Boxes *b, Range *range)
{
    static const i64 one[1] = {1};
    int most = 0;
    for (int d = 1; d < b->p->dst->rank; d++)
        if (range[d].n > range[most].n)
            most = d;
    range[most] = range_of(b, one, 1, 0, b->p->dst->dim[most].n);
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

/* A nest for every choice of one piece a dim. */
static void
add_boxes(Boxes *b, NestKind kind, const Range *const *range, const i64 *fixed)
{
    int rank = b->p->dst->rank, at[MAX_RANK] = {0}, d;
    const Piece *piece[MAX_RANK];
    for (d = 0; d < rank; d++)
        if (range[d]->n == 0)
            return;
    do {
        for (d = 0; d < rank; d++)
            piece[d] = &range[d]->piece[at[d]];
        nest_make(b->p, kind, piece, fixed, new_nest(b));
        for (d = rank - 1; d >= 0 && ++at[d] == range[d]->n; d--)
            at[d] = 0;
    } while (d >= 0);
}

static void
add_valid(Boxes *b)
{
    const Range *range[MAX_RANK];
    for (int d = 0; d < b->p->dst->rank; d++)
        range[d] = &b->valid[d];
    while (product(b, range) > MAX_NESTS)
        coarsen(b, b->valid);
    add_boxes(b, NEST_COPY, range, NULL);
}

/* Padding, disjoint: dims before k real, dim k padding, dims after k all. */
static void
add_fills(Boxes *b)
{
    int rank = b->p->dst->rank;
    const Range *range[MAX_RANK];
    for (int k = 0; k < rank; k++) {
        for (int d = 0; d < rank; d++)
            range[d] = d < k ? &b->valid_dst[d] : d == k ? &b->pad[d] : &b->full[d];
        add_boxes(b, NEST_FILL, range, NULL);
    }
}

/* Padding that repeats the last element: every choice of real or padding for each
 * dim, but all real. */
static void
add_edges(Boxes *b)
{
    int rank = b->p->dst->rank;
    const Range *range[MAX_RANK];
    i64 fixed[MAX_RANK];
    for (unsigned set = 1; set < 1u << rank; set++) {
        bool empty = false;
        for (int d = 0; d < rank; d++) {
            bool pad = set >> d & 1;
            range[d] = pad ? &b->pad[d] : &b->valid[d];
            fixed[d] = pad ? b->p->dst->dim[d].n - 1 : -1;
            empty |= range[d]->n == 0;
        }
        if (!empty)
            add_boxes(b, NEST_COPY, range, fixed);
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
    add_valid(b);
    if (dst->ref->def->fill == FILL_VALUE)
        add_fills(b);
    else if (dst->ref->def->fill == FILL_EDGE)
        add_edges(b);
    return p;
}
