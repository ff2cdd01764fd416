/* Tables whose offsets depend on the shape: sums of scalars times numbers (nest_scalars). */
#include "kernel_family.h"

/* Adds the scalars of a stride.  False if it has other terms, or there are too many. */
static bool
add_scalars(const Ex *stride, TableScalars *s)
{
    for (int i = 0; i < stride->n; i++) {
        const Atom *a = stride->t[i].atom;
        int k = 0;
        while (k < s->n && s->of[k] != a)
            k++;
        if (a->op != AT_VAR || k == TABLE_SCALARS)
            return false;
        s->of[k] = a;
        s->n += k == s->n;
    }
    return true;
}

bool
table_scalars(const Nest *n, const i64 taken[MAX_LOOPS], TableScalars *s)
{
    s->n = 0;
    for (int i = 0; i < n->nloops; i++)
        if (taken[i] > 1 &&
            (!add_scalars(n->loop[i].ex.ss, s) || !add_scalars(n->loop[i].ex.ds, s)))
            return false;
    return true;
}

int
table_scalars_list(const Nest *n, const TableScalars *s, const Ex *out[TABLE_SCALARS])
{
    for (int i = 0; i < s->n; i++)
        out[i] = ex_of_atom(n->e, s->of[i]);
    return s->n;
}

i64
table_share(const Ex *stride, const Atom *scalar)
{
    i64 share = scalar ? 0 : stride->base;
    for (int i = 0; i < stride->n && scalar; i++)
        share += stride->t[i].atom == scalar ? stride->t[i].coef : 0;
    return share;
}

/* How many times as far as its stride a loop goes, in bytes; 0: its stride is a number. */
static i64
times_of(const Loop *l, i64 taken, i64 unit, int side)
{
    bool known = ex_is_const(kernel_stride_ex(l, side));
    return known || taken < 2 ? 0 : (taken - 1) * unit;
}

/* Each stride is below its part of TABLE_NEAR: a product may not fit 64 bits. */
const Ex *
table_near(const Nest *n, const i64 taken[MAX_LOOPS], i64 unit)
{
    Exprs *e = n->e;
    const Ex *near = ex_const(e, 1);
    for (int side = SRC; side <= DST; side++) {
        i64 loops = 0, times;
        for (int i = 0; i < n->nloops; i++)
            loops += times_of(&n->loop[i], taken[i], unit, side) > 0;
        for (int i = 0; i < n->nloops; i++) {
            if ((times = times_of(&n->loop[i], taken[i], unit, side)) == 0)
                continue;
            const Ex *most = ex_const(e, TABLE_NEAR / (loops * times) + 1);
            const Ex *stride = kernel_stride_ex(&n->loop[i], side);
            near = ex_min(e, near, ex_sub(e, most, stride));
            if (stride->f.min < 0)
                near = ex_min(e, near, ex_add(e, most, stride));
        }
    }
    return near;
}
