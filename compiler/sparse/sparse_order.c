/* The order of a source: the lexicographic order of the coordinates of its levels, or the
 * order of addresses of a layout. */
#include "sparse_parts.h"

/* What of the source's order the keys have not used yet: from variable `at` on; of that
 * variable the digits below `hi`, 0: all. */
typedef struct {
    const SparseFormat *f;
    const bool *fixed;
    int at;
    i64 hi;
} Order;

static int
variable(const Order *o)
{
    return o->f->dense ? o->f->address : o->f->level[o->at].var;
}

/* Skip levels that do not order: fixed ones, those with one coordinate, nth. */
static bool
settle(Order *o)
{
    int n = o->f->dense ? 1 : o->f->nlevel;
    while (o->at < n && !o->f->dense &&
           (o->f->level[o->at].n == 1 || (o->fixed && o->fixed[variable(o)])))
        o->at++;
    return o->at < n;
}

/* The next digit is that of the atom. */
static bool
take_digit(Order *o, Exprs *e, const Atom *atom)
{
    if (!settle(o))
        return false;
    Digit d = ex_digit(e, atom);
    if (ex_as_var(d.root) != variable(o) || d.hi != o->hi)
        return false;
    o->hi = d.lo == 1 ? 0 : d.lo;
    o->at += d.lo == 1;
    return true;
}

/* The term of x with the largest coefficient below `below`; NULL: none. */
static const Term *
next_term(const Ex *x, i64 below)
{
    const Term *best = NULL;
    for (int i = 0; i < x->n; i++)
        if (x->t[i].coef < below && (!best || x->t[i].coef > best->coef))
            best = &x->t[i];
    return best;
}

bool
sparse_is_radix(const Ex *x)
{
    i64 least = 1;                 /* what the coefficient of the next term is at least */
    for (int done = 0; done < x->n; done++) {
        const Term *t = NULL;
        for (int i = 0; i < x->n; i++)
            if (x->t[i].coef >= least && (!t || x->t[i].coef < t->coef))
                t = &x->t[i];
        if (!t || t->atom->f.min < 0 || t->atom->f.max == INF ||
            t->atom->f.max == 0 || !int_mul(t->coef, t->atom->f.max + 1, &least))
            return false;
    }
    return true;
}

/* The key is the next digits, or a number that they make. */
static bool
take(Order *o, Exprs *e, const Ex *key)
{
    if (!sparse_is_radix(key))
        return false;
    const Term *t = NULL;
    for (i64 below = INF; (t = next_term(key, below)); below = t->coef)
        if (!take_digit(o, e, t->atom))
            return false;
    return true;
}

bool
sparse_ordered(const SparseFormat *src, Exprs *e, const Ex *const *key, int n,
               const bool *fixed)
{
    Order o = {.f = src, .fixed = fixed};
    if (src->loose || src->shuffled)
        return n == 0;
    for (int i = 0; i < n; i++)
        if (!take(&o, e, key[i]))
            return false;
    return true;
}
