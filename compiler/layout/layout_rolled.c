/* Dims that are shifted around their extents, (H + 4) % extent(H), or around these and a border,
 * (H + 1) % (extent(H) + 2), with extents left to run time.
 *
 * The order then has H for all of that, and the planner puts the coordinates that are shifted past
 * the end into boxes of their own: in each box a slot is a coordinate plus a number. */
#include <string.h>

#include "layout_parts.h"

typedef struct {
    Arena *arena;
    const LayoutRef *ref;
    const DType *dtype;
    const i64 *shape;              /* of the dims of the layout */
    i64 param[MAX_ENTRIES];
    const char *dim;               /* the one that is looked for */
    Roll roll;
    bool digits;                   /* slots that are counted from the end may be cut into digits */
    bool found, failed;            /* failed: it occurs in another way */
} Search;

const Roll *
layout_roll(const LayoutDef *d, const char *dim)
{
    for (int i = 0; i < d->nrolls; i++)
        if (!strcmp(d->rolls[i].dim, dim))
            return &d->rolls[i];
    return NULL;
}

/* The numbers that a shift may be made of: parameters, the size of an element, extents that are
 * numbers. */
static bool
find_number(const void *env, const char *name, i64 *v)
{
    const Search *s = env;
    const LayoutDef *d = s->ref->def;
    int p = layout_find_param(d, name);
    for (int i = 0; i < d->ndims; i++)
        if (layout_extent_is(name, d->dims[i]) && s->shape[i] != RUNTIME_EXTENT) {
            *v = s->shape[i];
            return true;
        }
    if (p >= 0)
        *v = s->param[p];
    else if (!strcmp(name, "bits"))
        *v = s->dtype->bits;
    else if (!strcmp(name, "bytes") && s->dtype->bits >= 8)
        *v = s->dtype->bits / 8;
    else
        return false;
    return true;
}

/* A sum: own * H + extents * extent(H) + number + (extent(H) + j)//q, the last if q is not 0. */
typedef struct { i64 own, extents, number, j, q; } Terms;

static bool terms_of(const Search *s, const Ast *x, i64 by, Terms *t);

/* Whether x is (extent(H) + j)//q, a number of slots that is no more than the extent. */
static bool
is_part(const Search *s, const Ast *x, Terms *t)
{
    Terms of = {0};
    if (x->op != OP_DIV || x->table || t->q || !ast_eval(x->x[1], find_number, s, &t->q) ||
        t->q < 2 || !terms_of(s, x->x[0], 1, &of))
        return false;
    t->j = of.number;
    return !of.own && !of.q && of.extents == 1 && of.number >= 0 && of.number < t->q;
}

/* Adds by * x to *t; false: x is no such sum. */
static bool
terms_of(const Search *s, const Ast *x, i64 by, Terms *t)
{
    i64 v;
    if (x->table)
        return false;
    if (ast_eval(x, find_number, s, &v))
        return int_mul(by, v, &v) && int_add(t->number, v, &t->number);
    if (layout_is_sym(x, s->dim))
        return int_add(t->own, by, &t->own);
    if (x->op == OP_SYM && layout_extent_is(x->name, s->dim))
        return int_add(t->extents, by, &t->extents);
    const OpMeaning *is = op_info[x->op].is;
    if (op_info[x->op].nargs == 2 && (is->sum[0] || is->sum[1]))
        return terms_of(s, x->x[0], by * is->sum[0], t) && terms_of(s, x->x[1], by * is->sum[1], t);
    return by == 1 && is_part(s, x, t);
}

/* Whether x shifts the dim around; a shift by extent(H) is one by -more. */
static bool
is_roll(const Search *s, const Ast *x, Roll *out)
{
    enum { FAR = 1 << 20 };        /* the longest shift: its remainder is found bit by bit */
    Terms t = {0}, by = {0};
    i64 back;
    *out = (Roll){.dim = s->dim};
    if (layout_is_flip(x, s->dim)) {
        out->flip = true;
        return true;
    }
    if (x->op != OP_MOD || x->table || !terms_of(s, x->x[1], 1, &by) || !terms_of(s, x->x[0], 1, &t) ||
        by.own || by.extents != 1 || by.q || by.number < 0 || by.number > FAR ||
        (t.own != 1 && t.own != -1) || !int_mul(t.extents, by.number, &back) ||
        !int_add(t.number, -back, &t.number) || int_abs(t.number) > FAR || (t.own < 0 && t.q))
        return false;
    out->flip = t.own < 0;
    out->more = by.number;
    out->by = out->flip ? -1 - t.number : t.number;
    out->j = t.j;
    out->q = t.q;
    return true;
}

static bool
same(const Roll *a, const Roll *b)
{
    return a->more == b->more && a->by == b->by && a->j == b->j && a->q == b->q && a->flip == b->flip;
}

