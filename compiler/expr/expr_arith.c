/* Sums, products, floor division and remainder. */
#include <string.h>

#include "expr.h"

const Ex *
ex_add_scaled(Exprs *e, const Ex *a, const Ex *b, i64 k)
{
    ExSum s = ex_sum_of(e, 0);
    ex_sum_add(&s, a, 1);
    ex_sum_add(&s, b, k);
    return ex_sum_end(&s);
}

const Ex *
ex_add(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_add_scaled(e, a, b, 1);
}

const Ex *
ex_sub(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_add_scaled(e, a, b, -1);
}

/* Rule 65. */
const Ex *
ex_scale(Exprs *e, const Ex *a, i64 k)
{
    return k == 1 ? a : ex_add_scaled(e, ex_const(e, 0), a, k);
}

/* Puts the operands in canonical order (rules 59, 65, 66). */
const Ex *
ex_commutative(Exprs *e, AtomOp op, const Ex *a, const Ex *b)
{
    bool swap = ex_order(a, b) > 0;
    const Ex *x[2] = {swap ? b : a, swap ? a : b};
    Atom proto = {.op = op, .n = 2, .x = x};
    return ex_of_atom(e, ex_atom(e, &proto));
}

/* Rule 65. */
const Ex *
ex_mul(Exprs *e, const Ex *a, const Ex *b)
{
    if (ex_is_const(a))
        return ex_scale(e, b, a->base);
    if (ex_is_const(b))
        return ex_scale(e, a, b->base);
    return ex_commutative(e, AT_MUL, a, b);
}

const Ex *
ex_times(Exprs *e, const Ex *a, const Ex *b)
{
    const Ex *sum = ex_scale(e, a, b->base);
    for (int i = 0; i < b->n; i++)
        sum = ex_add_scaled(e, sum, ex_mul(e, a, ex_of_atom(e, b->t[i].atom)), b->t[i].coef);
    return sum;
}

/* True if x can be negative only by its base or a negative coefficient, and x + k fits 64
 * bits (rule 90). */
static bool
can_raise(const Ex *x, i64 k)
{
    const double end = (double)(INT64_C(1) << 62);
    double sum = (double)k + (double)int_abs(x->base);
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (a->f.min < 0 || a->f.max == INF)
            return false;
        sum += (double)a->f.max * (double)int_abs(x->t[i].coef);
    }
    return sum < end;
}

/* Makes a min or max whose operands are not negative, as unsigned code requires:
 * max(x - 10, 0) becomes max(x, 10) - 10 (rule 90). */
static const Ex *
extreme(Exprs *e, AtomOp op, const Ex *a, const Ex *b)
{
    i64 low = a->f.min < b->f.min ? a->f.min : b->f.min;
    if (low >= 0 || low == -INF || !can_raise(a, -low) || !can_raise(b, -low))
        return ex_commutative(e, op, a, b);
    const Ex *up = ex_const(e, -low);
    return ex_sub(e, ex_commutative(e, op, ex_add(e, a, up), ex_add(e, b, up)), up);
}

/* If the ranges decide, the result is one of the operands (rule 35). */
const Ex *
ex_min(Exprs *e, const Ex *a, const Ex *b)
{
    if (a == b || a->f.max <= b->f.min)
        return a;
    return b->f.max <= a->f.min ? b : extreme(e, AT_MIN, a, b);
}

/* As ex_min (rule 35). */
const Ex *
ex_max(Exprs *e, const Ex *a, const Ex *b)
{
    if (a == b || a->f.min >= b->f.max)
        return a;
    return b->f.min >= a->f.max ? b : extreme(e, AT_MAX, a, b);
}

static bool
may_overflow(const Ex *x)
{
    return x->n + (x->base != 0) > 1 && (x->f.max == INF || x->f.min == -INF);
}

