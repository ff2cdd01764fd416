/* Makes the boxes of a plan: products of the pieces of its dims. */
#include <string.h>

#include "plan_parts.h"

/* The limit for the entries of all tables, which are part of the emitted code.  Beyond it
 * the plan has fewer nests, in which some digits stay expressions. */
enum { ENTRIES_MOST = 1 << 16 };

/* The boxes of one kind: all combinations of one piece for each dim. */
typedef struct {
    NestKind kind;
    Range *range;
} Product;

typedef struct {
    Plan *p;
    Arena *arena;
    Ranges dim;
    Product product[MAX_RANK + 1];
    int nproducts;
    i64 nests;
} Boxes;

/* The greatest number of loops of a piece in the range. */
static int
loops_of(const Range *r)
{
    int most = 0;
    for (int i = 0; i < r->n; i++)
        most = r->piece[i].nloops > most ? r->piece[i].nloops : most;
    return most;
}

/* What one piece instead of the range's pieces saves; 1 if that saves nothing. */
static i64
weight(const Range *r)
{
    int loops = loops_of(r);
    return (i64)r->n * (loops ? loops : 1);
}

/* The dim whose pieces take most; -1: all dims must keep theirs. */
static int
heaviest(const Range *r, int rank)
{
    int most = -1;
    for (int d = 0; d < rank; d++)
        if (!r[d].rolled && (most < 0 || weight(&r[d]) > weight(&r[most])))
            most = d;
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

/* Replaces the pieces of a dim by one piece, beginning with the dim that has the most
 * pieces and loops, until there are few enough nests and loops.  The digits of that dim
 * stay expressions: slower but correct.  Copied padding may then be in one piece with the
 * element that it repeats. */
static void
coarsen(Boxes *b, Range *r, i64 limit)
{
    int rank = b->p->box.rank;
    for (int most; too_many(r, rank, limit) && (most = heaviest(r, rank)) >= 0;) {
        r[most] = plan_whole(b->p, r[most].from, r[most].to);
        const Ex *n = b->p->box.to->n[most];
        for (int i = 0; i < r[most].n; i++)
            r[most].piece[i].mixed = r[most].from != n && r[most].to != n;
    }
}

/* Adds nests of a kind, at most about `limit`: one for each combination of one piece for
 * each dim. */
static void
add_ranges(Boxes *b, NestKind kind, const Range *range, i64 limit)
{
    int rank = b->p->box.rank;
    i64 n = 1;
    for (int d = 0; d < rank; d++)
        if (range[d].n == 0)
            return;
    Product *q = &b->product[b->nproducts++];
    q->kind = kind;
    q->range = arena_copy(b->arena, range, (size_t)rank * sizeof *range);
    coarsen(b, q->range, limit);
    for (int d = 0; d < rank; d++)
        n *= q->range[d].n;
    b->nests += n;
}

static void
add_nests(Boxes *b, const Product *q)
{
    int rank = b->p->box.rank, at[MAX_RANK] = {0}, d;
    const Piece *piece[MAX_RANK];
    Nest n;
    do {
        for (d = 0; d < rank; d++)
            piece[d] = &q->range[d].piece[at[d]];
        nest_make(b->p, q->kind, piece, &n);
        plan_add(b->p, &n);
        for (d = rank - 1; d >= 0 && ++at[d] == q->range[d].n; d--)
            at[d] = 0;
    } while (d >= 0);
}

/* Cuts the padding into disjoint boxes: in box k the dims before k are below their
 * extents, dim k is padding, and the dims after k have their full range. */
static void
add_padding(Boxes *b, NestKind kind, i64 limit)
{
    int rank = b->p->box.rank;
    bool copy = kind == NEST_COPY;
    Range range[MAX_RANK];
    for (int k = 0; k < rank; k++) {
        for (int d = 0; d < rank; d++)
            range[d] = d == k ? b->dim.pad[d] : d > k ? b->dim.full[d]
                       : copy ? b->dim.valid[d] : b->dim.valid_dst[d];
        add_ranges(b, kind, range, limit < rank ? 1 : limit / rank);
    }
}

/* Adds all nests, at most about `limit` of each kind; returns the number of entries of
 * their tables. */
static i64
add_all(Boxes *b, i64 limit)
{
    Plan *p = b->p;
    FillKind fill = p->dst->ref->def->fill;
    b->nproducts = p->n = 0;
    b->nests = 0;
    add_ranges(b, NEST_COPY, b->dim.valid, limit);
    if (fill != FILL_NONE)
        add_padding(b, fill == FILL_EDGE ? NEST_COPY : NEST_FILL, limit);
    plan_room(p, b->nests);
    for (int i = 0; i < b->nproducts; i++)
        add_nests(b, &b->product[i]);
    return plan_entries(p);
}

Plan *
plan_begin(Scalars *s, PlanMachine machine, const char *const *name, Layout *src, Layout *dst,
           const int *map, const int *extent, const PlanExtent *given)
{
    Plan *p = arena_new(ex_arena(s->e), Plan);
    int of[MAX_RANK];
    for (int d = 0; d < dst->rank; d++)
        of[d] = extent[map[d]];
    *p = (Plan){.src = src, .dst = dst, .e = s->e, .scalars = s, .name = name,
                .machine = machine,
                .from = layout_sizes(s, src, extent), .to = layout_sizes(s, dst, of)};
    memcpy(p->map, map, sizeof p->map);
    memcpy(p->given, given, (size_t)src->rank * sizeof *given);
    plan_set_arrays(p);
    plan_set_tests(p);
    plan_dims(p);
    plan_join(p);
    return p;
}

void
plan_nests(Plan *p)
{
    Boxes b = {.p = p, .arena = ex_arena(p->e)};
    plan_cut(p, &b.dim);
    for (i64 limit = NESTS_MAX; add_all(&b, limit) > ENTRIES_MOST && limit > 1;)
        limit /= 4;
    plan_narrow(p);
    plan_merge(p);
    plan_vary(p);
    plan_room(p, p->n);
    plan_split(p);
}

void
plan_scratch(Plan *p, void (*f)(void *), void *arg)
{
    scalars_scratch(p->scalars, f, arg);
    p->nest = NULL;
    p->n = p->room = 0;
}
