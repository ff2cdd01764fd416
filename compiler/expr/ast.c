/* Builds and prints trees of expressions as written. */
#include <string.h>

#include "expr.h"

const Ast *
ast_num(Arena *a, i64 v, Loc loc)
{
    Ast *x = arena_new(a, Ast);
    *x = (Ast){.op = OP_NUM, .loc = loc, .num = v, .size = 1, .depth = 1};
    return x;
}

const Ast *
ast_sym(Arena *a, const char *name, Loc loc)
{
    Ast *x = arena_new(a, Ast);
    *x = (Ast){.op = OP_SYM, .loc = loc, .size = 1, .depth = 1,
               .name = arena_string(a, name)};
    return x;
}

const Ast *
ast_op(Arena *a, Op op, const Ast *x, const Ast *y, Loc loc)
{
    Ast *r = arena_new(a, Ast);
    *r = (Ast){.op = op, .loc = loc, .x = {x, y}};
    r->size = 1 + x->size + (y ? y->size : 0);
    r->depth = 1 + (y && y->depth > x->depth ? y->depth : x->depth);
    if (r->size > AST_MAX_SIZE || r->depth > AST_MAX_DEPTH)
        diag_fatal(a->diag, DIAG_SPEC, loc,
                   "an expression of more than %d parts or %d levels",
                   AST_MAX_SIZE, AST_MAX_DEPTH);
    return r;
}

/* Rule 70. */
const Ast *
ast_bit(Arena *a, const Ast *x, i64 k, Loc loc)
{
    if (k > 0)
        x = ast_op(a, OP_DIV, x, ast_num(a, (i64)1 << k, loc), loc);
    return ast_op(a, OP_MOD, x, ast_num(a, 2, loc), loc);
}

bool
ast_names(const Ast *x, const char *name)
{
    if (x->table)
        return ast_names(x->table->at, name);
    bool names = x->op == OP_SYM && !strcmp(x->name, name);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        names |= ast_names(x->x[i], name);
    return names;
}

static void print_at(Buf *b, const Ast *x, int level);

static void
print_call(Buf *b, const Ast *x)
{
    for (int i = 0; i < op_info[x->op].nargs; i++) {
        buf_printf(b, i ? ", " : "%s(", op_info[x->op].lua);
        print_at(b, x->x[i], 0);
    }
    buf_add(b, ")");
}

static void
print_at(Buf *b, const Ast *x, int level)
{
    const OpInfo *o = &op_info[x->op];
    if (x->table) {
        buf_printf(b, "%s[", x->table->name);
        print_at(b, x->table->at, 0);
        buf_add(b, "]");
    } else if (x->op == OP_NUM) {
        buf_printf(b, x->num < 0 && level > 6 ? "(%lld)" : "%lld",
                   (long long)x->num);
    } else if (x->op == OP_SYM) {
        buf_add(b, x->name);
    } else if (op_is_call(x->op)) {
        print_call(b, x);
    } else {
        buf_add(b, o->level < level ? "(" : "");
        if (o->nargs == 2)
            print_at(b, x->x[0], o->level);
        buf_printf(b, o->level <= 5 && o->nargs == 2 ? " %s " : "%s", o->lua);
        if (x->op == OP_NEG && x->x[0]->op == OP_NEG)
            buf_add(b, " ");                 /* "--" begins a comment */
        print_at(b, x->x[o->nargs - 1], o->level + (o->nargs == 2));
        buf_add(b, o->level < level ? ")" : "");
    }
}

void
ast_print(Buf *b, const Ast *x)
{
    print_at(b, x, 0);
}

const char *
ast_text(Arena *a, const Ast *x)
{
    Buf b = buf_new(a);
    ast_print(&b, x);
    return b.s;
}
