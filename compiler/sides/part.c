/* What the names in the text of a part mean, from the array of its tensor and from its index arrays: N
 * of ROW_MAJOR(N,6)[1:3] is 10 in an array of (10,6), and idx_len of [idx][1:3] is the length of idx. */
#include <string.h>

#include "sides.h"

i64
sides_part_value(const PartNames *p, const char *name)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->name[i], name))
            return p->value[i];
    return -1;
}

static void
add(PartNames *p, const char *name, i64 value)
{
    if (p->n == MAX_RANK || value < 0 || sides_part_value(p, name) >= 0)
        return;
    p->name[p->n] = name;
    p->value[p->n++] = value;
}

int
sides_part_shape(const PartNames *p, const LayoutRef *ref, i64 *shape)
{
    const char *name[MAX_RANK];
    const Index *x = ref->def->index;
    if (x && x->nstrides >= 0)
        return sides_part_shape(p, x->of, shape);
    if (!x) {
        memcpy(shape, p->shape, sizeof p->shape);
        return p->rank;
    }
    int rank = layout_view_shape(p->arena, ref, shape, name);
    for (int d = 0; d < rank; d++)
        if (!shape[d])
            shape[d] = name[d] ? p->length(p->env, name[d]) : -1;
    return rank;
}

/* The shape of the part of which x is one, if all of it is known, as the extents of x. */
static void
write_shape(PartNames *p, Index *x, int rank, const i64 *shape)
{
    bool known = x->nextents < 0 && x->of->def->index;
    for (int d = 0; d < rank; d++)
        known = known && shape[d] > 0;
    if (!known || rank < 0)
        return;
    x->nextents = rank;
    x->extent = arena_copy(p->arena, shape, sizeof p->shape);
    x->name = arena_array(p->arena, const char *, MAX_RANK);
}

/* `ref` with the numbers that are known so far. */
static const LayoutRef *
numbered(PartNames *p, const LayoutRef *ref)
{
    const Index *x = ref->def->index;
    if (!x)
        return ref;
    i64 shape[MAX_RANK];
    LayoutRef *r = arena_copy(p->arena, ref, sizeof *r);
    LayoutDef *d = arena_copy(p->arena, ref->def, sizeof *d);
    Index *own = arena_copy(p->arena, x, sizeof *x);
    own->of = numbered(p, x->of);
    const int rank = x->nstrides >= 0 ? -1 : sides_part_shape(p, own->of, shape);
    for (int i = 0; i < rank && x->name && (x->nextents < 0 || i < x->nextents); i++)
        if (x->name[i] && (x->nextents < 0 || !x->extent[i]))
            add(p, x->name[i], shape[i]);
    write_shape(p, own, rank, shape);
    layout_give_extents(p->arena, own, p->n, p->name, p->value);
    d->index = own;
    r->def = d;
    return r;
}

const LayoutRef *
sides_part(const LayoutRef *ref, int rank, const i64 *stored, PartNames *p)
{
    const LayoutRef *of = ref;
    bool fits = true;              /* not if a stride, or another rank, is written */
    for (const Index *x; (x = of->def->index) != NULL; of = x->of)
        fits = fits && x->nstrides < 0 &&
               (x->of->def->index || x->nextents < 0 || x->nextents == rank);
    p->n = 0;
    p->rank = fits && sides_logical(of, rank, stored, p->shape) ? rank : -1;
    return numbered(p, ref);
}
