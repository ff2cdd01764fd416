/* Evaluates expressions as written, by the meaning of their operators: values, intervals,
 * and the effect of an operator on one operand. */
#include "expr.h"

bool
ast_eval(const Ast *x, AstLookup *lookup, const void *env, i64 *v)
{
    i64 a, b = 0;
    if (x->op == OP_NUM) {
        *v = x->num;
        return true;
    }
    if (x->op == OP_SYM)
        return lookup(env, x->name, v);
    return ast_eval(x->x[0], lookup, env, &a) &&
           (!x->x[1] || ast_eval(x->x[1], lookup, env, &b)) &&
           op_value(op_info[x->op].is, a, b, v);
}

bool
ast_number(const Ast *x, i64 *v)
{
    *v = x->num;
    return x->op == OP_NUM;
}

static bool
span(const Ast *x, AstLookup *range, const void *env, Span *r)
{
    Span a, b = {0, 0};
    if (x->op == OP_NUM) {
        *r = (Span){x->num, x->num};
        return true;
    }
    if (x->op == OP_SYM) {
        r->min = 0;
        return range(env, x->name, &r->max);
    }
    return span(x->x[0], range, env, &a) &&
           (!x->x[1] || span(x->x[1], range, env, &b)) &&
           op_range(op_info[x->op].is, a, b, r);
}

bool
ast_range(const Ast *x, AstLookup *range, const void *env, i64 *min, i64 *max)
{
    Span r;
    if (!span(x, range, env, &r))
        return false;
    *min = r.min;
    *max = r.max;
    return true;
}

static bool
no_names(const void *env, const char *name, i64 *v)
{
    (void)env, (void)name, (void)v;
    return false;
}

/* True if the operand other than i is a number c, and it is the right operand or the
 * operator is commutative. */
static bool
other_number(const Ast *x, int i, i64 *c)
{
    const OpInfo *o = &op_info[x->op];
    return o->nargs == 2 && (i == 0 || o->is->commutative) &&
           ast_eval(x->x[1 - i], no_names, NULL, c) && op_allows(o->is, *c, *c);
}

bool
ast_times(const Ast *x, int i, i64 *k)
{
    const OpMeaning *is = op_info[x->op].is;
    i64 c;
    return is->times && other_number(x, i, &c) && is->times(c, k);
}

bool
ast_digit(const Ast *x, int i, i64 *lo, i64 *hi)
{
    const OpMeaning *is = op_info[x->op].is;
    i64 c;
    return is->digit && other_number(x, i, &c) && is->digit(c, lo, hi);
}

i64
ast_period(const Ast *x, int i, i64 mod)
{
    const OpMeaning *is = op_info[x->op].is;
    i64 k, lo, hi;
    if (is->period)
        return is->period(mod);
    if (ast_times(x, i, &k))
        return mod ? mod / int_gcd(mod, k) : 0;
    if (!ast_digit(x, i, &lo, &hi))
        return 0;
    return hi ? hi : int_mul(mod, lo, &mod) ? mod : 0;
}
