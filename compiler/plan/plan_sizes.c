/* Adds variants of nests with extents left to run time: for shapes with long loops, and for data that
 * the caches hold.  A nest is made for an example shape whose data is in memory.  Where another kernel
 * or order takes less time for the data of a second example, a scalar selects the nest by the size of
 * the destination. */
#include <math.h>

#include "plan_parts.h"

/* The second example. */
typedef struct {
    i64 extent[MAX_RANK];
    i64 *val;             /* the scalars; NULL: no such shape has small data */
} Example;

static void
evaluate(const Plan *p, Example *x)
{
    x->val = arena_array(ex_arena(p->e), i64, ex_nvars(p->e));
    if (!scalars_eval(p->scalars, x->extent, x->val))
        x->val = NULL;
}

/* Extents that are all alike, of a destination of about EXAMPLE_BYTES. */
static Example
small_example(const Plan *p)
{
    enum { EXAMPLE_BYTES = 256 << 10 };
    const Scalars *s = p->scalars;
    const int n = scalar_first_stride(s);
    const double bytes = (double)scalar_nominal(s, plan_bytes(p, p->to));
    const double by = pow(EXAMPLE_BYTES / bytes, 1.0 / n);
    Example x = {.val = NULL};
    for (int i = 0; i < s->nextents; i++) {
        const i64 large = s->nominal[s->scalar[i].var];
        const double about = by * (double)large;
        x.extent[i] = i >= n ? large : about < 2 ? 2 : about < 1e6 ? (i64)about | 1 : 1000001;
        if (x.extent[i] > s->most[i])
            x.extent[i] = s->most[i];
    }
    evaluate(p, &x);
    i64 there;
    if (x.val && (!ex_eval(plan_bytes(p, p->to), x.val, &there) || there >= CACHED_BYTES))
        x.val = NULL;
    return x;
}

/* The iterations at the example; a nest for short loops has estimates of its own. */
static i64
count_of(const Loop *l, const Example *x)
{
    const i64 n = scalar_about(l->ex.n, x->val);
    return n > l->most ? l->n : n;
}

/* Gives the nest the numbers of the example. */
static void
set_numbers(Nest *n, const Example *x)
{
    n->below = CACHED_BYTES;
    n->elements = 1;
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        l->n = count_of(l, x);
        l->ss = scalar_about(l->ex.ss, x->val);
        l->ds = scalar_about(l->ex.ds, x->val);
        if (!int_mul(n->elements, l->n, &n->elements))
            n->elements = INF;
    }
    if (n->pad.n)
        n->pad.n = scalar_about(n->pad.ex, x->val);
}

/* The cost of that nest of n and more[] which runs at the example, there. */
static double
cost_there(const Plan *p, const Nest *n, const Nest *more, int m, const Example *x)
{
    Nest there;
    for (int i = -1; i < m; i++) {
        const Nest *one = i < 0 ? n : &more[i];
        if (!nest_elements_at(one, x->val))
            continue;
        nest_copy(&there, one);
        set_numbers(&there, x);
        return nest_cost(p, &there);
    }
    return 0;
}

/* Whether the destination is not small. */
static const Ex *
is_large(Plan *p)
{
    Exprs *e = p->e;
    const Ex *many = ex_div(e, plan_bytes(p, p->to), CACHED_BYTES);
    return scalar_of(p->scalars, ex_min(e, many, ex_const(e, 1)), 1);
}

/* The nests of one box: out[0] is what it was, the others are for the shapes at which those before it
 * do not run. */
typedef struct {
    int n;
    Nest nest[1 + LENGTHS];
} Variants;

static void
lengthen(Plan *p, Variants *v, bool all)
{
    Nest *n = &v->nest[0];
    v->n = 1 + nest_lengthen(p, n, all, n->nnarrow ? MUCH_LESS : 1, n + 1);
}

/* Sets *small to the nests for small data, for which n was made before it was lengthened; false if
 * those of v take about as long, as unpacked tiles do, which take long to plan. */
static bool
make_small(Plan *p, const Nest *n, const Variants *v, Example *x, Variants *small)
{
    enum { PERCENT = 100, LESS = 85 };
    small->n = 1;
    if (v->n > 1 && p->dst->dtype->bits < 8)
        return false;
    nest_copy(&small->nest[0], n);
    set_numbers(&small->nest[0], x);
    nest_sort(&small->nest[0]);
    if (!nest_schedule(p, &small->nest[0]))
        return false;
    if (v->n > 1)
        lengthen(p, small, true);
    evaluate(p, x);
    return x->val && PERCENT * cost_there(p, &small->nest[0], &small->nest[1], small->n - 1, x) <
                     LESS * cost_there(p, &v->nest[0], &v->nest[1], v->n - 1, x);
}

static void
add_all(Plan *p, const Variants *v, int from)
{
    for (int i = from; i < v->n; i++)
        plan_add(p, &v->nest[i]);
}

static void
split_by_size(Plan *p, Variants *v, Variants *small)
{
    const Ex *large = is_large(p), *not = ex_sub(p->e, ex_const(p->e, 1), large);
    for (int i = 0; i < v->n; i++)
        nest_need(p, &v->nest[i], large, v->nest[i].narrow);
    for (int i = 0; i < small->n; i++) {
        small->nest[i].variant = true;
        nest_need(p, &small->nest[i], not, small->nest[i].narrow);
    }
}

static void
vary(Plan *p, int i, Example *x, Variants *v, Variants *small)
{
    Nest *n = p->nest[i];
    const bool weighty = nest_is_weighty(p, n);
    const bool sizes = x->val && weighty && n->kind == NEST_COPY && !nest_looks_up(n);
    v->n = 1;
    nest_copy(&v->nest[0], n);
    if (!n->variant && (!n->nnarrow || weighty))
        lengthen(p, v, weighty);
    if (sizes && p->n + 2 * LENGTHS < NESTS_MAX && make_small(p, n, v, x, small)) {
        split_by_size(p, v, small);
        add_all(p, v, 1);
        add_all(p, small, 0);
    } else {
        add_all(p, v, 1);
    }
    nest_copy(p->nest[i], &v->nest[0]);
}

void
plan_vary(Plan *p)
{
    Arena *a = ex_arena(p->e);
    Variants *v = arena_array(a, Variants, 2);
    Example x = {.val = NULL};
    if (!plan_is_fixed(p) && !ex_is_const(p->to->size))
        x = small_example(p);
    for (int i = p->n - 1; i >= 0; i--)
        if (!p->nest[i]->merged)
            vary(p, i, &x, v, v + 1);
    arena_drop(a, v, 2 * sizeof *v);
}
