/* The inverse of a layout from that of its factors: the address is split into the entries of each
 * group of values, and a list has the combination of values for each combination of these entries.
 *
 *     {C//6, C%6//4, C%6%4}      C//6 is an entry; a list of 8 numbers has C%6
 *     {T[C//64], C%64}           a list has C//64: it is the inverse of the table */
#include <string.h>

#include "decide_factor.h"

enum { KEYS_MAX = 1 << 16 };

typedef struct {
    Factors *f;
    Exprs *e;
    const Ex *at[FACTOR_VALUES_MAX];      /* each entry of f, over the address */
    const Ex *value[FACTOR_VALUES_MAX];
} Inverse;

/* The entries of f whose sum is v, from the one with the smallest coefficients on: the sum of the
 * others is a multiple of their common divisor, and it reaches less. */
static void
split_sum(Inverse *s, int entry, const Ex *v)
{
    const Factors *f = s->f;
    int from = 0, to;
    while (from < f->nentry && f->of[from] != entry)
        from++;
    for (to = from; to < f->nentry && f->of[to] == entry; to++)
        ;
    for (int i = from; i + 1 < to; i++) {
        i64 step = 0, least = f->entry[i]->f.min;
        for (int j = i + 1; j < to; j++)
            step = int_gcd(step, factor_common(f->entry[j]->t, f->entry[j]->n));
        const Ex *low = ex_mod(s->e, ex_sub(s->e, v, ex_const(s->e, least)), step);
        s->at[i] = ex_add(s->e, low, ex_const(s->e, least));
        v = ex_sub(s->e, v, s->at[i]);
    }
    if (to > from)
        s->at[to - 1] = v;
}

/* Entries by their strides; false if those are not made of the slots of the entries after. */
static bool
split_address(Inverse *s, const Ex *a)
{
    const Layout *l = s->f->l;
    for (int i = 0; i < l->nentry; i++) {
        const Entry *x = &l->entry[i];
        if (x->ex->f.min < 0 || x->stride < 1)
            return false;
        split_sum(s, i, ex_div(s->e, a, x->stride));
        a = ex_mod(s->e, a, x->stride);
    }
    return true;
}

/* An entry is its least value and some of these steps. */
static i64
step_of(const Ex *x)
{
    return x->n ? factor_common(x->t, x->n) : 1;
}

static i64
steps_of(const Ex *x)
{
    i64 span;
    return x->f.min > -INF && x->f.max < INF && int_add(x->f.max, -x->f.min, &span)
               ? span / step_of(x) + 1 : INF;
}

/* The entries of a group as one number: of the values val[], and over the address. */
static i64
key_of(const Factors *f, int group, const i64 *val)
{
    i64 key = 0, v;
    for (int i = 0; i < f->nentry; i++)
        if (f->group[i] == group && ex_eval(f->entry[i], val, &v))
            key = key * steps_of(f->entry[i]) + (v - f->entry[i]->f.min) / step_of(f->entry[i]);
    return key;
}

static const Ex *
key_at(const Inverse *s, int group)
{
    const Factors *f = s->f;
    const Ex *key = ex_const(s->e, 0);
    for (int i = 0; i < f->nentry; i++) {
        if (f->group[i] != group)
            continue;
        const Ex *x = ex_sub(s->e, s->at[i], ex_const(s->e, f->entry[i]->f.min));
        key = ex_add(s->e, ex_scale(s->e, key, steps_of(f->entry[i])), ex_div(s->e, x, step_of(f->entry[i])));
    }
    return key;
}

/* The number of keys of a group; 0: too many. */
static int
count_keys(const Factors *f, int group)
{
    i64 n = 1;
    for (int i = 0; i < f->nentry; i++)
        if (f->group[i] == group && (!int_mul(n, steps_of(f->entry[i]), &n) || n > KEYS_MAX))
            return 0;
    return (int)n;
}

/* A list with a number for the combination of values at each key, -1: there is none.  The number is
 * the combination with the first value as the fastest digit, with the last one, or a value alone. */
typedef enum { FIRST, LAST, ALONE } Numbers;

static i64
number_of(const Factors *f, int group, const i64 *val, Numbers kind, int alone)
{
    i64 x = 0;
    for (int i = 0; i < f->n; i++) {
        const FactorValue *t = &f->value[kind == FIRST ? f->n - 1 - i : i];
        if (t->group == group)
            x = x * t->size + val[t->var];
    }
    return kind == ALONE ? val[f->value[alone].var] : x;
}

static i64 *
numbers(const Factors *f, int group, int keys, Numbers kind, int alone)
{
    i64 *list = arena_array(f->arena, i64, keys), *val = arena_array(f->arena, i64, ex_nvars(f->e));
    i64 n = factor_combinations(f, group);
    memset(list, -1, (size_t)keys * sizeof *list);
    for (i64 i = 0; i < n; i++) {
        factor_set_values(f, group, i, val);
        if (factor_is_asked(f, group, val))
            list[key_of(f, group, val)] = number_of(f, group, val, kind, alone);
    }
    return list;
}

