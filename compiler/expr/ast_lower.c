/* Converts expressions as written to canonical form. */
#include "expr.h"

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

static const Ex *lower(Lower *l, const Ast *x);

static const Ex *
operate(Lower *l, const Ast *x)
{
    const OpMeaning *is = op_info[x->op].is;
    const Ex *a = lower(l, x->x[0]), *b = x->x[1] ? lower(l, x->x[1]) : NULL;
    if (is->right && !(ex_is_const(b) && op_allows(is, b->base, b->base)))
        fail(l, x, is->right->why);
    return is->lower(l->e, a, b);
}

static const Ex *
lower(Lower *l, const Ast *x)
{
    if (x->op == OP_NUM)
        return ex_const(l->e, x->num);
    if (x->op != OP_SYM)
        return operate(l, x);
    const Ex *r = l->find(l->env, x);
    if (!r)
        fail(l, x, "not a known name");
    return r;
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
