/* Functions that inspect expressions: digits, substitution, evaluation. */
#include "expr.h"

static const OpMeaning *
meaning(const Atom *a)
{
    return op_info[ex_operator(a)].is;
}

int
ex_as_var(const Ex *x)
{
    bool is = x->n == 1 && x->base == 0 && x->t[0].coef == 1 &&
              x->t[0].atom->op == AT_VAR;
    return is ? x->t[0].atom->var : -1;
}

int
ex_digit_of(const Atom *a, i64 *lo, i64 *hi)
{
    *lo = a->op == AT_DIG ? a->lo : 1;
    *hi = a->op == AT_DIG ? a->hi : 0;
    return a->op == AT_VAR ? a->var : a->op == AT_DIG ? ex_as_var(a->x[0]) : -1;
}

/* The modulus of the operands of an atom that counts modulo `mod`; ast_period is that of trees. */
static i64
period_in(const Atom *a, i64 mod)
{
    if (a->op == AT_DIG)
        return a->hi;
    return mod && meaning(a)->period ? meaning(a)->period(mod) : 0;
}

/* The same in x as the argument of `in`, a digit or NULL, which depends on x modulo `mod`. */
static void
each_digit(const Ex *x, const Atom *in, i64 mod, int var, DigitSeen *f, void *arg)
{
    for (int i = 0; i < x->n; i++) {
        const Term *t = &x->t[i];
        const Atom *a = t->atom;
        DigitUse u = {.mod = mod ? mod / int_gcd(mod, t->coef) : 0, .digit = in, .term = t};
        int of = ex_digit_of(a, &u.lo, &u.hi);
        if (of == var && a->op == AT_DIG) {
            u.digit = a;
            u.term = a->x[0]->t;
        }
        if (of == var)
            f(arg, &u);
        for (int k = 0; of < 0 && k < a->n; k++)
            each_digit(a->x[k], a->op == AT_DIG ? a : NULL, period_in(a, u.mod), var, f, arg);
    }
}

void
ex_each_digit(const Ex *x, int var, DigitSeen *f, void *arg)
{
    each_digit(x, NULL, 0, var, f, arg);
}

static const Ex *
subst_atom(Exprs *e, const Atom *a, const Ex *const *to)
{
    if (a->op == AT_VAR)
        return to[a->var] ? to[a->var] : ex_of_atom(e, a);
    const Ex *x = ex_subst(e, a->x[0], to);
    if (a->op == AT_DIG)
        return ex_dig(e, x, a->lo, a->hi);
    for (int i = 1; i < a->n; i++)
        x = meaning(a)->lower(e, x, ex_subst(e, a->x[i], to));
    return x;
}

const Ex *
ex_subst(Exprs *e, const Ex *x, const Ex *const *to)
{
    ExSum s = ex_sum_of(e, x->base);
    for (int i = 0; i < x->n; i++)
        ex_sum_add(&s, subst_atom(e, x->t[i].atom, to), x->t[i].coef);
    return ex_sum_end(&s);
}

static bool
eval_atom(const Atom *a, const i64 *val, i64 *out)
{
    i64 v, w;
    if (a->op == AT_VAR) {
        *out = val[a->var];
        return true;
    }
    if (!ex_eval(a->x[0], val, &v))
        return false;
    if (a->op == AT_DIG) {
        *out = int_div(a->hi ? int_mod(v, a->hi) : v, a->lo);
        return true;
    }
    for (int i = 1; i < a->n; i++)
        if (!ex_eval(a->x[i], val, &w) || !meaning(a)->value(v, w, &v))
            return false;
    *out = v;
    return true;
}

bool
ex_eval(const Ex *x, const i64 *val, i64 *out)
{
    i64 sum = x->base, v;
    for (int i = 0; i < x->n; i++)
        if (!eval_atom(x->t[i].atom, val, &v) ||
            !int_mul(v, x->t[i].coef, &v) || !int_add(sum, v, &sum))
            return false;
    *out = sum;
    return true;
}

void
ex_vars(const Ex *x, bool *used)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (a->op == AT_VAR)
            used[a->var] = true;
        for (int j = 0; j < a->n; j++)
            ex_vars(a->x[j], used);
    }
}

bool
ex_has(const Ex *x, int var)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        if (a->op == AT_VAR && a->var == var)
            return true;
        for (int j = 0; j < a->n; j++)
            if (ex_has(a->x[j], var))
                return true;
    }
    return false;
}

static bool
has_any(const Atom *a, const bool *of)
{
    if (a->op == AT_VAR && of[a->var])
        return true;
    for (int j = 0; j < a->n; j++)
        for (int i = 0; i < a->x[j]->n; i++)
            if (has_any(a->x[j]->t[i].atom, of))
                return true;
    return false;
}

const Ex *
ex_part(Exprs *e, const Ex *x, const bool *of, bool with)
{
    Term few[FEW_TERMS], *t = ex_room(e, few, x->n);
    i64 base = with ? 0 : x->base;
    int n = 0;
    for (int i = 0; i < x->n; i++)
        if (has_any(x->t[i].atom, of) == with)
            t[n++] = x->t[i];
    return n == x->n && base == x->base ? x : ex_sum(e, base, t, n);
}

static double
magnitude(Facts f)
{
    double low = -(double)f.min, high = (double)f.max;
    return low > high ? low : high;
}

/* The most that the printer adds to a numerator that may be negative. */
static double
lift_of(const Atom *a)
{
    bool lifted = a->op == AT_DIG && a->x[0]->f.min < 0;
    return lifted ? (double)(a->hi ? a->hi : a->lo) - (double)a->x[0]->f.min : 0;
}

bool
ex_is_narrow(const Ex *x, bool has_sign)
{
    enum { BITS = 31 };
    const double end = (double)(INT64_C(1) << BITS);
    double sum = (double)int_abs(x->base);
    if (x->f.min < 0 && !has_sign)
        return false;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        double k = (double)int_abs(x->t[i].coef);
        if (a->f.min < 0 && !has_sign)
            return false;
        sum += k * magnitude(a->f);
        for (int j = 0; j < a->n; j++)
            if (!ex_is_narrow(a->x[j], has_sign) ||
                magnitude(a->x[j]->f) + lift_of(a) >= end)
                return false;
    }
    return sum < end;
}
