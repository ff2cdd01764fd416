/* The layout of part of a tensor, given by an index in NumPy's notation.
 *
 * An index maps each coordinate of the tensor to start + step * a coordinate of the view,
 * or to a constant.  These replace the dims in the expressions of the tensor's layout;
 * its slots and strides stay.  Extents of the tensor that the text leaves out follow from
 * those of the view: in a first pass they are unknown, and sizes are counted from them. */
#include <string.h>

#include "layout.h"

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
    bool known = w->of[d].of == NUMBER;
    const i64 *list = known ? numbers_of(w, d, t) : t->list;
    i64 step = t->n > 1 ? list[1] - list[0] : 1;
    bool even = step != 0;
    for (int i = 1; i < t->n; i++)
        even &= list[i] - list[i - 1] == step;
    w->from[d] = (Source){w->rank, {NUMBER, list[0]}, step, even ? NULL : list, t};
    add_dim(w, d, (Size){NUMBER, t->n}, t->n == 1, t);
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
    const char *name[MAX_RANK] = {NULL};
    if (w.rank_of < 0)
        w.rank_of = rank_view - added_dims(x);
    if (w.rank_of < 0 || w.rank_of > MAX_RANK)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has too many indices for a "
                   "view with %d dims", x->whole, rank_view);
    if (x->of->def->index)
        layout_view_shape(a, x->of, known, name);
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
    i64 known[MAX_RANK];
    const char *inner[MAX_RANK] = {NULL};
    const Walk w = first_walk(a, x, ref->def->ndims);
    layout_view_shape(a, x->of, known, inner);
    for (int d = 0; d < w.rank; d++) {
        Size n = w.extent[d];
        bool same = n.of >= 0 && n.n == 0;
        shape[d] = n.of < 0 ? n.n : 0;
        name[d] = !same ? NULL : x->nextents < 0 ? inner[n.of] : x->name[n.of];
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

static void
set_dims(Exprs *e, const Walk *w, const i64 *shape, Layout *l)
{
    l->rank = w->rank;
    memset(l->dim, 0, sizeof l->dim);
    for (int d = 0; d < w->rank; d++) {
        const char *name = view_name(w, d);
        l->dim[d] = (Dim){.name = name, .n = shape[d], .padded = shape[d], .pad = 1,
                          .var = ex_var(e, name, 0, shape[d] - 1),
                          .free = ex_var(e, name, 0, INF)};
    }
}

static const Ast *
sum(Arena *a, const Ast *x, i64 k, Loc loc)
{
    return k ? ast_op(a, OP_ADD, x, ast_num(a, k, loc), loc) : x;
}

/* k * x, but at least 0 and at most `most` steps: k * min(max(x - from, 0), most) */
static const Ast *
ramp(Arena *a, const Ast *x, i64 k, i64 from, i64 most, Loc loc)
{
    x = ast_op(a, OP_MAX, sum(a, x, -from, loc), ast_num(a, 0, loc), loc);
    x = ast_op(a, OP_MIN, x, ast_num(a, most, loc), loc);
    return ast_op(a, OP_MUL, ast_num(a, k, loc), x, loc);
}

/* The last place of the run of evenly spaced numbers that begins at `from`. */
static int
run_end(const i64 *list, int n, int from)
{
    int end = from + 1 < n ? from + 1 : from;
    while (end + 1 < n && list[end + 1] - list[end] == list[from + 1] - list[from])
        end++;
    return end;
}

/* The numbers of places from..to of a list of runs, less the number at `from`: half of the
 * runs and the other half, so that the tree is not deep.  Each run is a ramp, and so is the
 * step to the next one. */
static const Ast *
ramps(Arena *a, const i64 *list, const i64 *run, int from, int to, const Ast *x)
{
    if (to - from > 1) {
        int half = (from + to) / 2;
        return ast_op(a, OP_ADD, ramps(a, list, run, from, half, x),
                      ramps(a, list, run, half, to, x), x->loc);
    }
    i64 s = run[from], e = run[from + 1] - 1;
    const Ast *y = ast_num(a, 0, x->loc);
    if (e > s)
        y = ramp(a, x, list[s + 1] - list[s], s, e - s, x->loc);
    if (s == 0)
        return y;
    const Ast *step = ramp(a, x, list[s] - list[s - 1], s - 1, 1, x->loc);
    return e > s ? ast_op(a, OP_ADD, y, step, x->loc) : step;
}

/* The places at which runs begin, and n. */
static i64 *
runs_of(Arena *a, const i64 *list, int n, int *nruns)
{
    i64 *run = arena_array(a, i64, n + 1);
    *nruns = 0;
    for (int i = 0; i < n; i = run_end(list, n, i) + 1)
        run[(*nruns)++] = i;
    run[*nruns] = n;
    return run;
}

/* list[x] as an expression. */
static const Ast *
list_at(Arena *a, const View *v, int d, const Ast *x)
{
    int n;
    const i64 *list = v->at[d].list, *run = runs_of(a, list, v->at[d].n, &n);
    return sum(a, ramps(a, list, run, 0, n, x), list[0], x->loc);
}

/* The coordinate of dim d of the tensor, as written. */
static const Ast *
coordinate(Arena *a, const Layout *l, int d, Loc loc)
{
    const View *v = l->view;
    i64 start = v->at[d].start, step = v->at[d].step;
    if (v->at[d].dim < 0)
        return ast_num(a, start, loc);
    const Ast *x = ast_sym(a, l->dim[v->at[d].dim].name, loc);
    if (v->at[d].list)
        return list_at(a, v, d, x);
    if (int_abs(step) != 1)
        x = ast_op(a, OP_MUL, ast_num(a, int_abs(step), loc), x, loc);
    if (step < 0)
        return ast_op(a, OP_SUB, ast_num(a, start, loc), x, loc);
    return sum(a, x, start, loc);
}

typedef struct {
    const Layout *l;
    const Ex *const *x;
} Names;

static const Ex *
find_dim(void *env, const Ast *sym)
{
    const Names *n = env;
    return n->x[layout_find_dim(n->l, sym->name)];
}

const Ex *
layout_coordinate(Exprs *e, const Layout *l, int d, const Ex *const *x)
{
    Names n = {l, x};
    return ast_lower(e, coordinate(ex_arena(e), l, d, (Loc){0}), find_dim, &n);
}

bool
layout_view_repeats(Arena *a, const View *v, int d, i64 *i, i64 *j)
{
    const i64 *list = v->at[d].list;
    work_spend(a, list ? (i64)v->at[d].n * v->at[d].n / 8 : 0);
    for (*i = 0; list && *i < v->at[d].n; ++*i)
        for (*j = *i + 1; *j < v->at[d].n; ++*j)
            if (list[*i] == list[*j])
                return true;
    return false;
}

/* How many cuts of a dim are at x or before. */
static int
cuts_before(const Dim *d, i64 x)
{
    int n = 0;
    for (int i = 0; i < d->ncuts; i++)
        n += d->cut[i] <= x;
    return n;
}

/* The cuts of a list: where its runs begin, and where the numbers pass a cut of the tensor. */
static void
cut_list(const Walk *w, const View *v, int d, Dim *dim)
{
    enum { RUNS_MAX = 100 };
    int n, run = 0;
    const Dim *of = &v->of->dim[d];
    const i64 *list = v->at[d].list, *runs = runs_of(w->arena, list, v->at[d].n, &n);
    i64 *cut = arena_array(w->arena, i64, v->at[d].n);
    dim->cut = cut;
    for (int i = 0; i < v->at[d].n; i++) {
        bool begins = i == runs[run];
        run += begins;
        if (begins || cuts_before(of, list[i]) != cuts_before(of, list[i - 1]))
            cut[dim->ncuts++] = i;
    }
    if (n > RUNS_MAX)
        fail(w, w->from[d].item, arena_printf(w->arena, "a list of %d runs of evenly spaced "
                                              "numbers: at most %d", n, RUNS_MAX));
}

/* The cuts of the dims of a view: of its lists, and of those of the tensor. */
static void
set_cuts(Layout *l, const Walk *w)
{
    const View *v = l->view;
    for (int d = 0; d < v->of->rank; d++) {
        const Dim *of = &v->of->dim[d];
        Dim *dim = &l->dim[v->at[d].dim < 0 ? 0 : v->at[d].dim];
        i64 start = v->at[d].start, step = v->at[d].step;
        i64 *cut = arena_array(w->arena, i64, of->ncuts);
        if (v->at[d].list)
            cut_list(w, v, d, dim);
        if (v->at[d].list || v->at[d].dim < 0)
            continue;
        dim->cut = cut;
        dim->ncuts = of->ncuts;
        for (int i = 0; i < of->ncuts; i++)
            cut[i] = step > 0 ? -int_div(start - of->cut[i], step)
                              : int_div(start - of->cut[i], -step) + 1;
    }
}

/* x with the dims of the tensor replaced. */
static const Ast *
over_view(Arena *a, const Layout *l, const Ast *x)
{
    int d = x->op == OP_SYM ? layout_find_dim(l->view->of, x->name) : -1;
    if (d >= 0)
        return coordinate(a, l, d, x->loc);
    if (x->op == OP_NUM || x->op == OP_SYM)
        return x;
    const Ast *y = over_view(a, l, x->x[0]);
    return ast_op(a, x->op, y, x->x[1] ? over_view(a, l, x->x[1]) : NULL, x->loc);
}

static void
set_entries(Exprs *e, Layout *l)
{
    const View *v = l->view;
    const Ex *var[MAX_RANK], *free[MAX_RANK];
    const Ex **to = arena_array(ex_arena(e), const Ex *, ex_nvars(e));
    for (int d = 0; d < l->rank; d++) {
        var[d] = ex_of_var(e, l->dim[d].var);
        free[d] = ex_of_var(e, l->dim[d].free);
    }
    for (int d = 0; d < v->of->rank; d++) {
        to[v->of->dim[d].var] = layout_coordinate(e, l, d, var);
        to[v->of->dim[d].free] = layout_coordinate(e, l, d, free);
    }
    for (int i = 0; i < l->nentry; i++) {
        Entry *t = &l->entry[i];
        t->x = over_view(ex_arena(e), l, t->x);
        t->ex = ex_subst(e, t->ex, to);
        t->written = ex_subst(e, t->written, to);
    }
    l->linear = ex_subst(e, l->linear, to);
    l->addr = ex_subst(e, l->addr, to);
}

static void
check_strides(Arena *a, const Layout *l, const Index *x)
{
    if (l->sigma)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s': strides for a layout with a "
                   "swizzle, which permutes the addresses of storage that is contiguous",
                   x->whole);
    if (l->dtype->bits < 8)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s': strides for elements smaller "
                   "than a byte", x->whole);
    if (l->nentry != x->nstrides)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has %d strides, and the "
                   "storage has %d axes: its order has as many entries", x->whole,
                   x->nstrides, l->nentry);
}

