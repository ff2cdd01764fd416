/* One-to-one, factor by factor.
 *
 * The address determines the entries.  A coordinate is cut into independent values where no
 * atom of an entry needs both sides of the cut: 24 million values of C in {C//6, C%6//4,
 * C%6%4} are C//6 and the 6 values of C%6.  Values and entries that have nothing in common
 * are independent too, so a layout is one-to-one if each connected group is: in
 * {A, (H + 4)%12} those of A and H, of which 12 values are examined.  A value that is an
 * entry by itself needs no examination.  An entry whose terms are the digits of its value is an
 * entry for each: of Y = 2*h + l in {Y, X + Y%2*(14 - 2*X)} only l has to do with X. */
#include <stdlib.h>
#include <string.h>

#include "decide_factor.h"

enum { CUTS_MAX = 24, EXAMINED_MAX = 1 << 20 };

typedef struct {
    i64 key, index;
} Image;

/* The bounds lo and hi of a digit of k*var + ... are cuts at lo/k and hi/k of var.  Unlike
 * those of a plan they are of sums too: they are tried, and most are not clean. */
static void
cuts_of_digit(void *arg, const DigitUse *u)
{
    if (!u->digit)
        return;
    cuts_add(arg, u->digit->lo / int_gcd(u->digit->lo, u->term->coef));
    cuts_add(arg, u->digit->hi / int_gcd(u->digit->hi, u->term->coef));
}

/* True if no atom has both values p and q. */
static bool
apart(Factors *f, const Ex *x, int p, int q)
{
    for (int i = 0; i < x->n; i++) {
        bool *used = arena_array(f->arena, bool, ex_nvars(f->e));
        ex_vars(ex_of_atom(f->e, x->t[i].atom), used);
        if (used[p] && used[q])
            return false;
    }
    return true;
}

/* True if every entry is a sum of atoms of dim//at and atoms of dim%at. */
static bool
cuts_clean(Factors *f, int dim, i64 at)
{
    i64 above = int_ceil_div(f->limit[dim], at);
    int high = ex_var(f->e, "high", 0, above - 1), low = ex_var(f->e, "low", 0, at - 1);
    const Ex **to = arena_array(f->arena, const Ex *, ex_nvars(f->e));
    to[f->l->dim[dim].free] = ex_add(f->e, ex_scale(f->e, ex_of_var(f->e, high), at),
                                     ex_of_var(f->e, low));
    for (int i = 0; i < f->nentry; i++)
        if (!apart(f, ex_subst(f->e, f->l->entry[i].written, to), high, low))
            return false;
    return true;
}

static bool
add_value(Factors *f, int dim, i64 weight, i64 size, const Ex **sum)
{
    if (f->n == FACTOR_VALUES_MAX)
        return false;
    int var = ex_var(f->e, f->l->dim[dim].name, 0, size - 1);
    f->value[f->n] = (FactorValue){.dim = dim, .var = var, .group = f->n, .weight = weight,
                                   .size = size};
    f->n++;
    *sum = ex_add_scaled(f->e, *sum, ex_of_var(f->e, var), weight);
    return true;
}

/* Cut a dim into values; *sum is the coordinate that they make up. */
static bool
cut_dim(Factors *f, int dim, const Ex **sum)
{
    i64 cut[CUTS_MAX], weight = 1;
    Cuts c = {.cut = cut, .below = f->limit[dim], .most = CUTS_MAX};
    *sum = ex_const(f->e, 0);
    for (int i = 0; i < f->nentry; i++)
        ex_each_digit(f->l->entry[i].written, f->l->dim[dim].free, cuts_of_digit, &c);
    for (int i = 0; i < c.n; i++)
        if (c.cut[i] % weight == 0 && cuts_clean(f, dim, c.cut[i])) {
            if (!add_value(f, dim, weight, c.cut[i] / weight, sum))
                return false;
            weight = c.cut[i];
        }
    return add_value(f, dim, weight, int_ceil_div(f->limit[dim], weight), sum);
}

/* Give the values that an entry uses, and the entry, one group. */
static void
join(Factors *f, int entry)
{
    bool *used = arena_array(f->arena, bool, ex_nvars(f->e));
    int to = -1;
    ex_vars(f->entry[entry], used);
    for (int i = 0; i < f->n; i++) {
        if (!used[f->value[i].var])
            continue;
        int from = f->value[i].group;
        to = to < 0 ? from : to;
        for (int j = 0; j < f->n; j++)
            f->value[j].group = f->value[j].group == from ? to : f->value[j].group;
        for (int j = 0; j < entry; j++)
            f->group[j] = f->group[j] == from ? to : f->group[j];
    }
    f->group[entry] = to;
}

