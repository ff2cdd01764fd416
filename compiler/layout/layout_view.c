/* The layout of part of a tensor: the coordinates of the view replace the dims in the
 * expressions of the tensor's layout; its slots and strides stay. */
#include <string.h>

#include "layout_parts.h"

static void
set_dims(Exprs *e, const ResolvedIndex *r, int rank, const i64 *shape, Layout *l)
{
    l->rank = rank;
    memset(l->dim, 0, sizeof l->dim);
    for (int d = 0; d < rank; d++)
        l->dim[d] = (Dim){.name = r->name[d], .n = shape[d], .padded = shape[d], .pad = 1,
                          .var = ex_var(e, r->name[d], 0, shape[d] - 1),
                          .free = ex_var(e, r->name[d], 0, INF)};
}

/* The coordinate of dim d of the tensor, as written. */
static const Ast *
coordinate(Arena *a, const Layout *l, int d, Loc loc)
{
    const View *v = l->view;
    i64 start = v->at[d].start, step = v->at[d].step;
    if (v->at[d].dim < 0)
        return ast_num(a, start, loc);
    if (v->at[d].lookup >= 0)
        return ast_sym(a, l->lookup[v->at[d].lookup].symbol, loc);
    const Ast *x = ast_sym(a, l->dim[v->at[d].dim].name, loc);
    if (v->at[d].list)
        return list_at(a, v, d, x);
    if (int_abs(step) != 1)
        x = ast_op(a, OP_MUL, ast_num(a, int_abs(step), loc), x, loc);
    if (step < 0)
        return ast_op(a, OP_SUB, ast_num(a, start, loc), x, loc);
    return start ? ast_op(a, OP_ADD, x, ast_num(a, start, loc), loc) : x;
}

typedef struct {
    const Layout *l;
    const Ex *const *x;
} Names;

static const Ex *
find_dim(void *env, const Ast *sym)
{
    const Names *n = env;
    const Lookup *u = layout_lookup(n->l, sym->name);
    return u ? ex_of_var(n->l->e, u->var) : n->x[layout_find_dim(n->l, sym->name)];
}

/* The coordinate of dim d of the tensor of a view, over x[] for the dims of the view. */
static const Ex *
layout_coordinate(Exprs *e, const Layout *l, int d, const Ex *const *x)
{
    Names n = {l, x};
    return ast_lower(e, coordinate(ex_arena(e), l, d, (Loc){0}), find_dim, &n);
}

void
view_coordinates(const Layout *l, const int *from, const Ex *const *x,
                 const Ex *const *more, const Ex **to)
{
    for (int d = 0; d < l->view->of->rank; d++) {
        const Ex *at = layout_coordinate(l->e, l, d, x);
        to[from[d]] = more ? ex_add(l->e, at, more[d]) : at;
    }
}

/* The cuts of the dims of a view: of its lists, and of those of the tensor. */
static void
set_cuts(Arena *a, Layout *l, const ResolvedIndex *r)
{
    const View *v = l->view;
    for (int d = 0; d < v->of->rank; d++) {
        const Dim *of = &v->of->dim[d];
        Dim *dim = &l->dim[v->at[d].dim < 0 ? 0 : v->at[d].dim];
        i64 start = v->at[d].start, step = v->at[d].step;
        i64 *cut = arena_array(a, i64, of->ncuts);
        if (v->at[d].list)
            list_cuts(a, r, d, dim);
        if (v->at[d].list || v->at[d].dim < 0 || v->at[d].lookup >= 0)
            continue;
        dim->cut = cut;
        dim->ncuts = of->ncuts;
        for (int i = 0; i < of->ncuts; i++)
            cut[i] = step > 0 ? -int_div(start - of->cut[i], step)
                              : int_div(start - of->cut[i], -step) + 1;
    }
}

/* The lookups that l has of its tensor. */
static Lookup *
theirs(const Layout *l)
{
    return l->lookup + (l->nlookups - l->view->of->nlookups);
}

/* The dim of the tensor that x is, if that has a list; else -1. */
static int
listed_dim(const Layout *l, const Ast *x)
{
    int d = x->op == OP_SYM ? layout_find_dim(l->view->of, x->name) : -1;
    return d >= 0 && l->view->at[d].list ? d : -1;
}

/* x with the dims and the lookups of the tensor replaced. */
static const Ast *
over_view(Arena *a, const Layout *l, const Ast *x)
{
    const Layout *of = l->view->of;
    int d = x->op == OP_SYM ? layout_find_dim(of, x->name) : -1;
    const Lookup *u = x->op == OP_SYM ? layout_lookup(of, x->name) : NULL;
    int listed = x->list ? listed_dim(l, x->list->at) : -1;
    if (d >= 0)
        return coordinate(a, l, d, x->loc);
    if (listed >= 0)
        return list_of_list(a, l->view, listed, x->list,
                            ast_sym(a, l->dim[l->view->at[listed].dim].name, x->loc));
    if (u)
        return ast_sym(a, theirs(l)[u - of->lookup].symbol, x->loc);
    if (x->op == OP_NUM || x->op == OP_SYM)
        return x;
    const Ast *y = over_view(a, l, x->x[0]);
    return ast_op(a, x->op, y, x->x[1] ? over_view(a, l, x->x[1]) : NULL, x->loc);
}

static void
name_lookup(Arena *a, Lookup *u)
{
    u->symbol = arena_printf(a, "%s[%s]", u->array, ast_text(a, u->place));
}

