/* The canonical order of expressions.  It depends on their form only, not on which of
 * them was made first. */
#include "expr.h"

static int
by_number(i64 a, i64 b)
{
    return (a > b) - (a < b);
}

/* Two atoms that are not the same differ in one of these, as atoms are interned. */
int
ex_order_atoms(const Atom *a, const Atom *b)
{
    if (a == b)
        return 0;
    int r = by_number(a->op, b->op);
    r = r ? r : by_number(a->var, b->var);
    for (int i = 0; !r && i < a->n && i < b->n; i++)
        r = ex_order(a->x[i], b->x[i]);
    r = r ? r : by_number(a->n, b->n);
    r = r ? r : by_number(a->lo, b->lo);
    return r ? r : by_number(a->hi, b->hi);
}

int
ex_order(const Ex *a, const Ex *b)
{
    if (a == b)
        return 0;
    int r = by_number(a->n == 0, b->n == 0);
    for (int i = 0; !r && i < a->n && i < b->n; i++) {
        r = ex_order_atoms(a->t[i].atom, b->t[i].atom);
        r = r ? r : by_number(b->t[i].coef, a->t[i].coef);
    }
    r = r ? r : by_number(a->n, b->n);
    return r ? r : by_number(a->base, b->base);
}