static int
by_coef(const void *p, const void *q)
{
    const i64 a = int_abs(((const Term *)p)->coef), b = int_abs(((const Term *)q)->coef);
    return (a > b) - (a < b);
}

i64
factor_common(const Term *t, int n)
{
    i64 g = 0;
    for (int i = 0; i < n; i++)
        g = int_gcd(int_abs(t[i].coef), g);
    return g;
}

/* Whether the values of x are all within less than a step. */
static bool
is_within(const Ex *x, i64 step)
{
    i64 reach;
    return x->f.min > -INF && x->f.max < INF && int_add(x->f.max, -x->f.min, &reach) && reach < step;
}

/* Add an entry.  Where the smaller terms of its sum come to less than a step of all others, it
 * determines both, so it is two entries.  False: there are too many. */
static bool
add_entry(Factors *f, int entry, const Ex *x)
{
    Term *t = arena_copy(f->arena, x->t, (size_t)x->n * sizeof *t);
    const Ex *below = ex_const(f->e, 0), *part = ex_const(f->e, x->base);
    qsort(t, (size_t)x->n, sizeof *t, by_coef);
    for (int i = 0; i < x->n; i++) {
        const Ex *atom = ex_of_atom(f->e, t[i].atom);
        if (i && f->nentry < FACTOR_VALUES_MAX && is_within(below, factor_common(t + i, x->n - i))) {
            f->of[f->nentry] = entry;
            f->entry[f->nentry++] = part;
            part = ex_const(f->e, 0);
        }
        part = ex_add_scaled(f->e, part, atom, t[i].coef);
        below = ex_add_scaled(f->e, below, atom, t[i].coef);
    }
    if (f->nentry == FACTOR_VALUES_MAX)
        return false;
    f->of[f->nentry] = entry;
    f->entry[f->nentry++] = part;
    return true;
}

static bool
cut_all(Factors *f)
{
    const Ex *sum[MAX_RANK];
    const int entries = f->nentry = f->l->nentry;
    for (int d = 0; d < f->l->rank; d++)
        if (!cut_dim(f, d, &sum[d]))
            return false;
    const Ex **to = arena_array(f->arena, const Ex *, ex_nvars(f->e));
    for (int d = 0; d < f->l->rank; d++)
        to[f->l->dim[d].free] = sum[d];
    f->nentry = 0;
    for (int i = 0; i < entries; i++)
        if (!add_entry(f, i, ex_subst(f->e, f->l->entry[i].written, to)))
            return false;
    for (int i = 0; i < f->nentry; i++)
        join(f, i);
    return true;
}

i64
factor_combinations(const Factors *f, int group)
{
    i64 n = 1;
    for (int i = 0; i < f->n; i++)
        if (f->value[i].group == group && !int_mul(n, f->value[i].size, &n))
            return INF;
    return n;
}

/* True if one entry of the group is a multiple of its only value. */
static bool
is_alone(const Factors *f, int group)
{
    int n = 0;
    bool found = false;
    for (int i = 0; i < f->n; i++)
        n += f->value[i].group == group && f->value[i].size > 1;
    for (int i = 0; i < f->nentry; i++)
        found |= f->group[i] == group && f->entry[i]->n == 1 &&
                 f->entry[i]->t[0].atom->op == AT_VAR;
    return n == 1 && found;
}

void
factor_set_values(const Factors *f, int group, i64 index, i64 *val)
{
    for (int i = 0; i < f->n; i++) {
        const FactorValue *t = &f->value[i];
        val[t->var] = 0;
        if (t->group == group) {
            val[t->var] = index % t->size;
            index /= t->size;
        }
    }
}

/* The entries of a group as one number; false if it does not fit 64 bits. */
static bool
key_of(const Factors *f, int group, const i64 *val, i64 *key)
{
    i64 v;
    *key = 0;
    for (int i = 0; i < f->nentry; i++) {
        const Ex *x = f->entry[i];
        if (f->group[i] != group)
            continue;
        if (x->f.max == INF || !ex_eval(x, val, &v) ||
            !int_mul(*key, x->f.max - x->f.min + 1, key) ||
            !int_add(*key, v - x->f.min, key))
            return false;
    }
    return true;
}

