/* Parts of an index that are known once a loop is unrolled, apart from the rest of it. */
#include "grid_parts.h"

static bool is_known(const Ex *x, int loop);

/* True if the atom has no variable but that of the loop. */
static bool
is_known_atom(const Atom *a, int loop)
{
    if (a->op == AT_VAR)
        return a->var == loop;
    for (int i = 0; i < a->n; i++)
        if (!is_known(a->x[i], loop))
            return false;
    return true;
}

static bool
is_known(const Ex *x, int loop)
{
    for (int i = 0; i < x->n; i++)
        if (!is_known_atom(x->t[i].atom, loop))
            return false;
    return true;
}

bool
grid_is_unrolled(const Ex *x, int loop)
{
    return is_known(x, loop);
}

/* Adds the term to the rest, or its known operands of a xor to the flips. */
static void
add_term(GridIndex *x, Exprs *e, const Term *t, int loop)
{
    const Atom *a = t->atom;
    const Ex *rest = ex_const(e, 0), *flips = rest;
    if (a->op != AT_XOR || !int_is_pow2(t->coef)) {
        x->rest = ex_add_scaled(e, x->rest, ex_of_atom(e, a), t->coef);
        return;
    }
    for (int i = 0; i < a->n; i++) {
        const Ex **to = is_known(a->x[i], loop) ? &flips : &rest;
        *to = ex_xor(e, *to, a->x[i]);
    }
    x->rest = ex_add_scaled(e, x->rest, rest, t->coef);
    x->flips = ex_add_scaled(e, x->flips, flips, t->coef);
}

/* All bits up to the highest of the terms that have known operands of a xor. */
static uint64_t
flipped(Exprs *e, const Ex *at)
{
    uint64_t bits = 0;
    for (int i = 0; i < at->n; i++)
        if (at->t[i].atom->op == AT_XOR)
            bits |= ex_scale(e, ex_of_atom(e, at->t[i].atom), at->t[i].coef)->f.ones;
    for (int i = 1; i < 64; i *= 2)
        bits |= bits >> i;
    return bits;
}

/* Terms that have no bits in common are their xor, so those of the flips can be flipped in
 * their sum:  a + c*(k ^ r)  is  (a + c*r) ^ c*k.  Terms above all flips may have any bits. */
GridIndex
grid_index_apart(Exprs *e, const Ex *at, int loop)
{
    const Ex *zero = ex_const(e, 0);
    GridIndex x = {zero, zero, ex_const(e, at->base)};
    const Ex *plain = zero;
    uint64_t seen = 0, low = flipped(e, at);
    bool apart = true;
    for (int i = 0; i < at->n; i++) {
        const Ex *term = ex_scale(e, ex_of_atom(e, at->t[i].atom), at->t[i].coef);
        if (is_known_atom(at->t[i].atom, loop)) {
            x.more = ex_add(e, x.more, term);
            continue;
        }
        apart &= !(term->f.ones & seen) || !(term->f.ones & low);
        seen |= term->f.ones & low ? term->f.ones : 0;
        plain = ex_add(e, plain, term);
        add_term(&x, e, &at->t[i], loop);
    }
    if (plain->f.min < 0 || x.more->f.min < 0)
        return (GridIndex){at, zero, zero};
    return apart ? x : (GridIndex){plain, zero, x.more};
}
