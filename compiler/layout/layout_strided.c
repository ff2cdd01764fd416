/* A tensor in an array that is not contiguous: one stride for each entry of its order. */
#include "layout_parts.h"

static void
check_strides(Arena *a, const Layout *l, const Index *x)
{
    if (l->sigma)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s': strides for a layout with a "
                   "swizzle, which permutes the addresses of storage that is contiguous",
                   x->whole);
    if (l->dtype->bits < 8)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s': strides for elements smaller "
                   "than a byte", x->whole);
    if (l->nentry != x->nstrides)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has %d strides, and the "
                   "storage has %d axes: its order has as many entries", x->whole,
                   x->nstrides, l->nentry);
}

/* The size of the storage; fails if an address does not fit. */
static i64
reach(Arena *a, const Layout *of, const Index *x)
{
    i64 low = x->origin, high = x->origin, size = 0, span, bits;
    bool fits = true;
    check_strides(a, of, x);
    for (int i = 0; i < of->nentry && fits; i++)
        fits = int_mul(of->entry[i].extent - 1, x->stride[i], &span) &&
               (span < 0 ? int_add(low, span, &low) : int_add(high, span, &high));
    if (!fits || !int_add(high, 1, &size) || !int_mul(size, of->dtype->bits, &bits))
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "the addresses of '%.200s' do not fit 64 "
                   "bits", x->whole);
    if (low < 0)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' reaches %lld elements before "
                   "its storage: the origin is the address of the first slot, at least "
                   "%lld", x->whole, (long long)-low, (long long)(x->origin - low));
    return size;
}

Layout *
layout_with_strides(Exprs *e, Layout *of, const LayoutRef *ref, const i64 *stride, i64 origin)
{
    View *v = arena_new(ex_arena(e), View);
    Layout *l = arena_new(ex_arena(e), Layout);
    *v = (View){.of = of, .strided = true};
    for (int d = 0; d < of->rank; d++) {
        v->at[d].dim = v->at[d].like = d;
        v->at[d].step = 1;
        v->at[d].lookup = -1;
    }
    *l = *of;
    l->ref = ref;
    l->view = v;
    l->origin = origin;
    l->linear = ex_const(e, origin);
    for (int i = 0; i < l->nentry; i++) {
        l->entry[i].stride = stride[i];
        l->entry[i].pitch = 0;
        l->linear = ex_add_scaled(e, l->linear, l->entry[i].ex, stride[i]);
    }
    l->addr = l->linear;
    return l;
}

/* The layout of a tensor in an array with the strides that are written. */
Layout *
layout_strided(Exprs *e, const LayoutRef *ref, const DType *t, int rank, const i64 *shape)
{
    const Index *x = ref->def->index;
    Layout *of = layout_make(e, x->of, t, rank, shape);
    i64 size = reach(ex_arena(e), of, x);
    Layout *l = layout_with_strides(e, of, ref, x->stride, x->origin);
    l->size = size;
    return l;
}

