/* Whether the indices of a kernel are right in unsigned arithmetic of 32 bits, which wraps. */
#include "grid_parts.h"

/* Operands of division, comparison, bitwise operators, min and max must be exact.  Sums and
 * products need not be: they are right modulo 2^32. */
static bool
is_exact(const Ex *x, i64 most)
{
    return x->f.min >= 0 && x->f.max <= most;
}

/* True if x is right modulo 2^32.  In C a number of 2^31 or more would not be unsigned. */
static bool
is_right(const Ex *x, i64 most)
{
    if (x->base < -INT32_MAX || x->base > INT32_MAX)
        return false;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (x->t[i].coef < -INT32_MAX || x->t[i].coef > INT32_MAX)
            return false;
        for (int k = 0; a->op != AT_VAR && k < a->n; k++)
            if (!is_right(a->x[k], most) || (a->op != AT_MUL && !is_exact(a->x[k], most)))
                return false;
    }
    return true;
}

/* What may wrap is written as a signed number, which is below 2^31. */
bool
grid_may_wrap(const Ex *at)
{
    bool below = at->base < 0;
    for (int i = 0; i < at->n; i++)
        below |= at->t[i].coef < 0 || at->t[i].atom->f.min < 0;
    return below;
}

static bool
are_right(const Ex *const *x, int n, bool exact, i64 most)
{
    for (int i = 0; i < n; i++)
        if (x[i] && (!is_right(x[i], most) || (exact && !is_exact(x[i], most)) ||
                     (grid_may_wrap(x[i]) && most < INF && x[i]->f.max > INT32_MAX)))
            return false;
    return true;
}

bool
grid_is_narrow(const GridStmt *s, i64 most)
{
    for (; s; s = s->next) {
        bool exact = s->kind == G_WHEN || s->kind == G_DIVIDE;
        if (!are_right(s->value, LEN(s->value), exact, most) ||
            !are_right(s->bound, LEN(s->bound), exact, most) ||
            !are_right(s->same, LEN(s->same), false, most) || !grid_is_narrow(s->body, most))
            return false;
    }
    return true;
}
