/* The lanes of a warp that accesses a tile: what each takes, and why it cannot. */
#include "bank_walk.h"

void
walk_point(const BankTile *t, i64 element, i64 *x)
{
    for (int d = t->l->rank - 1; d >= 0; d--) {
        x[d] = element % t->l->dim[d].n;
        element /= t->l->dim[d].n;
    }
}

static const char *
point(const WarpWalk *w, i64 element)
{
    i64 x[MAX_RANK];
    Buf b = buf_new(w->arena);
    walk_point(w->t, element, x);
    for (int d = 0; d < w->t->l->rank; d++)
        buf_printf(&b, "%s%lld", d ? "," : "(", (long long)x[d]);
    buf_add(&b, w->t->l->rank ? ")" : "()");
    return b.s;
}

_Noreturn void
walk_no_vector(const WarpWalk *w, const char *why, i64 first, i64 other)
{
    diag_fatal(w->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%s: %s: elements %s and %s are "
               "at addresses %lld and %lld", w->access->text, why, point(w, first),
               point(w, other), (long long)w->t->addr[first],
               (long long)w->t->addr[other]);
}

void
walk_lane(WarpWalk *w, int lane, i64 element)
{
    w->active |= UINT64_C(1) << lane;
    w->element[lane] = element;
    w->addr[lane] = w->t->addr[element] * w->t->l->dtype->bits / 8;
    w->n = lane + 1;
}
