/* The storage of a layout as an array, and the shape of a tensor that is stored in one. */
#include <string.h>

#include "sides.h"

/* True if an array of these extents has as many elements as the storage: not with strides
 * of the user's. */
static bool
is_whole(const Layout *l, const i64 *extent, int n)
{
    i64 all = 1;
    for (int i = 0; i < n; i++)
        if (!int_mul(all, extent[i], &all))
            return false;
    return all == l->size;
}

int
sides_stored(const Layout *l, i64 *extent)
{
    l = layout_as_written(l);
    int n = layout_box(l, extent), bits = l->dtype->bits;
    if (bits >= 8 && is_whole(l, extent, n))
        return n;
    if (bits >= 8) {
        extent[0] = l->size;
        return 1;
    }
    if (n && extent[n - 1] * bits % 8 == 0) {
        extent[n - 1] = extent[n - 1] * bits / 8;
        return n;
    }
    extent[0] = layout_bytes(l);
    return 1;
}

/* The dim that an entry is; ndims if it is not just a dim. */
static int
dim_of(const LayoutDef *d, const Ast *x)
{
    int dim = 0;
    while (dim < d->ndims && (x->op != OP_SYM || strcmp(x->name, d->dims[dim])))
        dim++;
    return dim;
}

bool
sides_logical(const LayoutRef *ref, int rank, const i64 *stored, i64 *shape)
{
    const LayoutDef *d = ref->def;
    if (d->index)
        return d->index->nstrides >= 0 &&
               sides_logical(d->index->of, rank, stored, shape);
    int batch = rank - d->ndims, at = 0;
    if (batch < 0 || (batch && !d->batch) || rank > MAX_RANK)
        return false;
    for (int i = 0; i < rank; i++)
        shape[i] = -1;
    for (int i = 0; i < d->norder; i++) {
        const EntryDef *e = &d->order[i];
        int dim = e->x ? dim_of(d, e->x) : 0;
        if (!e->x && at + batch > rank)
            return false;
        for (int b = 0; !e->x && b < batch; b++)
            shape[e->kind == ENTRY_BATCH ? b : batch - 1 - b] = stored[at++];
        if (e->x && (dim == d->ndims || at == rank))
            return false;
        if (e->x)
            shape[batch + dim] = stored[at++];
    }
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0)
            return false;
    return at == rank && d->npads == 0 && d->npitches == 0;
}
