/* Computes the values of parameters.  They depend on the element size, which may be a
 * fraction of a byte; therefore intermediate values are rational. */
#include <string.h>

#include "layout.h"

enum { MAX_STEPS = 10000 };

typedef struct { i64 num, den; } Ratio;      /* den > 0, lowest terms */

typedef struct {
    Arena *arena;
    const LayoutRef *ref;
    const DType *t;
    int depth, steps;
} Solver;

_Noreturn static void
fail(Solver *s, const Param *p, const char *why)
{
    diag_fatal(s->arena->diag, DIAG_LAYOUT,
               p->value ? p->value->loc : s->ref->def->loc,
               "parameter '%s' of layout '%s' %s for %d-bit elements", p->name,
               s->ref->def->name, why, s->t->bits);
}

static bool
ratio(i64 num, i64 den, Ratio *r)
{
    i64 g = int_gcd(num, den);
    *r = (Ratio){num / (g ? g : 1), den / (g ? g : 1)};
    return den > 0;
}

/* Applies an operator to fractions: to their numerators over a common denominator, as its
 * OpUnit says. */
static bool
combine(const OpMeaning *is, Ratio a, Ratio b, Ratio *r)
{
    i64 x = a.num, y = b.num, v, unit = 1;
    bool same = is->unit == UNIT_SAME || is->unit == UNIT_RATIO;
    if (is->unit == UNIT_WHOLE && (a.den != 1 || b.den != 1))
        return false;
    if (same && (!int_mul(a.num, b.den, &x) || !int_mul(b.num, a.den, &y)))
        return false;
    if (is->unit != UNIT_RATIO && !int_mul(a.den, b.den, &unit))
        return false;
    return op_value(is, x, y, &v) && ratio(v, unit, r);
}

static Ratio value_of(Solver *s, const Param *p);

static const Param *
find_param(Solver *s, const char *name)
{
    for (int i = 0; i < s->ref->n; i++)
        if (!strcmp(s->ref->given[i].name, name))
            return &s->ref->given[i];
    for (int i = 0; i < s->ref->def->nparams; i++)
        if (!strcmp(s->ref->def->params[i].name, name))
            return &s->ref->def->params[i];
    return NULL;
}

static Ratio
solve(Solver *s, const Param *of, const Ast *x)
{
    Ratio a, b = {0, 1}, r;
    if (x->op == OP_NUM)
        return (Ratio){x->num, 1};
    if (x->op == OP_SYM) {
        const Param *p = find_param(s, x->name);
        if (!strcmp(x->name, "bits"))
            return (Ratio){s->t->bits, 1};
        if (!strcmp(x->name, "bytes") && ratio(s->t->bits, 8, &r))
            return r;
        if (!p)
            fail(s, of, arena_printf(s->arena, "uses '%.40s', which is neither a number "
                                       "nor another parameter,", x->name));
        return value_of(s, p);
    }
    a = solve(s, of, x->x[0]);
    if (x->x[1])
        b = solve(s, of, x->x[1]);
    if (!combine(op_info[x->op].is, a, b, &r))
        fail(s, of, "has no value");
    return r;
}

static Ratio
value_of(Solver *s, const Param *p)
{
    int w = int_log2(s->t->bits);
    if (++s->depth > MAX_ENTRIES)
        fail(s, p, "is defined by itself");
    if (++s->steps > MAX_STEPS)
        fail(s, p, "needs more than 10000 others, each as often as it is named,");
    if (!p->value && !p->has[w])
        diag_fatal(s->arena->diag, DIAG_LAYOUT, s->ref->def->loc,
                   "parameter '%s' has no value for %d-bit elements: %s", p->name,
                   s->t->bits, p->why[w]);
    Ratio r = p->value ? solve(s, p, p->value) : (Ratio){p->at[w], 1};
    s->depth--;
    return r;
}

void
layout_params(Arena *a, const LayoutRef *ref, const DType *t, i64 *value)
{
    Solver s = {.arena = a, .ref = ref, .t = t};
    for (int i = 0; i < ref->def->nparams; i++) {
        const Param *p = find_param(&s, ref->def->params[i].name);
        if (p->list)
            continue;
        Ratio r = value_of(&s, p);
        if (r.den != 1)
            fail(&s, p, "is not a whole number");
        value[i] = r.num;
    }
}

double
layout_fill(Arena *a, const LayoutRef *ref, const DType *t)
{
    const LayoutDef *d = ref->def;
    if (!d->fill_of)
        return d->fill_value;
    Solver s = {.arena = a, .ref = ref, .t = t};
    const Param fill = {.name = "fill", .value = d->fill_of};
    Ratio r = solve(&s, &fill, d->fill_of);
    return (double)r.num / (double)r.den;
}

static bool
uses_size(const Ast *x)
{
    if (x->op == OP_SYM)
        return !strcmp(x->name, "bytes") || !strcmp(x->name, "bits");
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (uses_size(x->x[i]))
            return true;
    return false;
}

bool
layout_needs_dtype(const LayoutRef *ref)
{
    const LayoutDef *d = ref->def;
    bool needs = d->swizzle && d->swizzle_bytes;
    for (int i = 0; i < d->nparams; i++) {
        bool given = false;
        for (int j = 0; j < ref->n; j++)
            given |= !strcmp(ref->given[j].name, d->params[i].name);
        const Param *p = &d->params[i];
        needs |= !given && !p->list && (!p->value || uses_size(p->value));
    }
    for (int i = 0; i < ref->n; i++)
        needs |= !ref->given[i].value || uses_size(ref->given[i].value);
    for (int i = 0; i < d->norder; i++)
        needs |= d->order[i].x && uses_size(d->order[i].x);
    for (int i = 0; i < d->npitches; i++)
        needs |= !d->pitches[i].exact || uses_size(d->pitches[i].value);
    for (int i = 0; i < d->npads; i++)
        needs |= uses_size(d->pads[i].value);
    for (int i = 0; i < d->nlimits; i++)
        needs |= uses_size(d->limits[i].value);
    needs |= d->fill_of && uses_size(d->fill_of);
    return needs && !d->bits;
}
