/* Reads an index in NumPy's notation: which coordinates of a tensor those of a view are.
 *
 * Each coordinate of the tensor is start + step * a coordinate of the view, a constant, or
 * a number of a list.  Extents of the tensor that the text leaves out follow from those of
 * the view: in a first walk over the items they are unknown, and sizes are counted from
 * them. */
#include <string.h>

#include "layout_parts.h"

/* A number, plus the extent of dim `of` of the tensor unless that is NUMBER; OPEN: what it is
 * does not follow. */
enum { NUMBER = -1, OPEN = -2 };
typedef struct {
    int of;
    i64 n;
} Size;

typedef struct {
    int dim;              /* of the view; -1: none */
    Size start;
    i64 step;
    const i64 *list;      /* the coordinates, instead */
    const IndexItem *item;
} Source;

/* The walk over the items of an index. */
typedef struct {
    Arena *arena;
    const Index *x;
    int rank, rank_of;    /* of the view so far, of the tensor */
    Size of[MAX_RANK];    /* the extents of the tensor */
    Source from[MAX_RANK];         /* for each of its dims */
    Size extent[MAX_RANK];         /* of the view */
    int source[MAX_RANK]; /* for each dim of the view: that of the tensor; -1: new */
    bool one[MAX_RANK];   /* any extent is accepted: new, or 1 in the tensor */
    const char *name[MAX_RANK];    /* of the extents of an index that this one is of */
} Walk;

const LayoutDef *
layout_declared(const LayoutDef *d)
{
    while (d->index)
        d = d->index->of->def;
    return d;
}

void
layout_index_fail(Arena *a, const char *whole, int place, const char *why)
{
    enum { LINE = 300 };
    char *line = arena_string(a, whole);
    for (char *c = line; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    if (place > LINE || strlen(line) > LINE)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "character %d of the layout: %s",
                   place + 1, why);
    diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "%s\n  %s\n  %*s^", why, line, place, "");
}

_Noreturn static void
fail(const Walk *w, const IndexItem *t, const char *why)
{
    layout_index_fail(w->arena, w->x->whole, t->place, why);
}

/* The name of dim d of the tensor; "" if it is a batch dim. */
static const char *
name_of(const Walk *w, int d)
{
    const LayoutDef *of = w->x->of->def;
    int own = d - (w->rank_of - of->ndims);
    return own >= 0 ? of->dims[own] : "";
}

/* "dim 1 (C)" */
static const char *
dim_text(const Walk *w, int d)
{
    const char *name = name_of(w, d);
    return *name ? arena_printf(w->arena, "dim %d (%s)", d, name)
                 : arena_printf(w->arena, "dim %d", d);
}

_Noreturn static void
unknown(const Walk *w, const IndexItem *t, int d)
{
    fail(w, t, arena_printf(w->arena, "the extent of %s of the tensor does not follow from "
                            "the shape of the view: write the extents of the tensor before "
                            "the index, as in NCHW(8,64,56,56)[:, 1:3]", dim_text(w, d)));
}

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
slice_known(const Walk *w, const IndexItem *t, int d, i64 n, Source *s, Size *extent)
{
    i64 step = limited(t->step, -INF, INF);
    i64 from = bound(t->starts, t->start, n, step, step < 0 ? n - 1 : 0);
    i64 to = bound(t->stops, t->stop, n, step, step < 0 ? -1 : n);
    i64 span = step < 0 ? from - to : to - from;
    if (span <= 0)
        fail(w, t, arena_printf(w->arena, "this slice of %s, whose extent is %lld, has no "
                                "elements", dim_text(w, d), (long long)n));
    i64 count = 1 + (span - 1) / int_abs(step);
    s->start = (Size){NUMBER, from};
    s->step = count > 1 || int_abs(step) == 1 ? step : 1;
    *extent = (Size){NUMBER, count};
}

/* A slice of a dim whose extent follows from the view's. */
static void
slice_unknown(const Walk *w, const IndexItem *t, int d, Source *s, Size *extent)
{
    bool all = t->step == -1 && !t->starts && !t->stops;
    bool ends = t->step == 1 && (!t->starts || t->start >= 0) && (!t->stops || t->stop < 0);
    *extent = w->of[d];
    s->start = all ? (Size){d, -1} : (Size){NUMBER, t->start};
    s->step = t->step;
    if (!all && (!ends || !int_add(extent->n, t->stop, &extent->n) ||
                 !int_add(extent->n, -t->start, &extent->n)))
        *extent = (Size){OPEN, 0};
}

static void
add_dim(Walk *w, int source, Size extent, bool one, const IndexItem *t)
{
    if (w->rank == MAX_RANK)
        fail(w, t, arena_printf(w->arena, "the view has more than %d dims", MAX_RANK));
    w->source[w->rank] = source;
    w->one[w->rank] = one;
    w->extent[w->rank++] = extent;
}