/* The size of the storage; fails if an address does not fit. */
static i64
reach(Arena *a, const Layout *of, const Index *x)
{
    i64 low = x->origin, high = x->origin, size = 0, span, bits;
    bool fits = true;
    check_strides(a, of, x);
    for (int i = 0; i < of->nentry && fits; i++)
        fits = int_mul(of->entry[i].extent - 1, x->stride[i], &span) &&
               (span < 0 ? int_add(low, span, &low) : int_add(high, span, &high));
    if (!fits || !int_add(high, 1, &size) || !int_mul(size, of->dtype->bits, &bits))
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "the addresses of '%.200s' do not fit 64 "
                   "bits", x->whole);
    if (low < 0)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' reaches %lld elements before "
                   "its storage: the origin is the address of the first slot, at least "
                   "%lld", x->whole, (long long)-low, (long long)(x->origin - low));
    return size;
}

Layout *
layout_with_strides(Exprs *e, Layout *of, const LayoutRef *ref, const i64 *stride, i64 origin)
{
    View *v = arena_new(ex_arena(e), View);
    Layout *l = arena_new(ex_arena(e), Layout);
    *v = (View){.of = of, .strided = true};
    for (int d = 0; d < of->rank; d++) {
        v->at[d].dim = v->at[d].like = d;
        v->at[d].step = 1;
    }
    *l = *of;
    l->ref = ref;
    l->view = v;
    l->origin = origin;
    l->linear = ex_const(e, origin);
    for (int i = 0; i < l->nentry; i++) {
        l->entry[i].stride = stride[i];
        l->entry[i].pitch = 0;
        l->linear = ex_add_scaled(e, l->linear, l->entry[i].ex, stride[i]);
    }
    l->addr = l->linear;
    return l;
}

