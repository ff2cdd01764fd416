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

/* Whether so many slots of an entry, from any of the values of `first` on, begin at whole
 * bytes. */
static bool
at_bytes(const Layout *l, const Ex *first, i64 stride)
{
    int few = l->dtype->bits < 8 ? 8 / l->dtype->bits : 1;
    return stride % few == 0 ||
           (first->f.mod % few == 0 && first->f.rem % few == 0);
}

bool
layout_is_slab(const Layout *whole, const Layout *part, const Starts *at)
{
    Exprs *e = whole->e;
    const Ex *shift[MAX_RANK];
    if (whole->view || whole->sigma || whole->origin)
        return false;
    for (int d = 0; d < whole->rank; d++)
        shift[d] = shifted(part, d, &at[d]);
    const Ex **to = arena_array(ex_arena(e), const Ex *, ex_nvars(e));
    for (int d = 0; d < whole->rank; d++)
        to[whole->dim[d].var] = shift[d];
    for (int i = 0; i < whole->nentry; i++) {
        const Entry *w = &whole->entry[i], *p = &part->entry[i];
        const Ex *first = ex_sub(e, ex_subst(e, w->ex, to), p->ex);
        if (w->exact || w->pitch != p->pitch || depends(part, first) || first->f.min < 0 ||
            first->f.max > w->extent - p->extent || !at_bytes(whole, first, w->stride))
            return false;
    }
    return true;
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
