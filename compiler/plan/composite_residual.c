/* The loops of a tile that are in the residual of an address. */
#include <stdlib.h>
#include <string.h>

#include "composite.h"

i64
composite_added(const TileResidual *r, int side, const i64 *val)
{
    i64 v = 0;
    ex_eval(r->x[side], val, &v);
    return v;
}

/* The loops, which a tile can have as a whole. */
static bool
find_loops(const Nest *n, bool in[MAX_LOOPS], TileResidual *r)
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        in[i] = l->residual;
        if (!in[i])
            continue;
        if (!ex_is_const(l->ex.n) || !composite_is_plain(n, l))
            return false;
        r->loop[r->n++] = i;
    }
    return r->n > 0;
}

static bool
varies(const Nest *n, const Ex *x, int loop)
{
    bool in[MAX_LOOPS] = {false}, own = false, other = false;
    in[loop] = true;
    for (int i = 0; i < x->n; i++)
        kernel_varies(n, in, x->t[i].atom, &own, &other);
    return own;
}

/* Sets varies[]; false if the loops that vary the side have too many values together. */
static bool
find_varying(const Nest *n, int side, TileResidual *r)
{
    i64 all = 1;
    for (int i = 0; i < r->n; i++) {
        const int loop = r->loop[i];
        r->varies[side][loop] = varies(n, r->x[side], loop);
        if (r->varies[side][loop] && n->loop[loop].n > TILE_PLACES / all)
            return false;
        all *= r->varies[side][loop] ? n->loop[loop].n : 1;
    }
    return true;
}

static int
by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* Where the strides are numbers in the side; false if what is added is far. */
static bool
list_places(const Nest *n, int side, const TileResidual *r, TilePlaces *p)
{
    enum { FAR = 1 << 25 };
    i64 at[MAX_LOOPS] = {0}, *val = arena_array(ex_arena(n->e), i64, ex_nvars(n->e));
    bool known = true, near = true;
    int m = 0, k = 0;
    for (int i = 0; i < r->n; i++)
        known &= !r->varies[side][r->loop[i]] ||
                 ex_is_const(kernel_stride_ex(&n->loop[r->loop[i]], side));
    do {
        i64 sum = composite_added(r, side, val);
        near &= int_abs(sum) <= FAR;
        for (int i = 0; i < r->n && known; i++)
            sum += at[i] * kernel_stride(&n->loop[r->loop[i]], side);
        p->at[side][m++] = sum;
        for (k = 0; k < r->n; k++) {
            const Loop *l = &n->loop[r->loop[k]];
            at[k] = r->varies[side][r->loop[k]] && at[k] + 1 < l->n ? at[k] + 1 : 0;
            val[l->var] = at[k];
            if (at[k])
                break;
        }
    } while (k < r->n);
    arena_drop(ex_arena(n->e), val, (size_t)ex_nvars(n->e) * sizeof *val);
    qsort(p->at[side], (size_t)m, sizeof(i64), by_value);
    p->n[side] = known ? m : 1;
    return near;
}

bool
composite_residual(const Nest *n, TileResidual *r, TilePlaces *p)
{
    bool in[MAX_LOOPS], found;
    memset(r, 0, sizeof *r);
    found = find_loops(n, in, r) && kernel_apart(n, in);
    for (int side = SRC; side <= DST && found; side++) {
        r->x[side] = kernel_terms(n, in, side == SRC, true);
        found = find_varying(n, side, r);
    }
    for (int side = SRC; side <= DST && found; side++)
        found = list_places(n, side, r, p);
    return found;
}

i64
composite_reach(const TilePlaces *p, int side, i64 run)
{
    int i = 1;
    while (p && i < p->n[side] && p->at[side][i] == p->at[side][0] + i * run)
        i++;
    return i * run;
}
