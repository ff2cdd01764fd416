/* Whether the layouts of a plan are those of the request.  The planner may have a side in other
 * words: dims joined to one, or counted from their other ends.  What a conversion does is which slot
 * of the source each slot of the destination gets, so both must say the same of all slots. */
#include "sides.h"

enum { NO_ELEMENT = -1 };

void
sides_set_written(Layout *l, const i64 *shape)
{
    const LayoutRef *ref = layout_written(l->ref);
    bool other = ref != l->ref;    /* or dims that are joined */
    for (int d = 0; d < l->rank; d++)
        other |= l->dim[d].n != shape[d];
    if (other)
        l->written = layout_make(l->e, ref, l->dtype, l->rank, shape);
}

/* Sets the slots of the element with these coordinates of the source. */
static void
slots_of(const Layout *src, const Layout *dst, const int *map, const i64 *x, i64 *from, i64 *to)
{
    i64 of[MAX_RANK];
    for (int d = 0; d < dst->rank; d++)
        of[d] = x[map[d]];
    if (!layout_address(src, x, from) || !layout_address(dst, of, to))
        diag_fatal(ex_arena(src->e)->diag, DIAG_LAYOUT, (Loc){0}, "an address does not fit 64 bits");
}

/* The elements of the plan's layouts: in source[], by slots of the destination. */
static void
set_sources(const Plan *p, i64 *source)
{
    i64 x[MAX_RANK] = {0}, from, to;
    for (i64 i = 0; i < p->dst->size; i++)
        source[i] = NO_ELEMENT;
    do {
        slots_of(p->src, p->dst, p->map, x, &from, &to);
        source[to] = from;
    } while (layout_next(p->src, false, x));
}

const char *
sides_written_flaw(Arena *a, const Plan *p)
{
    const Layout *src = layout_as_written(p->src), *dst = layout_as_written(p->dst);
    i64 x[MAX_RANK] = {0}, from, to;
    if (src == p->src && dst == p->dst)
        return NULL;
    i64 n = layout_points(src, false);
    if (n != layout_points(p->src, false) || src->size != p->src->size || dst->size != p->dst->size)
        return "the layouts have other sizes than the plan's";
    work_spend_each(a, n, layout_work(src) + layout_work(dst) + layout_work(p->src) +
                    layout_work(p->dst));
    i64 *source = arena_array(a, i64, dst->size);
    set_sources(p, source);
    do {
        slots_of(src, dst, p->map, x, &from, &to);
        if (source[to] != from)
            return arena_printf(a, "slot %lld of the destination is that of slot %lld of the source, "
                                "and in the plan's layouts of slot %lld", (long long)to,
                                (long long)from, (long long)source[to]);
        source[to] = NO_ELEMENT;
    } while (layout_next(src, false, x));
    return NULL;
}
