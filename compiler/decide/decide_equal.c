/* Are two layouts the same function?  Equal canonical expressions prove it.  Otherwise
 * every element is compared or, if there are too many, a sample in which a difference is
 * likely to be found. */
#include <string.h>

#include "decide.h"

enum { SAMPLES = 1 << 16 };

typedef struct {
    const Layout *a, *b;
    const int *map;
} Pair;

/* Knuth's MMIX generator: the same points every time. */
static i64
draw(uint64_t *state, i64 n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (i64)((*state >> 1) % (uint64_t)n);
}

/* The address as an expression over variables that are below the real extents. */
static const Ex *
over_real(const Layout *l, const int *var)
{
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    for (int d = 0; d < l->rank; d++)
        to[l->dim[d].var] = ex_of_var(l->e, var[d]);
    return ex_subst(l->e, l->addr, to);
}

static bool
same_expression(const Pair *p)
{
    int of_a[MAX_RANK], of_b[MAX_RANK];
    for (int d = 0; d < p->a->rank; d++)
        of_a[d] = ex_var(p->a->e, p->a->dim[d].name, 0, p->a->dim[d].n - 1);
    for (int d = 0; d < p->b->rank; d++)
        of_b[d] = of_a[p->map[d]];
    return over_real(p->a, of_a) == over_real(p->b, of_b);
}

/* The work of comparing one element. */
static bool
affords(const Pair *p)
{
    return work_try(ex_arena(p->a->e), layout_work(p->a) + layout_work(p->b));
}

/* Record that element x, in the dims of a, has different addresses. */
static bool
differ(const Pair *p, const i64 *x, Equality *q)
{
    i64 y[MAX_RANK];
    for (int d = 0; d < p->b->rank; d++)
        y[d] = x[p->map[d]];
    if (!layout_address(p->a, x, &q->at_a) || !layout_address(p->b, y, &q->at_b) ||
        q->at_a == q->at_b)
        return false;
    memcpy(q->x, x, (size_t)p->a->rank * sizeof *x);
    q->equal = NO;
    return true;
}

/* Sample corners and steps by powers of two first, then pseudo-random points. */
static bool
find_by_samples(const Pair *p, Equality *q)
{
    i64 x[MAX_RANK] = {0};
    uint64_t state = 20261121;
    for (int d = 0; d < p->a->rank; d++) {
        for (i64 v = 1; v < p->a->dim[d].n; v *= 2) {
            x[d] = v;
            if (differ(p, x, q))
                return true;
            if (v > INF / 2)
                break;
        }
        x[d] = 0;
    }
    for (int i = 0; i < SAMPLES && affords(p); i++) {
        for (int d = 0; d < p->a->rank; d++)
            x[d] = draw(&state, p->a->dim[d].n);
        if (differ(p, x, q))
            return true;
    }
    return false;
}

Equality
decide_equal(Layout *a, Layout *b, const int *map)
{
    Pair p = {a, b, map};
    Equality q = {.equal = YES, .by_structure = same_expression(&p)};
    i64 x[MAX_RANK] = {0};
    if (q.by_structure)
        return q;
    if (!enum_small(a, false)) {
        if (!find_by_samples(&p, &q)) {
            q.equal = UNKNOWN;
            q.why = "their expressions differ, there are too many elements to look at "
                    "each, and none of those tried differs";
        }
        return q;
    }
    bool afforded;
    while ((afforded = affords(&p)) && !differ(&p, x, &q) && layout_next(a, false, x))
        ;
    if (!afforded)
        return (Equality){.equal = UNKNOWN, .why = "their expressions differ, and to "
                          "look at every element takes more work than the limit allows; "
                          "--limit (ravel_set_limit) allows more"};
    return q;
}

/* For every shape: entries whose extent is a number are joined to the one before, so
 * that layouts which cut the same run differently look alike; what is left has one open
 * digit each, whose extent is that of the dim over lo, rounded up. */
typedef struct {
    const Ex *x;          /* over the free dims */
    int dim;              /* of the open digit; -1: none, as may be outermost */
    i64 lo, inner;        /* its extent is the open digit's times inner */
} DigitGroup;

/* The groups of l, outermost first, its dims numbered by map; -1 if it cannot be
 * grouped. */
