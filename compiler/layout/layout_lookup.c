/* Coordinates that are numbers of an array that each run is given: x[idx]. */
#include <string.h>

#include "layout_parts.h"

const Lookup *
layout_lookup(const Layout *l, const char *symbol)
{
    for (int i = 0; i < l->nlookups; i++)
        if (!strcmp(l->lookup[i].symbol, symbol))
            return &l->lookup[i];
    return NULL;
}

bool
layout_has_arrays(const LayoutDef *d)
{
    for (; d->index; d = d->index->of->def)
        for (int i = 0; i < d->index->nitems; i++)
            if (d->index->item[i].kind == ITEM_ARRAY)
                return true;
    return false;
}

/* a * b, of numbers or of sums of scalars. */
static const Ex *
product(Scalars *s, const Layout *l, const Lookup *u, const Ex *a, const Ex *b)
{
    i64 n;
    if (!ex_is_const(a) || !ex_is_const(b))
        return scalar_times(s, a, b);
    if (!int_mul(a->base, b->base, &n))
        diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "the index array '%s' does not fit 64 bits", u->array);
    return ex_const(l->e, n);
}

LookupSizes
lookup_sizes(Scalars *s, const Layout *l, const Lookup *u, const int *var, const Ex *const *n)
{
    LookupSizes z = {.at = ex_const(l->e, 0), .n = ex_const(l->e, 1)};
    for (int i = 0; i < u->rank; i++) {
        z.extent[i] = n[i];
        z.n = product(s, l, u, z.n, n[i]);
        z.at = ex_add(l->e, ex_times(l->e, z.at, n[i]), ex_of_var(l->e, var[i]));
    }
    return z;
}

bool
lookup_number(const Lookup *u, i64 at, i64 *v)
{
    if (at < 0 || at >= u->n)
        return false;
    *v = u->value ? u->value[at] : u->bound - 1;
    return true;
}

int
lookup_var(Exprs *e, const Lookup *u, const char *name)
{
    i64 most = u->skip && u->bound < 2 ? 1 : u->bound - 1;
    return ex_var(e, name, 0, u->bound == INF ? INF : most);
}

bool
layout_may_skip(const Layout *l)
{
    for (int i = 0; i < l->nlookups; i++)
        if (l->lookup[i].skip)
            return true;
    return false;
}

void
layout_refuse_lookups(const Layout *l, const char *what)
{
    if (l->nlookups)
        diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, l->ref->def->loc, "'%s' has the index "
                   "array '%s', which is given to each run: not for %s", l->ref->def->name,
                   l->lookup[0].array, what);
}
