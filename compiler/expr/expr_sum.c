/* Makes canonical sums. */
#include <stdlib.h>
#include <string.h>

#include "expr.h"

static int
by_form(const void *p, const void *q)
{
    return ex_order_atoms(((const Term *)p)->atom, ((const Term *)q)->atom);
}

/* Sorts the terms, adds equal atoms and removes zeros (rule 2).  Returns the new number. */
static int
collect(Exprs *e, Term *t, int n)
{
    int m = 0;
    if (n > 1)
        qsort(t, (size_t)n, sizeof *t, by_form);
    for (int i = 0; i < n; i++)
        if (m && t[m - 1].atom == t[i].atom) {
            if (!int_add(t[m - 1].coef, t[i].coef, &t[m - 1].coef))
                ex_overflow(e);
            m -= t[m - 1].coef == 0;
        } else if (t[i].coef) {
            t[m++] = t[i];
        }
    return m;
}

/* s*dig(x,a,b) + s*(b/a)*dig(x,b,e) = s*dig(x,a,e)      rule 22
 * s*dig(x,a,e) - s*(b/a)*dig(x,b,e) = s*dig(x,a,b)      rule 23
 * s*dig(x,a,e) - s*dig(x,a,b) = s*(b/a)*dig(x,b,e)      rule 23
 * Chains merge by repetition (rules 18 to 21).
 * If true, *k * *out replaces both terms. */
static bool
merge(Exprs *e, const Term *p, const Term *q, Digit *out, i64 *k)
{
    Digit d = ex_digit(e, p->atom), u = ex_digit(e, q->atom);
    i64 l, r;
    *k = p->coef;
    if (d.root == u.root && d.lo == u.lo && p->coef == -q->coef && u.hi &&
        u.hi != d.hi && d.hi % u.hi == 0) {
        *out = (Digit){d.root, u.hi, d.hi};
        return int_mul(*k, u.hi / u.lo, k);
    }
    if (d.root != u.root || !int_mul(q->coef, d.lo, &l) ||
        !int_mul(p->coef, u.lo, &r))
        return false;
    if (d.hi == u.lo && l == r) {
        *out = (Digit){d.root, d.lo, u.hi};
        return true;
    }
    if (d.hi == u.hi && r > INT64_MIN && l == -r && u.lo > d.lo && u.lo % d.lo == 0) {
        *out = (Digit){d.root, d.lo, u.lo};
        return true;
    }
    return false;
}

Term *
ex_room(Exprs *e, Term few[FEW_TERMS], int n)
{
    if (n > FEW_TERMS)
        return arena_array(ex_arena(e), Term, n);
    work_spend(ex_arena(e), 1 + n / 4);
    return few;
}

/* Replaces terms i and j by k * d and returns the new sum.  A digit that is equal to its
 * root is replaced by the terms of the root. */
static const Ex *
replace(Exprs *e, i64 base, Term *t, int n, int i, int j, Digit d, i64 k)
{
    const Ex *x = ex_scale(e, ex_dig(e, d.root, d.lo, d.hi), k);
    Term few[FEW_TERMS], *u = ex_room(e, few, n + x->n);
    int m = 0;
    for (int v = 0; v < n; v++)
        if (v != i && v != j)
            u[m++] = t[v];
    memcpy(u + m, x->t, (size_t)x->n * sizeof *u);
    if (!int_add(base, x->base, &base))
        ex_overflow(e);
    return ex_sum(e, base, u, m + x->n);
}

const Ex *
ex_sum(Exprs *e, i64 base, const Term *terms, int n)
{
    Term few[FEW_TERMS], *t = ex_room(e, few, n);
    Digit d;
    i64 k;
    memcpy(t, terms, (size_t)n * sizeof *t);
    n = collect(e, t, n);
    for (int i = 0; i < n; i++)
        if (t[i].coef == INT64_MIN)
            ex_overflow(e);
    for (int i = 0; i < n; i++, work_spend(ex_arena(e), n))
        for (int j = 0; j < n; j++)
            if (i != j && merge(e, &t[i], &t[j], &d, &k))
                return replace(e, base, t, n, i, j, d, k);
    return ex_intern(e, base, t, n);
}

ExSum
ex_sum_of(Exprs *e, i64 base)
{
    ExSum s;
    s.e = e;
    s.base = base;
    s.n = 0;
    s.room = FEW_TERMS;
    s.more = NULL;
    return s;
}

static Term *
summed(ExSum *s)
{
    return s->more ? s->more : s->few;
}

/* Rules 2, 65. */
void
ex_sum_add(ExSum *s, const Ex *x, i64 k)
{
    i64 base;
    if (x->n > s->room - s->n) {
        Term *more = arena_array(ex_arena(s->e), Term, 2 * (s->n + x->n));
        memcpy(more, summed(s), (size_t)s->n * sizeof *more);
        s->room = 2 * (s->n + x->n);
        s->more = more;
    }
    for (int i = 0; i < x->n; i++) {
        Term *t = &summed(s)[s->n++];
        t->atom = x->t[i].atom;
        if (!int_mul(x->t[i].coef, k, &t->coef))
            ex_overflow(s->e);
    }
    if (!int_mul(x->base, k, &base) || !int_add(base, s->base, &s->base))
        ex_overflow(s->e);
}

const Ex *
ex_sum_end(ExSum *s)
{
    return ex_sum(s->e, s->base, summed(s), s->n);
}
