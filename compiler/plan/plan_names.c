/* Which dim of one side is which of the other, and how that is said. */
#include <string.h>

#include "plan_parts.h"

static int
position(const LayoutDef *d, int rank, const char *name)
{
    for (int i = 0; i < d->ndims; i++)
        if (!strcmp(d->dims[i], name))
            return rank - d->ndims + i;
    return -1;
}

static const char *
names_of(Arena *a, const LayoutDef *d)
{
    Buf b = buf_new(a);
    buf_add(&b, d->batch ? "(..., " : "(");
    for (int i = 0; i < d->ndims; i++)
        buf_printf(&b, "%s%s", i ? "," : "", d->dims[i]);
    buf_add(&b, ")");
    return b.s;
}

void
plan_match(Arena *a, const LayoutRef *src, const LayoutRef *dst, int rank, int *map)
{
    const LayoutDef *s = src->def, *d = dst->def;
    int shared = 0, moved = 0;
    for (int i = 0; i < rank; i++)
        map[i] = i;
    for (int i = 0; i < d->ndims; i++) {
        int from = position(s, rank, d->dims[i]), to = rank - d->ndims + i;
        shared += from >= 0;
        moved += from >= 0 && from != to;
    }
    if (!moved)
        return;
    if (shared != rank || s->ndims != rank || d->ndims != rank)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "the dims of '%s' %s and of '%s' %s share names in different "
                   "places: name them alike, as in 'VNNI2(K,N)' or '(N,C,H,W){N, H, "
                   "W, C}'", s->name, names_of(a, s), d->name, names_of(a, d));
    for (int i = 0; i < rank; i++)
        map[i] = position(s, rank, d->dims[i]);
}

const char *
plan_moved(Arena *a, const Plan *p)
{
    bool moved = false;
    for (int i = 0; i < p->dst->rank; i++)
        moved |= p->map[i] != i;
    return !moved ? NULL
                  : arena_printf(a, "dims by name: %s to %s", names_of(a, p->src->ref->def),
                                 names_of(a, p->dst->ref->def));
}

/* The dim of dst in whose coordinates its layout, as it is printed, counts those that are dim k of
 * boxes; -1: it counts each in its own. */
static int
counted_in(const Plan *p, int k)
{
    for (int d = 0; d < p->dst->rank && layout_as_written(p->dst) == p->dst; d++) {
        int to = p->given[p->map[d]].joined;
        if (p->box.part[d].dim != k || to == p->map[d])
            continue;
        for (int i = 0; i < p->dst->rank; i++)
            if (p->map[i] == to)
                return i;
    }
    return -1;
}

const char *
plan_joins(Arena *a, const Plan *p)
{
    Buf b = buf_new(a);
    for (int k = 0; k < p->box.rank; k++) {
        int n = 0, left = 0;
        for (int d = 0; d < p->dst->rank; d++)
            left += p->box.part[d].dim == k;
        for (int d = 0; d < p->dst->rank && left > 1; d++)
            if (p->box.part[d].dim == k)
                buf_printf(&b, "%s%s", n++ ? n < left ? ", " : " and " : b.len ? "; " : "joined: ",
                           p->dst->dim[d].name);
        if (left > 1)
            buf_printf(&b, " are one dim, %s", p->box.to->l->dim[k].name);
        int in = left > 1 ? counted_in(p, k) : -1;
        if (in >= 0)
            buf_printf(&b, "; the entries above call it %s", p->dst->dim[in].name);
    }
    return b.len ? b.s : NULL;
}
