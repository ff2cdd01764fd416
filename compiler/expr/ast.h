/* ast.h: index expressions as written, before simplification.  The spec language and
 * ast_parse make them; ast_lower converts them to Ex. */
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
    int size, depth;      /* of the tree, at most AST_MAX_SIZE, AST_MAX_DEPTH */
} Ast;

/* ast.c */
const Ast *ast_num(Arena *a, i64 v, Loc loc);
const Ast *ast_sym(Arena *a, const char *name, Loc loc);
/* y is NULL for one argument.  diag_fatal if the tree becomes too large. */
const Ast *ast_op(Arena *a, Op op, const Ast *x, const Ast *y, Loc loc);
/* x[k]: bit k of x; 0 <= k <= SHIFT_MAX. */
const Ast *ast_bit(Arena *a, const Ast *x, i64 k, Loc loc);
void ast_print(Buf *b, const Ast *x);
const char *ast_text(Arena *a, const Ast *x);

/* ast_eval.c */
/* Sets *v to the value of a name; false if the name is not known. */
typedef bool AstLookup(const void *env, const char *name, i64 *v);
/* Sets *v to the value, by the plain definition of every operator.  The simplifier is
 * tested against this evaluator.  False if a value does not fit 64 bits, a divisor is not
 * positive, or a name is not known. */
bool ast_eval(const Ast *x, AstLookup *lookup, const void *env, i64 *v);
/* The interval of values, operator by operator: x % 32 has the interval 0..31 for every x.
 * `range` gives the largest value of each name; the least is 0.  False as for ast_eval. */
bool ast_range(const Ast *x, AstLookup *range, const void *env, i64 *min,
               i64 *max);
/* If the other operand is a number: x is k * operand i; x is the digit lo, hi of operand i
 * (Digit).  False if it is not. */
bool ast_times(const Ast *x, int i, i64 *k);
bool ast_digit(const Ast *x, int i, i64 *lo, i64 *hi);
/* The modulus m such that x % mod depends only on operand i % m.  As mod and as the result,
 * 0 means no modulus: the full value is needed. */
i64 ast_period(const Ast *x, int i, i64 mod);

/* ast_parse.c: parses text in Lua's syntax: 8*(C//16) + (C%16 ~ 3), N[2], min(a, b).
 * diag_fatal if there is a syntax error. */
const Ast *ast_parse(Arena *a, const char *text, Loc loc);

/* ast_lower.c: converts x to canonical form.  `find` returns the Ex of a name, or NULL. */
typedef const Ex *AstFind(void *env, const Ast *sym);
const Ex *ast_lower(Exprs *e, const Ast *x, AstFind *find, void *env);

#endif
