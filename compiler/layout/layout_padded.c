/* Padded extents and slots: the same for numbers, when a layout is made, and for extents left
 * to run time.  If a dim has digits without an upper end, its extent is rounded up to the
 * least of these; if all digits have one, the padded extent is the highest. */
#include <string.h>

#include "layout_parts.h"

static const Ex *
round_up(Scalars *s, const Layout *l, const Ex *x, i64 k)
{
    i64 v;
    if (!ex_is_const(x))
        return ex_scale(l->e, scalar_ceil(s, x, k), k);
    if (!int_round_up(x->base, k, &v))
        layout_no_fit(l, l->ref->def->loc);
    return ex_const(l->e, v);
}

/* Where a reach of a dim ends whose extent, rounded up to its pad, is n; NULL: nowhere. */
static const Ex *
end_of(Scalars *s, const Layout *l, const Reach *r, const Ex *n)
{
    if (!r->open)
        return r->closed ? ex_const(l->e, r->closed) : NULL;
    if (!r->apart)
        return round_up(s, l, n, r->open);
    if (!ex_is_const(n))
        layout_refuse_open(l, l->ref->def->loc, "how far it reaches is the lesser of two "
                           "round-ups", "one of them should divide the other");
    return ex_const(l->e, r->end);
}

/* The greatest of n and the ends. */
static const Ex *
greatest(const Layout *l, const Ex *n, const Ex *a, const Ex *b)
{
    i64 v = n->base;
    v = a && a->base > v ? a->base : v;
    v = b && b->base > v ? b->base : v;
    return ex_const(l->e, v);
}

/* The end of both reaches of x, of which one is a multiple of the other for every extent. */
static const Ex *
common(const Layout *l, const Dim *x, const Ex *a, const Ex *b)
{
    i64 w = x->written.open, c = x->canonical.open;
    if (!a || !b || a == b)
        return a ? a : b;
    if (!w || !c || (w % c && c % w))
        layout_refuse_open(l, l->ref->def->loc, "its digits as written end elsewhere than "
                           "simplified", "write them as C//16 and C%16");
    return w > c ? a : b;
}

const Ex *
layout_padded(Scalars *s, const Layout *l, int d, const Ex *n, i64 *unit)
{
    const Dim *x = &l->dim[d];
    i64 w = x->written.open, c = x->canonical.open, open = w > c ? w : c;
    const Ex *p = x->pad > 1 ? round_up(s, l, n, x->pad) : n;
    if (l->ref->def->unpadded >> d & 1) {
        *unit = 1;
        return n;
    }
    const Ex *a = end_of(s, l, &x->written, p), *b = end_of(s, l, &x->canonical, p);
    if (!open || !int_lcm(x->pad, open, unit))
        *unit = 0;
    if (ex_is_const(n))
        return greatest(l, p, a, b);
    if (!open && x->pad > 1)
        layout_refuse_open(l, l->ref->def->loc, "a pad of a dim whose digits all end",
                           "give that extent as a number");
    return a || b ? common(l, x, a, b) : p;
}

/* True if the values of x do not depend on extents left to run time. */
static bool
is_closed(const Coordinates *m, const Ast *x)
{
    int d;
    i64 lo, hi;
    if (layout_written_digit(m->l, x, &d, &lo, &hi))
        return hi || ex_is_const(m->padded[d]);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (!is_closed(m, x->x[i]))
            return false;
    return x->op != OP_SYM;
}

bool
layout_largest(const void *env, const char *name, i64 *v)
{
    const Coordinates *m = env;
    int d = layout_find_dim(m->l, name);
    *v = d < 0 ? 0 : ex_is_const(m->padded[d]) ? m->padded[d]->base - 1 : INF;
    return d >= 0;
}

/* a*x + b*y for the greatest values of x and y. */
static const Ex *
sum(const Coordinates *m, const Ast *x, i64 a, const Ast *y, i64 b)
{
    const Ex *p = layout_most(m, x), *q = y ? layout_most(m, y) : ex_const(m->l->e, 0);
    return p && q ? ex_add(m->l->e, ex_scale(m->l->e, p, a), ex_scale(m->l->e, q, b)) : NULL;
}

/* A digit of what is no digit itself: (4*W + C)//16, (4*W + C)%16. */
static const Ex *
digit(const Coordinates *m, const Ast *x)
{
    const OpMeaning *is = op_info[x->op].is;
    i64 k, lo, hi;
    if (op_info[x->op].nargs != 2 || x->table || !ast_number(x->x[1], &k) ||
        !ast_digit(x, 0, &lo, &hi))
        return NULL;
    const Ex *most = layout_most(m, x->x[0]);
    Span none = {0, 0}, any = {0, INF / 2}, of = {k, k}, a, b;
    if (!most || !op_range(is, none, of, &a) || !op_range(is, any, of, &b))
        return NULL;
    if (hi)
        return a.max == b.max ? ex_const(m->l->e, a.max) : NULL;
    if (ex_is_const(most))
        return ex_const(m->l->e, most->base / lo);
    /* The sum is less than 0 where an extent is 0. */
    const Ex *one = ex_const(m->l->e, 1), *n = ex_add(m->l->e, most, one);
    if (n->f.min <= -lo)
        n = ex_max(m->l->e, n, ex_const(m->l->e, 0));
    return ex_sub(m->l->e, scalar_ceil(m->s, n, lo), one);
}

const Ex *
layout_most(const Coordinates *m, const Ast *x)
{
    int d;
    i64 lo, hi, min, max, k;
    const OpMeaning *is = op_info[x->op].is;
    Exprs *e = m->l->e;
    if (is_closed(m, x))
        return layout_range(x, layout_largest, m, &min, &max) && min >= 0 && max < INF
             ? ex_const(e, max) : NULL;
    if (layout_written_digit(m->l, x, &d, &lo, &hi) && !hi)
        return ex_sub(e, scalar_ceil(m->s, m->padded[d], lo), ex_const(e, 1));
    if (is->sum[0] > 0 && is->sum[1] > 0)
        return sum(m, x->x[0], is->sum[0], x->x[1], is->sum[1]);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (ast_times(x, i, &k) && k > 0)
            return sum(m, x->x[i], k, NULL, 0);
    return digit(m, x);
}
