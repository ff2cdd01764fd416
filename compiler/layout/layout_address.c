/* Queries on a layout: names, sizes, and addresses computed by the plain evaluator. */
#include <string.h>

#include "layout.h"

int
layout_find_param(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->nparams; i++)
        if (!strcmp(d->params[i].name, name))
            return i;
    return -1;
}

bool
layout_constant(const Layout *l, const char *name, i64 *v)
{
    int p = layout_find_param(l->ref->def, name);
    if (p >= 0)
        *v = l->param[p];
    else if (!strcmp(name, "bits"))
        *v = l->dtype->bits;
    else if (!strcmp(name, "bytes") && l->dtype->bits >= 8)
        *v = l->dtype->bits / 8;
    else
        return layout_extent(l, name, v);
    return true;
}

int
layout_find_dim(const Layout *l, const char *name)
{
    for (int i = 0; i < l->rank; i++)
        if (!strcmp(l->dim[i].name, name))
            return i;
    return -1;
}

i64
layout_bytes(const Layout *l)
{
    return int_ceil_div(l->size * l->dtype->bits, 8);
}

int
layout_address_var(const Layout *l)
{
    return ex_var(l->e, "a", 0, l->size > 1 ? l->size - 1 : 1);
}

bool
layout_next(const Layout *l, bool padded, i64 *x)
{
    for (int d = l->rank - 1; d >= 0; d--) {
        if (++x[d] < (padded ? l->dim[d].padded : l->dim[d].n))
            return true;
        x[d] = 0;
    }
    return false;
}

int
layout_box(const Layout *l, i64 *extent)
{
    i64 below = 1;
    extent[0] = l->size;
    if (l->nentry == 0)
        return 0;
    if (l->view && l->view->strided)
        return layout_box(l->view->of, extent);
    for (int i = l->nentry - 1; i >= 0; i--) {
        i64 stride = l->entry[i].stride;
        if (stride % below)
            return 1;
        if (i + 1 < l->nentry)
            extent[i + 1] = stride / below;
        else if (stride != 1)
            return 1;
        below = stride;
    }
    extent[0] = l->entry[0].extent;
    return l->nentry;
}

typedef struct {
    const Layout *l;
    const i64 *x;
    i64 a;
} Point;

static bool
point_value(const void *env, const char *name, i64 *v)
{
    const Point *p = env;
    int d = layout_find_dim(p->l, name);
    const Lookup *u = d < 0 ? layout_lookup(p->l, name) : NULL;
    if (u)
        return ast_eval(u->place, point_value, p, v) && lookup_number(u, *v, v);
    if (d < 0)
        return layout_constant(p->l, name, v);
    *v = p->x[d];
    return true;
}

bool
layout_skips(const Layout *l, const i64 *x)
{
    const Point p = {l, x, 0};
    for (int i = 0; i < l->nlookups; i++) {
        const Lookup *u = &l->lookup[i];
        i64 v;
        if (u->skip && ast_eval(u->place, point_value, &p, &v) && lookup_number(u, v, &v) && v < 0)
            return true;
    }
    return false;
}

static bool
sigma_value(const void *env, const char *name, i64 *v)
{
    const Point *p = env;
    if (strcmp(name, "a"))
        return layout_constant(p->l, name, v);
    *v = p->a;
    return true;
}

bool
layout_part(const Layout *l, const Ast *part, const i64 *x, i64 *v)
{
    Point p = {l, x, 0};
    return ast_eval(part, point_value, &p, v);
}

bool
layout_entry(const Layout *l, int i, const i64 *x, i64 *v)
{
    return layout_part(l, l->entry[i].x, x, v) && int_mul(*v, l->entry[i].stride, v);
}

bool
layout_swizzle(const Layout *l, i64 a, i64 *out)
{
    const LayoutDef *d = l->ref->def;
    Point p = {l, NULL, a};
    i64 bits = l->dtype->bits, low = 0, v;
    *out = a;
    if (!d->swizzle)
        return true;
    if (d->swizzle_bytes && bits >= 8) {
        p.a = a * (bits / 8);
    } else if (d->swizzle_bytes) {
        p.a = a / (8 / bits);
        low = a % (8 / bits);
    }
    if (!ast_eval(d->swizzle, sigma_value, &p, &v))
        return false;
    *out = v;
    if (d->swizzle_bytes)
        *out = bits >= 8 ? v / (bits / 8) : v * (8 / bits) + low;
    return true;
}

i64
layout_work(const Layout *l)
{
    i64 units = 1 + (l->ref->def->swizzle ? l->ref->def->swizzle->size : 0);
    for (int i = 0; i < l->nentry; i++)
        units += l->entry[i].x->size;
    return units;
}

i64
layout_points(const Layout *l, bool padded)
{
    i64 n = 1;
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(n, padded ? l->dim[d].padded : l->dim[d].n, &n))
            return INF;
    return n;
}

bool
layout_address(const Layout *l, const i64 *x, i64 *addr)
{
    i64 v, sum = l->origin;
    for (int i = 0; i < l->nentry; i++)
        if (!layout_entry(l, i, x, &v) || !int_add(sum, v, &sum))
            return false;
    return layout_swizzle(l, sum, addr);
}
