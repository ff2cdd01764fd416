/* From expressions as written to canonical form. */
#include "ast.h"

typedef struct {
    Exprs *e;
    AstFind *find;
    void *env;
} Lower;

_Noreturn static void
fail(Lower *l, const Ast *x, const char *why)
{
    Arena *a = ex_arena(l->e);
    diag_fatal(a->diag, DIAG_SPEC, x->loc, "'%.120s': %s", ast_text(a, x), why);
}

static i64
constant(Lower *l, const Ast *whole, const Ex *x, i64 least, i64 most,
         const char *why)
{
    if (!ex_is_const(x) || x->base < least || x->base > most)
        fail(l, whole, why);
    return x->base;
}

static const Ex *lower(Lower *l, const Ast *x);

/* Shifts are products and quotients (rule 70). */
static const Ex *
binary(Lower *l, const Ast *x)
{
    static const char divisor[] = "the divisor must be a constant above 0",
                      shift[] = "the shift must be a constant from 0 to 61";
    Exprs *e = l->e;
    const Ex *a = lower(l, x->x[0]), *b = lower(l, x->x[1]);
    switch (x->op) {
    case OP_OR:  return ex_or(e, a, b);
    case OP_XOR: return ex_xor(e, a, b);
    case OP_AND: return ex_and(e, a, b);
    case OP_SHL: return ex_scale(e, a, (i64)1 << constant(l, x, b, 0, SHIFT_MAX, shift));
    case OP_SHR: return ex_div(e, a, (i64)1 << constant(l, x, b, 0, SHIFT_MAX, shift));
    case OP_ADD: return ex_add(e, a, b);
    case OP_SUB: return ex_sub(e, a, b);
    case OP_MUL: return ex_mul(e, a, b);
    case OP_DIV: return ex_div(e, a, constant(l, x, b, 1, INF, divisor));
    case OP_MOD: return ex_mod(e, a, constant(l, x, b, 1, INF, divisor));
    case OP_MIN: return ex_min(e, a, b);
    case OP_MAX: return ex_max(e, a, b);
    default:     fail(l, x, "not an operator");
    }
}

/* Rules 58, 65. */
static const Ex *
lower(Lower *l, const Ast *x)
{
    const Ex *r;
    switch (x->op) {
    case OP_NUM:
        return ex_const(l->e, x->num);
    case OP_SYM:
        r = l->find(l->env, x);
        if (!r)
            fail(l, x, "not a known name");
        return r;
    case OP_NEG:
        return ex_scale(l->e, lower(l, x->x[0]), -1);
    case OP_NOT:
        return ex_sub(l->e, ex_const(l->e, -1), lower(l, x->x[0]));
    default:
        return binary(l, x);
    }
}

const Ex *
ast_lower(Exprs *e, const Ast *x, AstFind *find, void *env)
{
    Lower l = {e, find, env};
    ex_locate(e, x->loc);
    const Ex *r = lower(&l, x);
    ex_locate(e, (Loc){0});
    return r;
}
