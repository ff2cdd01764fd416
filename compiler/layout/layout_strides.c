/* Strides from slots, which are numbers when a layout is made, and may depend on extents left to run
 * time in its sizes. */
#include <string.h>

#include "layout_parts.h"

/* A stride that is a number, in bits, rounded up to `unit` bits; in elements. */
static i64
rounded(const Layout *l, int entry, i64 stride, i64 unit)
{
    const LayoutDef *d = l->ref->def;
    i64 bits = l->dtype->bits, all;
    if (!int_mul(stride, bits, &all) || !int_round_up(all, unit, &all))
        layout_no_fit(l, d->loc);
    if (all % bits)
        diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, d->loc,
                   "a pitch of %lld bytes is not a whole number of %s elements",
                   (long long)l->entry[entry].pitch, l->dtype->name);
    return all / bits;
}

/* The slots from the first to the last one of the entries after entry i, whose slots and strides are
 * numbers and fit. */
static i64
span_after(const Layout *l, int i, const Ex *const *slots, const Ex *const *stride)
{
    i64 span = 1;
    while (++i < l->nentry)
        span += (slots[i]->base - 1) * stride[i]->base;
    return span;
}

/* The declared stride of an entry, if the entries after it, of this size, fit into it. */
static const Ex *
exact(const Layout *l, int i, const Ex *size, const Ex *const *slots, const Ex *const *stride)
{
    Arena *a = ex_arena(l->e);
    const Entry *t = &l->entry[i];
    if (!ex_is_const(size))
        layout_refuse_open(l, l->ref->def->loc, "whether the entries after one with a stride "
                           "fit it is not known for every shape",
                           "use pitch, or give these extents as numbers");
    i64 span = span_after(l, i, slots, stride);
    if (t->exact < span)
        diag_fatal(a->diag, DIAG_LAYOUT, t->x->loc,
                   "the stride of '%s' is %lld elements, but the entries after it take "
                   "%lld", ast_text(a, t->x), (long long)t->exact, (long long)span);
    return ex_const(l->e, t->exact);
}

/* The stride of entry i: the size of the entries after it, rounded up to its pitch.  Sets *pitch to
 * the elements that it is a multiple of, or 0. */
static const Ex *
pitched(Scalars *s, const Layout *l, int i, const Ex *size, i64 *pitch)
{
    i64 bits = l->dtype->bits, unit;
    *pitch = 0;
    if (!int_mul(l->entry[i].pitch, 8, &unit))
        layout_no_fit(l, l->ref->def->loc);
    if (!unit || bits % unit == 0)
        return size;
    *pitch = unit / bits;
    if (ex_is_const(size)) {
        i64 stride = rounded(l, i, size->base, unit);
        *pitch = unit % bits ? stride : *pitch;
        return ex_const(l->e, stride);
    }
    if (unit % bits)
        layout_refuse_open(l, l->ref->def->loc, "a pitch that is no whole number of elements",
                           "give all extents as numbers");
    return ex_scale(l->e, scalar_ceil(s, size, *pitch), *pitch);
}

static const Ex *
times(Scalars *s, const Layout *l, const Ex *stride, const Ex *slots)
{
    i64 n;
    if (!ex_is_const(stride) || !ex_is_const(slots))
        return scalar_times(s, stride, slots);
    if (!int_mul(stride->base, slots->base, &n))
        layout_no_fit(l, l->ref->def->loc);
    return ex_const(l->e, n);
}

const Ex *
layout_open_strides(Scalars *s, const Layout *l, Sizes *r)
{
    const Ex *size = ex_const(l->e, 1);
    for (int i = l->nentry - 1; i >= 0; i--) {
        const i64 given = l->entry[i].exact;
        if (s && layout_uses_open(l, &l->entry[i], r->n))
            r->stride[i] = layout_open_stride(s, r, i, size);
        else if (given)
            r->stride[i] = exact(l, i, size, r->slots, r->stride);
        else
            r->stride[i] = pitched(s, l, i, size, &r->pitch[i]);
        r->pitch[i] = given && !r->bound[i] ? given : r->pitch[i];
        size = times(s, l, r->stride[i], r->slots[i]);
    }
    return size;
}

const Ex *
layout_strides(const Layout *l, const Ex *const *slots, const Ex **stride)
{
    Sizes r = {.l = l};
    memcpy(r.slots, slots, (size_t)l->nentry * sizeof *slots);
    const Ex *size = layout_open_strides(NULL, l, &r);
    memcpy(stride, r.stride, (size_t)l->nentry * sizeof *stride);
    return size;
}
