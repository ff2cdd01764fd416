/* Pitches and strides that use extents left to run time, stride = {H = 2*extent(W)}.
 *
 * They are sums of products of extents.  That one has room for the entries after it is proven for
 * all extents above 0: each term that is taken off is no more than one that is added, which has all
 * of its factors. */
#include <string.h>

#include "layout_parts.h"

enum { MAX_DEGREE = 8 };

typedef struct {
    Scalars *s;
    const Layout *l;
    const Ex *const *n;            /* the extents of the dims */
    const Setting *t;
    const Entry *entry;
} Given;

static const char *
kind(const Given *g)
{
    return g->t->exact ? "stride" : "pitch";
}

_Noreturn static void
refuse(const Given *g, const char *why)
{
    Arena *a = ex_arena(g->s->e);
    layout_refuse_open(g->l, g->t->value->loc,
                       arena_printf(a, "the %s %s of '%s' %s", kind(g), ast_text(a, g->t->value),
                                    ast_text(a, g->entry->x), why),
                       "give these extents as numbers, or each run the stride, as in ROW_MAJOR@(ld,1)");
}

/* The dim whose extent is of this name, if that is left to run time; -1: it is another name. */
static int
open_dim(const Given *g, const char *name)
{
    int d = g->l->rank - 1;
    while (d >= 0 && !(layout_extent_is(name, g->l->dim[d].name) && !ex_is_const(g->n[d])))
        d--;
    return d;
}

static bool
find_number(const void *env, const char *name, i64 *v)
{
    const Given *g = env;
    return open_dim(g, name) < 0 && layout_constant(g->l, name, v);
}

static const Scalar *
scalar_with(const Scalars *s, const Atom *a)
{
    int i = s->n - 1;
    while (i >= 0 && !(a->op == AT_VAR && s->scalar[i].var == a->var))
        i--;
    return i < 0 ? NULL : &s->scalar[i];
}

/* What is no more than x: each (e + j)//k, so many times as a multiple of k, is at least
 * (e + j - k + 1)/k. */
static const Ex *
without_divisions(const Scalars *s, const Ex *x)
{
    for (int i = 0; i < x->n; i++) {
        const Scalar *t = scalar_with(s, x->t[i].atom);
        const Ex *def = t ? t->def : NULL;
        const Atom *of = def && def->n == 1 ? def->t[0].atom : NULL;
        const i64 c = x->t[i].coef;
        if (!of || of->op != AT_DIG || of->hi || def->base || def->t[0].coef != 1 || c < 0 ||
            c % of->lo)
            continue;
        const Ex *least = ex_sub(s->e, of->x[0], ex_const(s->e, of->lo - 1));
        x = ex_add_scaled(s->e, x, ex_of_atom(s->e, x->t[i].atom), -c);
        x = ex_add_scaled(s->e, x, least, c / of->lo);
        i = -1;
    }
    return x;
}

/* The factors of an atom, ascending; -1: too many. */
static int
factors(const Scalars *s, const Atom *a, int *out)
{
    const Scalar *t = scalar_with(s, a);
    if (!t || t->nfactors > MAX_DEGREE)
        return -1;
    out[0] = (int)(t - s->scalar);
    if (t->nfactors)
        memcpy(out, t->factor, (size_t)t->nfactors * sizeof *out);
    return t->nfactors ? t->nfactors : 1;
}

static bool
is_extent(const Scalars *s, int i)
{
    return i < s->nextents - s->nstrides;
}

/* Whether a has all factors of b, and besides extents only. */
static bool
covers(const Scalars *s, const Atom *a, const Atom *b)
{
    int have[MAX_DEGREE], need[MAX_DEGREE], k = 0;
    int n = factors(s, a, have), m = b ? factors(s, b, need) : 0;
    bool fine = n >= 0 && m >= 0;
    for (int i = 0; i < n && fine; i++)
        if (k < m && have[i] == need[k])
            k++;
        else
            fine = is_extent(s, have[i]);
    return fine && k == m;
}

/* Whether x >= 0 for all extents above 0. */
static bool
never_negative(const Scalars *s, const Ex *x)
{
    i64 *left;
    x = without_divisions(s, x);
    left = arena_array(ex_arena(s->e), i64, x->n + 1);
    for (int i = 0; i < x->n; i++)
        left[i] = x->t[i].coef;
    for (int i = 0; i <= x->n; i++) {
        i64 off = i < x->n ? left[i] : x->base;
        for (int k = 0; k < x->n && off < 0; k++) {
            if (left[k] <= 0 || !covers(s, x->t[k].atom, i < x->n ? x->t[i].atom : NULL))
                continue;
            const i64 take = left[k] < -off ? left[k] : -off;
            left[k] -= take;
            off += take;
        }
        if (off < 0)
            return false;
    }
    return true;
}