/* a * n + x */
static const Ast *
row_major(Arena *a, const Ast *at, i64 n, const Ast *x)
{
    const Loc none = {0};
    return ast_op(a, OP_ADD, ast_op(a, OP_MUL, ast_num(a, n, none), at, none), x, none);
}

/* The shape of the array of dim d of the tensor, and which of its numbers each element has. */
static void
set_place(const Layout *l, int d, Lookup *u, bool along)
{
    Arena *a = ex_arena(l->e);
    const int own = l->view->at[d].dim, first = along ? 0 : own;
    int var[MAX_RANK];
    const Ex *n[MAX_RANK];
    u->rank = along ? l->rank : 1;
    u->own = own - first;
    for (int i = 0; i < u->rank; i++) {
        const Dim *dim = &l->dim[first + i];
        const Ast *x = ast_sym(a, dim->name, (Loc){0});
        u->extent[i] = dim->n;
        var[i] = dim->var;
        n[i] = ex_const(l->e, dim->n);
        u->place = i ? row_major(a, u->place, dim->n, x) : x;
    }
    const LookupSizes z = lookup_sizes(NULL, l, u, var, n);
    u->n = z.n->base;
    u->at = z.at;
}

/* The lookup of dim d of the tensor. */
static Lookup
own_lookup(const Layout *l, const ResolvedIndex *r, int d)
{
    Lookup u = {.array = r->item[d]->array, .bits = r->item[d]->bits,
                .skip = r->item[d]->skip, .bound = r->view->at[d].given ? INF : r->of[d],
                .before = 1};
    set_place(l, d, &u, r->item[d]->along);
    for (int i = 0; i < l->nlookups; i++) {
        if (r->item[d]->along)
            u.others |= 1u << l->lookup[i].own;
        else if (!int_mul(u.before, l->lookup[i].bound, &u.before))
            u.before = INF;
    }
    return u;
}

/* Adds the lookup of dim d, unless one that is there reads the same number: then it is valid
 * for both. */
static void
add_lookup(const ResolvedIndex *r, Layout *l, int d)
{
    Lookup u = own_lookup(l, r, d);
    int i = 0;
    name_lookup(ex_arena(l->e), &u);
    while (i < l->nlookups && (strcmp(l->lookup[i].symbol, u.symbol) ||
                               l->lookup[i].bits != u.bits))
        i++;
    r->view->at[d].lookup = i;
    if (i == l->nlookups) {
        l->lookup[l->nlookups++] = u;
        return;
    }
    Lookup *same = &l->lookup[i];
    same->bound = u.bound < same->bound ? u.bound : same->bound;
    same->skip &= u.skip;
}

/* The lookups of the index, then those of the tensor, whose places are coordinates of the
 * view. */
static void
set_lookups(Exprs *e, const ResolvedIndex *r, Layout *l)
{
    const Layout *of = r->view->of;
    l->lookup = arena_array(ex_arena(e), Lookup, MAX_LOOKUPS + MAX_RANK);
    l->nlookups = 0;
    for (int d = 0; d < of->rank; d++)
        if (r->item[d] && r->item[d]->kind == ITEM_ARRAY)
            add_lookup(r, l, d);
    for (int i = 0; i < l->nlookups; i++)
        l->lookup[i].var = lookup_var(e, &l->lookup[i], l->lookup[i].symbol);
    if (l->nlookups + of->nlookups > MAX_LOOKUPS)
        diag_fatal(ex_arena(e)->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has more than %d index "
                   "arrays", r->index->whole, MAX_LOOKUPS);
    l->nlookups += of->nlookups;
    for (int i = 0; i < of->nlookups; i++) {
        theirs(l)[i] = of->lookup[i];
        theirs(l)[i].place = over_view(ex_arena(e), l, of->lookup[i].place);
        name_lookup(ex_arena(e), &theirs(l)[i]);
    }
}

static void
set_entries(Exprs *e, Layout *l)
{
    const View *v = l->view;
    const Ex *var[MAX_RANK], *free[MAX_RANK];
    int of_var[MAX_RANK], of_free[MAX_RANK];
    const Ex **to = arena_array(ex_arena(e), const Ex *, ex_nvars(e));
    for (int d = 0; d < l->rank; d++) {
        var[d] = ex_of_var(e, l->dim[d].var);
        free[d] = ex_of_var(e, l->dim[d].free);
    }
    for (int d = 0; d < v->of->rank; d++) {
        of_var[d] = v->of->dim[d].var;
        of_free[d] = v->of->dim[d].free;
    }
    view_coordinates(l, of_var, var, NULL, to);
    view_coordinates(l, of_free, free, NULL, to);
    for (int i = 0; i < v->of->nlookups; i++)
        theirs(l)[i].at = ex_subst(e, theirs(l)[i].at, to);
    for (int i = 0; i < l->nentry; i++) {
        Entry *t = &l->entry[i];
        t->x = over_view(ex_arena(e), l, t->x);
        t->ex = ex_subst(e, t->ex, to);
        t->written = ex_subst(e, t->written, to);
    }
    l->linear = ex_subst(e, l->linear, to);
    l->addr = ex_subst(e, l->addr, to);
}

Layout *
layout_of_view(Exprs *e, const LayoutRef *ref, const ResolvedIndex *r, int rank, const i64 *shape)
{
    Arena *a = ex_arena(e);
    Layout *l = arena_copy(a, r->view->of, sizeof *l);
    l->ref = ref;
    l->view = r->view;
    set_dims(e, r, rank, shape, l);
    set_lookups(e, r, l);
    set_cuts(a, l, r);
    memset(l->fill, 0, sizeof l->fill);
    set_entries(e, l);
    return l;
}
