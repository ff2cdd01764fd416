/* The inverse of skews, dim after dim, as decide_order.c decides them: the entries of an address
 * are known, and an expression of which all dims but one are known gives this one.
 *
 *     {X, (X + Y) % 3000}      X is the first entry, and Y = (second entry - X) % 3000 */
#include "decide_linear.h"

typedef struct {
    Layout *l;
    Exprs *e;
    const Ex **to;        /* of the variable of each dim: its value; NULL: not known yet */
    const Ex *value[MAX_ENTRIES];
} Skew;

/* Entries by their strides; false if those are not made of the slots of the entries after. */
static bool
split_address(Skew *s, const Ex *a)
{
    const Layout *l = s->l;
    for (int i = 0; i < l->nentry; i++) {
        const Entry *x = &l->entry[i];
        if (x->exact || x->ex->f.min < 0)
            return false;
        s->value[i] = ex_div(s->e, a, x->stride);
        a = ex_mod(s->e, a, x->stride);
    }
    return true;
}

static bool
is_known(const Skew *s, const Atom *a)
{
    const Ex *x = ex_of_atom(s->e, a);
    for (int d = 0; d < s->l->rank; d++)
        if (!s->to[s->l->dim[d].var] && ex_has(x, s->l->dim[d].var))
            return false;
    return true;
}

/* x with c * x = 1 modulo m, which is above 1; 0: there is none. */
static i64
inverse_modulo(i64 c, i64 m)
{
    i64 r = m, next = ((c % m) + m) % m, x = 0, more = 1;
    while (next) {
        i64 q = r / next, was = next, before = more;
        next = r - q * next;
        more = x - q * more;
        r = was;
        x = before;
    }
    return r == 1 ? (x + m) % m : 0;
}

/* Sets the dim whose multiple `c` is w, or is w modulo m; true if that tells it. */
static bool
set_dim(Skew *s, int var, i64 c, const Ex *w, i64 m)
{
    enum { MODULUS_MAX = INT32_MAX };
    const Ex *x = ex_scale(s->e, w, c < 0 ? -1 : 1);
    if (m) {
        i64 by = m > 1 && m <= MODULUS_MAX ? inverse_modulo(int_abs(c), m) : 0;
        if (!by || ex_of_var(s->e, var)->f.max >= m)
            return false;
        x = ex_mod(s->e, ex_scale(s->e, ex_mod(s->e, x, m), by), m);
    } else {
        x = ex_div(s->e, x, int_abs(c));
    }
    s->to[var] = x;
    return true;
}

/* The value of x, or its value modulo m, is `value`: with one dim that is not known. */
static bool
learn(Skew *s, const Ex *x, const Ex *value, i64 m)
{
    const Term *one = NULL;
    const Ex *rest = ex_const(s->e, x->base);
    for (int i = 0; i < x->n; i++) {
        const Term *t = &x->t[i];
        const Ex *atom = ex_of_atom(s->e, t->atom);
        if (is_known(s, t->atom))
            rest = ex_add_scaled(s->e, rest, ex_subst(s->e, atom, s->to), t->coef);
        else if (one || t->atom->op != AT_VAR)
            return false;
        else
            one = t;
    }
    return one && set_dim(s, one->atom->var, one->coef, ex_sub(s->e, value, rest), m);
}

/* The entry that is digit [lo, ..) of x; NULL: there is none. */
static const Atom *
digit_from(const Skew *s, const Ex *x, i64 lo, int *entry)
{
    for (int i = 0; i < s->l->nentry; i++) {
        const Ex *e = s->l->entry[i].ex;
        const Atom *a = e->n == 1 && e->base == 0 && e->t[0].coef == 1 ? e->t[0].atom : NULL;
        *entry = i;
        if (a && a->op == AT_DIG && a->x[0] == x && a->lo == lo)
            return a;
    }
    return NULL;
}

/* A sum of which the entries are digits: all of it, or modulo the end of the last digit, which
 * also a sum below it needs if it can be negative. */
static bool
learn_sum(Skew *s, const Ex *x)
{
    const Ex *sum = ex_const(s->e, 0);
    i64 lo = 1;
    int entry;
    for (const Atom *a; lo && (a = digit_from(s, x, lo, &entry));) {
        sum = ex_add_scaled(s->e, sum, s->value[entry], lo);
        lo = x->f.min >= 0 && a->hi > x->f.max ? 0 : a->hi;
    }
    return lo != 1 && learn(s, x, sum, lo);
}

static bool
learn_entry(Skew *s, int i)
{
    const Ex *x = s->l->entry[i].ex;
    if (learn(s, x, s->value[i], 0))
        return true;
    return x->n == 1 && x->t[0].atom->op == AT_DIG && !is_known(s, x->t[0].atom) &&
           learn_sum(s, x->t[0].atom->x[0]);
}

/* The values of the rows of entries. */
typedef struct {
    Exprs *e;
    const Ex *value[LINEAR_MAX];
} Rows;

static bool
follow(void *arg, int to, int from, i64 p, i64 q)
{
    Rows *r = arg;
    r->value[to] = ex_sub(r->e, ex_scale(r->e, r->value[to], p), ex_scale(r->e, r->value[from], q));
    return true;
}

static bool
is_unknown(const void *arg, const Atom *a)
{
    return !is_known(arg, a);
}

/* What entries that are sums of several dims tell together. */
static bool
learn_together(Skew *s)
{
    Linear *of = arena_new(ex_arena(s->e), Linear);
    Rows r = {.e = s->e};
    bool more = false;
    if (s->l->size > (i64)1 << 40)
        return false;
    for (int i = 0; i < s->l->nentry; i++) {
        const Ex *x = s->l->entry[i].ex, *left = s->value[i];
        const int row = of->rows;
        if (!linear_add(of, x, is_unknown, s))
            continue;
        for (int k = 0; k < x->n; k++)
            if (is_known(s, x->t[k].atom))
                left = ex_add_scaled(s->e, left, ex_subst(s->e, ex_of_atom(s->e, x->t[k].atom), s->to),
                                     -x->t[k].coef);
        r.value[row] = ex_sub(s->e, left, ex_const(s->e, x->base));
    }
    if (!linear_eliminate(of, follow, &r))
        return false;
    for (int i = 0; i < of->rows; i++) {
        const int c = linear_alone(of, i);
        if (c >= 0 && of->atom[c]->op == AT_VAR && is_unknown(s, of->atom[c]))
            more |= set_dim(s, of->atom[c]->var, of->row[i][c], r.value[i], 0);
    }
    return more;
}

bool
skew_inverse(Layout *l, Verdict *v)
{
    Arena *a = ex_arena(l->e);
    Skew s = {.l = l, .e = l->e};
    int var = layout_address_var(l);
    bool more = true;
    s.to = arena_array(a, const Ex *, ex_nvars(l->e));
    if (l->sigma || l->origin || !split_address(&s, ex_of_var(l->e, var)))
        return false;
    while (more) {
        more = false;
        for (int i = 0; i < l->nentry; i++)
            more |= learn_entry(&s, i);
        more = more || learn_together(&s);
    }
    const Ex **inverse = arena_array(a, const Ex *, l->rank + 1);
    for (int d = 0; d < l->rank; d++) {
        inverse[d] = l->dim[d].n == 1 ? ex_const(l->e, 0) : s.to[l->dim[d].var];
        if (!inverse[d])
            return false;
    }
    v->inverse = inverse;
    v->inverse_var = var;
    return true;
}
