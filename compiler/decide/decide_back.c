/* From an address of sizes back to the coordinates.
 *
 * At a shape of numbers they are expressions over the address: tables, skews, factors and swizzles
 * have inverses at a shape that they have not at every one.  For all shapes they are expressions over
 * the entries of the order, which are digits of the address. */
#include "decide.h"

static bool
by_entries(Layout *l, const Sizes *z, Back *r)
{
    i64 fixed[MAX_RANK];
    if (l->view || !l->nentry)
        return false;
    for (int d = 0; d < l->rank; d++)
        fixed[d] = ex_is_const(z->n[d]) ? z->n[d]->base : RUNTIME_EXTENT;
    const EveryShape *y = decide_shapes(l->e, l->ref, l->dtype, l->rank, fixed);
    *r = (Back){.x = y->inverse, .n = l->nentry};
    for (int i = 0; i < r->n; i++)
        r->var[i] = y->entry_var[i];
    return r->x;
}

bool
decide_back(Layout *l, const Sizes *z, const Verdict *v, Back *r)
{
    if (!v)
        return by_entries(l, z, r);
    *r = (Back){.x = v->inverse, .var = {v->inverse_var}};
    return r->x;
}
