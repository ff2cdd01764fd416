/* What must hold where a run is given the extent of a tensor of which an index selects elements: it has
 * these elements and, for index arrays of a destination, as many as they have numbers. */
#include <string.h>

#include "plan_parts.h"

typedef struct {
    Plan *p;
    int room;
    PlanTest *test;
} Tests;

static void
add(Tests *t, const PlanTest *x)
{
    Plan *p = t->p;
    const size_t old = (size_t)t->room * sizeof *x;
    if (p->ntests == t->room) {
        t->room = 2 * t->room + MAX_RANK;
        t->test = arena_resize(ex_arena(p->e), t->test, old, (size_t)t->room * sizeof *x);
    }
    t->test[p->ntests++] = *x;
}

/* The coordinates that the arrays of one index give for a dim of its view, less the elements along
 * it; NULL: numbers decide that, or elements may be left out. */
static const Ex *
array_room(const Plan *p, const View *v, const LookupSizes *z, const Lookup *u, int i)
{
    const Ex *places = NULL;
    bool counted[MAX_LOOKUPS] = {false};
    for (int d = 0; d < v->of->rank; d++) {
        const int k = v->at[d].lookup;
        if (k < 0 || counted[k] || u[k].own != u[i].own)
            continue;
        if (u[k].skip)
            return NULL;
        counted[k] = true;
        places = places ? scalar_times(p->scalars, places, z[k].bound) : z[k].bound;
    }
    return ex_is_const(places) ? NULL : ex_sub(p->e, places, z[i].extent[u[i].own]);
}

static void
add_rooms(Tests *t)
{
    const Plan *p = t->p;
    int first = 0;
    for (const Layout *l = p->to->l; l->nlookups; l = l->view->of) {
        const int own = l->nlookups - l->view->of->nlookups;
        for (int i = 0; i < own; i++) {
            const Ex *room = array_room(p, l->view, &p->to->lookup[first], l->lookup, i);
            if (room)
                add(t, &(PlanTest){.value = room, .most = INF, .array = l->lookup[i].array});
        }
        first += own;
    }
}

/* x / by rounded up, of all but `skips` of x elements. */
static const Ex *
selected(Scalars *s, const Ex *x, const Need *need)
{
    Exprs *e = s->e;
    const Ex *more = ex_add(e, x, ex_const(e, need->by - 1 - need->skips));
    return scalar_of(s, ex_div(e, ex_max(e, more, ex_const(e, 0)), need->by), INF);
}

/* The test of dim d of the tensor of v; x: its extent; n[]: the extents of the view. */
static void
add_need(Tests *t, const View *v, int d, const Ex *x, const Ex *const *n)
{
    const Plan *p = t->p;
    const Need *need = &v->at[d].need;
    PlanTest test = {.value = x, .least = need->least, .most = EXTENT_MOST, .need = *need,
                     .extent = scalar_find_stride(p->scalars, v->at[d].given)};
    if (need->by) {
        test.n = n[v->at[d].dim];
        test.value = ex_sub(p->e, selected(p->scalars, x, need), test.n);
        test.least = test.most = 0;
    }
    if (need->by || need->least)
        add(t, &test);
}

/* The extents of the tensor of a view, over those of the view. */
static void
add_needs(Tests *t, const Sizes *r)
{
    const Plan *p = t->p;
    const Ex *n[MAX_RANK], *of[MAX_RANK];
    memcpy(n, r->n, sizeof n);
    for (const Layout *l = r->l; l->view; l = l->view->of) {
        const View *v = l->view;
        for (int d = 0; d < v->of->rank; d++) {
            const int like = v->at[d].like;
            of[d] = v->at[d].given ? scalar_ex(p->scalars, scalar_find_stride(p->scalars, v->at[d].given))
                  : like < 0 ? ex_const(p->e, v->of->dim[d].n)
                  : ex_add(p->e, n[like], ex_const(p->e, v->at[d].more));
            if (v->at[d].given)
                add_need(t, v, d, of[d], n);
        }
        memcpy(n, of, sizeof n);
    }
}

