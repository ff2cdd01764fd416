/* The dims of boxes, of which one may be several dims of the layouts, R and C as RC.
 *
 * By names: the sides of the request are written over RC already (sides/join.c), for every shape,
 * and only before the layouts are decided is it known what its padding is.
 *
 * By addresses, of one shape: as simplified these have digits only of one number, 75*R + C, where
 * C < 75.  So it is where rows are no whole blocks of a swizzle.  These digits are those of no dim;
 * boxes over the number end where they do. */
#include <string.h>

#include "plan_parts.h"

/* Adds to with[d] the dims that an atom has besides dim d, unless it is a variable; false: no atom has
 * several. */
static bool
mixed_dims(Exprs *e, const Sizes *z, unsigned *with)
{
    bool any = false;
    for (int i = 0; i < z->addr->n; i++) {
        const Atom *a = z->addr->t[i].atom;
        bool *used = ex_flags(e);
        unsigned dims = 0;
        for (int k = 0; k < a->n; k++)
            ex_vars(a->x[k], used);
        for (int d = 0; d < z->l->rank; d++)
            dims |= (unsigned)used[z->var[d]] << d;
        for (int d = 0; d < z->l->rank; d++)
            with[d] |= dims >> d & 1 ? dims : 0;
        any |= (dims & (dims - 1)) != 0;
    }
    return any;
}

/* The address over `var`, which stands for n * dim `out` + dim `in`; NULL: as it is written, it is no
 * function of that number.  Addresses of fixed sizes have no terms apart. */
static const Ex *
over_one(Exprs *e, const Sizes *z, int out, int in, i64 n, int var)
{
    const Ex **to = ex_map(e);
    to[z->var[out]] = ex_const(e, 0);
    to[z->var[in]] = ex_of_var(e, var);
    const Ex *one = ex_subst(e, z->addr, to);
    to = ex_map(e);
    to[var] = ex_add_scaled(e, ex_of_var(e, z->var[in]), ex_of_var(e, z->var[out]), n);
    return ex_subst(e, one, to) == z->addr ? one : NULL;
}

/* z with these of its dims, in this order; *l is its layout, of which the rank, the names and the cuts
 * are those of these dims. */
static Sizes *
with_dims(Arena *a, const Sizes *z, int rank, const int *dim, Layout **l)
{
    Sizes *r = arena_copy(a, z, sizeof *z);
    r->l = *l = arena_copy(a, z->l, sizeof *z->l);
    (*l)->rank = rank;
    for (int d = 0; d < rank; d++) {
        (*l)->dim[d] = z->l->dim[dim[d]];
        r->extent[d] = z->extent[dim[d]];
        r->n[d] = z->n[dim[d]];
        r->padded[d] = z->padded[dim[d]];
        r->unit[d] = z->unit[dim[d]];
        r->var[d] = z->var[dim[d]];
        r->roll[d] = z->roll[dim[d]];
    }
    return r;
}

/* z without dim `in`, whose coordinates are those of dim `out` n to n; var is what dim `out` is then. */
static const Sizes *
without(Exprs *e, const Sizes *z, int out, int in, i64 n, const Ex *addr, int var)
{
    Layout *l;
    int dim[MAX_RANK], rank = 0;
    for (int d = 0; d < z->l->rank; d++)
        if (d != in)
            dim[rank++] = d;
    Sizes *r = with_dims(ex_arena(e), z, rank, dim, &l);
    const int at = out - (in < out);
    l->dim[at].name = ex_var_name(e, var);
    r->n[at] = ex_scale(e, z->n[out], n);
    r->padded[at] = ex_scale(e, z->padded[out], n);
    r->unit[at] = 0;
    r->var[at] = var;
    r->addr = addr;
    return r;
}

/* The dims of the destination, after dim `in` of the boxes went into dim `out`. */
static void
move_parts(BoxDims *b, const Layout *dst, int out, int in)
{
    i64 n = b->to->n[in]->base;
    for (int d = 0; d < dst->rank; d++) {
        BoxPart *q = &b->part[d];
        if (q->dim == out)
            q->each *= n;
        if (q->dim == in) {
            q->dim = out;
            q->below = q->below ? q->below : dst->dim[d].n;
        }
        q->dim -= q->dim > in;
    }
}

/* The inner dim has no padding.  That of the outer one is whole rows; it must not repeat the last row,
 * as the last number is only the last element of that. */
static bool
can_join(const BoxDims *b, int d, bool outer)
{
    const Sizes *z = b->to;
    return (z->n[d] == z->padded[d] || (outer && z->l->ref->def->fill != FILL_EDGE)) &&
           !z->l->dim[d].ncuts && !b->from->l->dim[d].ncuts;
}