static void
add_slice(Walk *w, int d, const IndexItem *t)
{
    Size extent;
    Source *s = &w->from[d];
    *s = (Source){.dim = w->rank, .item = t};
    if (w->of[d].of < 0)
        slice_known(w, t, d, w->of[d].n, s, &extent);
    else
        slice_unknown(w, t, d, s, &extent);
    add_dim(w, d, extent, extent.of == NUMBER && extent.n == 1, t);
}

static void
add_at(Walk *w, int d, const IndexItem *t)
{
    i64 n = w->of[d].n, at = t->start;
    bool known = w->of[d].of < 0;
    if (known && (at >= n || at < -n))
        fail(w, t, arena_printf(w->arena, "%lld is outside %s, whose extent is %lld",
                                (long long)at, dim_text(w, d), (long long)n));
    w->from[d] = (Source){-1, {NUMBER, at < 0 ? at + n : at}, 0, NULL, t};
}

/* The numbers of a list, from 0 on. */
static const i64 *
numbers_of(const Walk *w, int d, const IndexItem *t)
{
    i64 n = w->of[d].n, *list = arena_copy(w->arena, t->list, (size_t)t->n * sizeof *list);
    if (t->mask && t->mask != n)
        fail(w, t, arena_printf(w->arena, "a mask of %d for %s, whose extent is %lld",
                                t->mask, dim_text(w, d), (long long)n));
    for (int i = 0; i < t->n; i++) {
        if (list[i] >= n || list[i] < -n)
            fail(w, t, arena_printf(w->arena, "%lld is outside %s, whose extent is %lld",
                                    (long long)list[i], dim_text(w, d), (long long)n));
        list[i] += list[i] < 0 ? n : 0;
    }
    return list;
}

static void
add_list(Walk *w, int d, const IndexItem *t)
{
    w->from[d] = (Source){.dim = w->rank, .item = t};
    add_dim(w, d, (Size){NUMBER, t->n}, t->n == 1, t);
    if (w->of[d].of != NUMBER)
        return;
    const i64 *list = numbers_of(w, d, t);
    i64 step = t->n > 1 ? list[1] - list[0] : 1;
    bool even = step != 0;
    for (int i = 1; i < t->n; i++)
        even &= list[i] - list[i - 1] == step;
    w->from[d].start = (Size){NUMBER, list[0]};
    w->from[d].step = step;
    w->from[d].list = even ? NULL : list;
}

static bool
takes_dim(const IndexItem *t)
{
    return t->kind == ITEM_SLICE || t->kind == ITEM_AT || t->kind == ITEM_LIST;
}

static void
too_many(const Walk *w, const IndexItem *t)
{
    int n = 0;
    for (int i = 0; i < w->x->nitems; i++)
        n += takes_dim(&w->x->item[i]);
    fail(w, t, arena_printf(w->arena, "too many indices: the tensor has %d dims, and %d are "
                            "indexed", w->rank_of, n));
}

/* How many dims of the tensor "..." stands for. */
static int
rest_of(const Walk *w)
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

static void
walk(Walk *w)
{
    static const IndexItem all = {.kind = ITEM_SLICE, .step = 1};
    int d = 0, rest = rest_of(w);
    w->rank = 0;
    for (int i = 0; i < w->x->nitems; i++) {
        const IndexItem *t = &w->x->item[i];
        if (t->kind == ITEM_SLICE)
            add_slice(w, d++, t);
        else if (t->kind == ITEM_AT)
            add_at(w, d++, t);
        else if (t->kind == ITEM_LIST)
            add_list(w, d++, t);
        else if (t->kind == ITEM_NEW)
            add_dim(w, -1, (Size){NUMBER, 1}, true, t);
        for (; t->kind == ITEM_REST && rest; rest--)
            add_slice(w, d++, &all);
    }
    while (d < w->rank_of)
        add_slice(w, d++, &all);
}

static int
added_dims(const Index *x)
{
    int n = 0;
    for (int i = 0; i < x->nitems; i++)
        n += (x->item[i].kind == ITEM_NEW) - (x->item[i].kind == ITEM_AT);
    return n;
}

/* The rank of the tensor; -1 if only that of the view decides it. */
static int
rank_of(const Index *x)
{
    return x->nextents >= 0 ? x->nextents : x->of->def->batch ? -1 : x->of->def->ndims;
}

/* A walk over the items, with the extents that are known. */
static Walk
first_walk(Arena *a, const Index *x, int rank_view)
{
    Walk w = {.arena = a, .x = x, .rank_of = rank_of(x)};
    i64 known[MAX_RANK] = {0};
    if (w.rank_of < 0)
        w.rank_of = rank_view - added_dims(x);
    if (w.rank_of < 0 || w.rank_of > MAX_RANK)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has too many indices for a "
                   "view with %d dims", x->whole, rank_view);
    if (x->of->def->index)
        layout_view_shape(a, x->of, known, w.name);
    for (int d = 0; d < w.rank_of; d++) {
        i64 n = x->nextents >= 0 ? x->extent[d] : known[d];
        w.of[d] = n ? (Size){NUMBER, n} : (Size){d, 0};
    }
    walk(&w);
    return w;
}

