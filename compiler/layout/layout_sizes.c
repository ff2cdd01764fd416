/* Computes the sizes and strides of a layout as expressions.  What depends on no extent
 * left to run time is a number: that of the layout. */
#include <string.h>

#include "layout_parts.h"

typedef struct {
    Scalars *s;
    Exprs *e;
    Sizes *r;
    const Layout *l;
} SizesMaker;

static const Ex *
constant(SizesMaker *m, i64 v)
{
    return ex_const(m->e, v);
}

static void
set_extent(SizesMaker *m, int d, int extent, i64 more)
{
    const Dim *x = &m->l->dim[d];
    bool known = extent < 0;
    m->r->extent[d] = extent;
    m->r->var[d] = known ? x->var : x->free;
    m->r->unit[d] = 1;
    m->r->padded[d] = m->r->n[d] = known ? constant(m, x->n)
        : ex_add(m->e, scalar_ex(m->s, extent), constant(m, more));
}

static void
set_dim(SizesMaker *m, int d, int extent, i64 more)
{
    Sizes *r = m->r;
    const Dim *x = &m->l->dim[d];
    const Ast *swizzle = m->l->ref->def->swizzle;
    bool known = extent < 0;
    if (!known && swizzle)
        layout_refuse_open(m->l, swizzle->loc,
                           "a swizzle of addresses fits whole blocks of storage only",
               "write it as an xor of digits in the order, or give all extents as numbers");
    if (!known && layout_needs_extent(m->l->ref->def, x->name))
        layout_refuse_open(m->l, m->l->ref->def->loc,
                           arena_printf(ex_arena(m->e), "it uses extent(%s)", x->name),
                           "give that extent as a number");
    set_extent(m, d, extent, more);
    const Roll *roll = known ? NULL : layout_roll(m->l->ref->def, x->name);
    if (roll)
        r->padded[d] = layout_set_rolled(m->s, roll, r->n[d], &r->roll[d]);
    else
        r->padded[d] = known ? constant(m, x->padded)
                             : layout_padded(m->s, m->l, d, r->n[d], &r->unit[d]);
}

static const Ex *
slots(SizesMaker *m, const Coordinates *c, const Ast *x)
{
    const Ex *most = layout_most(c, x);
    if (!most)
        layout_refuse_open(m->l, x->loc, arena_printf(ex_arena(m->e), "how many slots '%s' has "
                           "is not known for every shape", ast_text(ex_arena(m->e), x)),
                           "entries are digits as C//16, C%16 and 15 - C%16, sums of these, "
                           "and xors of those whose number of values is fixed");
    return ex_add(m->e, most, constant(m, 1));
}

/* True if x, over Dim.free, has no dim left to run time. */
static bool
is_known(SizesMaker *m, const Ex *x)
{
    bool known = true, *used = arena_array(ex_arena(m->e), bool, ex_nvars(m->e));
    ex_vars(x, used);
    for (int d = 0; d < m->l->rank; d++)
        known &= m->r->extent[d] < 0 || !used[m->l->dim[d].free];
    return known;
}

/* Adds entry i to the address: to the expression of the entries with constant strides, in
 * which digits merge, or to the terms. */
static void
add_entry(SizesMaker *m, int i, bool known, const Ex *const *to)
{
    Sizes *r = m->r;
    const Entry *t = &m->l->entry[i];
    const Ex *x = known ? t->ex : ex_subst(m->e, t->written, to), *by = r->stride[i];
    if (ex_is_const(by)) {
        r->addr = ex_add_scaled(m->e, r->addr, x, by->base);
        return;
    }
    r->term[r->nterms].x = x;
    r->term[r->nterms++].stride = by;
}

/* Takes all from the layout, of which nothing is left to run time: its address may have what no other
 * shapes can, a swizzle of the whole storage or a part of another one. */
static void
take_numbers(SizesMaker *m)
{
    Sizes *r = m->r;
    r->addr = m->l->addr;
    r->size = constant(m, m->l->size);
    for (int i = 0; i < m->l->nentry; i++) {
        r->slots[i] = constant(m, m->l->entry[i].extent);
        r->stride[i] = constant(m, m->l->entry[i].stride);
    }
}

/* A stride or origin that the text of the layout gives, as a number or by a name. */
static const Ex *
given(SizesMaker *m, const char *name, i64 number)
{
    if (!name)
        return constant(m, number);
    int i = scalar_find_stride(m->s, name);
    if (i < 0)
        diag_fatal(ex_arena(m->e)->diag, DIAG_LAYOUT, (Loc){0}, "'%s' has no value", name);
    return scalar_ex(m->s, i);
}

/* 1 if each extent left to run time is above 0, else 0. */
static const Ex *
is_some(SizesMaker *m)
{
    const Ex *one = constant(m, 1), *all = one;
    for (int d = 0; d < m->l->rank; d++)
        if (!ex_is_const(m->r->n[d]))
            all = scalar_times(m->s, all, scalar_of(m->s, ex_max(m->e, ex_min(m->e, m->r->n[d],
                               one), constant(m, 0)), 1));
    return all;
}

