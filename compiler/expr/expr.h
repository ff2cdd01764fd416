/* expr.h: index expressions, as written (Ast) and in canonical form (Ex).
 *
 * An Ex is  base + sum of coef * atom.  Only the constructors below make
 * expressions; they simplify and intern them.  Within one Exprs, expressions with the same
 * canonical form are the same pointer.  The most important atom is the digit
 *
 *      dig(x, lo, hi) = (x mod hi) div lo        lo divides hi; hi = 0: no mod
 *
 * With it, div of div, mod of div and their recombination become arithmetic on (lo, hi).
 * The idea is that of TVM's SplitExpr (src/arith/canonical_simplify.cc); facts are those
 * of Halide's simplifier; xors are split at bit boundaries.  Rule numbers in comments are
 * those of identities.toml, which has a proof of each.
 *
 * Integers have 64 bits.  An expression whose value could exceed 64 bits is refused
 * (diag_fatal); values never wrap.  Not thread-safe: each compilation has its own
 * Exprs. */
#ifndef RAVEL_EXPR_H
#define RAVEL_EXPR_H

#include "../base/base.h"

#define INF INT64_MAX     /* as a bound: unbounded */

/* The operators of expressions as written; OpMeaning is their meaning. */
typedef enum {
#define OP(name, nargs, level, lua, meta, is) OP_##name,
#include "op.def"
#undef OP
    OP_COUNT
} Op;

typedef enum {
#define ATOM(name, op, facts, print, open) AT_##name,
#include "expr.def"
#undef ATOM
    AT_COUNT
} AtomOp;

/* Facts about a value. */
typedef struct {
    i64 min, max;         /* interval; -INF and INF: unbounded */
    i64 mod, rem;         /* value = rem (mod `mod`); mod 0: the value is rem */
    uint64_t ones;        /* bits that may be set; all bits if min < 0 */
} Facts;

typedef struct Ex Ex;
typedef struct {
    AtomOp op;
    int var;              /* AT_VAR */
    i64 lo, hi;           /* AT_DIG */
    const Ex **x;
    int n;                /* number of operands; AT_DIG has one */
    int size;             /* as in Ex */
    Facts f;
} Atom;

typedef struct {
    i64 coef;
    const Atom *atom;
} Term;

struct Ex {
    i64 base;
    const Term *t;        /* in canonical order; no coef is 0 */
    int n;
    int size;             /* atoms of the whole tree; limited, as walks visit all */
    Facts f;
};

typedef struct Exprs Exprs;

/* expr.c */
Exprs *ex_new(Arena *a);
Arena *ex_arena(Exprs *e);
/* Call f(arg), then forget all variables and expressions that it made, with all other memory
 * that it allocated in the arena (arena_scratch).  After a diag_fatal in f nothing may use e. */
void ex_scratch(Exprs *e, void (*f)(void *), void *arg);
/* A new variable with min <= value <= max; `name` is copied.  Two variables may have the
 * same name. */
int ex_var(Exprs *e, const char *name, i64 min, i64 max);
/* A variable 0 <= value < n for a loop.  Calls with equal arguments usually return the same
 * variable, because plans have many equal loops. */
int ex_loop_var(Exprs *e, const char *name, i64 n);
int ex_nvars(const Exprs *e);
/* An array with an entry for each variable, cleared; it is for short use: the next call returns
 * the same memory. */
bool *ex_flags(Exprs *e);
const Ex **ex_map(Exprs *e);
const char *ex_var_name(const Exprs *e, int var);
const Ex *ex_of_var(Exprs *e, int var);
const Ex *ex_of_atom(Exprs *e, const Atom *a);
const Ex *ex_const(Exprs *e, i64 v);
/* For the constructors in expr_*.c only: interns an atom without simplification. */
const Atom *ex_atom(Exprs *e, const Atom *proto);
/* ... and a sum, whose terms are in canonical form. */
const Ex *ex_intern(Exprs *e, i64 base, const Term *t, int n);
/* Sets the location for error messages; {0}: none. */
void ex_locate(Exprs *e, Loc loc);
_Noreturn void ex_overflow(Exprs *e);
_Noreturn void ex_fail(Exprs *e, const char *why);