int
layout_view_shape(Arena *a, const LayoutRef *ref, i64 *shape, const char **name)
{
    const Index *x = ref->def->index;
    if (x && x->nstrides >= 0)
        return layout_view_shape(a, x->of, shape, name);
    if (!x || ref->def->batch)
        return -1;
    const Walk w = first_walk(a, x, ref->def->ndims);
    for (int d = 0; d < w.rank; d++) {
        Size n = w.extent[d];
        bool same = n.of >= 0 && n.n == 0;
        shape[d] = n.of < 0 ? n.n : 0;
        name[d] = !same ? NULL : x->nextents < 0 ? w.name[n.of] : x->name[n.of];
    }
    return w.rank;
}

/* The name of dim d of the view. */
static const char *
view_name(const Walk *w, int d)
{
    int from = w->source[d];
    const LayoutDef *of = w->x->of->def;
    const char *name = from < 0 ? "" : name_of(w, from);
    if (*name)
        return name;
    name = arena_printf(w->arena, from < 0 ? "new%d" : "b%d", d);
    for (int i = 0; i < of->ndims; i++)
        if (!strcmp(of->dims[i], name)) {
            name = arena_printf(w->arena, "%s_", name);
            i = -1;
        }
    return name;
}

void
layout_view_dims(Arena *a, LayoutDef *d)
{
    int rank = rank_of(d->index);
    if (d->index->nstrides >= 0)
        return;
    d->batch = rank < 0;
    d->ndims = 0;
    if (d->batch)
        return;
    const Walk w = first_walk(a, d->index, rank + added_dims(d->index));
    d->dims = arena_array(a, const char *, w.rank);
    for (int i = 0; i < w.rank; i++)
        d->dims[d->ndims++] = view_name(&w, i);
}

/* The extents of the tensor, from those of the view. */
static void
solve(Walk *w, const i64 *shape, View *v, i64 *of)
{
    for (int d = 0; d < w->rank_of; d++) {
        of[d] = w->of[d].of < 0 ? w->of[d].n : 0;
        v->at[d].like = -1;
        v->at[d].from_end = w->from[d].start.of >= 0;
    }
    for (int d = 0; d < w->rank; d++) {
        Size n = w->extent[d];
        if (n.of < 0)
            continue;
        v->at[n.of].like = d;
        v->at[n.of].more = -n.n;
        if (!int_add(shape[d], -n.n, &of[n.of]))
            diag_fatal(w->arena->diag, DIAG_LAYOUT, (Loc){0}, "the extents of '%.200s' do "
                       "not fit 64 bits", w->x->whole);
    }
    for (int d = 0; d < w->rank_of; d++)
        if (!of[d])
            unknown(w, w->from[d].item, d);
}

/* Compare the extents of the view with the shape.  An extent of 1 can be any: then the
 * elements along it share addresses. */
static void
check_shape(Walk *w, const i64 *shape, View *v)
{
    for (int d = 0; d < w->rank; d++) {
        i64 n = w->extent[d].n;
        if (n == shape[d])
            continue;
        if (!w->one[d])
            diag_fatal(w->arena->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has extent %lld at "
                       "dim %d (%s), and the shape %lld", w->x->whole, (long long)n, d,
                       view_name(w, d), (long long)shape[d]);
        v->shares = true;
        if (w->source[d] >= 0)
            w->from[w->source[d]].dim = -1;
    }
}

/* The coordinates of the tensor from those of the view. */
static View *
view_of(Walk *w, const i64 *shape, i64 *of)
{
    View *v = arena_new(w->arena, View);
    solve(w, shape, v, of);
    for (int d = 0; d < w->rank_of; d++)
        w->of[d] = (Size){NUMBER, of[d]};
    walk(w);
    check_shape(w, shape, v);
    for (int d = 0; d < w->rank_of; d++) {
        v->at[d].dim = w->from[d].dim;
        v->at[d].start = w->from[d].start.n;
        v->at[d].step = w->from[d].step;
        v->at[d].list = w->from[d].list;
        v->at[d].n = w->from[d].item->n;
    }
    return v;
}

ResolvedIndex
index_resolve(Arena *a, const Index *x, int rank, const i64 *shape)
{
    ResolvedIndex r = {.index = x};
    Walk w = first_walk(a, x, rank);
    for (int d = 0; d < rank; d++)
        if (shape[d] < 1)
            diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "extent of %s is %lld: extents are 1 "
                       "or more", view_name(&w, d), (long long)shape[d]);
    r.view = view_of(&w, shape, r.of);
    r.rank_of = w.rank_of;
    for (int d = 0; d < w.rank; d++)
        r.name[d] = view_name(&w, d);
    for (int d = 0; d < w.rank_of; d++)
        r.item[d] = w.from[d].item;
    return r;
}