void
ex_above(Exprs *e, const Ex *x, const Ex **more, const Ex **less)
{
    *more = ex_const(e, x->base > 0 ? x->base : 0);
    *less = ex_const(e, x->base < 0 ? -x->base : 0);
    for (int i = 0; i < x->n; i++) {
        const Ex *atom = ex_of_atom(e, x->t[i].atom), **side = x->t[i].coef > 0 ? more : less;
        *side = ex_add_scaled(e, *side, atom, int_abs(x->t[i].coef));
    }
    if (may_overflow(*more) || may_overflow(*less)) {
        *more = x;
        *less = ex_const(e, 0);
    }
}

/* base plus the terms of x that g divides, or those that it does not divide, over `by`, which
 * divides each. */
static const Ex *
terms_of(Exprs *e, const Ex *x, i64 g, bool divisible, i64 by, i64 base)
{
    Term few[FEW_TERMS], *t = ex_room(e, few, x->n);
    int n = 0;
    for (int i = 0; i < x->n; i++)
        if ((x->t[i].coef % g == 0) == divisible)
            t[n++] = (Term){x->t[i].coef / by, x->t[i].atom};
    return n == x->n && by == 1 && base == x->base ? x : ex_sum(e, base, t, n);
}

/* Those that g divides, over g (rules 3, 4, 67). */
static const Ex *
quotients(Exprs *e, const Ex *x, i64 g)
{
    return terms_of(e, x, g, true, g, int_div(x->base, g));
}

static const Ex *
remainders(Exprs *e, const Ex *x, i64 g)
{
    return terms_of(e, x, g, false, 1, int_mod(x->base, g));
}

/* quotients(e, x, g) + more, without the first sum: a plan has no other use for most of these. */
static const Ex *
quotients_plus(Exprs *e, const Ex *x, i64 g, const Ex *more)
{
    Term few[FEW_TERMS], *t = ex_room(e, few, x->n + more->n);
    int n = 0;
    i64 base;
    if (!int_add(int_div(x->base, g), more->base, &base))
        ex_overflow(e);
    for (int i = 0; i < x->n; i++)
        if (x->t[i].coef % g == 0)
            t[n++] = (Term){x->t[i].coef / g, x->t[i].atom};
    for (int i = 0; i < more->n; i++)
        t[n++] = more->t[i];
    return ex_sum(e, base, t, n);
}

/* True if the range of x is in [k*c, (k+1)*c); sets *k (rules 17, 80). */
static bool
within_one(const Ex *x, i64 c, i64 *k)
{
    if (x->f.min == -INF || x->f.max == INF)
        return false;
    *k = int_div(x->f.min, c);
    return int_div(x->f.max, c) == *k;
}

/* Splits x (every coefficient not a multiple of c) as g*high + low with
 * 0 <= low < g for some g dividing c: then x div c = high div (c/g) and
 * x mod c = g*(high mod (c/g)) + low  (rules 7 to 10).  Candidates for g are the
 * common divisors of c and the coefficients, from the largest term down. */
static bool
split(Exprs *e, const Ex *x, i64 c, i64 *g, const Ex **high, const Ex **low)
{
    i64 k;
    for (int pass = 0; pass < 2; pass++) {
        i64 all = c;
        for (int i = x->n - 1; i >= 0; i--) {
            all = int_gcd(all, x->t[i].coef);
            *g = pass ? all : int_gcd(c, x->t[i].coef);
            if (*g <= 1 || *g >= c)
                continue;
            *low = remainders(e, x, *g);
            if (!within_one(*low, *g, &k) || k != 0)
                continue;
            *high = quotients(e, x, *g);
            return true;
        }
    }
    return false;
}

/* If x = k * atom and k divides c: returns the atom and sets *m = c / k (rules 9, 11). */
static const Atom *
one_atom(const Ex *x, i64 c, i64 *m)
{
    if (x->n != 1 || x->base || x->t[0].coef <= 0 || c % x->t[0].coef)
        return NULL;
    *m = c / x->t[0].coef;
    return x->t[0].atom;
}

typedef const Ex *Divide(Exprs *, const Ex *, i64);

/* Applies division or remainder by 2^k to the operands of a xor (rules 43, 44). */
static const Ex *
through_xor(Exprs *e, const Atom *a, i64 m, Divide *f)
{
    const Ex *r = f(e, a->x[0], m);
    for (int i = 1; i < a->n; i++)
        r = ex_xor(e, r, f(e, a->x[i], m));
    return r;
}

