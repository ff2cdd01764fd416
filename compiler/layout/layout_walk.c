/* The walk over the items of an index: what each item takes of the tensor and adds to the
 * view. */
#include "layout_parts.h"

static i64
limited(i64 v, i64 least, i64 most)
{
    return v < least ? least : v > most ? most : v;
}

/* A bound of a slice of n elements, as Python's slice.indices(n). */
static i64
bound(bool given, i64 v, i64 n, i64 step, i64 unless)
{
    i64 least = step < 0 ? -1 : 0, most = step < 0 ? n - 1 : n;
    return given ? limited(v < 0 ? v + n : v, least, most) : unless;
}

/* A slice of n elements. */
static void
slice_known(const LayoutWalk *w, const IndexItem *t, int d, i64 n, DimSource *s, Size *extent)
{
    i64 step = limited(t->step, -INF, INF);
    i64 from = bound(t->starts, t->start, n, step, step < 0 ? n - 1 : 0);
    i64 to = bound(t->stops, t->stop, n, step, step < 0 ? -1 : n);
    i64 span = step < 0 ? from - to : to - from;
    if (span <= 0)
        walk_fail(w, t, arena_printf(w->arena, "this slice of %s, whose extent is %lld, has no "
                                     "elements", walk_dim(w, d), (long long)n));
    i64 count = 1 + (span - 1) / int_abs(step);
    s->start = (Size){NUMBER, from};
    s->step = count > 1 || int_abs(step) == 1 ? step : 1;
    *extent = (Size){NUMBER, count};
}

static void
add_dim(LayoutWalk *w, int source, Size extent, bool one, const IndexItem *t)
{
    if (w->rank == MAX_RANK)
        walk_fail(w, t, arena_printf(w->arena, "the view has more than %d dims", MAX_RANK));
    w->source[w->rank] = source;
    w->one[w->rank] = one;
    w->extent[w->rank++] = extent;
}

static void
add_slice(LayoutWalk *w, int d, const IndexItem *t)
{
    Size extent;
    DimSource *s = &w->from[d];
    *s = (DimSource){.dim = w->rank, .item = t};
    if (w->of[d].of < 0)
        slice_known(w, t, d, w->of[d].n, s, &extent);
    else
        open_slice(w, t, d, s, &extent);
    add_dim(w, d, extent, extent.of == NUMBER && extent.n == 1, t);
}

static void
add_at(LayoutWalk *w, int d, const IndexItem *t)
{
    i64 n = w->of[d].n, at = t->start;
    bool known = w->of[d].of < 0;
    if (known && (at >= n || at < -n))
        walk_fail(w, t, arena_printf(w->arena, "%lld is outside %s, whose extent is %lld",
                                     (long long)at, walk_dim(w, d), (long long)n));
    w->from[d] = (DimSource){.dim = -1, .start = {NUMBER, at < 0 ? at + n : at}, .item = t};
    if (!known)
        open_at(d, at, &w->from[d]);
}

/* The start and the step of evenly spaced numbers, or the list of others. */
static void
set_numbers(DimSource *s, const i64 *list, int n)
{
    s->step = n > 1 ? list[1] - list[0] : 1;
    bool even = s->step != 0;
    for (int i = 1; i < n; i++)
        even &= list[i] - list[i - 1] == s->step;
    s->start.n = list[0];
    s->list = even ? NULL : list;
}

/* The numbers of a list, from 0 on. */
static const i64 *
numbers_of(const LayoutWalk *w, int d, const IndexItem *t)
{
    i64 n = w->of[d].n, *list = arena_copy(w->arena, t->list, (size_t)t->n * sizeof *list);
    if (t->mask && t->mask != n)
        walk_fail(w, t, arena_printf(w->arena, "a mask of %d for %s, whose extent is %lld",
                                     t->mask, walk_dim(w, d), (long long)n));
    for (int i = 0; i < t->n; i++) {
        if (list[i] >= n || list[i] < -n)
            walk_fail(w, t, arena_printf(w->arena, "%lld is outside %s, whose extent is %lld",
                                         (long long)list[i], walk_dim(w, d), (long long)n));
        list[i] += list[i] < 0 ? n : 0;
    }
    return list;
}

static void
add_list(LayoutWalk *w, int d, const IndexItem *t)
{
    w->from[d] = (DimSource){.dim = w->rank, .start = {NUMBER, 0}, .item = t};
    add_dim(w, d, (Size){NUMBER, t->n}, t->n == 1, t);
    if (w->of[d].of != NUMBER && t->mask)
        w->of[d] = (Size){NUMBER, t->mask};
    if (w->of[d].of != NUMBER)
        open_list(d, t, &w->from[d]);
    else
        set_numbers(&w->from[d], numbers_of(w, d, t), t->n);
}

/* Any number of coordinates, which a run is given.  Arrays beside each other have a number
 * each for one dim of the view. */
static void
add_array(LayoutWalk *w, int d, const IndexItem *t)
{
    bool joins = !t->along && w->joint >= 0;
    w->from[d] = (DimSource){.dim = joins ? w->joint : w->rank, .start = {NUMBER, 0}, .item = t};
    if (joins)
        return;
    w->joint = t->along ? w->joint : w->rank;
    add_dim(w, d, (Size){OPEN, 0}, false, t);
}

static bool
takes_dim(const IndexItem *t)
{
    return t->kind != ITEM_NEW && t->kind != ITEM_REST;
}

static void
too_many(const LayoutWalk *w, const IndexItem *t)
{
    int n = 0;
    for (int i = 0; i < w->x->nitems; i++)
        n += takes_dim(&w->x->item[i]);
    walk_fail(w, t, arena_printf(w->arena, "too many indices: the tensor has %d dims, and %d are "
                                 "indexed", w->rank_of, n));
}

/* How many dims of the tensor "..." stands for. */
static int
rest_of(const LayoutWalk *w)
{
    int rest = w->rank_of;
    for (int i = 0; i < w->x->nitems; i++) {
        const IndexItem *t = &w->x->item[i];
        rest -= takes_dim(t);
        if (rest < 0)
            too_many(w, t);
    }
    return rest;
}

void
walk_items(LayoutWalk *w)
{
    static const IndexItem all = {.kind = ITEM_SLICE, .step = 1};
    int d = 0, rest = rest_of(w);
    w->rank = 0;
    w->joint = -1;
    for (int i = 0; i < w->x->nitems; i++) {
        const IndexItem *t = &w->x->item[i];
        if (t->kind == ITEM_SLICE)
            add_slice(w, d++, t);
        else if (t->kind == ITEM_AT)
            add_at(w, d++, t);
        else if (t->kind == ITEM_LIST)
            add_list(w, d++, t);
        else if (t->kind == ITEM_ARRAY)
            add_array(w, d++, t);
        else if (t->kind == ITEM_NEW)
            add_dim(w, -1, (Size){NUMBER, 1}, true, t);
        for (; t->kind == ITEM_REST && rest; rest--)
            add_slice(w, d++, &all);
    }
    while (d < w->rank_of)
        add_slice(w, d++, &all);
}
