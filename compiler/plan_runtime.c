/* The boxes of a relayout with extents left to run time: as plan.c, with pieces whose
 * bounds are expressions. */
#include <string.h>

#include "plan_runtime.h"

/* The pieces of one dim's range, from the first to before the last. */
typedef struct {
    RuntimePiece *piece;
    int n;
    const Ex *from, *to;
} Range;

typedef struct {
    Plan *p;
    Arena *arena;
    Scalars *s;
    Range valid[MAX_RANK];         /* both sides' digits */
    Range valid_dst[MAX_RANK];     /* the destination's only */
    Range pad[MAX_RANK];
    Range full[MAX_RANK];
    RuntimePiece scratch[MAX_PIECES];
} Boxes;

static int
cuts_of(const RuntimeLayout *r, int d, i64 *cuts, int n)
{
    i64 below = r->extent[d] >= 0 ? INF : r->l->dim[d].padded;
    n = n ? n : pieces_cuts(ex_const(r->l->e, 0), 0, INF, cuts, 0);
    for (int i = 0; i < r->l->nentry; i++)
        n = pieces_cuts(r->l->entry[i].written, r->l->dim[d].free, below, cuts, n);
    return n;
}

/* Of a dim with a constant extent. */
static int
constant_pieces(Boxes *b, const i64 *cuts, int n, i64 lo, i64 hi)
{
    Piece *piece = arena_array(b->arena, Piece, MAX_PIECES);
    int m = lo < hi ? pieces_of(cuts, n, lo, hi, piece) : 0;
    for (int i = 0; i < m; i++) {
        b->scratch[i] = runtime_piece(b->p->e, &piece[i]);
        b->scratch[i].pad = lo > 0;
    }
    return m;
}

/* A range from 0, or from a dim's extent.  Where the cuts meet in too many places its
 * digits stay expressions, which is slower and as right. */
static Range
range_of(Boxes *b, const i64 *cuts, int n, const Ex *from, const Ex *to, i64 unit)
{
    static const i64 one[1] = {1};
    int m;
    if (ex_is_const(from) && ex_is_const(to))
        m = constant_pieces(b, cuts, n, from->base, to->base);
    else if (ex_is_const(from) && from->base == 0)
        m = runtime_pieces(b->s, cuts, n, to, b->scratch);
    else
        m = runtime_padding(b->s, cuts, n, from, to, unit, b->scratch);
    if (m < 0)
        return range_of(b, one, 1, from, to, 1);
    return (Range){arena_copy(b->arena, b->scratch, (size_t)m * sizeof b->scratch[0]), m,
                   from, to};
}

static void
cut_dim(Boxes *b, int d)
{
    i64 cuts[MAX_CUTS], both[MAX_CUTS];
    const RuntimeLayout *to = b->p->now->dst, *from = b->p->now->src;
    const Ex *zero = ex_const(b->p->e, 0), *x = to->n[d], *end = to->padded[d];
    int n = cuts_of(to, d, cuts, 0);
    int m = cuts_of(from, b->p->map[d], both, cuts_of(to, d, both, 0));
    b->valid[d] = range_of(b, both, m, zero, x, 1);
    b->valid_dst[d] = range_of(b, cuts, n, zero, x, 1);
    b->pad[d] = range_of(b, cuts, n, x, end, to->unit[d]);
    b->full[d] = range_of(b, cuts, n, zero, end, 1);
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

/* As in plan.c; padding that is copied then lies in one piece with what it repeats. */
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
        r[most] = range_of(b, one, 1, r[most].from, r[most].to, 1);
        const Ex *n = b->p->now->dst->n[most];
        for (int i = 0; i < r[most].n; i++)
            r[most].piece[i].mixed = r[most].from != n && r[most].to != n;
    }
}

static void
add_boxes(Boxes *b, NestKind kind, Range *range, i64 limit)
{
    int rank = b->p->dst->rank, at[MAX_RANK] = {0}, d;
    const RuntimePiece *piece[MAX_RANK];
    for (d = 0; d < rank; d++)
        if (range[d].n == 0)
            return;
    coarsen(b, range, limit);
    do {
        for (d = 0; d < rank; d++)
            piece[d] = &range[d].piece[at[d]];
        nest_make_runtime(b->p, kind, piece, &b->p->nest[b->p->n++]);
        for (d = rank - 1; d >= 0 && ++at[d] == range[d].n; d--)
            at[d] = 0;
    } while (d >= 0);
}

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

/* For padding that repeats the last element: real and padded coordinates apart. */
static void
separate_padding(Boxes *b)
{
    for (int d = 0; d < b->p->dst->rank; d++) {
        const Range *v = &b->valid[d], *p = &b->pad[d];
        RuntimePiece *all = arena_array(b->arena, RuntimePiece, v->n + p->n);
        memcpy(all, v->piece, (size_t)v->n * sizeof *all);
        if (p->n)
            memcpy(all + v->n, p->piece, (size_t)p->n * sizeof *all);
        b->full[d] = (Range){all, v->n + p->n, v->from, p->to};
    }
}

Plan *
plan_make_runtime(Scalars *s, const char *const *name, const Layout *src,
                  const Layout *dst, const int *map, const int *extent)
{
    Arena *a = ex_arena(s->e);
    Plan *p = arena_new(a, Plan);
    Boxes *b = arena_new(a, Boxes);
    struct PlanNow *now = arena_new(a, struct PlanNow);
    int of[MAX_RANK];
    for (int d = 0; d < dst->rank; d++)
        of[d] = extent[map[d]];
    *now = (struct PlanNow){s, layout_runtime(s, src, extent), layout_runtime(s, dst, of),
                            name};
    *p = (Plan){.src = (Layout *)src, .dst = (Layout *)dst, .e = s->e, .now = now};
    p->nest = arena_array(a, Nest, 2 * NESTS_MAX);
    *b = (Boxes){.p = p, .arena = a, .s = s};
    memcpy(p->map, map, sizeof p->map);
    for (int d = 0; d < dst->rank; d++)
        cut_dim(b, d);
    FillKind fill = dst->ref->def->fill;
    if (fill == FILL_EDGE)
        separate_padding(b);
    add_boxes(b, NEST_COPY, b->valid, NESTS_MAX);
    if (fill != FILL_NONE)
        add_padding(b, fill == FILL_EDGE ? NEST_COPY : NEST_FILL);
    runtime_variants(p);
    plan_order(p);
    return p;
}
