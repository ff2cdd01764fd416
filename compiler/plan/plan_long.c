/* Adds variants of nests with extents left to run time for shapes with long loops: if a kernel is
 * quicker where a loop has a few iterations at least, the plan has both nests. */
#include <string.h>

#include "kernel_family.h"

bool
nest_is_weighty(const Plan *p, const Nest *n)
{
    return n->elements >= scalar_nominal(p->scalars, p->to->size) / 8;
}

void
nest_need(Plan *p, Nest *n, const Ex *x, i64 narrow)
{
    const Ex **all = arena_array(ex_arena(p->e), const Ex *, n->nneeded + 1);
    if (n->nneeded)
        memcpy(all, n->needed, (size_t)n->nneeded * sizeof *all);
    all[n->nneeded++] = x;
    n->nnarrow++;
    n->needed = all;
    n->narrow = narrow;
}

/* What a nest needs of a shape: loops, by their variables, with so many iterations. */
typedef struct {
    int n, var[ROLES];
    i64 least[ROLES];
} Long;

/* The loops of which a call must take more iterations than they have at every shape. */
static Long
long_loops(const Nest *n)
{
    Long out = {.n = 0};
    for (int r = 0; r < ROLES; r++) {
        int i = n->role[r];
        Loop any = i < 0 ? (Loop){.name = NULL} : n->loop[i];
        any.fewest = 0;
        if (i < 0 || n->least[r] <= 1 || n->least[r] <= kernel_fewest(&any))
            continue;
        out.var[out.n] = n->loop[i].var;
        out.least[out.n++] = n->least[r];
    }
    return out;
}

/* The iterations that the loop with a variable has at least; 0: any number. */
static i64
least_of(const Long *l, int var)
{
    i64 least = 0;
    for (int i = 0; i < l->n; i++)
        least = l->var[i] == var ? l->least[i] : least;
    return least;
}

/* Gives *n the quickest kernel for shapes at which all loops have so many iterations (NULL:
 * `many`, if their count depends on the shape), and the offsets of tables are near. */
static bool
assume(const Plan *p, Nest *n, const Long *given, i64 many, bool near)
{
    nest_sort(n);
    n->near = near;
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        i64 least = given ? least_of(given, l->var) : many;
        i64 most = l->ex.n->f.max < least ? l->ex.n->f.max : least;
        l->fewest = !ex_is_const(l->ex.n) ? most : 0;
    }
    return nest_schedule(p, n);
}

static bool
needs_no_more(const Long *a, const Long *b)
{
    for (int i = 0; i < a->n; i++)
        if (a->least[i] > least_of(b, a->var[i]))
            return false;
    return true;
}

/* 1 if x > 0, else 0. */
static const Ex *
is_above_0(Exprs *e, const Ex *x)
{
    return ex_max(e, ex_min(e, x, ex_const(e, 1)), ex_const(e, 0));
}

/* 1 at the shapes that the nest needs, else 0. */
static const Ex *
at_shapes(const Plan *p, const Nest *n, const Long *needs)
{
    Exprs *e = p->e;
    const Family *f = n->kernel->family;
    const Ex *scalar[TABLE_SCALARS], *all = ex_const(e, 1);
    for (int i = 0; i < n->nloops; i++) {
        i64 least = least_of(needs, n->loop[i].var);
        if (least)
            all = ex_min(e, all, is_above_0(e, ex_sub(e, n->loop[i].ex.n,
                                                      ex_const(e, least - 1))));
    }
    if (n->near && nest_scalars(p, n, scalar) > 0)
        all = ex_min(e, all, is_above_0(e, f->by->near(n, p->dst->dtype->bits)));
    return all;
}

/* The same kernel with a longer tile is worth more text if it takes much less time. */
static bool
is_quicker(const Nest *with, const Nest *n, double less)
{
    static const double LONGER_TILE = 0.8;
    if (with->kernel == n->kernel && less > LONGER_TILE)
        less = LONGER_TILE;
    return with->cost < less * n->cost;
}

/* Makes n the nest of the kernel that is quickest where loops have `many` iterations and offsets
 * of tables are near, and *out the nest as it was, for the other shapes.  False, and nothing
 * changes, if no kernel takes less than `less` times as long. */
static bool
lengthen(Plan *p, Nest *n, i64 many, double less, Nest *out)
{
    Exprs *e = p->e;
    Nest with;
    nest_copy(&with, n);
    if (n->kind != NEST_COPY || kernel_knows(n) || !assume(p, &with, NULL, many, true) ||
        !is_quicker(&with, n, less))
        return false;
    Long needs = long_loops(&with);
    bool near = with.kernel->family->by->near;
    if (!assume(p, &with, &needs, 0, near) || !is_quicker(&with, n, less))
        return false;
    Long again = long_loops(&with);
    const Ex *x = at_shapes(p, &with, &needs);
    if (!needs_no_more(&again, &needs) || ex_is_const(x))
        return false;
    x = scalar_of(p->scalars, x, 1);
    i64 most = 1;
    for (int i = 0; i < needs.n; i++)
        most = needs.least[i] - 1 > most ? needs.least[i] - 1 : most;
    nest_copy(out, n);
    nest_copy(n, &with);
    out->variant = true;
    out->far = needs.n == 0;
    nest_need(p, n, x, most);
    nest_need(p, out, ex_sub(e, ex_const(e, 1), x), most);
    return true;
}

/* The most iterations of a loop whose count depends on the shape, at the example shape. */
static i64
longest(const Nest *n)
{
    i64 most = 0;
    for (int i = 0; i < n->nloops; i++)
        if (!ex_is_const(n->loop[i].ex.n) && n->loop[i].n > most)
            most = n->loop[i].n;
    return most;
}

/* The same for loops that are long, then for shorter ones.  MUCH_LESS: the kernels after the first
 * have short runs, of which the model knows less. */
int
nest_lengthen(Plan *p, Nest *n, bool all, double less, Nest out[LENGTHS])
{
    static const i64 many[LENGTHS] = {512, 64, 8};
    const i64 at = longest(n);
    int m = 0, most = all ? LENGTHS : 1, first = 0;
    while (n->below && first < LENGTHS - 1 && many[first] > at)
        first++;
    for (int i = first; i < most && p->n + m < NESTS_MAX && (m || i == first); i++)
        if (!m || out[m - 1].narrow >= many[i])          /* else the tile was that short already */
            m += lengthen(p, m ? &out[m - 1] : n, many[i], i > first ? MUCH_LESS : less, &out[m]);
    return m;
}