/* The name, with a _ if one of the dims has it; those of skip[] are left out. */
static const char *
free_name(Arena *a, const Layout *l, const bool *skip, const char *name)
{
    for (int d = 0; d < l->rank; d++)
        if (!skip[d] && !strcmp(l->dim[d].name, name)) {
            name = arena_printf(a, "%s_", name);
            d = -1;
        }
    return name;
}

/* RC for R and C. */
static const char *
name_of(Arena *a, const BoxDims *b, int out, int in)
{
    const Dim *dim = b->to->l->dim;
    bool skip[MAX_RANK] = {[0] = false};
    skip[out] = skip[in] = true;
    return free_name(a, b->to->l, skip, arena_printf(a, "%s%s", dim[out].name, dim[in].name));
}

static bool
join(Exprs *e, BoxDims *b, const Layout *dst, int out, int in)
{
    i64 each = b->to->n[in]->base, n;
    if (!can_join(b, out, true) || !can_join(b, in, false) ||
        !int_mul(b->to->padded[out]->base, each, &n))
        return false;
    int var = ex_var(e, name_of(ex_arena(e), b, out, in), 0, n - 1);
    const Ex *to = over_one(e, b->to, out, in, each, var);
    const Ex *from = to ? over_one(e, b->from, out, in, each, var) : NULL;
    if (!from)
        return false;
    move_parts(b, dst, out, in);
    b->to = without(e, b->to, out, in, each, to, var);
    b->from = without(e, b->from, out, in, each, from, var);
    b->rank--;
    return true;
}

/* Joins two dims, if there are two that can be. */
static bool
join_two(Exprs *e, BoxDims *b, const Layout *dst)
{
    unsigned with[MAX_RANK] = {0};
    mixed_dims(e, b->to, with);
    mixed_dims(e, b->from, with);
    for (int out = 0; out < b->rank; out++)
        for (int in = 0; in < b->rank; in++)
            if (in != out && with[out] >> in & 1 && join(e, b, dst, out, in))
                return true;
    return false;
}

/* The dims of dst that are joined to dim d, or d alone, as one name. */
static const char *
name_of_all(const Plan *p, const int *to, int d)
{
    Arena *a = ex_arena(p->e);
    const char *name = "";
    bool skip[MAX_RANK];
    for (int k = 0; k < p->dst->rank; k++) {
        skip[k] = to[k] == d;
        name = skip[k] ? arena_printf(a, "%s%s", name, p->dst->dim[k].name) : name;
    }
    return free_name(a, p->dst, skip, name);
}

/* Leaves out the dims that are joined by name: they have one coordinate, and no term of an address. */
static void
leave_out(Plan *p, const int *to)
{
    Layout *l;
    BoxDims *b = &p->box;
    Arena *a = ex_arena(p->e);
    int dim[MAX_RANK], of[MAX_RANK], at[MAX_RANK];
    for (int d = b->rank = 0; d < p->dst->rank; d++) {
        at[d] = b->rank;
        dim[b->rank] = d;
        of[b->rank] = p->map[d];
        b->rank += to[d] == d;
    }
    for (int d = 0; d < p->dst->rank; d++)
        b->part[d] = (BoxPart){at[to[d]], 1, to[d] != d};
    b->from = with_dims(a, p->from, b->rank, of, &l);
    b->to = with_dims(a, p->to, b->rank, dim, &l);
    for (int d = 0; d < b->rank; d++) {
        l->dim[d].name = name_of_all(p, to, dim[d]);
        b->map[d] = d;
    }
}

void
plan_dims(Plan *p)
{
    int to[MAX_RANK];
    bool joined = false;
    p->box = (BoxDims){.rank = p->dst->rank, .from = p->from, .to = p->to};
    memcpy(p->box.map, p->map, sizeof p->map);
    for (int d = 0; d < p->dst->rank; d++) {
        p->box.part[d] = (BoxPart){d, 1, 0};
        for (int k = 0; k < p->dst->rank; k++)
            to[d] = p->map[k] == p->given[p->map[d]].joined ? k : to[d];
        joined |= to[d] != d;
    }
    if (joined)
        leave_out(p, to);
}

void
plan_join(Plan *p)
{
    Layout *l;
    unsigned with[MAX_RANK] = {0};
    if (!plan_is_fixed(p) || plan_looks_up(p) ||
        !(mixed_dims(p->e, p->box.to, with) | mixed_dims(p->e, p->box.from, with)))
        return;
    BoxDims b = p->box;
    b.from = with_dims(ex_arena(p->e), b.from, b.rank, b.map, &l);
    for (int d = 0; d < b.rank; d++)
        b.map[d] = d;
    while (join_two(p->e, &b, p->dst))
        p->box = b;
}

void
plan_coordinates(const Plan *p, const i64 *x, i64 *out)
{
    for (int d = 0; d < p->dst->rank; d++) {
        const BoxPart *q = &p->box.part[d];
        i64 v = x[q->dim] / q->each;
        out[d] = q->below ? v % q->below : v;
    }
}