/* x as a sum of scalars, none of which is below 0. */
static const Ex *
value_of(const Given *g, const Ast *x)
{
    const OpMeaning *is = op_info[x->op].is;
    Exprs *e = g->s->e;
    i64 v;
    int d = x->op == OP_SYM && !x->table ? open_dim(g, x->name) : -1;
    if (d >= 0)
        return g->n[d];
    if (ast_eval(x, find_number, g, &v))
        return ex_const(e, v);
    if (x->table || op_info[x->op].nargs != 2)
        refuse(g, "is no sum of products of extents");
    if (is->sum[0] || is->sum[1])
        return ex_add(e, ex_scale(e, value_of(g, x->x[0]), is->sum[0]),
                      ex_scale(e, value_of(g, x->x[1]), is->sum[1]));
    if (is->product)
        return scalar_times(g->s, value_of(g, x->x[0]), value_of(g, x->x[1]));
    if (x->op == OP_DIV && ast_eval(x->x[1], find_number, g, &v) && v > 0) {
        const Ex *divided = value_of(g, x->x[0]);
        if (!never_negative(g->s, divided))
            refuse(g, "divides what is below 0 at some shapes");
        return scalar_of(g->s, ex_div(e, divided, v), INF);
    }
    refuse(g, "is no sum of products of extents");
}

/* The slots from the first to the last one of the entries after g->entry. */
static const Ex *
span_after(const Given *g, const Ex *const *slots, const Ex *const *stride)
{
    Exprs *e = g->s->e;
    const Ex *one = ex_const(e, 1), *span = one;
    for (int i = (int)(g->entry - g->l->entry) + 1; i < g->l->nentry; i++)
        span = ex_add(e, span, scalar_times(g->s, stride[i], ex_sub(e, slots[i], one)));
    return span;
}

/* The least multiple of a pitch of `unit` bits that `bits` fits into. */
static const Ex *
rounded(const Given *g, const Ex *bits, const Ex *unit)
{
    Exprs *e = g->s->e;
    i64 k, *val = arena_array(ex_arena(e), i64, ex_nvars(e)), ones[MAX_RANK], have, each;
    const Ex *one = ex_const(e, 1);
    for (int i = 0; i < g->s->nextents; i++)
        ones[i] = 1;
    if (!scalars_eval(g->s, ones, val) || !ex_eval(bits, val, &have) ||
        !ex_eval(unit, val, &each) || each < 1)
        refuse(g, "is not above 0 for every shape");
    k = int_ceil_div(have, each);
    const Ex *room = ex_sub(e, ex_scale(e, unit, k), bits);
    const Ex *less = ex_sub(e, ex_sub(e, bits, ex_scale(e, unit, k - 1)), one);
    if (!never_negative(g->s, room) || !never_negative(g->s, less))
        refuse(g, "fits into the entries after it another number of times at some shapes");
    return ex_scale(e, unit, k);
}

/* x divided by the bits of an element. */
static const Ex *
in_elements(const Given *g, const Ex *x)
{
    const i64 bits = g->l->dtype->bits;
    Exprs *e = g->s->e;
    const Ex *out = ex_const(e, x->base / bits);
    bool whole = x->base % bits == 0;
    for (int i = 0; i < x->n; i++) {
        whole &= x->t[i].coef % bits == 0;
        out = ex_add_scaled(e, out, ex_of_atom(e, x->t[i].atom), x->t[i].coef / bits);
    }
    if (!whole)
        refuse(g, "is no whole number of elements");
    return out;
}

/* A product that is x or more, where extents that are 0 count as 1. */
static StrideBound *
bound_of(const Given *g, const Ex *x)
{
    Arena *a = ex_arena(g->s->e);
    StrideBound *b = arena_new(a, StrideBound);
    b->times = x->base > 0 ? x->base : 0;
    for (int i = 0; i < x->n; i++) {
        int f[MAX_DEGREE], n = factors(g->s, x->t[i].atom, f);
        if (n < 0 || (x->t[i].coef > 0 && !int_add(b->times, x->t[i].coef, &b->times)))
            refuse(g, "is too large");
        for (int k = 0; k < n; k++) {
            int have = 0, want = 0;
            for (int j = 0; j < b->n; j++)
                have += b->by[j] == scalar_ex(g->s, f[k]);
            for (int j = 0; j <= k; j++)
                want += f[j] == f[k];
            if (have < want && b->n == MAX_RANK)
                refuse(g, "is too large");
            if (have < want)
                b->by[b->n++] = scalar_ex(g->s, f[k]);
        }
    }
    return b;
}

bool
layout_uses_open(const Layout *l, const Entry *t, const Ex *const *n)
{
    bool uses = false;
    for (int d = 0; d < l->rank && t->given; d++)
        uses |= !ex_is_const(n[d]) &&
                ast_names(t->given->value, layout_extent_name(ex_arena(l->e), l->dim[d].name));
    return uses;
}

/* x, or 0 where extents that are 0 make it negative. */
static const Ex *
at_least_none(Scalars *s, const Ex *x)
{
    bool negative = x->base < 0;
    for (int i = 0; i < x->n; i++)
        negative |= x->t[i].coef < 0;
    return negative ? scalar_by_name(s, ex_max(s->e, x, ex_const(s->e, 0)), INF) : x;
}

const Ex *
layout_open_stride(Scalars *s, Sizes *r, int i, const Ex *size)
{
    const Entry *t = &r->l->entry[i];
    const Given g = {s, r->l, r->n, t->given, t};
    const Ex *x = value_of(&g, t->given->value);
    if (!t->given->exact) {
        const Ex *bits = ex_scale(s->e, size, r->l->dtype->bits);
        x = rounded(&g, bits, ex_scale(s->e, x, 8));
        if (x == bits)
            return size;
        x = in_elements(&g, x);
    } else if (!never_negative(s, ex_sub(s->e, x, span_after(&g, r->slots, r->stride)))) {
        refuse(&g, "has no room for the entries after it at some shapes");
    }
    r->bound[i] = bound_of(&g, x);
    return at_least_none(s, x);
}
