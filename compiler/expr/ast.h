/* ast.h: index expressions as their author wrote them, before anything is
 * simplified.  Made by the spec language and by ast_parse; lowered to Ex. */
#ifndef RAVEL_AST_H
#define RAVEL_AST_H

#include "op.h"

enum { AST_MAX_SIZE = 4000, AST_MAX_DEPTH = 150 };

/* Immutable; subtrees may be shared. */
typedef struct Ast {
    Op op;
    Loc loc;
    i64 num;              /* OP_NUM */
    const char *name;     /* OP_SYM */
    const struct Ast *x[2];
    int size, depth;      /* as a tree; bounded, or ast_op refuses */
} Ast;

/* ast.c */
const Ast *ast_num(Arena *a, i64 v, Loc loc);
const Ast *ast_sym(Arena *a, const char *name, Loc loc);
/* y is NULL for one argument.  diag_fatal when the tree grows too large. */
const Ast *ast_op(Arena *a, Op op, const Ast *x, const Ast *y, Loc loc);
/* x[k], bit k of x; 0 <= k <= SHIFT_MAX. */
const Ast *ast_bit(Arena *a, const Ast *x, i64 k, Loc loc);
void ast_print(Buf *b, const Ast *x);
const char *ast_text(Arena *a, const Ast *x);

/* ast_eval.c */
/* What a name stands for when an expression is evaluated: true and *v. */
typedef bool AstLookup(const void *env, const char *name, i64 *v);
/* The value, by the plain definition of every operator: this is the naive
 * evaluator that the simplifier is checked against.  False where it does not
 * fit 64 bits, a divisor is not positive, or a name is not known. */
bool ast_eval(const Ast *x, AstLookup *lookup, const void *env, i64 *v);
/* The interval of values as written: x % 32 spans 0..31 whatever x is.  `range`
 * gives each name's largest value (smallest is 0).  False as for ast_eval. */
bool ast_range(const Ast *x, AstLookup *range, const void *env, i64 *min,
               i64 *max);
/* Where the other operand is a number: x is k times operand i; it is the digit lo, hi of
 * operand i (Digit).  False where it is not. */
bool ast_times(const Ast *x, int i, i64 *k);
bool ast_digit(const Ast *x, int i, i64 *lo, i64 *hi);
/* Where only x % mod matters: only the remainder of operand i by this does.  A modulus of
 * 0: all of a value matters. */
i64 ast_period(const Ast *x, int i, i64 mod);

/* ast_parse.c: the text form, in Lua's syntax: 8*(C//16) + (C%16 ~ 3), N[2],
 * min(a, b).  diag_fatal on anything else. */
const Ast *ast_parse(Arena *a, const char *text, Loc loc);

/* ast_lower.c: to canonical form.  `find` gives the Ex of a name, or NULL. */
typedef const Ex *AstFind(void *env, const Ast *sym);
const Ex *ast_lower(Exprs *e, const Ast *x, AstFind *find, void *env);

#endif