/* The layout of a tensor in an array with the strides that are written. */
static Layout *
strided(Exprs *e, const LayoutRef *ref, const DType *t, int rank, const i64 *shape)
{
    const Index *x = ref->def->index;
    Layout *of = layout_make(e, x->of, t, rank, shape);
    i64 size = reach(ex_arena(e), of, x);
    Layout *l = layout_with_strides(e, of, ref, x->stride, x->origin);
    l->size = size;
    return l;
}

Layout *
layout_of_view(Exprs *e, const LayoutRef *ref, const DType *t, int rank, const i64 *shape)
{
    i64 of[MAX_RANK];
    Arena *a = ex_arena(e);
    const Index *x = ref->def->index;
    layout_check_rank(a, ref->def, rank);
    if (x->nstrides >= 0)
        return strided(e, ref, t, rank, shape);
    Walk w = first_walk(a, x, rank);
    for (int d = 0; d < rank; d++)
        if (shape[d] < 1)
            diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "extent of %s is %lld: extents are 1 "
                       "or more", view_name(&w, d), (long long)shape[d]);
    View *v = view_of(&w, shape, of);
    v->of = layout_make(e, x->of, t, w.rank_of, of);
    Layout *l = arena_new(a, Layout);
    *l = *v->of;
    l->ref = ref;
    l->view = v;
    set_dims(e, &w, shape, l);
    set_cuts(l, &w);
    memset(l->fill, 0, sizeof l->fill);
    set_entries(e, l);
    return l;
}
