/* Joins boxes that the planner cut for the kernels of processors: one loop of a box continues
 * in the next.  A tile for threads has its own ends. */
#include "grid_parts.h"

/* Loops of forward steps over elements. */
static bool
is_joinable(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].residual || b->loop[i].ex.real != b->loop[i].ex.n)
            return false;
    return b->nest->kind == NEST_COPY && !nest_looks_up(b->nest);
}

static bool
same_steps(const GridLoop *a, const GridLoop *b)
{
    return a->ex.ss == b->ex.ss && a->ex.ds == b->ex.ds;
}

/* True if the loops of a without number `skip` are those of b without number `without`;
 * -1: none. */
static bool
same_loops(const GridBox *a, int skip, const GridBox *b, int without)
{
    int i = 0, k = 0;
    for (;; i++, k++) {
        i += i == skip;
        k += k == without;
        if (i >= a->nloops || k >= b->nloops)
            return i >= a->nloops && k >= b->nloops;
        if (!same_steps(&a->loop[i], &b->loop[k]) || a->loop[i].ex.n != b->loop[k].ex.n)
            return false;
    }
}

/* True if b begins n iterations of the loop l after a. */
static bool
begins_after(const GridBox *a, const GridLoop *l, const Ex *n, const GridBox *b)
{
    Scalars *s = a->u->plan->scalars;
    return stride_goes_on(s, l->ex.ss, n, ex_sub(a->e, b->src, a->src), 1) &&
           stride_goes_on(s, l->ex.ds, n, ex_sub(a->e, b->dst, a->dst), 1);
}

/* The iterations of b as those of loop k of a; NULL if all else is not the same. */
static const Ex *
iterations(const GridBox *a, int k, const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (same_steps(&a->loop[k], &b->loop[i]) && same_loops(a, k, b, i))
            return b->loop[i].ex.n;
    return same_loops(a, k, b, -1) ? ex_const(b->e, 1) : NULL;
}

static const char *
what_of(const GridBox *a, const GridBox *b)
{
    return arena_printf(a->arena, "%s and %s", grid_what(a), grid_what(b));
}

static void
lengthen(GridBox *b, int k, const Ex *more)
{
    GridLoop *l = &b->loop[k];
    i64 each = b->elements / l->n;
    l->ex.n = l->ex.real = scalar_plus(b->u->plan->scalars, l->ex.n, more);
    l->n = l->real = scalar_nominal(b->u->plan->scalars, l->ex.n);
    if (!int_mul(each, l->n, &b->elements))
        b->elements = INF;
}

/* The iterations of b, which continues loop k of a; NULL if it does not at every shape. */
static const Ex *
continued(const GridBox *a, int k, const GridBox *b)
{
    const Ex *n = iterations(a, k, b);
    return n && begins_after(a, &a->loop[k], a->loop[k].ex.n, b) ? n : NULL;
}

/* True if a has one iteration of loop k of b, which is before those. */
static bool
precedes(const GridBox *a, const GridBox *b, int k)
{
    return same_loops(b, k, a, -1) && begins_after(a, &b->loop[k], ex_const(a->e, 1), b);
}

bool
grid_join(GridBox *a, const GridBox *b)
{
    if (!is_joinable(a) || !is_joinable(b) || !nest_same_needs(a->nest, b->nest, NULL))
        return false;
    for (int k = 0; k < a->nloops; k++) {
        const Ex *n = continued(a, k, b);
        if (!n)
            continue;
        a->what = what_of(a, b);
        lengthen(a, k, n);
        return true;
    }
    for (int k = 0; k < b->nloops; k++) {
        if (!precedes(a, b, k))
            continue;
        GridBox all = *b;
        all.src = a->src;
        all.dst = a->dst;
        all.what = what_of(a, b);
        *a = all;
        lengthen(a, k, ex_const(a->e, 1));
        return true;
    }
    return false;
}