static int
groups_of(const Layout *l, const int *map, DigitGroup *g)
{
    const LayoutDef *d = l->ref->def;
    Part *part;
    int nparts, n = 0;
    for (int i = 0; i < d->ndims; i++)
        if (layout_uses_extent(d, d->dims[i]))
            return -1;
    if (d->npads || d->npitches || d->swizzle || !parts_of(l, false, &part, &nparts) ||
        !parts_open_alone(l, part, nparts))
        return -1;
    for (int i = 0; i < l->nentry; i++) {
        const Entry *t = &l->entry[i];
        int open = -1;
        for (int j = 0; j < nparts; j++)
            if (part[j].entry == i && part[j].size == 0)
                open = j;
        if (open >= 0 || n == 0)
            g[n++] = (DigitGroup){t->written, -1, 0, open < 0 ? t->extent : 1};
        if (open >= 0) {
            g[n - 1].dim = map[part[open].digit[0].dim];
            g[n - 1].lo = part[open].digit[0].lo;
        } else if (i) {
            g[n - 1].x = ex_add(l->e, ex_scale(l->e, g[n - 1].x, t->extent), t->written);
            if (!int_mul(g[n - 1].inner, t->extent, &g[n - 1].inner))
                return -1;
        }
    }
    return n;
}

static bool
same_groups(const Layout *a, const Layout *b, const int *map)
{
    DigitGroup ga[MAX_ENTRIES], gb[MAX_ENTRIES];
    int straight[MAX_RANK];
    for (int d = 0; d < MAX_RANK; d++)
        straight[d] = d;
    int n = groups_of(a, straight, ga), m = groups_of(b, map, gb);
    if (n < 0 || n != m)
        return false;
    const Ex **to = arena_array(ex_arena(b->e), const Ex *, ex_nvars(b->e));
    for (int d = 0; d < b->rank; d++)
        to[b->dim[d].free] = ex_of_var(b->e, a->dim[map[d]].free);
    for (int i = 0; i < n; i++) {
        bool extent = i == 0 || (ga[i].dim == gb[i].dim && ga[i].lo == gb[i].lo &&
                                 ga[i].inner == gb[i].inner);
        if (!extent || ga[i].x != ex_subst(b->e, gb[i].x, to))
            return false;
    }
    return true;
}

typedef struct {
    Exprs *e;
    const LayoutRef *a, *b;
    const DType *t;
    const int *map;
    int rank;
    i64 *shape;
    Equality q;
    bool groups;          /* ask for every shape, by structure */
} Question;

static void
ask(void *arg)
{
    Question *u = arg;
    i64 of_b[MAX_RANK];
    for (int d = 0; d < u->rank; d++)
        of_b[d] = u->shape[u->map[d]];
    Layout *a = layout_make(u->e, u->a, u->t, u->rank, u->shape);
    Layout *b = layout_make(u->e, u->b, u->t, u->rank, of_b);
    if (u->groups)
        u->q.by_structure = same_groups(a, b, u->map);
    else
        u->q = decide_equal(a, b, u->map);
}

/* A shape that one of the layouts refuses decides nothing. */
static bool
answered(Question *u)
{
    Diag d;
    bool ok = arena_run(ex_arena(u->e), &d, ask, u);
    if (!ok && diag_is_final(&d))
        diag_fatal(ex_arena(u->e)->diag, d.kind, (Loc){0}, "%s", d.text);
    return ok;
}

/* How many shapes are tried, and how large. */
enum { SHAPES = 120, POINTS = 1 << 14 };

/* A shape whose extents grow from round to round. */
static void
next_shape(Question *u, uint64_t *state, int round)
{
    static const i64 extents[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 20, 33};
    int most = 2 + round * (LEN(extents) - 2) / SHAPES;
    i64 points = 1;
    for (int d = 0; d < u->rank; d++) {
        i64 n = extents[draw(state, most + 1)];
        u->shape[d] = n <= POINTS / points ? n : 1;
        points *= u->shape[d];
    }
}

Equality
decide_equal_every(Exprs *e, const LayoutRef *a, const LayoutRef *b, const DType *t,
                   int rank, const int *map, i64 *shape)
{
    Question u = {e, a, b, t, map, rank, shape, {.equal = YES, .by_structure = true},
                  true};
    uint64_t state = 20261121;
    Arena *arena = ex_arena(e);
    if (!strcmp(layout_ref_text(arena, a), layout_ref_text(arena, b)))
        return u.q;
    for (int d = 0; d < rank; d++)
        shape[d] = 1;
    if (answered(&u) && u.q.by_structure)
        return u.q;
    u.groups = false;
    for (int i = 0; i < SHAPES; i++) {
        next_shape(&u, &state, i);
        if (answered(&u) && u.q.equal == NO)
            return u.q;
    }
    return (Equality){.equal = UNKNOWN, .why = "no structure was found that decides it "
                      "for every shape, and none of the shapes tried tells them apart"};
}
