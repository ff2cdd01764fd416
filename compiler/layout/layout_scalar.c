/* Scalars: values that emitted code computes once from the extents. */
#include <stdlib.h>
#include <string.h>

#include "layout.h"

Scalars *
scalars_new(Exprs *e)
{
    Scalars *s = arena_new(ex_arena(e), Scalars);
    s->e = e;
    s->fill = -1;
    return s;
}

void
scalars_scratch(Scalars *s, void (*f)(void *), void *arg)
{
    Scalars kept = *s;
    ex_scratch(s->e, f, arg);
    *s = kept;
}

static void
set_nominal(Scalars *s, int var, i64 v)
{
    if (var >= s->vars) {
        i64 *old = s->nominal;
        int n = 2 * var + 32;
        s->nominal = arena_array(ex_arena(s->e), i64, n);
        if (s->vars)
            memcpy(s->nominal, old, (size_t)s->vars * sizeof *old);
        s->vars = n;
    }
    s->nominal[var] = v;
}

static int
add(Scalars *s, Scalar x, i64 nominal)
{
    Arena *a = ex_arena(s->e);
    if (s->n == s->cap) {
        Scalar *old = s->scalar;
        s->cap = s->cap ? 2 * s->cap : 16;
        s->scalar = arena_array(a, Scalar, s->cap);
        if (s->n)
            memcpy(s->scalar, old, (size_t)s->n * sizeof *old);
    }
    s->scalar[s->n] = x;
    set_nominal(s, x.var, nominal);
    return s->n++;
}

const Ex *
scalar_ex(const Scalars *s, int i)
{
    return ex_of_var(s->e, s->scalar[i].var);
}