void
plan_set_tests(Plan *p)
{
    Tests t = {.p = p};
    if (!p->scalars->ngiven)
        return;
    add_needs(&t, p->from);
    add_needs(&t, p->to);
    add_rooms(&t);
    p->test = t.test;
}

bool
plan_tests(const Plan *p)
{
    return p->to->strided || p->ntests;
}

static const char *
flaw_of(Arena *a, const Plan *p, const PlanTest *t, const i64 *val)
{
    i64 n = 0, x = 0;
    if (t->array)
        return arena_printf(a, "the index array '%s' has more numbers than there are coordinates, so "
                            "two elements have one place", t->array);
    ex_eval(scalar_ex(p->scalars, t->extent), val, &x);
    if (!t->need.by)
        return arena_printf(a, "extent %s is %lld: the index selects elements of %lld or more",
                            p->name[t->extent], (long long)x, (long long)t->least);
    ex_eval(t->n, val, &n);
    return arena_printf(a, "extent %s is %lld: the index selects another number of elements of it than "
                        "the %lld of the shape", p->name[t->extent], (long long)x, (long long)n);
}

const char *
plan_tests_flaw(Arena *a, const Plan *p, const i64 *val)
{
    for (int i = 0; i < p->ntests; i++) {
        const PlanTest *t = &p->test[i];
        i64 v;
        if (!ex_eval(t->value, val, &v) || v < t->least || v > t->most)
            return flaw_of(a, p, t, val);
    }
    return NULL;
}

static void
set(const Plan *p, int k, i64 v, i64 *extent)
{
    extent[k] = v < p->scalars->most[k] ? v : p->scalars->most[k];
}

/* Raises extents of tensors until an array has room. */
static void
fit_array(const Plan *p, const PlanTest *t, const i64 *val, i64 *extent)
{
    const Scalars *s = p->scalars;
    i64 more;
    for (int k = s->nextents - s->nstrides; k < scalar_first_stride(s); k++)
        if (extent[k] < s->most[k] && ex_has(t->value, s->scalar[k].var) &&
            ex_eval(t->value, val, &more) && more < 0) {
            set(p, k, extent[k] - more, extent);
            return;
        }
}

/* The extent of the shape that x is; -1: x is none. */
static int
shape_extent(const Scalars *s, const Ex *x)
{
    const int var = ex_as_var(x);
    for (int k = 0; k < s->nextents - s->nstrides && var >= 0; k++)
        if (s->scalar[k].var == var)
            return k;
    return -1;
}

/* Makes the tensor as large as the view needs, after the view is at least as large as the tensor has
 * elements for it. */
static void
fit_extent(const Plan *p, const PlanTest *t, const i64 *val, i64 *extent)
{
    i64 more = 0, n = 1, x;
    const int k = t->need.by ? shape_extent(p->scalars, t->n) : -1;
    if (!t->need.by && extent[t->extent] < t->least)
        set(p, t->extent, t->least, extent);
    if (!t->need.by || !ex_eval(t->value, val, &more) || !ex_eval(t->n, val, &n) || more == 0)
        return;
    if (k >= 0 && more > 0)
        set(p, k, n + more, extent);
    else if (int_mul(t->need.by, n - 1, &x) && int_add(x, t->need.skips + 1, &x))
        set(p, t->extent, x + extent[t->extent] % t->need.by, extent);
}

void
plan_fit_tests(Arena *a, const Plan *p, i64 *extent)
{
    enum { ROUNDS = 2 };           /* a shape may have an extent that two tensors raise */
    for (int i = 0; i < ROUNDS * p->ntests; i++) {
        const PlanTest *t = &p->test[i % p->ntests];
        const i64 *val = plan_values(a, p, extent);
        if (!val)
            return;
        (t->array ? fit_array : fit_extent)(p, t, val, extent);
    }
}