static int
by_key(const void *p, const void *q)
{
    const Image *a = p, *b = q;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->index > b->index) - (a->index < b->index);
}

static void
coordinates(const Factors *f, int group, i64 index, i64 *val, i64 *x)
{
    memset(x, 0, MAX_RANK * sizeof *x);
    factor_set_values(f, group, index, val);
    for (int i = 0; i < f->n; i++)
        x[f->value[i].dim] += f->value[i].weight * val[f->value[i].var];
}

/* NO if both combinations are elements at one address. */
static Answer
collide(Factors *f, int group, i64 *val, i64 p, i64 q)
{
    i64 a, b;
    coordinates(f, group, p, val, f->v->x);
    coordinates(f, group, q, val, f->v->y);
    for (int d = 0; d < f->l->rank; d++)
        if (f->v->x[d] >= f->limit[d] || f->v->y[d] >= f->limit[d])
            return UNKNOWN;
    bool same = layout_address(f->l, f->v->x, &a) && layout_address(f->l, f->v->y, &b) &&
                a == b;
    return same ? NO : UNKNOWN;
}

bool
factor_is_asked(const Factors *f, int group, const i64 *val)
{
    i64 x[MAX_RANK] = {0};
    bool other[MAX_RANK] = {false}, asked = true;
    for (int i = 0; i < f->n; i++) {
        const FactorValue *t = &f->value[i];
        other[t->dim] |= t->group != group && t->size > 1;
        x[t->dim] += t->weight * val[t->var];
    }
    for (int d = 0; d < f->l->rank; d++)
        asked &= other[d] || x[d] < f->limit[d];
    return asked;
}

static Answer
examine(Factors *f, int group, i64 n)
{
    i64 *val = arena_array(f->arena, i64, ex_nvars(f->e));
    Image *image = arena_array(f->arena, Image, n);
    int units = 1;
    i64 m = 0;
    for (int i = 0; i < f->nentry; i++)
        units += f->group[i] == group ? f->entry[i]->size : 0;
    for (i64 i = 0; i < n; i++) {
        factor_set_values(f, group, i, val);
        image[m].index = i;
        if (!work_try(f->arena, units) || !key_of(f, group, val, &image[m].key))
            return UNKNOWN;
        m += factor_is_asked(f, group, val);
    }
    qsort(image, (size_t)m, sizeof *image, by_key);
    f->v->examined += m;
    for (i64 i = 1; i < m; i++)
        if (image[i].key == image[i - 1].key)
            return collide(f, group, val, image[i - 1].index, image[i].index);
    return YES;
}

/* The same for a group with one entry, without looking at all combinations. */
static Answer
examine_cases(Factors *f, int group)
{
    DecideValue *value = arena_array(f->arena, DecideValue, f->n);
    const Ex *entry = NULL;
    int n = 0, entries = 0;
    for (int i = 0; i < f->n; i++)
        if (f->value[i].group == group)
            value[n++] = (DecideValue){f->value[i].var, f->value[i].size};
    for (int i = 0; i < f->nentry; i++)
        if (f->group[i] == group && entries++ == 0)
            entry = f->entry[i];
    return entries == 1 ? case_injective(f->e, entry, value, n, &f->v->examined) : UNKNOWN;
}

Factors *
factors_new(Layout *l, const i64 *limit, Verdict *v)
{
    Factors *f = arena_new(ex_arena(l->e), Factors);
    *f = (Factors){.l = l, .e = l->e, .arena = ex_arena(l->e), .v = v, .limit = limit};
    return cut_all(f) ? f : NULL;
}

Answer
factor_injective(Layout *l, const i64 *limit, Verdict *v)
{
    Factors *f = factors_new(l, limit, v);
    v->examined = 0;
    Answer all = f ? YES : UNKNOWN;
    for (int g = 0; all == YES && g < f->n; g++) {
        i64 n = factor_combinations(f, g);
        if (f->value[g].group == g && n > 1 && !is_alone(f, g))
            all = examine_cases(f, g);
        if (all == UNKNOWN)
            all = n <= EXAMINED_MAX ? examine(f, g, n) : UNKNOWN;
    }
    return all;
}
