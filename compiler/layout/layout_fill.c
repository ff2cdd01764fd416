/* A fill that each run is given, as zero points are: the bits of an element. */
#include "layout_parts.h"

const char *
layout_fill_name(const LayoutDef *d)
{
    return d->fill == FILL_VALUE ? d->fill_name : NULL;
}

/* `ref` with these bits as its fill, if that is a name. */
static const LayoutRef *
with_fill(Arena *a, const LayoutRef *ref, const DType *t, i64 bits)
{
    if (!ref->def->fill_name)
        return ref;
    LayoutRef *r = arena_copy(a, ref, sizeof *r);
    LayoutDef *d = arena_copy(a, ref->def, sizeof *d);
    r->def = d;
    if (d->index) {
        Index *x = arena_copy(a, d->index, sizeof *x);
        x->of = with_fill(a, x->of, t, bits);
        d->index = x;
    }
    d->fill_name = NULL;
    d->fill_given = true;
    d->fill_bits = (uint64_t)bits & (t->bits < 64 ? ((uint64_t)1 << t->bits) - 1 : ~(uint64_t)0);
    d->fill_value = dtype_decode(t, d->fill_bits);
    if (d->index)
        d->name = layout_ref_text(a, r);
    return r;
}

const LayoutRef *
layout_given(Arena *a, const LayoutRef *ref, const DType *t, const Scalars *s,
             const char *const *name, const i64 *value)
{
    int first = s->nextents - s->nstrides;
    ref = layout_given_strides(a, ref, s->nstrides, s->nstrides ? name + first : NULL, value);
    return s->fill < 0 ? ref : with_fill(a, ref, t, value[s->fill - first]);
}
