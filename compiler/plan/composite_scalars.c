/* What a tile has of the shape: scalars in its strides, and how far its offsets go. */
#include "composite.h"
#include "kernel_family.h"

/* Adds the scalars of a stride to those of the tile.  False if it has others than these, or
 * there are too many. */
static bool
add_scalars(const Ex *stride, Composite *c)
{
    for (int i = 0; i < stride->n; i++) {
        const Atom *a = stride->t[i].atom;
        int k = 0;
        while (k < c->nscalars && c->scalar[k] != a)
            k++;
        if (a->op != AT_VAR || k == TABLE_SCALARS)
            return false;
        c->scalar[k] = a;
        c->nscalars += k == c->nscalars;
    }
    return true;
}

bool
composite_scalars(const Nest *n, Composite *c)
{
    c->nscalars = 0;
    for (int i = 0; i < n->nloops; i++)
        if (c->taken[i] > 1 &&
            (!add_scalars(n->loop[i].ex.ss, c) || !add_scalars(n->loop[i].ex.ds, c)))
            return false;
    return true;
}

/* How many times as far as its stride a loop goes, in bytes; 0: its stride is a number. */
static i64
times_of(const Nest *n, const Composite *c, int loop, int side)
{
    bool known = ex_is_const(kernel_stride_ex(&n->loop[loop], side));
    return known || c->taken[loop] < 2 ? 0 : (c->taken[loop] - 1) * c->unit;
}

/* Each stride is below its part of COMPOSITE_NEAR: a product may not fit 64 bits. */
const Ex *
composite_near(const Nest *n, const Composite *c)
{
    Exprs *e = n->e;
    const Ex *near = ex_const(e, 1);
    for (int side = SRC; side <= DST; side++) {
        i64 loops = 0, times;
        for (int i = 0; i < n->nloops; i++)
            loops += times_of(n, c, i, side) > 0;
        for (int i = 0; i < n->nloops; i++) {
            if ((times = times_of(n, c, i, side)) == 0)
                continue;
            const Ex *most = ex_const(e, COMPOSITE_NEAR / (loops * times) + 1);
            near = ex_min(e, near, ex_sub(e, most, kernel_stride_ex(&n->loop[i], side)));
        }
    }
    return near;
}