static int
add_extent(Scalars *s, const char *name, i64 least, i64 most, i64 bound)
{
    static const i64 nominal[MAX_RANK] = {1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069,
                                          1087, 1091, 1093, 1097, 1103, 1109, 1117, 1123};
    if (s->nextents == MAX_RANK || s->n > s->nextents)
        diag_fatal(ex_arena(s->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "more than %d extents and strides at run time", MAX_RANK);
    s->most[s->nextents] = most;
    return add(s, (Scalar){.var = ex_var(s->e, name, least, bound)}, nominal[s->nextents++]);
}

int
scalar_extent(Scalars *s, const char *name)
{
    return add_extent(s, name, 0, EXTENT_MOST, INF);
}

int
scalar_stride(Scalars *s, const char *name)
{
    int i = scalar_extent(s, name);
    s->nstrides++;
    return i;
}

int
scalar_given(Scalars *s, const char *name)
{
    s->ngiven++;
    return scalar_stride(s, name);
}

int
scalar_first_stride(const Scalars *s)
{
    return s->nextents - s->nstrides + s->ngiven;
}

/* The numbers of a type, signed or not, that a fill may have. */
int
scalar_fill(Scalars *s, const char *name, const DType *t)
{
    const i64 most = t->bits < 64 ? ((i64)1 << t->bits) - 1 : INF;
    s->fill_least = t->bits < 64 ? -((i64)1 << (t->bits - 1)) : -INF;
    s->nstrides++;
    return s->fill = add_extent(s, name, s->fill_least, most, most);
}

int
scalar_find_stride(const Scalars *s, const char *name)
{
    for (int i = s->nextents - s->nstrides; i < s->nextents; i++)
        if (!strcmp(ex_var_name(s->e, s->scalar[i].var), name))
            return i;
    return -1;
}

void
scalar_estimate(Scalars *s, int i, i64 v)
{
    set_nominal(s, s->scalar[i].var, v);
}

static int
find_var(const Scalars *s, int var)
{
    int i = s->n - 1;
    while (i >= 0 && s->scalar[i].var != var)
        i--;
    return i;
}

/* The index of the scalar that is this atom; -1: none. */
static int
scalar_at(const Scalars *s, const Atom *a)
{
    return a->op == AT_VAR ? find_var(s, a->var) : -1;
}

bool
scalar_is(const Scalars *s, const Atom *a)
{
    return scalar_at(s, a) >= 0;
}

static i64
value(const Scalars *s, const Ex *x)
{
    i64 v;
    return ex_eval(x, s->nominal, &v) ? v : ESTIMATE_MOST;
}

int
scalar_index(Scalars *s, const Ex *x)
{
    int var = ex_as_var(x), i = var < 0 ? -1 : find_var(s, var);
    return i >= 0 ? i : scalar_index(s, scalar_named(s, x, INF));
}

static const Ex *
named(Scalars *s, Scalar x, i64 nominal, i64 max)
{
    x.var = ex_var(s->e, arena_printf(ex_arena(s->e), "s%d", s->n - s->nextents + 1), 0,
                   max);
    return scalar_ex(s, add(s, x, nominal));
}

static bool
is_sum(const Scalars *s, const Ex *x)
{
    bool sum = true;
    for (int i = 0; i < x->n; i++)
        sum &= scalar_at(s, x->t[i].atom) >= 0;
    return sum;
}

const Ex *
scalar_of(Scalars *s, const Ex *x, i64 max)
{
    if (is_sum(s, x) && (x->n == 0 || max == INF || (x->f.min >= 0 && x->f.max <= max)))
        return x;
    return scalar_named(s, x, max);
}

const Ex *
scalar_named(Scalars *s, const Ex *x, i64 max)
{
    for (int i = 0; i < s->n; i++)
        if (s->scalar[i].def == x)
            return scalar_ex(s, i);
    return named(s, (Scalar){.def = x}, value(s, x), max);
}

const Ex *
scalar_by_name(Scalars *s, const Ex *x, i64 max)
{
    const Ex *y = scalar_named(s, x, max);
    s->scalar[scalar_index(s, y)].by_name = true;
    return y;
}

const Ex *
scalar_plus(Scalars *s, const Ex *a, const Ex *b)
{
    const Ex *sum = ex_add(s->e, a, b);
    for (int i = 0; i < sum->n; i++) {
        const int k = scalar_at(s, sum->t[i].atom);
        const Ex *def = k < 0 ? NULL : s->scalar[k].def;
        if (!def || !is_sum(s, def))
            continue;
        const Ex *x = ex_sub(s->e, def, scalar_ex(s, k));
        x = ex_add_scaled(s->e, sum, x, sum->t[i].coef);
        if (x->n < sum->n) {
            sum = x;
            i = -1;
        }
    }
    return sum;
}

static int
ascending(const void *p, const void *q)
{
    int a = *(const int *)p, b = *(const int *)q;
    return (a > b) - (a < b);
}

static int
factors(const Scalars *s, int i, int *out)
{
    const Scalar *x = &s->scalar[i];
    if (!x->factor) {
        out[0] = i;
        return 1;
    }
    memcpy(out, x->factor, (size_t)x->nfactors * sizeof *out);
    return x->nfactors;
}

static const Ex *
product(Scalars *s, int i, int j)
{
    Arena *a = ex_arena(s->e);
    int room = s->scalar[i].nfactors + s->scalar[j].nfactors + 2;
    int *f = arena_array(a, int, room);
    int n = factors(s, i, f);
    i64 v;
    n += factors(s, j, f + n);
    qsort(f, (size_t)n, sizeof *f, ascending);
    for (int k = 0; k < s->n; k++)
        if (s->scalar[k].nfactors == n && !memcmp(s->scalar[k].factor, f,
                                                  (size_t)n * sizeof *f)) {
            arena_drop(a, f, (size_t)room * sizeof *f);
            return scalar_ex(s, k);
        }
    if (!int_mul(s->nominal[s->scalar[i].var], s->nominal[s->scalar[j].var], &v))
        v = ESTIMATE_MOST;
    return named(s, (Scalar){.nfactors = n, .factor = f}, v, INF);
}

const Ex *
scalar_times(Scalars *s, const Ex *a, const Ex *b)
{
    if (ex_is_const(b))
        return ex_scale(s->e, a, b->base);
    const Ex *sum = ex_scale(s->e, b, a->base);
    for (int i = 0; i < a->n; i++) {
        const Ex *x = ex_of_atom(s->e, a->t[i].atom);
        const Ex *part = ex_scale(s->e, x, b->base);
        for (int j = 0; j < b->n; j++)
            part = ex_add_scaled(s->e, part, product(s, scalar_at(s, a->t[i].atom),
                                                     scalar_at(s, b->t[j].atom)),
                                 b->t[j].coef);
        sum = ex_add_scaled(s->e, sum, part, a->t[i].coef);
    }
    return sum;
}

const Ex *
scalar_ceil(Scalars *s, const Ex *x, i64 k)
{
    return scalar_of(s, ex_div(s->e, ex_add(s->e, x, ex_const(s->e, k - 1)), k), INF);
}

static bool
eval_scalar(const Scalars *s, const Scalar *x, const i64 *val, i64 *v)
{
    if (x->def)
        return ex_eval(x->def, val, v);
    *v = 1;
    for (int i = 0; i < x->nfactors; i++)
        if (!int_mul(*v, val[s->scalar[x->factor[i]].var], v))
            return false;
    return true;
}

bool
scalars_eval(const Scalars *s, const i64 *extent, i64 *val)
{
    for (int i = 0; i < s->n; i++) {
        const Scalar *x = &s->scalar[i];
        if (i < s->nextents)
            val[x->var] = extent[i];
        else if (!eval_scalar(s, x, val, &val[x->var]))
            return false;
    }
    return true;
}

/* Near v, or ESTIMATE_MOST, and of no more factors than all values of x have. */
static i64
about(const Ex *x, i64 v)
{
    i64 k = int_gcd(x->f.mod, x->f.rem), r;
    v = (v == INT64_MIN || int_abs(v) > ESTIMATE_MOST ? ESTIMATE_MOST : int_abs(v)) / k | 1;
    return int_mul(k, v < 3 ? 3 : v, &r) ? r : INF;
}

i64
scalar_nominal(const Scalars *s, const Ex *x)
{
    return ex_is_const(x) ? x->base : about(x, value(s, x));
}

i64
scalar_about(const Ex *x, const i64 *val)
{
    i64 v;
    return ex_is_const(x) ? x->base : about(x, ex_eval(x, val, &v) ? v : ESTIMATE_MOST);
}

/* The definition of a scalar: c//8, or a product of other scalars. */
const char *
scalar_text(const Scalars *s, int i)
{
    const Scalar *f = &s->scalar[i];
    Buf b = buf_new(ex_arena(s->e));
    buf_add(&b, f->def ? ex_text(s->e, f->def) : "");
    for (int k = 0; k < f->nfactors; k++)
        buf_printf(&b, "%s%s", k ? "*" : "",
                   ex_var_name(s->e, s->scalar[f->factor[k]].var));
    return b.s;
}

void
scalars_print(Buf *b, const Scalars *s)
{
    for (int i = s->nextents; i < s->n; i++)
        buf_printf(b, "  %s = %s\n", ex_var_name(s->e, s->scalar[i].var),
                   scalar_text(s, i));
}
