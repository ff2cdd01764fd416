/* The range of an entry as written, with the same value for all occurrences of a part:
 * (1 - Y%2)*X + Y%2*(14 - X) has the maximum 14, not 28.
 *
 * The atoms of an entry are the parts with a range 0..max that are neither sums nor
 * products: dims, digits, remainders, bitwise operations.  Atoms that are factors and have
 * few values are given each value in turn.  The entry is then a sum of atoms times
 * constants, plus an interval for all other parts. */
#include <string.h>

#include "layout.h"

enum { ATOMS_MAX = 32, FEW = 16, CASES_MAX = 1 << 10, WORK_MAX = 1 << 18,
       POINTS_MAX = 1 << 12 };

typedef struct {
    const Ast *x;
    i64 max;              /* its range is 0..max */
    bool tried;           /* it is given each value in turn, now this one: */
    i64 value;
} AtomSpan;

typedef struct {
    AstLookup *top;       /* gives the largest coordinate of a dim */
    const void *env;
    int n;
    AtomSpan atom[ATOMS_MAX];
} Spans;

/* The sum of coef[i] * atom i, plus a value in [min, max]. */
typedef struct {
    i64 coef[ATOMS_MAX], min, max;
} Sum;

static bool
same(const Ast *x, const Ast *y)
{
    if (x == y)
        return true;
    if (x->op != y->op || x->size != y->size)
        return false;
    if (x->op == OP_NUM || x->op == OP_SYM)
        return x->op == OP_NUM ? x->num == y->num : !strcmp(x->name, y->name);
    return same(x->x[0], y->x[0]) && (!x->x[1] || same(x->x[1], y->x[1]));
}

/* True if x is neither a number, a sum nor a product; its operands are not examined. */
static bool
is_opaque(const Ast *x)
{
    const OpMeaning *is = op_info[x->op].is;
    return x->op != OP_NUM && !is->sum[0] && !is->product && !is->times;
}

/* The operand y if x is k * y with a constant k, else NULL. */
static const Ast *
multiple(const Ast *x, i64 *k)
{
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (ast_times(x, i, k))
            return x->x[i];
    return NULL;
}

static AtomSpan *
find(Spans *s, const Ast *x)
{
    for (int i = 0; i < s->n; i++)
        if (same(s->atom[i].x, x))
            return &s->atom[i];
    return NULL;
}

/* Adds x as an atom if its range is 0..max; else x stays an interval.  False if there are
 * too many atoms. */
static bool
add_atom(Spans *s, const Ast *x, bool factor)
{
    i64 min, max;
    AtomSpan *t = find(s, x);
    if (!t) {
        if (s->n == ATOMS_MAX || !ast_range(x, s->top, s->env, &min, &max) || max >= INF)
            return false;
        if (min)
            return true;
        t = &s->atom[s->n++];
        *t = (AtomSpan){.x = x, .max = max};
    }
    t->tried |= factor && t->max < FEW;
    return true;
}

/* Adds the atoms of x; `factor`: x is part of a factor. */
static bool
collect(Spans *s, const Ast *x, bool factor)
{
    i64 k;
    if (is_opaque(x))
        return add_atom(s, x, factor);
    factor |= op_info[x->op].is->product && !multiple(x, &k);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (!collect(s, x->x[i], factor))
            return false;
    return true;
}

static bool
is_constant(const Spans *s, const Sum *a)
{
    bool constant = a->min == a->max;
    for (int i = 0; i < s->n; i++)
        constant &= a->coef[i] == 0;
    return constant;
}

/* *r = a + k*b */
static bool
add(const Spans *s, const Sum *a, const Sum *b, i64 k, Sum *r)
{
    i64 low, high, v;
    if (!int_mul(b->min, k, &low) || !int_mul(b->max, k, &high) ||
        !int_add(a->min, k < 0 ? high : low, &r->min) ||
        !int_add(a->max, k < 0 ? low : high, &r->max))
        return false;
    for (int i = 0; i < s->n; i++)
        if (!int_mul(b->coef[i], k, &v) || !int_add(a->coef[i], v, &r->coef[i]))
            return false;
    return true;
}

static bool
ends(const Spans *s, const Sum *a, i64 *min, i64 *max)
{
    i64 v;
    *min = a->min;
    *max = a->max;
    for (int i = 0; i < s->n; i++)
        if (!int_mul(a->coef[i], s->atom[i].max, &v) ||
            !int_add(v < 0 ? *min : *max, v, v < 0 ? min : max))
            return false;
    return true;
}

