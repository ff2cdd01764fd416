/* Whether the indices of a kernel are right in unsigned arithmetic of 32 bits, which wraps. */
#include "grid_parts.h"

/* Operands of division, comparison, bitwise operators, min and max must be exact.  Sums and
 * products need not be: they are right modulo 2^32. */
static bool
is_exact(const Ex *x)
{
    return x->f.min >= 0 && x->f.max <= UINT32_MAX;
}

/* True if x is right modulo 2^32.  In C a number of 2^31 or more would not be unsigned. */
static bool
is_right(const Ex *x)
{
    if (x->base < -INT32_MAX || x->base > INT32_MAX)
        return false;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (x->t[i].coef < -INT32_MAX || x->t[i].coef > INT32_MAX)
            return false;
        for (int k = 0; a->op != AT_VAR && k < a->n; k++)
            if (!is_right(a->x[k]) || (a->op != AT_MUL && !is_exact(a->x[k])))
                return false;
    }
    return true;
}

bool
grid_is_narrow(const GridStmt *s)
{
    for (; s; s = s->next) {
        for (int i = 0; i < LEN(s->value); i++)
            if (s->value[i] && (!is_right(s->value[i]) ||
                                (s->kind == G_WHEN && !is_exact(s->value[i]))))
                return false;
        for (int i = 0; s->same[0] && i < LEN(s->same); i++)
            if (!is_right(s->same[i]))
                return false;
        if (!grid_is_narrow(s->body))
            return false;
    }
    return true;
}
