/* Iterates over the warps of an access to a tile. */
#include "bank_walk.h"

/* Fails unless the elements that a lane accesses from this one on are an aligned vector. */
static void
need_vector(const WarpWalk *w, i64 element)
{
    i64 bits = w->t->l->dtype->bits, step = w->step[w->along], first = w->t->addr[element];
    i64 last = element + (w->vector - 1) * step;
    for (i64 i = 1; i < w->vector; i++)
        if (w->t->addr[element + i * step] != first + i)
            walk_no_vector(w, "what a lane takes is not side by side", element,
                           element + i * step);
    if (w->vector > 1 && first * bits % (w->access->bytes * 8))
        walk_no_vector(w, "what a lane takes does not begin at a multiple of its size",
                       element, last);
}

/* The order in which consecutive lanes continue. */
static void
set_order(WarpWalk *w)
{
    const Layout *l = w->t->l;
    int k = 0, dim = w->access->dim;
    bool last = w->access->by_matrix;
    if (!last)
        w->order[k++] = dim;
    for (int d = l->rank - 1; d >= 0; d--)
        if (d != dim)
            w->order[k++] = d;
    if (last)
        w->order[k] = dim;
    w->along = last ? k : 0;
}

WarpWalk
walk_start(Arena *a, const BankTile *t, const TileAccess *access)
{
    const Layout *l = t->l;
    WarpWalk w = {.arena = a, .t = t, .access = access, .rank = l->rank, .bytes = access->bytes,
                  .vector = access->elements};
    i64 step[MAX_RANK], below = 1;
    if (access->fragment) {
        fragment_start(&w);
        return w;
    }
    i64 n = l->dim[access->dim].n;
    if (n % w.vector)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%s: the extent of %s, %lld, is no "
                   "multiple of the %lld elements that a lane takes", access->text,
                   l->dim[access->dim].name, (long long)n, (long long)w.vector);
    for (int d = l->rank - 1; d >= 0; below *= l->dim[d--].n)
        step[d] = below;
    set_order(&w);
    for (int i = 0; i < l->rank; i++) {
        w.extent[i] = l->dim[w.order[i]].n;
        w.step[i] = step[w.order[i]];
    }
    w.extent[w.along] /= w.vector;
    return w;
}

static void
advance(WarpWalk *w)
{
    for (int i = 0; i < w->rank; i++) {
        if (++w->x[i] < w->extent[i])
            return;
        w->x[i] = 0;
    }
    w->done = true;
}

bool
walk_next(WarpWalk *w)
{
    w->active = 0;
    w->n = 0;
    if (w->access->fragment)
        return fragment_next(w);
    for (int lane = 0; lane < WARP && !w->done; lane++, advance(w)) {
        i64 e = 0;
        for (int i = 0; i < w->rank; i++)
            e += w->x[i] * (i == w->along ? w->vector : 1) * w->step[i];
        need_vector(w, e);
        walk_lane(w, lane, e);
    }
    return w->n > 0;
}