/* A digit as an atom, without a modulus that has no effect (rules 1, 17). */
static const Ex *
opaque_dig(Exprs *e, const Ex *x, i64 lo, i64 hi)
{
    const Ex *arg[1] = {x};
    Atom a = {.op = AT_DIG, .lo = lo, .hi = hi, .n = 1, .x = arg};
    if (x->f.min >= 0 && hi && x->f.max < hi)
        a.hi = 0;
    if (a.lo == 1 && a.hi == 0)
        return x;
    return ex_of_atom(e, ex_atom(e, &a));
}

/* Multiples of c are divided exactly (rules 3, 4).  If the rest is within one period, its
 * quotient is constant (17).  A common divisor is cancelled (9).  The quotient of a digit
 * is a digit with a larger lo (12, 68). */
const Ex *
ex_div(Exprs *e, const Ex *a, i64 c)
{
    i64 k, g, m, lo;
    const Ex *high, *low;
    if (c <= 0)
        ex_fail(e, c ? "division by a negative number" : "division by zero");
    if (c == 1)                                                  /* rule 1 */
        return a;
    const Ex *r = remainders(e, a, c);
    if (within_one(r, c, &k))
        return quotients_plus(e, a, c, ex_const(e, k));
    if (split(e, r, c, &g, &high, &low))
        return quotients_plus(e, a, c, ex_div(e, high, c / g));
    const Atom *t = one_atom(r, c, &m);
    if (t && t->op == AT_XOR && int_is_pow2(m))
        return quotients_plus(e, a, c, through_xor(e, t, m, ex_div));
    if (t) {
        Digit d = ex_digit(e, t);
        if (!int_mul(d.lo, m, &lo))
            ex_overflow(e);
        if (t->op != AT_DIG)
            return quotients_plus(e, a, c, opaque_dig(e, d.root, lo, 0));
        if (d.hi == 0 || d.hi % lo == 0)
            return quotients_plus(e, a, c, ex_dig(e, d.root, lo, d.hi));
    }
    return quotients_plus(e, a, c, opaque_dig(e, r, c, 0));
}

/* As ex_div: multiples of c (rules 5, 6), one period (17), a common divisor (10, 11).  The
 * remainder of a digit is a digit with a smaller hi (14, 15). */
const Ex *
ex_mod(Exprs *e, const Ex *a, i64 c)
{
    i64 k, g, m, hi;
    const Ex *high, *low;
    if (c <= 0)
        ex_fail(e, c ? "remainder by a negative number" : "remainder by zero");
    const Ex *r = remainders(e, a, c);
    if (within_one(r, c, &k))
        return ex_add_scaled(e, r, ex_const(e, k), -c);
    if (split(e, r, c, &g, &high, &low))
        return ex_add_scaled(e, low, ex_mod(e, high, c / g), g);
    const Atom *t = one_atom(r, c, &m);
    if (t && t->op == AT_XOR && int_is_pow2(m))
        return ex_scale(e, through_xor(e, t, m, ex_mod), c / m);
    if (t) {
        Digit d = ex_digit(e, t);
        if (!int_mul(d.lo, m, &hi))
            ex_overflow(e);
        if (d.hi == 0)
            return ex_scale(e, opaque_dig(e, d.root, d.lo, hi), c / m);
        if (d.hi % hi == 0)
            return ex_scale(e, ex_dig(e, d.root, d.lo, hi), c / m);
    }
    return opaque_dig(e, r, 1, c);
}

/* (a mod hi) div lo = a div lo mod (hi/lo)  (rule 14).  Multiples of hi are dropped first
 * (rule 5): what is left is common to many sums. */
const Ex *
ex_dig(Exprs *e, const Ex *a, i64 lo, i64 hi)
{
    const Ex *x = ex_div(e, hi ? remainders(e, a, hi) : a, lo);
    return hi ? ex_mod(e, x, hi / lo) : x;
}
