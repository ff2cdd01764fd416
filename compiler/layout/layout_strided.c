/* A tensor in an array that is not contiguous: one stride for each entry of its order. */
#include <string.h>

#include "layout_parts.h"

static int
add_name(const char **name, int n, int room, const char *s)
{
    for (int i = 0; s && i < n; i++)
        if (!strcmp(name[i], s))
            return n;
    if (!s || n < 0)
        return n;
    if (n == room)
        return -1;
    name[n] = s;
    return n + 1;
}

int
layout_stride_names(const LayoutDef *d, const char **name, int n, int room)
{
    for (; d->index; d = d->index->of->def) {
        const Index *x = d->index;
        n = add_name(name, n, room, x->origin_name);
        for (int i = 0; i < x->nstrides; i++)
            n = add_name(name, n, room, x->stride_name[i]);
    }
    return n;
}

int
layout_extent_names(const LayoutDef *d, const char **name, int n, int room)
{
    for (; d->index; d = d->index->of->def)
        for (int i = 0; i < MAX_RANK; i++)
            if (d->index->given >> i & 1)
                n = add_name(name, n, room, d->index->name[i]);
    return n;
}

/* Whether a run is given numbers for names in the text of d. */
static bool
has_names(const LayoutDef *d)
{
    const char *own[1];
    return layout_stride_names(d, own, 0, 1) || layout_extent_names(d, own, 0, 1);
}

/* The number that has the name; `kept` without one. */
static i64
value_of(const char *s, i64 kept, int n, const char *const *name, const i64 *value)
{
    for (int i = 0; s && i < n; i++)
        if (!strcmp(name[i], s))
            return value[i];
    return kept;
}

/* Writes the extents of the tensor of x, which is a part of another: those that are known, and names. */
static void
write_extents(Arena *a, Index *x)
{
    const char **name = arena_array(a, const char *, MAX_RANK);
    x->extent = arena_array(a, i64, MAX_RANK);
    x->nextents = layout_view_shape(a, x->of, x->extent, name);
    for (int d = 0; d < x->nextents; d++)
        name[d] = name[d] ? name[d] : arena_printf(a, "n%d", d);
    x->name = name;
}

void
layout_give_extents(Arena *a, Index *x, int n, const char *const *name, const i64 *value)
{
    const bool has = x->given;
    x->given = 0;
    if (x->nextents < 0 && has)
        write_extents(a, x);
    if (x->nextents < 1)
        return;
    x->extent = arena_copy(a, x->extent, (size_t)x->nextents * sizeof *x->extent);
    for (int i = 0; i < x->nextents; i++)
        if (!x->extent[i])
            x->extent[i] = value_of(x->name[i], 0, n, name, value);
}

/* The same of each index in turn; an outer one may have the name of an extent of the tensor. */
static const LayoutRef *
given_names(Arena *a, const LayoutRef *ref, int n, const char *const *name, const i64 *value)
{
    if (!ref->def->index)
        return ref;
    LayoutRef *r = arena_copy(a, ref, sizeof *r);
    LayoutDef *d = arena_copy(a, ref->def, sizeof *d);
    Index *x = arena_copy(a, d->index, sizeof *x);
    r->def = d;
    d->index = x;
    x->of = given_names(a, x->of, n, name, value);
    x->open = !value;
    if (!x->open)
        layout_give_extents(a, x, n, name, value);
    if (x->open || x->nstrides < 0) {
        d->name = layout_ref_text(a, r);
        return r;
    }
    x->origin = value_of(x->origin_name, x->origin, n, name, value);
    x->origin_name = NULL;
    x->stride = arena_copy(a, x->stride, (size_t)x->nstrides * sizeof *x->stride);
    for (int i = 0; i < x->nstrides; i++)
        x->stride[i] = value_of(x->stride_name[i], x->stride[i], n, name, value);
    x->stride_name = arena_array(a, const char *, x->nstrides);
    d->name = layout_ref_text(a, r);
    return r;
}

const LayoutRef *
layout_given_strides(Arena *a, const LayoutRef *ref, int n, const char *const *name,
                     const i64 *value)
{
    return has_names(ref->def) ? given_names(a, ref, n, name, value) : ref;
}

bool
layout_has_open_strides(const Layout *l)
{
    const char *name[1];
    for (; l->view; l = l->view->of)
        if (l->view->strided && l->ref->def->index && l->ref->def->index->open)
            return layout_stride_names(l->ref->def, name, 0, 1) != 0;
    return false;
}

bool
layout_has_given_extents(const Layout *l)
{
    for (; l->view; l = l->view->of)
        for (int d = 0; d < l->view->of->rank; d++)
            if (l->view->at[d].given)
                return true;
    return false;
}

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

void
layout_need_strides(Arena *a, const LayoutDef *d)
{
    const char *name[1];
    if (layout_stride_names(d, name, 0, 1) || layout_extent_names(d, name, 0, 1))
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s': '%s' is a name, and only conversions "
                   "take names, whose values are given to each run: write a number",
                   d->index->whole, name[0]);
}

/* The index with a number for each name: strides of nested arrays, which fit. */
static const Index *
with_numbers(Arena *a, const Layout *of, const Index *x)
{
    const LayoutDef *d = &(LayoutDef){.index = x};
    const char *name[1];
    if (layout_stride_names(d, name, 0, 1) == 0)
        return x;
    if (!x->open)
        layout_need_strides(a, d);
    Index *out = arena_copy(a, x, sizeof *out);
    i64 span = 1;
    check_strides(a, of, x);
    out->stride = arena_copy(a, x->stride, (size_t)x->nstrides * sizeof *x->stride);
    for (int i = x->nstrides - 1; i >= 0; i--) {
        out->stride[i] = x->stride_name[i] ? span : x->stride[i];
        if (!int_mul(int_abs(out->stride[i]), of->entry[i].extent, &span))
            layout_no_fit(of, (Loc){0});
    }
    return out;
}

Layout *
layout_strided(Exprs *e, const LayoutRef *ref, Layout *of)
{
    const Index *x = with_numbers(ex_arena(e), of, ref->def->index);
    i64 size = reach(ex_arena(e), of, x);
    Layout *l = layout_with_strides(e, of, ref, x->stride, x->origin);
    l->size = size;
    return l;
}

