/* Reads an index in NumPy's notation: which coordinates of a tensor those of a view are.
 *
 * Each coordinate of the tensor is start + step * a coordinate of the view, a constant, or
 * a number of a list.  Extents of the tensor that the text leaves out follow from those of
 * the view: in a first walk over the items they are unknown, and sizes are counted from
 * them. */
#include <string.h>

#include "layout_parts.h"

const LayoutDef *
layout_declared(const LayoutDef *d)
{
    while (d->index)
        d = d->index->of->def;
    return d;
}

_Noreturn static void
unknown(const LayoutWalk *w, const IndexItem *t, int d)
{
    const char *name = w->x->nextents >= 0 ? w->x->name[d] : NULL;
    const char *what = name ? arena_printf(w->arena, "give a number and not the name '%s' before the "
                                           "index", name)
                            : "write the extents of the tensor before the index, as in "
                              "NCHW(8,64,56,56)[:, 1:3]";
    const bool crosses = t->kind == ITEM_SLICE && t->starts && t->stops && (t->start < 0) != (t->stop < 0);
    if (crosses)
        walk_fail(w, t, arena_printf(w->arena, "this slice of %s begins at one end and stops at the other, so "
                                     "it has fewer elements the larger the extent is: %s",
                                     walk_dim(w, d), what));
    walk_fail(w, t, arena_printf(w->arena, "the extent of %s of the tensor does not follow from the shape "
                                 "of the view: %s", walk_dim(w, d), what));
}

/* How many more dims the view has; arrays beside each other make one. */
static int
added_dims(const Index *x)
{
    int n = 0, beside = 0;
    for (int i = 0; i < x->nitems; i++) {
        n += (x->item[i].kind == ITEM_NEW) - (x->item[i].kind == ITEM_AT);
        beside += x->item[i].kind == ITEM_ARRAY && !x->item[i].along;
    }
    return n - (beside > 1 ? beside - 1 : 0);
}

/* The rank of the tensor; -1 if only that of the view decides it. */
static int
rank_of(const Index *x)
{
    return x->nextents >= 0 ? x->nextents : x->of->def->batch ? -1 : x->of->def->ndims;
}

/* A walk over the items, with the extents that are known. */
static LayoutWalk
first_walk(Arena *a, const Index *x, int rank_view)
{
    LayoutWalk w = {.arena = a, .x = x, .rank_of = rank_of(x)};
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
    walk_items(&w);
    return w;
}

enum { ENDING = 7 };      /* characters of _len and the number of a dim */

/* The extent of dim d of the view, which an index array has. */
static const char *
length_name(Arena *a, const IndexItem *t, int d)
{
    return t->along ? arena_printf(a, "%.*s_len%d", MAX_NAME - ENDING, t->array, d)
                    : arena_printf(a, "%.*s_len", MAX_NAME - ENDING, t->array);
}

int
layout_length_name(const char *name, int *dim)
{
    static const char end[] = "_len";
    const int len = (int)strlen(name), least = (int)strlen(end);
    int digits = len, stem;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    stem = digits - least;
    if (stem <= 0 || len - digits > ENDING - least || strncmp(name + stem, end, strlen(end)))
        return 0;
    *dim = digits < len ? 0 : -1;
    for (const char *s = name + digits; *s; s++)
        *dim = *dim * 10 + (*s - '0');
    return stem;
}

bool
layout_is_length(const char *name, const char *array, bool along, int *dim)
{
    const int n = (int)strnlen(array, MAX_NAME - ENDING);
    if (layout_length_name(name, dim) != n || strncmp(name, array, (size_t)n) || along != (*dim >= 0))
        return false;
    *dim = along ? *dim : 0;
    return true;
}

int
layout_view_shape(Arena *a, const LayoutRef *ref, i64 *shape, const char **name)
{
    const Index *x = ref->def->index;
    if (x && x->nstrides >= 0)
        return layout_view_shape(a, x->of, shape, name);
    if (!x || ref->def->batch)
        return -1;
    const LayoutWalk w = first_walk(a, x, ref->def->ndims);
    for (int d = 0; d < w.rank; d++) {
        Size n = w.extent[d];
        bool same = n.of >= 0 && n.n == 0;
        shape[d] = n.of < 0 ? n.n : 0;
        name[d] = !same ? NULL : x->nextents < 0 ? w.name[n.of] : x->name[n.of];
        const IndexItem *t = w.source[d] < 0 ? NULL : w.from[w.source[d]].item;
        if (t && t->kind == ITEM_ARRAY)
            name[d] = length_name(a, t, d);
    }
    return w.rank;
}

