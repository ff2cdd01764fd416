/* Joins boxes that the planner cut for the kernels of processors: one loop of a box continues
 * in the next.  A tile for threads has its own ends. */
#include "grid_parts.h"

/* A loop of fixed, forward steps over elements. */
static bool
is_joinable(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].residual || b->loop[i].real != b->loop[i].n)
            return false;
    return b->nest->kind == NEST_COPY && !nest_looks_up(b->nest) && grid_is_known(b) &&
           ex_is_const(b->src) && ex_is_const(b->dst);
}

static bool
same_steps(const GridLoop *a, const GridLoop *b)
{
    return a->ss == b->ss && a->ds == b->ds;
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
        if (!same_steps(&a->loop[i], &b->loop[k]) || a->loop[i].n != b->loop[k].n)
            return false;
    }
}

/* The number of b's loop that continues loop k of a, -1 if b has one iteration of it; -2 if
 * b does not. */
static int
continues(const GridBox *a, int k, const GridBox *b, i64 n)
{
    const GridLoop *l = &a->loop[k];
    if (b->src->base - a->src->base != n * l->ss || b->dst->base - a->dst->base != n * l->ds)
        return -2;
    for (int i = 0; i < b->nloops; i++)
        if (same_steps(l, &b->loop[i]) && same_loops(a, k, b, i))
            return i;
    return same_loops(a, k, b, -1) ? -1 : -2;
}

static const char *
what_of(const GridBox *a, const GridBox *b)
{
    return arena_printf(a->arena, "%s and %s", grid_what(a), grid_what(b));
}

static void
lengthen(GridBox *b, int k, i64 more)
{
    GridLoop *l = &b->loop[k];
    b->elements = b->elements / l->n * (l->n + more);
    l->n = l->real = l->n + more;
    l->ex.n = l->ex.real = ex_const(b->e, l->n);
}

bool
grid_join(GridBox *a, const GridBox *b)
{
    if (!is_joinable(a) || !is_joinable(b) || !nest_same_needs(a->nest, b->nest, NULL))
        return false;
    for (int k = 0; k < a->nloops; k++) {
        int i = continues(a, k, b, a->loop[k].n);
        if (i == -2)
            continue;
        a->what = what_of(a, b);
        lengthen(a, k, i < 0 ? 1 : b->loop[i].n);
        return true;
    }
    for (int k = 0; k < b->nloops; k++) {
        GridBox first = *b;             /* a is one iteration before b */
        first.src = a->src;
        first.dst = a->dst;
        if (continues(&first, k, b, 1) != k || !same_loops(b, k, a, -1))
            continue;
        first.what = what_of(a, b);
        *a = first;
        lengthen(a, k, 1);
        return true;
    }
    return false;
}