/* The strides that are given, of the slots r->slots, and the size: one more than the largest
 * address. */
static void
take_strides(SizesMaker *m)
{
    Sizes *r = m->r;
    const Index *x = m->l->ref->def->index;
    const Ex *some = is_some(m), *one = constant(m, 1), *last;
    i64 span = 1;
    r->strided = true;
    r->origin = given(m, x->origin_name, x->origin);
    last = ex_add(m->e, r->origin, one);
    for (int i = m->l->nentry - 1; i >= 0; i--) {
        i64 slots = scalar_nominal(m->s, r->slots[i]), room;
        r->pitch[i] = 0;
        r->stride[i] = given(m, x->stride_name[i], x->stride[i]);
        if (x->stride_name[i])
            scalar_estimate(m->s, scalar_find_stride(m->s, x->stride_name[i]), span);
        else if (x->stride[i] < 0)
            layout_refuse_open(m->l, (Loc){0}, "a negative stride", "give all extents as numbers");
        if (int_mul(slots, scalar_nominal(m->s, r->stride[i]), &room) && room > span)
            span = room;
        last = ex_add(m->e, last, scalar_times(m->s, r->stride[i],
                                               ex_sub(m->e, r->slots[i], one)));
    }
    last = scalar_times(m->s, last, some);
    r->size = ex_is_const(last) ? last : scalar_named(m->s, last, INF);
}

static void
set_entries(SizesMaker *m)
{
    Sizes *r = m->r;
    const Ex **to = arena_array(ex_arena(m->e), const Ex *, ex_nvars(m->e));
    Coordinates c = {.s = m->s, .l = m->l};
    memcpy(c.padded, r->padded, sizeof c.padded);
    for (int d = 0; d < m->l->rank; d++)
        to[m->l->dim[d].free] = ex_of_var(m->e, r->var[d]);
    for (int i = m->l->nentry - 1; i >= 0; i--) {
        const Entry *t = &m->l->entry[i];
        r->slots[i] = is_known(m, t->written) ? constant(m, t->extent) : slots(m, &c, t->x);
    }
    if (m->l->view)
        take_strides(m);
    else
        r->size = layout_open_strides(m->s, m->l, r);
    r->addr = m->l->view ? r->origin : constant(m, 0);
    for (int i = m->l->nentry - 1; i >= 0; i--)
        add_entry(m, i, is_known(m, m->l->entry[i].written), to);
}

/* Extents that are numbers, or scalars plus numbers. */
typedef struct {
    int scalar[MAX_RANK];          /* -1: the layout has the number */
    i64 more[MAX_RANK];
} Extents;

static bool
all_known(const Layout *l, const Extents *x)
{
    if (layout_has_open_strides(l) || layout_has_given_extents(l))
        return false;
    for (int d = 0; d < l->rank; d++)
        if (x->scalar[d] >= 0)
            return false;
    return true;
}

static const Sizes *
plain_sizes(Scalars *s, const Layout *l, const Extents *x)
{
    Sizes *r = arena_new(ex_arena(s->e), Sizes);
    SizesMaker m = {s, s->e, r, l};
    r->l = l;
    for (int d = 0; d < l->rank; d++)
        set_dim(&m, d, x->scalar[d], x->more[d]);
    if (all_known(l, x))
        take_numbers(&m);
    else
        set_entries(&m);
    for (int i = 0; i < l->nlookups; i++) {
        r->lookup[i].at = l->lookup[i].at;
        r->lookup[i].n = constant(&m, l->lookup[i].n);
        r->lookup[i].bound = constant(&m, l->lookup[i].bound);
        for (int d = 0; d < l->lookup[i].rank; d++)
            r->lookup[i].extent[d] = constant(&m, l->lookup[i].extent[d]);
    }
    return r;
}

/* The extents of the tensor of a view. */
static Extents
extents_of(const Scalars *s, const View *v, const Extents *x)
{
    Extents of = {.more = {0}};
    for (int d = 0; d < v->of->rank; d++) {
        int like = v->at[d].like;
        const char *given = v->at[d].given;
        of.scalar[d] = given ? scalar_find_stride(s, given) : like < 0 ? -1 : x->scalar[like];
        of.more[d] = like < 0 ? 0 : v->at[d].more + x->more[like];
    }
    return of;
}

/* What the start of dim d of the tensor is more than for the extents that l has; an extent
 * left to run time is n. */
static const Ex *
more_of(SizesMaker *m, int d, bool known, const Ex *n)
{
    const View *v = m->l->view;
    bool moves = !known && v->at[d].from_end;
    return moves ? ex_sub(m->e, n, constant(m, v->of->dim[d].n)) : constant(m, 0);
}

/* Whether an atom is a digit of a coordinate that is counted from an end left to run time; one of
 * scalars alone is a number at run time. */