/* An atom as a digit of its root.  An atom that is not a digit is dig(itself, 1, 0). */
typedef struct {
    const Ex *root;
    i64 lo, hi;
} Digit;
Digit ex_digit(Exprs *e, const Atom *a);
bool ex_is_const(const Ex *x);
bool ex_is(const Ex *x, i64 v);

/* expr_sum.c */
/* base + the sum of n terms, in any order; atoms may be repeated.  Merges digits. */
const Ex *ex_sum(Exprs *e, i64 base, const Term *t, int n);
/* Room for n terms while a sum is made: few[], or the arena if there are more. */
enum { FEW_TERMS = 16 };
Term *ex_room(Exprs *e, Term few[FEW_TERMS], int n);
/* A sum that is made of several: simplified and interned once, at its end. */
typedef struct {
    Exprs *e;
    i64 base;
    int n, room;
    Term *more;           /* NULL: the terms are the first of few[] */
    Term few[FEW_TERMS];
} ExSum;
ExSum ex_sum_of(Exprs *e, i64 base);
void ex_sum_add(ExSum *s, const Ex *x, i64 k);
const Ex *ex_sum_end(ExSum *s);

/* expr_facts.c */
Facts facts_const(i64 v);
Facts facts_scale(Facts a, i64 k);
Facts facts_add(Facts a, Facts b);
Facts facts_of_atom(const Atom *a, i64 min, i64 max);   /* min, max: for AT_VAR */

/* expr_order.c: the canonical order of operands and terms: below 0, 0 or above 0 as a is
 * before b, the same as b, or after it.  Constants are the last. */
int ex_order(const Ex *a, const Ex *b);
int ex_order_atoms(const Atom *a, const Atom *b);