static bool
multiply(const Spans *s, const Sum *a, const Sum *b, Sum *r)
{
    Sum zero = {.min = 0};
    i64 p[2], q[2], v;
    if (is_constant(s, a))
        return add(s, &zero, b, a->min, r);
    if (is_constant(s, b))
        return add(s, &zero, a, b->min, r);
    *r = (Sum){.min = INT64_MAX, .max = INT64_MIN};
    if (!ends(s, a, &p[0], &p[1]) || !ends(s, b, &q[0], &q[1]))
        return false;
    for (int i = 0; i < 4; i++) {
        if (!int_mul(p[i / 2], q[i % 2], &v))
            return false;
        r->min = v < r->min ? v : r->min;
        r->max = v > r->max ? v : r->max;
    }
    return true;
}

static bool sum_of(Spans *s, const Ast *x, Sum *r);

static bool
sum_of_operands(Spans *s, const Ast *x, Sum *r)
{
    const OpMeaning *is = op_info[x->op].is;
    Sum a, b = {.min = 0};
    if (!sum_of(s, x->x[0], &a) || (x->x[1] && !sum_of(s, x->x[1], &b)))
        return false;
    if (is->product)
        return multiply(s, &a, &b, r);
    return add(s, r, &a, is->sum[0], r) && add(s, r, &b, is->sum[1], r);
}

static bool
sum_of(Spans *s, const Ast *x, Sum *r)
{
    const OpMeaning *is = op_info[x->op].is;
    const AtomSpan *t = is_opaque(x) ? find(s, x) : NULL;
    const Ast *of;
    i64 k;
    Sum a;
    *r = (Sum){.min = 0};
    if (t && t->tried)
        r->min = r->max = t->value;
    else if (t)
        r->coef[t - s->atom] = 1;
    else if ((of = multiple(x, &k)))
        return sum_of(s, of, &a) && add(s, r, &a, k, r);
    else if (is->sum[0] || is->product)
        return sum_of_operands(s, x, r);
    else
        return ast_range(x, s->top, s->env, &r->min, &r->max);
    return true;
}

/* Sets the next combination of values of the tried atoms; false after the last. */
static bool
next_case(Spans *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->atom[i].tried) {
            if (s->atom[i].value++ < s->atom[i].max)
                return true;
            s->atom[i].value = 0;
        }
    return false;
}

static bool
is_little(const Spans *s, const Ast *x)
{
    i64 cases = 1;
    for (int i = 0; i < s->n; i++)
        if (s->atom[i].tried && (cases *= s->atom[i].max + 1) > CASES_MAX)
            return false;
    return cases * x->size <= WORK_MAX;
}

bool
layout_range(const Ast *x, AstLookup *top, const void *env, i64 *min, i64 *max)
{
    Spans s = {.top = top, .env = env};
    Sum sum;
    i64 low, high, least = INT64_MAX, most = INT64_MIN;
    if (!ast_range(x, top, env, min, max))
        return false;
    if (!collect(&s, x, false) || !is_little(&s, x))
        return true;
    do {
        if (!sum_of(&s, x, &sum) || !ends(&s, &sum, &low, &high))
            return true;
        least = low < least ? low : least;
        most = high > most ? high : most;
    } while (next_case(&s));
    *min = least > *min ? least : *min;
    *max = most < *max ? most : *max;
    return true;
}

/* Moves x to the next corner over the dims with `used`; false after the last. */
static bool
next_corner(const Layout *l, const bool *used, i64 *x)
{
    for (int d = 0; d < l->rank; d++)
        if (used[l->dim[d].var] && l->dim[d].padded > 1) {
            x[d] = x[d] ? 0 : l->dim[d].padded - 1;
            if (x[d])
                return true;
        }
    return false;
}

static bool
next_of(const Layout *l, const bool *used, i64 *x)
{
    for (int d = l->rank - 1; d >= 0; d--)
        if (used[l->dim[d].var]) {
            if (++x[d] < l->dim[d].padded)
                return true;
            x[d] = 0;
        }
    return false;
}

bool
layout_least(const Layout *l, const Ex *ex, i64 *min, i64 *max, i64 *at)
{
    Arena *a = ex_arena(l->e);
    bool *used = arena_array(a, bool, ex_nvars(l->e)), all = true;
    i64 *val = arena_array(a, i64, ex_nvars(l->e)), x[MAX_RANK] = {0}, points = 1, v;
    ex_vars(ex, used);
    for (int d = 0; d < l->rank; d++)
        if (used[l->dim[d].var])
            all &= int_mul(points, l->dim[d].padded, &points) && points <= POINTS_MAX;
    *min = INT64_MAX;
    *max = INT64_MIN;
    do {
        for (int d = 0; d < l->rank; d++)
            val[l->dim[d].var] = x[d];
        if (!ex_eval(ex, val, &v))
            return false;
        if (v < *min)
            memcpy(at, x, sizeof x);
        *min = v < *min ? v : *min;
        *max = v > *max ? v : *max;
    } while (all ? next_of(l, used, x) : next_corner(l, used, x));
    return all;
}