static bool
is_open_digit(SizesMaker *m, const Atom *a)
{
    const int nvars = ex_nvars(m->e);
    bool *used = arena_array(ex_arena(m->e), bool, nvars), scalars = false, others = false;
    for (int k = 0; k < a->n; k++)
        ex_vars(a->x[k], used);
    for (int i = 0; i < m->s->n; i++) {
        scalars |= used[m->s->scalar[i].var];
        used[m->s->scalar[i].var] = false;
    }
    for (int i = 0; i < nvars; i++)
        others |= used[i];
    return scalars && others;
}

static void
check_digits(SizesMaker *m, const Ex *x)
{
    for (int i = 0; i < x->n; i++)
        if (is_open_digit(m, x->t[i].atom))
            layout_refuse_open(m->l, m->l->ref->def->loc,
                               arena_printf(ex_arena(m->e), "a part that is counted from the end, of a dim "
                                            "that is stored in blocks on both sides or beside padding that is "
                                            "written, or by a list or a step of more than %d coordinates",
                                            MOST_FROM_END), "give that extent as a number");
}

/* The lookups of a view's own index, then those of the tensor, whose coordinates to[] are. */
static void
set_lookups(Scalars *s, Sizes *r, const Sizes *of, const Ex *const *to)
{
    Exprs *e = r->l->e;
    int own = r->l->nlookups - of->l->nlookups;
    for (int i = 0; i < own; i++)
        r->lookup[i].bound = NULL;
    for (int d = 0; d < of->l->rank; d++) {
        int i = r->l->view->at[d].lookup;
        if (i < 0)
            continue;
        const Lookup *u = &r->l->lookup[i];
        int first = r->l->view->at[d].dim - u->own;
        const Ex *bound = r->lookup[i].bound;
        r->lookup[i] = lookup_sizes(s, r->l, u, &r->var[first], &r->n[first]);
        r->lookup[i].bound = bound ? ex_min(e, bound, of->n[d]) : of->n[d];
    }
    for (int i = 0; i < of->l->nlookups; i++) {
        r->lookup[own + i] = of->lookup[i];
        r->lookup[own + i].at = ex_subst(e, of->lookup[i].at, to);
    }
}

static const Sizes *sizes_of(Scalars *s, const Layout *l, const Extents *x);

/* The sizes of the tensor, with its coordinates replaced. */
static const Sizes *
view_sizes(Scalars *s, const Layout *l, const Extents *x)
{
    const View *v = l->view;
    const Extents extents = extents_of(s, v, x);
    const Sizes *of = sizes_of(s, v->of, &extents);
    for (int d = 0; d < v->of->rank; d++)
        if (of->roll[d].by)
            layout_refuse_open(l, l->ref->def->loc, "a part of a part that is counted from the end of blocks",
                               "write it as one index, or give that extent as a number");
    Sizes *r = arena_copy(ex_arena(s->e), of, sizeof *r);
    SizesMaker m = {s, s->e, r, l};
    const Ex *var[MAX_RANK], *more[MAX_RANK];
    const Ex **to = arena_array(ex_arena(s->e), const Ex *, ex_nvars(s->e));
    r->l = l;
    for (int d = 0; d < l->rank; d++) {
        set_extent(&m, d, x->scalar[d], x->more[d]);
        var[d] = ex_of_var(s->e, r->var[d]);
    }
    for (int d = 0; d < v->of->rank; d++)
        more[d] = more_of(&m, d, extents.scalar[d] < 0, of->n[d]);
    memset(r->roll, 0, sizeof r->roll);
    view_coordinates(l, of->var, var, more, to);
    for (int d = 0; d < v->of->rank; d++)
        if (extents.scalar[d] >= 0 && layout_from_end(s, r, of, d, more[d]))
            to[of->var[d]] = ex_of_var(s->e, r->var[v->at[d].dim]);
    check_digits(&m, r->addr = ex_subst(s->e, of->addr, to));
    for (int i = 0; i < r->nterms; i++)
        check_digits(&m, r->term[i].x = ex_subst(s->e, of->term[i].x, to));
    set_lookups(s, r, of, to);
    return r;
}

static const Sizes *
sizes_of(Scalars *s, const Layout *l, const Extents *x)
{
    return l->view && !l->view->strided && !all_known(l, x) ? view_sizes(s, l, x)
                                                            : plain_sizes(s, l, x);
}

const Sizes *
layout_sizes(Scalars *s, const Layout *l, const int *extent)
{
    Extents x = {.more = {0}};
    for (int d = 0; d < l->rank; d++)
        x.scalar[d] = extent[d];
    return sizes_of(s, l, &x);
}

bool
sizes_are_known(const Sizes *z)
{
    bool known = ex_is_const(z->size);
    for (int d = 0; d < z->l->rank; d++)
        known &= ex_is_const(z->n[d]);
    return known;
}

const Ex *
sizes_address(const Sizes *z, const Ex *const *to)
{
    Exprs *e = z->l->e;
    const Ex *at = ex_subst(e, z->addr, to);
    for (int i = 0; i < z->nterms; i++)
        at = ex_add(e, at, ex_times(e, ex_subst(e, z->term[i].x, to), z->term[i].stride));
    return at;
}
