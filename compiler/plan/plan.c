/* Makes the boxes of a plan: products of the pieces of its dims. */
#include <string.h>

#include "plan_parts.h"

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
                   "places: name them alike, as in 'VNNI2(K,N)' or '(N,C,H,W){N, H, "
                   "W, C}'", s->name, names_of(a, s), d->name, names_of(a, d));
    for (int i = 0; i < rank; i++)
        map[i] = position(s, rank, d->dims[i]);
}

const char *
plan_moved(Arena *a, const Plan *p)
{
    bool moved = false;
    for (int i = 0; i < p->dst->rank; i++)
        moved |= p->map[i] != i;
    return !moved ? NULL
                  : arena_printf(a, "dims by name: %s to %s", names_of(a, p->src->ref->def),
                                 names_of(a, p->dst->ref->def));
}

/* The dim of dst in whose coordinates its layout, as it is printed, counts those that are dim k of
 * boxes; -1: it counts each in its own. */
static int
counted_in(const Plan *p, int k)
{
    for (int d = 0; d < p->dst->rank && layout_as_written(p->dst) == p->dst; d++) {
        int to = p->given[p->map[d]].joined;
        if (p->box.part[d].dim != k || to == p->map[d])
            continue;
        for (int i = 0; i < p->dst->rank; i++)
            if (p->map[i] == to)
                return i;
    }
    return -1;
}

const char *
plan_joins(Arena *a, const Plan *p)
{
    Buf b = buf_new(a);
    for (int k = 0; k < p->box.rank; k++) {
        int n = 0, left = 0;
        for (int d = 0; d < p->dst->rank; d++)
            left += p->box.part[d].dim == k;
        for (int d = 0; d < p->dst->rank && left > 1; d++)
            if (p->box.part[d].dim == k)
                buf_printf(&b, "%s%s", n++ ? n < left ? ", " : " and " : b.len ? "; " : "joined: ",
                           p->dst->dim[d].name);
        if (left > 1)
            buf_printf(&b, " are one dim, %s", p->box.to->l->dim[k].name);
        int in = left > 1 ? counted_in(p, k) : -1;
        if (in >= 0)
            buf_printf(&b, "; the entries above call it %s", p->dst->dim[in].name);
    }
    return b.len ? b.s : NULL;
}

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

static void
make_room(Plan *p, i64 n)
{
    Arena *a = ex_arena(p->e);
    p->nest = arena_resize(a, p->nest, (size_t)p->room * sizeof *p->nest,
                           int_bytes(a->diag, n, sizeof *p->nest));
    p->room = (int)n;
}

static size_t
nest_bytes(const Nest *n)
{
    return offsetof(Nest, loop) + (size_t)n->nloops * sizeof n->loop[0];
}

void
nest_copy(Nest *to, const Nest *from)
{
    memcpy(to, from, nest_bytes(from));
}

Nest *
nest_keep(Arena *a, const Nest *n)
{
    Nest *kept = arena_copy(a, n, nest_bytes(n));
    kept->made = NULL;
    return kept;
}

int
plan_index(const Plan *p, const Nest *n)
{
    int i = 0;
    while (p->nest[i] != n)
        i++;
    return i;
}

void
plan_add(Plan *p, const Nest *n)
{
    enum { MORE = 8 };
    if (p->n == p->room)
        make_room(p, p->n + MORE);
    p->nest[p->n++] = nest_keep(ex_arena(p->e), n);
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
    make_room(p, b->nests);
    for (int i = 0; i < b->nproducts; i++)
        add_nests(b, &b->product[i]);
    return plan_entries(p);
}

bool
plan_is_fixed(const Plan *p)
{
    return p->scalars->nextents == 0;
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
    make_room(p, p->n);
    plan_split(p);
}

void
plan_scratch(Plan *p, void (*f)(void *), void *arg)
{
    scalars_scratch(p->scalars, f, arg);
    p->nest = NULL;
    p->n = p->room = 0;
}
