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

/* The key is the next digit. */
static bool
take(Order *o, Exprs *e, const Ex *key)
{
    if (ex_is_const(key))
        return true;
    if (key->n != 1 || key->t[0].coef != 1 || !settle(o))
        return false;
    Digit d = ex_digit(e, key->t[0].atom);
    if (ex_as_var(d.root) != variable(o) || d.hi != o->hi)
        return false;
    o->hi = d.lo == 1 ? 0 : d.lo;
    o->at += d.lo == 1;
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
