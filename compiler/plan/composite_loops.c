/* The loops of a tile: those that it can have, that continue a run, and that are in a run or make parts. */
#include "composite.h"

static bool
rises(const Ex *stride)
{
    return ex_is_const(stride) || stride->f.min >= 0;
}

bool
composite_is_plain(const Nest *n, const Loop *l)
{
    return kernel_is_known(l) || (n->near && rises(l->ex.ss) && rises(l->ex.ds));
}

bool
composite_takes_all(const Nest *n, const Composite *c, int loop)
{
    return ex_is_const(n->loop[loop].ex.n) && c->taken[loop] == n->loop[loop].n;
}

bool
composite_has(const TileResidual *r, int loop)
{
    for (int i = 0; i < r->n; i++)
        if (r->loop[i] == loop)
            return true;
    return false;
}

int
composite_next(const Nest *n, const Composite *c, int side, i64 run)
{
    int i = kernel_next_loop(n, c->skip, side, run);
    if (i >= 0)
        return kernel_stride(&n->loop[i], side) > 0 ? i : -1;
    if (c->whole == DST && side == SRC && !c->skip[c->pair] && n->loop[c->pair].n > 1 &&
        c->apart == run)
        return c->pair;
    for (i = 0; i < c->residual.n; i++) {
        const int loop = c->residual.loop[i];
        if (!c->residual.varies[side][loop] && n->loop[loop].n > 1 &&
            ex_is_const(kernel_stride_ex(&n->loop[loop], side)) &&
            kernel_stride(&n->loop[loop], side) == run)
            return loop;
    }
    return -1;
}

bool
composite_among(const TileSide *s, int n, int loop)
{
    for (int i = 0; i < n; i++)
        if (s->loop[i] == loop)
            return true;
    return false;
}

bool
composite_apart(const Composite *c, int loop)
{
    for (int side = SRC; side <= DST; side++) {
        const TileSide *s = &c->side[side];
        for (int k = 0; k < (c->per > 1 ? s->n : s->used); k++)
            if (s->loop[k] == loop)
                return false;
    }
    return composite_has(&c->residual, loop);
}

i64
composite_parts(const Composite *c)
{
    i64 parts = 1;
    for (int i = 0; i < c->residual.n; i++)
        if (composite_apart(c, c->residual.loop[i]))
            parts *= c->taken[c->residual.loop[i]];
    return parts;
}