/* x with H for what is shifted. */
static const Ast *
without(Search *s, const Ast *x)
{
    Roll roll;
    if (!x->table && is_roll(s, x, &roll)) {
        s->failed |= s->found && !same(&roll, &s->roll);
        s->found = true;
        s->roll = roll;
        return ast_sym(s->arena, s->dim, x->loc);
    }
    if (x->table || op_info[x->op].nargs == 0) {
        s->failed |= x->table || layout_is_sym(x, s->dim) ||
                     (x->op == OP_SYM && layout_extent_is(x->name, s->dim));
        return x;
    }
    const Ast *l = without(s, x->x[0]), *r = x->x[1] ? without(s, x->x[1]) : NULL;
    return l == x->x[0] && r == x->x[1] ? x : ast_op(s->arena, x->op, l, r, x->loc);
}

/* Changes the order of d for a dim; false: it is not shifted, or otherwise at some places. */
static bool
unroll(Search *s, LayoutDef *d, Roll *out)
{
    EntryDef *order = arena_copy(s->arena, d->order, (size_t)d->norder * sizeof *order);
    s->found = false;
    s->failed = layout_pads(d, s->dim);
    for (int i = 0; i < d->norder && !s->failed; i++) {
        const Ast *x = order[i].x;
        order[i].x = without(s, x);
        /* Digits of a number that is counted from the end of a shape are not those of a coordinate. */
        s->failed |= !s->digits && s->roll.flip && order[i].x != x && !layout_is_sym(order[i].x, s->dim);
    }
    d->order = order;
    *out = s->roll;
    return s->found && !s->failed && !layout_uses_extent(d, s->dim);
}

const LayoutRef *
layout_unrolled(Arena *a, const LayoutRef *ref, const DType *t, const i64 *shape, bool digits)
{
    if (ref->def->index || ref->def->batch || ref->def->level || ref->def->swizzle)
        return ref;
    Search s = {.arena = a, .ref = ref, .dtype = t, .shape = shape, .digits = digits};
    LayoutDef *d = arena_copy(a, ref->def, sizeof *d);
    Roll *roll = arena_array(a, Roll, d->ndims + 1);
    layout_params(a, ref, t, s.param);
    for (int i = 0; i < d->ndims; i++) {
        s.dim = d->dims[i];
        s.roll = (Roll){0};
        if (shape[i] != RUNTIME_EXTENT || !layout_uses_extent(d, s.dim))
            continue;
        if (!unroll(&s, d, &roll[d->nrolls]))
            return ref;
        d->nrolls++;
    }
    if (!d->nrolls)
        return ref;
    LayoutRef *r = arena_copy(a, ref, sizeof *r);
    d->rolls = roll;
    d->ninverses = 0;
    r->def = d;
    r->written = layout_written(ref);
    return r;
}

/* by % slots, for 0 <= by: it is found bit by bit, as divisors of scalars are numbers. */
static const Ex *
rest(Scalars *s, i64 by, const Ex *slots)
{
    Exprs *e = s->e;
    const Ex *r = ex_const(e, by), *one = ex_const(e, 1), *none = ex_const(e, 0);
    for (i64 k = by ? (i64)1 << int_log2(by) : 0; k; k /= 2) {
        const Ex *left = ex_add(e, ex_sub(e, r, ex_scale(e, slots, k)), one);
        const Ex *fits = scalar_by_name(s, ex_max(e, ex_min(e, left, one), none), 1);
        r = ex_add_scaled(e, r, scalar_times(s, slots, fits), -k);
        r = ex_is_const(r) ? r : scalar_by_name(s, r, by);
    }
    return r;
}

const Ex *
layout_set_rolled(Scalars *s, const Roll *roll, const Ex *n, Rolled *out)
{
    Exprs *e = s->e;
    const Ex *slots = ex_add(e, n, ex_const(e, roll->more)), *by;
    if (roll->by >= 0)
        by = roll->by <= roll->more ? ex_const(e, roll->by) : rest(s, roll->by, slots);
    else
        by = scalar_by_name(s, ex_max(e, ex_sub(e, slots, rest(s, -roll->by, slots)),
                                      ex_const(e, 0)), INF);
    if (roll->q) {
        const Ex *one = ex_const(e, 1), *none = ex_const(e, 0);
        by = ex_add(e, by, scalar_of(s, ex_div(e, ex_add(e, n, ex_const(e, roll->j)), roll->q), INF));
        const Ex *fits = scalar_named(s, ex_max(e, ex_min(e, ex_add(e, ex_sub(e, by, slots), one), one),
                                                none), 1);
        by = scalar_by_name(s, ex_sub(e, by, scalar_times(s, slots, fits)), INF);
    }
    *out = (Rolled){.slots = slots, .by = by, .more = roll->more, .flip = roll->flip};
    return slots;
}