/* The name of dim d of the view. */
static const char *
view_name(const LayoutWalk *w, int d)
{
    int from = w->source[d];
    const LayoutDef *of = w->x->of->def;
    const char *name = from < 0 ? "" : walk_name(w, from);
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

/* Whether a name can stand for the extent of dim d: it does not follow from those of the view. */
static bool
can_be_given(const DimSource *s)
{
    return s->item->kind == ITEM_ARRAY || open_least(&s->need, 1) > 0;
}

/* The names that extents of the tensor have: in the text, or as extents of another tensor of which it
 * is a part. */
static const char **
extent_names(const LayoutWalk *w)
{
    const Index *inner = w->x->of->def->index;
    const char **name = arena_array(w->arena, const char *, MAX_RANK);
    for (int d = 0; d < w->rank_of; d++)
        name[d] = w->x->nextents >= 0 ? w->x->name[d] : inner ? w->name[d] : NULL;
    return name;
}

/* The dims whose extents have names that each run gives a number. */
static unsigned
given_extents(const LayoutWalk *w, const char *const *name)
{
    unsigned given = 0;
    for (int d = 0; d < w->rank_of; d++)
        if (name[d] && w->of[d].of != NUMBER && can_be_given(&w->from[d]))
            given |= 1u << d;
    for (int d = 0; d < w->rank_of; d++)
        for (int i = 0; i < w->rank_of && given >> d & 1; i++)
            if (!(given >> i & 1) && w->of[i].of != NUMBER && name[i] && !strcmp(name[i], name[d]))
                walk_fail(w, w->from[d].item, arena_printf(w->arena, "the name '%s' is that of an extent "
                          "that follows from the shape, too: write another name", name[d]));
    return given;
}

/* Set the dims of a def with an index, and which extents of the tensor a run is given. */
static void
set_dims(Arena *a, LayoutDef *d, Index *x)
{
    int rank = rank_of(d->index);
    if (d->index->nstrides >= 0)
        return;
    d->batch = rank < 0;
    d->ndims = 0;
    if (d->batch)
        return;
    const LayoutWalk w = first_walk(a, d->index, rank + added_dims(d->index));
    x->name = extent_names(&w);
    x->given = given_extents(&w, x->name);
    d->dims = arena_array(a, const char *, w.rank);
    for (int i = 0; i < w.rank; i++)
        d->dims[d->ndims++] = view_name(&w, i);
}

void
layout_set_index(Arena *a, LayoutDef *d, const Index *x)
{
    Index *own = arena_copy(a, x, sizeof *own);
    d->index = own;
    if (x->nstrides < 0) {
        d->fill = FILL_NONE;
        d->fills = false;
    }
    d->view = true;
    d->next = NULL;
    set_dims(a, d, own);
}

/* Dim d of the tensor has an extent that each run is given; returns one that fits the shape. */
static i64
give(const DimSource *s, const char *name, const i64 *shape, View *v, int d)
{
    v->at[d].given = name;
    v->at[d].need = s->need;
    return s->item->kind == ITEM_ARRAY ? 1 : open_least(&s->need, s->dim < 0 ? 1 : shape[s->dim]);
}

/* The list of an item that has numbers from both ends; NULL: it has none such. */
static const i64 *
mixed_list(const DimSource *s)
{
    const IndexItem *t = s->item;
    bool front = false, end = false;
    for (int i = 0; i < t->n && t->kind == ITEM_LIST; i++) {
        front |= t->list[i] >= 0;
        end |= t->list[i] < 0;
    }
    return front && end && s->start.of != NUMBER ? t->list : NULL;
}

/* The extents of the tensor, from those of the view. */
static void
solve(LayoutWalk *w, const i64 *shape, View *v, i64 *of)
{
    for (int d = 0; d < w->rank_of; d++) {
        of[d] = w->of[d].of < 0 ? w->of[d].n : 0;
        v->at[d].like = -1;
        v->at[d].from_end = w->from[d].start.of != NUMBER;
        v->at[d].mixed = mixed_list(&w->from[d]);
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
    for (int d = 0; d < w->rank_of; d++) {
        if (!of[d] && w->x->open && (w->x->given >> d & 1))
            of[d] = give(&w->from[d], w->x->name[d], shape, v, d);
        if (!of[d])
            unknown(w, w->from[d].item, d);
    }
}

/* Compare the extents of the view with the shape.  An extent of 1 can be any: then the
 * elements along it share addresses. */
static void
check_shape(LayoutWalk *w, const i64 *shape, View *v)
{
    for (int d = 0; d < w->rank; d++) {
        i64 n = w->extent[d].n;
        if (n == shape[d] || w->extent[d].of == OPEN)
            continue;
        if (!w->one[d])
            diag_fatal(w->arena->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has extent %lld at "
                       "dim %d (%s), and the shape %lld: write %lld in the shape, or an index that "
                       "selects %lld", w->x->whole, (long long)n, d, view_name(w, d),
                       (long long)shape[d], (long long)n, (long long)shape[d]);
        v->shares = true;
        if (w->source[d] >= 0)
            w->from[w->source[d]].dim = -1;
    }
}

/* The coordinates of the tensor from those of the view. */
static View *
view_of(LayoutWalk *w, const i64 *shape, i64 *of)
{
    View *v = arena_new(w->arena, View);
    solve(w, shape, v, of);
    for (int d = 0; d < w->rank_of; d++)
        w->of[d] = (Size){NUMBER, of[d]};
    walk_items(w);
    check_shape(w, shape, v);
    for (int d = 0; d < w->rank_of; d++) {
        v->at[d].dim = w->from[d].dim;
        v->at[d].start = w->from[d].start.n;
        v->at[d].step = v->at[d].need.by ? w->from[d].item->step : w->from[d].step;
        v->at[d].list = w->from[d].list;
        v->at[d].n = w->from[d].item->n;
        v->at[d].lookup = -1;
    }
    return v;
}

ResolvedIndex
index_resolve(Arena *a, const Index *x, int rank, const i64 *shape)
{
    ResolvedIndex r = {.index = x};
    LayoutWalk w = first_walk(a, x, rank);
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