/* expr_arith.c */
const Ex *ex_add(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_add_scaled(Exprs *e, const Ex *a, const Ex *b, i64 k);   /* a + k*b */
const Ex *ex_sub(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_scale(Exprs *e, const Ex *a, i64 k);
const Ex *ex_mul(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_times(Exprs *e, const Ex *a, const Ex *b);   /* a*b as a sum over the terms of b */
const Ex *ex_div(Exprs *e, const Ex *a, i64 c);    /* floor; c > 0 */
const Ex *ex_mod(Exprs *e, const Ex *a, i64 c);
const Ex *ex_dig(Exprs *e, const Ex *a, i64 lo, i64 hi);
const Ex *ex_min(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_max(Exprs *e, const Ex *a, const Ex *b);
/* Sums without a minus: x > 0 where *more > *less, and neither overflows. */
void ex_above(Exprs *e, const Ex *x, const Ex **more, const Ex **less);

/* An atom with two operands in canonical order; for the constructors only. */
const Ex *ex_commutative(Exprs *e, AtomOp op, const Ex *a, const Ex *b);

/* expr_bits.c */
const Ex *ex_xor(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_and(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_or(Exprs *e, const Ex *a, const Ex *b);

/* expr_walk.c */
/* The variable if x is just a variable, else -1. */
int ex_as_var(const Ex *x);
/* The variable that the atom is, or a digit of: var%hi//lo; hi 0: to the end.  -1: none. */
int ex_digit_of(const Atom *a, i64 *lo, i64 *hi);
/* A place where x has a variable v: as the digit v%hi//lo; hi 0: to the end, lo 1: v itself. */
typedef struct {
    i64 lo, hi;
    i64 mod;              /* x depends only on this digit modulo `mod`; 0: on all of it */
    const Atom *digit;    /* the digit of whose argument v is a term, (k*v + ..)%hi//lo, or NULL */
    const Term *term;     /* that term */
} DigitUse;
/* Calls f for each of them, also in arguments. */
typedef void DigitSeen(void *arg, const DigitUse *u);
void ex_each_digit(const Ex *x, int var, DigitSeen *f, void *arg);
/* Replaces each variable v by to[v] unless that is NULL, and simplifies the result. */
const Ex *ex_subst(Exprs *e, const Ex *x, const Ex *const *to);
/* Sets *out to the value of x for the values val[var], without the simplifier.  False if
 * it does not fit 64 bits. */
bool ex_eval(const Ex *x, const i64 *val, i64 *out);
/* Sets used[v] for every variable v in x. */
void ex_vars(const Ex *x, bool *used);
bool ex_has(const Ex *x, int var);
/* With `with`: the terms of x that contain a variable v with of[v].  Without: the other
 * terms and the base. */
const Ex *ex_part(Exprs *e, const Ex *x, const bool *of, bool with);
/* True if no intermediate value of x, as printed, needs more than 31 bits; without
 * has_sign, none may be negative either. */
bool ex_is_narrow(const Ex *x, bool has_sign);

/* expr_code.c: expressions as code that computes values: the first are its inputs.  The code needs no
 * Exprs and little memory. */
typedef struct {
    const int16_t *code;
    size_t length;
    int inputs, n;        /* n: of all values */
} ExCode;
typedef struct ExCoder ExCoder;
ExCoder *ex_coder(Exprs *e, int inputs);
/* The variable has that value.  Each variable must have one before it occurs in an expression. */
void ex_coder_is(ExCoder *c, int var, int value);
/* Return the number of the value of x, of the product of two values. */
int ex_coder_value(ExCoder *c, const Ex *x);
int ex_coder_times(ExCoder *c, int x, int y);
ExCode ex_coder_end(const ExCoder *c);
/* Computes val[inputs] to val[n - 1].  Sets flaw[i], which are false before, if value i does not fit 64
 * bits; NULL: all fit. */
void ex_code_run(const ExCode *c, i64 *val, bool *flaw);

/* expr_print.c: text with the operators of a language. */
typedef struct {
    const char *op[OP_COUNT];    /* operators of atoms, and of digits */
    bool floor;                  /* division and remainder round down */
    const char *suffix;          /* follows each number; NULL: nothing */
} Spelling;
extern const Spelling spell_lua;
void ex_print(Buf *b, const Ex *x, const Exprs *e, const Spelling *sp);
const char *ex_text(Exprs *e, const Ex *x);
const char *ex_spelled(Arena *a, const Ex *x, const Exprs *e, const Spelling *sp);
/* x > 0 by ex_above, as s3 < 1 where x is -s3 + 1. */
const char *ex_above_spelled(Arena *a, const Ex *x, Exprs *e, const Spelling *sp);

/* op.c: the meaning of the operators in op.def.  Code that walks over expressions uses
 * these tables.  Outside of this folder particular operators are named only where one is
 * made (layout_view.c), spelled in another language (target.c), or the subject of a
 * message (decide_why.c). */
enum { LEVEL_CALL = 9, SHIFT_MAX = 61 };

typedef struct { i64 min, max; } Span;

/* The limits of a right operand that must be a constant. */
typedef struct {
    i64 least, most;
    const char *why;      /* "the divisor must be ..." */
} OpRight;

/* How an operator treats fractions: the denominators of the operands and of the value. */
typedef enum {
    UNIT_WHOLE,           /* the operands must be integers */
    UNIT_SAME,            /* operands and value have a common denominator */
    UNIT_RATIO,           /* the operands have a common one; the value is an integer */
    UNIT_PRODUCT          /* the denominator of the value is the product */
} OpUnit;

typedef struct {
    /* Required.  Sets *r to the value; false if it does not fit 64 bits.  b is within
     * `right`; it is 0 for one argument. */
    bool (*value)(i64 a, i64 b, i64 *r);
    /* Required.  The canonical form.  b is a constant within `right` if there is one;
     * it is NULL for one argument. */
    const Ex *(*lower)(Exprs *e, const Ex *a, const Ex *b);
    const OpRight *right; /* NULL: any expression */
    OpUnit unit;
    /* The interval of the values.  NULL: the value is monotonic in each operand, so its
     * bounds are values at the bounds of the operands. */
    bool (*range)(Span a, Span b, Span *r);

    /* Optional properties. */
    /* `value` of n pairs at once, in a[], as a loop that a compiler vectorises; false: not
     * for these. */
    bool (*row)(i64 *a, const i64 *b, int n);
    bool commutative;
    int sum[2];           /* the value is sum[0]*a + sum[1]*b; 0, 0: it is no sum */
    bool product;         /* the value is a*b */
    /* With the constant c as right operand the value is k*a; false: not for this c. */
    bool (*times)(i64 c, i64 *k);
    /* With the constant c the value is dig(a, lo, hi) of expr.h; false: not for this c. */
    bool (*digit)(i64 c, i64 *lo, i64 *hi);
    /* The modulus m such that the value modulo `mod` depends only on the operands modulo
     * m.  0 means no modulus: the full value is needed.  NULL: derived from times and
     * digit, else 0. */
    i64 (*period)(i64 mod);
} OpMeaning;

#define OP(name, nargs, level, lua, meta, is) extern const OpMeaning is;
#include "op.def"
#undef OP

typedef struct {
    int nargs, level;
    const char *lua;      /* spelling */
    const char *meta;     /* metamethod, "" for functions and leaves */
    const OpMeaning *is;
} OpInfo;
extern const OpInfo op_info[OP_COUNT];
/* The operator of an atom; OP_COUNT for a variable or a digit. */
Op ex_operator(const Atom *a);
/* True if the operator is written as a function, for example min. */
bool op_is_call(Op op);

/* True if each of least..most is allowed as right operand. */
bool op_allows(const OpMeaning *is, i64 least, i64 most);
/* `value` for any b; false also if b is not allowed as right operand. */
bool op_value(const OpMeaning *is, i64 a, i64 b, i64 *r);
/* The same for n pairs: a[i] becomes the value, or 0 if there is none. */
void op_row(const OpMeaning *is, i64 *a, const i64 *b, int n);
bool op_range(const OpMeaning *is, Span a, Span b, Span *r);

/* Index expressions as written, before simplification.  The spec language and ast_parse
 * make them; ast_lower converts them to Ex. */
enum { AST_MAX_SIZE = 4000, AST_MAX_DEPTH = 150 };

/* T[at]: number `at` of the table T of a layout. */
typedef struct {
    const char *name;
    const i64 *list;
    int n;                /* numbers; 0: the table is not known yet */
    const struct Ast *at;
} AstTable;

/* Immutable; subtrees may be shared. */
typedef struct Ast {
    Op op;
    Loc loc;
    i64 num;              /* OP_NUM */
    const char *name;     /* OP_SYM */
    const struct Ast *x[2];
    const AstTable *table;         /* the tree is this, and is printed so; NULL: it is not */
    const AstTable *list;          /* the tree is the list of a part of a tensor; or NULL */
    int size, depth;      /* of the tree, at most AST_MAX_SIZE, AST_MAX_DEPTH */
} Ast;

/* ast.c */
const Ast *ast_num(Arena *a, i64 v, Loc loc);
const Ast *ast_sym(Arena *a, const char *name, Loc loc);
/* y is NULL for one argument.  diag_fatal if the tree becomes too large. */
const Ast *ast_op(Arena *a, Op op, const Ast *x, const Ast *y, Loc loc);
/* x[k]: bit k of x; 0 <= k <= SHIFT_MAX. */
const Ast *ast_bit(Arena *a, const Ast *x, i64 k, Loc loc);
/* Whether a name occurs in x. */
bool ast_names(const Ast *x, const char *name);
void ast_print(Buf *b, const Ast *x);
const char *ast_text(Arena *a, const Ast *x);

/* ast_list.c */
/* list[x], for 0 <= x < n; below and above, the first and the last number. */
const Ast *ast_list(Arena *a, const i64 *list, int n, const Ast *x);
/* The places at which its runs of evenly spaced numbers begin, and n; sets *nruns. */
enum { AST_RUNS_MAX = 100 };
i64 *ast_list_runs(Arena *a, const i64 *list, int n, int *nruns);
/* The tree of T[at]; of a table that is not known yet the symbol T. */
const Ast *ast_table(Arena *a, const AstTable *t, Loc loc);

/* ast_eval.c */
/* Sets *v to the value of a name; false if the name is not known. */
typedef bool AstLookup(const void *env, const char *name, i64 *v);
/* Sets *v to the value, by the plain definition of every operator.  The simplifier is
 * tested against this evaluator.  False if a value does not fit 64 bits, a divisor is not
 * positive, or a name is not known. */
bool ast_eval(const Ast *x, AstLookup *lookup, const void *env, i64 *v);
/* Sets *v if x is a number. */
bool ast_number(const Ast *x, i64 *v);
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
