/* The one side of an index function. */
#include "sides.h"

/* Any other side: its dims, by the names that the layout has, are side by side, so that the layout may
 * count some as one number. */
static const LayoutRef *
by_rows(Arena *a, const Known *known, const LayoutDef *d)
{
    Buf b = buf_new(a);
    for (int i = 0; i < d->ndims; i++)
        buf_printf(&b, "%s%s", i ? "," : "", d->dims[i]);
    bool named = !d->batch && !d->index && d->ndims;
    return spec_ref(a, named ? arena_printf(a, "(%s){%s}", b.s, b.s) : "ROW_MAJOR", known);
}

static const char *const *
dim_names(Arena *a, const LayoutDef *def, const Layout *l)
{
    const char **name = arena_array(a, const char *, l->rank + 1);
    for (int d = 0; d < l->rank; d++)
        name[d] = def->batch || def->ndims != l->rank ? l->dim[d].name : def->dims[d];
    return name;
}

void
sides_index(Arena *a, const Known *known, const Request *rq, Sides *s)
{
    const LayoutRef *ref = spec_ref(a, rq->to ? rq->to : rq->from, known);
    const LayoutRef *other = rq->extent ? by_rows(a, known, ref->def) : ref;
    Request *own = arena_copy(a, rq, sizeof *own);
    own->index = true;
    sides_set(a, ref, other, sides_dtype(a, rq->dtype), own, s);
    sides_refuse_lookups(s->src, s->dst, "an index function");
    s->dim = dim_names(a, ref->def, s->src);
    s->ref = ref;
}
