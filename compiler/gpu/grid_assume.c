/* Makes a second version of a box for shapes at which its addresses and runs are aligned:
 * each of the scalars in them is m times another scalar. */
#include "grid_parts.h"

typedef struct {
    GridBox *b;
    Scalars *s;
    i64 m;
    const Ex **to;        /* the replacement of each scalar */
    const Ex *rest;       /* the sum of the scalars modulo m: 0 at those shapes */
    bool empty;           /* a scalar is always below m: the box is empty at those shapes */
} Assume;

/* Adds the scalars of x that are not multiples of m for every shape. */
static void
add_scalars(Assume *a, const Ex *x)
{
    Exprs *e = a->b->e;
    for (int i = 0; i < x->n; i++) {
        const Atom *atom = x->t[i].atom;
        if (x->t[i].coef % a->m == 0 || !scalar_is(a->s, atom) || a->to[atom->var])
            continue;
        const Ex *v = ex_of_atom(e, atom);
        a->empty |= v->f.max < a->m;
        const Ex *part = scalar_of(a->s, ex_div(e, v, a->m), INF);
        a->to[atom->var] = ex_scale(e, part, a->m);
        a->rest = ex_add(e, a->rest, ex_mod(e, v, a->m));
    }
}

/* True if so few elements that other loops begin at multiples of m only if this loop's length is
 * one. */
static bool
is_short(const Ex *stride, i64 m)
{
    return ex_is_const(stride) && stride->base % m;
}

static void
replace(Assume *a, GridLoop *l)
{
    const Ex **x[] = {&l->ex.n, &l->ex.ss, &l->ex.ds, &l->ex.real};
    i64 *nominal[] = {&l->n, &l->ss, &l->ds, &l->real};
    for (int i = 0; i < LEN(x); i++) {
        *x[i] = ex_subst(a->b->e, *x[i], a->to);
        *nominal[i] = scalar_nominal(a->s, *x[i]);
    }
}

const Ex *
grid_assume(GridBox *b, i64 m)
{
    Exprs *e = b->e;
    Assume a = {.b = b, .s = b->u->plan->scalars, .m = m, .rest = ex_const(e, 0)};
    a.to = arena_array(b->arena, const Ex *, ex_nvars(e) + 1);
    add_scalars(&a, b->src);
    add_scalars(&a, b->dst);
    for (int i = 0; i < b->nloops; i++) {
        const GridLoop *l = &b->loop[i];
        add_scalars(&a, l->ex.ss);
        add_scalars(&a, l->ex.ds);
        if (is_short(l->ex.ss, m) || is_short(l->ex.ds, m))
            add_scalars(&a, l->ex.n);
    }
    if (a.empty)
        return ex_const(e, 0);
    for (int i = 0; i < b->nloops; i++)
        replace(&a, &b->loop[i]);
    b->src = ex_subst(e, b->src, a.to);
    b->dst = ex_subst(e, b->dst, a.to);
    b->slots = ex_subst(e, b->slots, a.to);
    return scalar_of(a.s, ex_min(e, a.rest, ex_const(e, 1)), 1);
}

/* The narrowest width of all accesses to the buffers. */
static int
narrowest(const GridStmt *s)
{
    int least = GRID_VECTOR;
    for (; s; s = s->next) {
        bool is_access = (s->kind == G_LOAD || s->kind == G_STORE) &&
                         s->space != SPACE_SHARED;
        int inside = narrowest(s->body), w = is_access ? s->width : GRID_VECTOR;
        least = w < least ? w : least;
        least = inside < least ? inside : least;
    }
    return least;
}

bool
grid_is_wider(const GridStmt *a, const GridStmt *b)
{
    return narrowest(a->body) > narrowest(b->body);
}
