/* Sentences that explain a result of enumeration by the entries as written. */
#include "decide.h"

/* The largest number of runs that are searched for a hole. */
enum { GAPS_MAX = 1000 };

/* The largest coordinate of a dim, for ast_range. */
static bool
largest(const void *env, const char *name, i64 *v)
{
    const Layout *l = env;
    int d = layout_find_dim(l, name);
    *v = d < 0 ? 0 : l->dim[d].padded - 1;
    return d >= 0;
}

/* The number of values of x; 0 if it is not known. */
static i64
count_of(const Layout *l, const Ast *x)
{
    i64 min, max;
    bool known = ast_range(x, largest, l, &min, &max) && min == 0 && max < INF;
    return known ? max + 1 : 0;
}

static bool
has_xor(const Ast *x)
{
    bool found = x->op == OP_XOR;
    for (int i = 0; i < op_info[x->op].nargs; i++)
        found |= has_xor(x->x[i]);
    return found;
}

/* Find a division of an expression with an xor by a number that is no power of two. */
static const char *
uneven_division(const Layout *l, const Ast *x)
{
    const char *why = NULL;
    i64 lo, hi;
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (ast_digit(x, i, &lo, &hi) && !int_is_pow2(hi ? hi : lo) && has_xor(x->x[i]))
            return arena_printf(ex_arena(l->e), "'%s' divides an xor by %lld, which is no "
                                "power of two: different elements meet",
                                ast_text(ex_arena(l->e), x), (long long)(hi ? hi : lo));
    for (int i = 0; !why && i < op_info[x->op].nargs; i++)
        why = uneven_division(l, x->x[i]);
    return why;
}

/* Find an xor with an operand whose number of values is no power of two. */
static const char *
uneven_xor(const Layout *l, const Ast *x)
{
    const char *why = NULL;
    for (int i = 0; x->op == OP_XOR && i < 2; i++) {
        i64 n = count_of(l, x->x[i]), all = count_of(l, x);
        if (n && all && x->x[i]->op != OP_NUM && !int_is_pow2(n))
            return arena_printf(ex_arena(l->e), "'%s' is an xor of the %lld values of "
                "'%s': %lld is no power of two, so it reaches %lld slots; round it up, "
                "or leave these out of the xor", ast_text(ex_arena(l->e), x),
                (long long)n, ast_text(ex_arena(l->e), x->x[i]), (long long)n,
                (long long)all);
    }
    for (int i = 0; !why && i < op_info[x->op].nargs; i++)
        why = uneven_xor(l, x->x[i]);
    return why;
}

/* The term of a sum that the smaller terms reach beyond. */
static const char *
overlapping_terms(const Layout *l, const Entry *t)
{
    Arena *a = ex_arena(l->e);
    const Ex *x = t->ex;
    for (int i = 0; i < x->n; i++) {
        i64 k = int_abs(x->t[i].coef), reach = 0, span;
        for (int j = 0; j < x->n; j++) {
            i64 c = int_abs(x->t[j].coef);
            Facts f = x->t[j].atom->f;
            if (x->t[j].atom->op != AT_VAR && x->t[j].atom->op != AT_DIG)
                return NULL;
            if (j == i || c > k || (c == k && j > i))
                continue;
            if (f.min < 0 || !int_mul(c, f.max, &span) || !int_add(reach, span, &reach))
                return NULL;
        }
        if (reach >= k)
            return arena_printf(a, "in '%s' one step of '%s' is %lld, but the other "
                                "terms reach %lld: the strides overlap",
                                ast_text(a, t->x),
                                ex_text(l->e, ex_of_atom(l->e, x->t[i].atom)),
                                (long long)k, (long long)reach);
    }
    return NULL;
}

/* Two cuts of a dim of which neither divides the other, as in C//12 and C%8. */
static const char *
uneven_cuts(const Layout *l)
{
    Part *part;
    int n;
    i64 *cut;
    if (!parts_of(l, true, &part, &n))
        return NULL;
    for (int d = 0; d < l->rank; d++)
        for (int i = 0; parts_cuts(ex_arena(l->e), part, n, d, &cut) < 0; i++)
            if (cut[i + 1] % cut[i])
                return arena_printf(ex_arena(l->e), "%s is cut at %lld and at %lld, "
                                    "which is no multiple of it", l->dim[d].name,
                                    (long long)cut[i], (long long)cut[i + 1]);
    return NULL;
}

const char *
why_collision(const Layout *l)
{
    const char *why = uneven_cuts(l);
    for (int i = 0; !why && i < l->nentry; i++)
        why = uneven_division(l, l->entry[i].x);
    for (int i = 0; !why && i < l->nentry; i++)
        why = overlapping_terms(l, &l->entry[i]);
    return why;
}

const char *
why_holes(const Layout *l)
{
    const char *why = NULL;
    for (int i = 0; !why && i < l->nentry; i++)
        why = uneven_xor(l, l->entry[i].x);
    return why;
}

/* The first address to which no coordinate maps, as text; "" if it cannot be
 * distinguished from the gaps of a pitch. */
static const char *
first_hole(Layout *l, const Verdict *v)
{
    Verdict w = *v;
    if (v->holes != v->unreached)
        return "";
    w.ngaps = 0;
    w.more_gaps = false;
    storage_decide(l, &w, GAPS_MAX);
    for (int i = 0; i < w.ngaps; i++)
        if (!w.gap[i].padding)
            return arena_printf(ex_arena(l->e), ", as address %lld",
                                (long long)w.gap[i].from);
    return "";
}

/* Dims that are one number here are one dim in a conversion, whose padding such slots then are. */
static const char *
why_not_joined(const Layout *l)
{
    bool uses = false;
    for (int d = 0; d < l->rank; d++)
        uses |= layout_uses_extent(l->ref->def, l->dim[d].name);
    return !uses ? "" : "; in a conversion they are padding if the other layout has the dims side by "
           "side that are one number here";
}

const char *
why_unfilled(Layout *l, const Verdict *v)
{
    Arena *a = ex_arena(l->e);
    const LayoutDef *d = l->ref->def;
    if (!d->fills || !v->unreached)
        return NULL;
    const char *note = why_holes(l);
    return arena_printf(a, "it declares fill = %s, but %lld slots of its storage are "
                        "holes, not padding%s: no coordinate goes there; write fill = "
                        "\"none\", which leaves them as they are, or entries that use all "
                        "their slots%s%s%s", layout_fill_text(a, d),
                        (long long)v->unreached, first_hole(l, v), note ? "; " : "",
                        note ? note : "", why_not_joined(l));
}
