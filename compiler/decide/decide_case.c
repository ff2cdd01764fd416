/* One-to-one, case by case.
 *
 * In (1 - B%2)*(2*N + B//2*N + P) + B%2*(2*P + B//2), pixel P of N in band B of a picture
 * whose planes of luma follow pairs of chroma, B%2 is multiplied by others.  For each of its values, the cases, a sum with one term a
 * value is left.  It is a mixed radix if each coefficient is above all that the smaller ones
 * reach.  Two cases have no address in common if one ends before the other begins, or if
 * they differ modulo a number that divides all coefficients of both. */
#include <stdlib.h>
#include <string.h>

#include "decide.h"

enum { CASES_MAX = 64 };

/* The addresses of a case are in [min, max] and are min modulo mod; 0: there is only min. */
typedef struct {
    i64 min, max, mod;
} AddressRange;

typedef struct {
    Exprs *e;
    const Ex *x;
    const DecideValue *value;
    int n, nranges;
    bool all;                      /* the ranges are those of all cases */
    AddressRange range[CASES_MAX];
} Cases;

/* The value with the fewest numbers in the atoms of x that are not variables; -1: there is
 * none, so x is linear if it has no other variables. */
static int
least_mixed(const Cases *c, const Ex *x)
{
    bool *used = arena_array(ex_arena(c->e), bool, ex_nvars(c->e));
    int best = -1;
    for (int i = 0; i < x->n; i++)
        if (x->t[i].atom->op != AT_VAR)
            ex_vars(ex_of_atom(c->e, x->t[i].atom), used);
    for (int i = 0; i < c->n; i++)
        if (used[c->value[i].var] &&
            (best < 0 || c->value[i].size < c->value[best].size))
            best = i;
    return best;
}

static i64
coefficient(const Ex *x, int var)
{
    for (int i = 0; i < x->n; i++)
        if (x->t[i].atom->op == AT_VAR && x->t[i].atom->var == var)
            return x->t[i].coef;
    return 0;
}

typedef struct {
    i64 step, size;
} Radix;

static int
by_step(const void *p, const void *q)
{
    i64 a = ((const Radix *)p)->step, b = ((const Radix *)q)->step;
    return (a > b) - (a < b);
}

/* Adds the range of a linear x, which has no value in fixed[]; false if it is no mixed
 * radix of the others. */
static bool
add_range(Cases *c, const Ex *x, const bool *fixed)
{
    Radix *of = arena_array(ex_arena(c->e), Radix, c->n);
    AddressRange r = {x->base, x->base, 0};
    i64 reach = 0, most;
    int n = 0;
    for (int i = 0; i < c->n; i++) {
        i64 coef = fixed[i] ? 0 : coefficient(x, c->value[i].var);
        if (fixed[i] || c->value[i].size == 1)
            continue;
        of[n++] = (Radix){int_abs(coef), c->value[i].size};
        if (!int_mul(coef, c->value[i].size - 1, &most) ||
            !int_add(coef < 0 ? r.min : r.max, most, coef < 0 ? &r.min : &r.max))
            return false;
        r.mod = int_gcd(r.mod, int_abs(coef));
    }
    qsort(of, (size_t)n, sizeof *of, by_step);
    for (int i = 0; i < n; i++) {
        i64 more = of[i].step * (of[i].size - 1);
        if (of[i].step <= reach || !int_add(reach, more, &reach))
            return false;
    }
    c->range[c->nranges++] = r;
    return true;
}

/* Splits x until it is linear; `most` more cases may be added. */
static bool
split(Cases *c, const Ex *x, bool *fixed, i64 most)
{
    int at = least_mixed(c, x);
    if (!work_try(ex_arena(c->e), x->size))
        return false;
    if (at < 0)
        return add_range(c, x, fixed);
    const DecideValue *v = &c->value[at];
    if (fixed[at] || v->size > most)
        return false;
    const Ex **to = arena_array(ex_arena(c->e), const Ex *, ex_nvars(c->e));
    fixed[at] = true;
    for (i64 i = 0; i < v->size; i++) {
        to[v->var] = ex_const(c->e, i);
        if (!split(c, ex_subst(c->e, x, to), fixed, most / v->size))
            return false;
    }
    fixed[at] = false;
    return true;
}

static bool
apart(const AddressRange *a, const AddressRange *b)
{
    i64 mod = int_gcd(a->mod, b->mod);
    return a->max < b->min || b->max < a->min ||
           (mod && int_mod(a->min, mod) != int_mod(b->min, mod));
}

static void
split_all(void *arg)
{
    Cases *c = arg;
    c->all = split(c, c->x, arena_array(ex_arena(c->e), bool, c->n), CASES_MAX);
}

/* A sum that does not fit 64 bits in one of the cases decides nothing. */
static bool
has_all(Cases *c)
{
    Diag d;
    Arena *a = ex_arena(c->e);
    bool ok = arena_run(a, &d, split_all, c);
    if (!ok && diag_is_final(&d))
        diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
    return ok && c->all;
}

Answer
case_injective(Exprs *e, const Ex *x, const DecideValue *value, int n, i64 *examined)
{
    Cases *c = arena_new(ex_arena(e), Cases);
    *c = (Cases){.e = e, .x = x, .value = value, .n = n};
    if (!has_all(c))
        return UNKNOWN;
    for (int i = 0; i < c->nranges; i++)
        for (int k = 0; k < i; k++)
            if (!apart(&c->range[i], &c->range[k]))
                return UNKNOWN;
    *examined += c->nranges;
    return YES;
}