/* The values of a group from the number of their combination. */
static bool
set_combination(Inverse *s, int group, int keys, Numbers kind)
{
    const Factors *f = s->f;
    const Ex *x = inverse_list(s->e, numbers(f, group, keys, kind, 0), keys, key_at(s, group));
    for (int i = 0; x && i < f->n; i++) {
        const int at = kind == FIRST ? i : f->n - 1 - i;
        if (f->value[at].group != group)
            continue;
        s->value[at] = ex_mod(s->e, x, f->value[at].size);
        x = ex_div(s->e, x, f->value[at].size);
    }
    return x != NULL;
}

static bool
set_each(Inverse *s, int group, int keys)
{
    const Factors *f = s->f;
    bool all = true;
    for (int i = 0; i < f->n; i++)
        if (f->value[i].group == group) {
            s->value[i] = inverse_list(s->e, numbers(f, group, keys, ALONE, i), keys, key_at(s, group));
            all &= s->value[i] != NULL;
        }
    return all;
}

/* In the way that has the shortest lists. */
static bool
set_group(Inverse *s, int group)
{
    const Factors *f = s->f;
    const int keys = count_keys(f, group);
    int runs[3] = {0};
    if (!keys || factor_combinations(f, group) > KEYS_MAX)
        return false;
    work_spend(f->arena, 4 * keys);
    for (int i = 0; i < f->n; i++)
        if (f->value[i].group == group)
            runs[ALONE] += inverse_list_runs(f->arena, numbers(f, group, keys, ALONE, i), keys);
    runs[FIRST] = inverse_list_runs(f->arena, numbers(f, group, keys, FIRST, 0), keys);
    runs[LAST] = inverse_list_runs(f->arena, numbers(f, group, keys, LAST, 0), keys);
    if (runs[ALONE] <= runs[FIRST] && runs[ALONE] <= runs[LAST])
        return set_each(s, group, keys);
    return set_combination(s, group, keys, runs[FIRST] <= runs[LAST] ? FIRST : LAST);
}

/* The entry of a group that is a multiple of its only value; -1: there is none. */
static int
entry_alone(const Factors *f, int group)
{
    int n = 0;
    for (int i = 0; i < f->n; i++)
        n += f->value[i].group == group && f->value[i].size > 1;
    for (int i = 0; n == 1 && i < f->nentry; i++)
        if (f->group[i] == group && f->entry[i]->n == 1 && f->entry[i]->t[0].atom->op == AT_VAR)
            return i;
    return -1;
}

/* The value of which entry i is a multiple. */
static void
set_alone(Inverse *s, int i)
{
    const Factors *f = s->f;
    const Ex *x = ex_sub(s->e, s->at[i], ex_const(s->e, f->entry[i]->base));
    const Term *t = &f->entry[i]->t[0];
    for (int j = 0; j < f->n; j++)
        if (f->value[j].var == t->atom->var)
            s->value[j] = ex_div(s->e, t->coef < 0 ? ex_scale(s->e, x, -1) : x, int_abs(t->coef));
}

static bool
set_values(Inverse *s)
{
    const Factors *f = s->f;
    for (int i = 0; i < f->n; i++)
        s->value[i] = ex_const(s->e, 0);
    for (int g = 0; g < f->n; g++) {
        if (f->value[g].group != g || factor_combinations(f, g) == 1)
            continue;
        const int i = entry_alone(f, g);
        if (i >= 0)
            set_alone(s, i);
        else if (!set_group(s, g))
            return false;
    }
    return true;
}

bool
factor_inverse(Layout *l, Verdict *v)
{
    Arena *a = ex_arena(l->e);
    i64 limit[MAX_RANK];
    int var = l->sigma ? l->sigma_var : layout_address_var(l);
    const Ex *at = ex_of_var(l->e, var);
    if (l->view || l->origin || (l->sigma && (sigma_decide(l, &at, v) != YES || !at)))
        return false;
    for (int d = 0; d < l->rank; d++)
        limit[d] = l->dim[d].padded;
    Inverse *s = arena_new(a, Inverse);
    *s = (Inverse){.f = factors_new(l, limit, v), .e = l->e};
    if (!s->f || !split_address(s, at) || !set_values(s))
        return false;
    const Ex **x = arena_array(a, const Ex *, l->rank + 1);
    for (int d = 0; d < l->rank; d++)
        x[d] = ex_const(l->e, 0);
    for (int i = 0; i < s->f->n; i++)
        x[s->f->value[i].dim] = ex_add_scaled(l->e, x[s->f->value[i].dim], s->value[i], s->f->value[i].weight);
    v->inverse = x;
    v->inverse_var = var;
    return true;
}
