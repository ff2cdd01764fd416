/* A box of a tensor as a slab of its storage: in each entry a range of its slots.  A tensor
 * of the size of the box, in the same layout, has the slots of the slab, closer together. */
#include "layout.h"

/* The coordinate of dim d of the whole tensor, over that of the part. */
static const Ex *
shifted(const Layout *part, int d, const Starts *at)
{
    Exprs *e = part->e;
    const Ex *k = ex_of_var(e, ex_var(e, "k", 0, at->n - 1));
    return ex_add(e, ex_add_scaled(e, ex_of_var(e, part->dim[d].var), k, at->step),
                  ex_const(e, at->first));
}

/* Whether x has a dim of the part. */
static bool
depends(const Layout *part, const Ex *x)
{
    bool any = false, *used = arena_array(ex_arena(part->e), bool, ex_nvars(part->e));
    ex_vars(x, used);
    for (int d = 0; d < part->rank; d++)
        any |= used[part->dim[d].var];
    return any;
}

/* Whether the address of so many slots of an entry, from any of the values of `first` on, is a
 * multiple of `unit`. */
static bool
aligned(const Ex *first, i64 stride, i64 unit)
{
    i64 mod, rem;
    return stride % unit == 0 ||
           (int_mul(first->f.mod, stride, &mod) && mod % unit == 0 &&
            int_mul(first->f.rem, stride, &rem) && rem % unit == 0);
}

/* The least number of elements that are whole bytes. */
static i64
whole_bytes(const Layout *l)
{
    return l->dtype->bits < 8 ? 8 / l->dtype->bits : 1;
}

/* The swizzle of the address x. */
static const Ex *
swizzled(const Layout *l, const Ex *x)
{
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    to[l->sigma_var] = x;
    return ex_subst(l->e, l->sigma, to);
}

/* The least power of two of addresses that the swizzle permutes, each group as the first; 1
 * without a swizzle; 0: none is seen. */
static i64
period_of(const Layout *l)
{
    Exprs *e = l->e;
    i64 period = 1;
    for (; l->sigma && period < l->size; period *= 2) {
        const Ex *in = ex_of_var(e, ex_var(e, "r", 0, period - 1));
        const Ex *group = ex_of_var(e, ex_var(e, "k", 0, l->size / period));
        const Ex *at = swizzled(l, in), *far = ex_scale(e, group, period);
        const Ex *more = ex_sub(e, swizzled(l, ex_add(e, in, far)), ex_add(e, at, far));
        if (at->f.min >= 0 && at->f.max < period && ex_is_const(more) && more->base == 0)
            break;
    }
    return period < l->size || !l->sigma ? period : 0;
}

/* Whether a swizzle permutes each run in the part as in the whole. */
static bool
keeps_swizzle(const Layout *whole, const Layout *part, i64 period)
{
    SlabRuns s;
    bool keeps = layout_slab(whole, part, &s) && period > 0;
    i64 unit = period * whole->dtype->bits;
    if (!whole->sigma || !keeps || s.run == layout_bytes(whole))
        return keeps || !whole->sigma;
    for (int i = 0; i < s.n; i++)
        keeps &= s.whole[i] * 8 % unit == 0 && s.part[i] * 8 % unit == 0;
    return keeps && s.run * 8 % unit == 0;
}

/* What the dims of the whole tensor are in the boxes, by its variables. */
static const Ex **
boxes(const Layout *whole, const Layout *part, const Starts *at)
{
    const Ex *shift[MAX_RANK];
    for (int d = 0; d < whole->rank; d++)
        shift[d] = shifted(part, d, &at[d]);
    const Ex **to = arena_array(ex_arena(whole->e), const Ex *, ex_nvars(whole->e));
    for (int d = 0; d < whole->rank; d++)
        to[whole->dim[d].var] = shift[d];
    return to;
}

bool
layout_is_slab(const Layout *whole, const Layout *part, const Starts *at)
{
    Exprs *e = whole->e;
    if (whole->view || whole->origin)
        return false;
    const Ex **to = boxes(whole, part, at);
    i64 period = period_of(whole);
    for (int i = 0; i < whole->nentry; i++) {
        const Entry *w = &whole->entry[i], *p = &part->entry[i];
        const Ex *first = ex_sub(e, ex_subst(e, w->ex, to), p->ex);
        if (w->exact || w->pitch != p->pitch || depends(part, first) || first->f.min < 0 ||
            first->f.max > w->extent - p->extent || !period ||
            !aligned(first, w->stride, whole_bytes(whole)) || !aligned(first, w->stride, period))
            return false;
    }
    return keeps_swizzle(whole, part, period);
}

bool
layout_is_shifted(const Layout *whole, const Layout *part, const Starts *at)
{
    const Ex *here = ex_subst(whole->e, whole->addr, boxes(whole, part, at));
    const Ex *by = ex_sub(whole->e, here, part->addr);
    return !depends(part, by) && aligned(by, 1, whole_bytes(whole));
}

/* Bytes of so many elements; -1: they are no whole bytes. */
static i64
bytes_of(const Layout *l, i64 elements)
{
    i64 bits = elements * l->dtype->bits;
    return bits % 8 ? -1 : bits / 8;
}

bool
layout_slab(const Layout *whole, const Layout *part, SlabRuns *s)
{
    int i = whole->nentry - 1;
    while (i >= 0 && whole->entry[i].extent == part->entry[i].extent)
        i--;
    *s = (SlabRuns){.run = i < 0 ? layout_bytes(whole)
                : bytes_of(whole, part->entry[i].extent * part->entry[i].stride)};
    bool whole_bytes = s->run > 0;
    for (int k = 0; k < i; k++) {
        const Entry *w = &whole->entry[k], *p = &part->entry[k];
        if (p->extent == 1)
            continue;
        s->count[s->n] = p->extent;
        s->whole[s->n] = bytes_of(whole, w->stride);
        s->part[s->n] = bytes_of(part, p->stride);
        whole_bytes &= s->whole[s->n] >= 0 && s->part[s->n] >= 0;
        s->n++;
    }
    return whole_bytes;
}

i64
layout_slab_start(const Layout *whole, const Layout *part, const i64 *x)
{
    const i64 origin[MAX_RANK] = {0};
    i64 at = 0, v, first;
    for (int i = 0; i < whole->nentry; i++)
        if (layout_entry(whole, i, x, &v) && layout_entry(part, i, origin, &first))
            at += v - first / part->entry[i].stride * whole->entry[i].stride;
    return at * whole->dtype->bits / 8;
}

int
slab_each(const SlabRuns *s, SlabVisit *f, void *arg)
{
    i64 at[MAX_ENTRIES] = {0}, whole = 0, part = 0;
    int i, e;
    do {
        e = f(arg, whole, part, s->run);
        for (i = s->n - 1; i >= 0 && e == 0; i--) {
            whole += s->whole[i];
            part += s->part[i];
            if (++at[i] < s->count[i])
                break;
            whole -= s->whole[i] * s->count[i];
            part -= s->part[i] * s->count[i];
            at[i] = 0;
        }
    } while (i >= 0 && e == 0);
    return e;
}
