/* expr.h: index expressions that simplify themselves.
 *
 * An expression is  base + sum of coef * atom,  built only by the constructors
 * below, hash-consed: within one Exprs, equal pointers are equal expressions
 * in canonical form.  The atom of index arithmetic is the digit
 *
 *      dig(x, lo, hi) = (x mod hi) div lo        lo divides hi; hi = 0: no mod
 *
 * so that div-of-div, mod-of-div and their recombination become arithmetic on
 * (lo, hi).  Idea: TVM's SplitExpr (src/arith/canonical_simplify.cc); facts as
 * in Halide's simplifier; xor by splitting at bit borders.  The rule numbers
 * in comments are those of identities.toml, where each is proven.
 *
 * Integers are 64-bit; an expression whose value could leave them is refused
 * (diag_fatal), never wrapped.  Not thread-safe: one Exprs a compilation. */
#ifndef RAVEL_EXPR_H
#define RAVEL_EXPR_H

#include "../base/base.h"

#define INF INT64_MAX     /* as a bound: not bounded */

/* The operators of expressions as written, which op.h tells the meaning of. */
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

/* What is known of a value. */
typedef struct {
    i64 min, max;         /* interval, -INF and INF where unbounded */
    i64 mod, rem;         /* value = rem (mod `mod`); mod 0: it is rem */
    uint64_t ones;        /* bits that may be set; all of them when min < 0 */
} Facts;

typedef struct Ex Ex;
typedef struct {
    AtomOp op;
    unsigned id;          /* order of creation: the canonical order */
    int var;              /* AT_VAR */
    i64 lo, hi;           /* AT_DIG */
    int n;                /* operands; AT_DIG has one */
    const Ex **x;
    int size;             /* as of Ex */
    Facts f;
} Atom;

typedef struct {
    i64 coef;
    const Atom *atom;
} Term;

struct Ex {
    unsigned id;          /* order of creation */
    i64 base;
    int n;
    const Term *t;        /* sorted by atom id, coefs not zero */
    int size;             /* atoms, as a tree: bounded, for the walks over it */
    Facts f;
};

typedef struct Exprs Exprs;

/* expr.c */
Exprs *ex_new(Arena *a);
Arena *ex_arena(Exprs *e);
/* A variable with min <= value <= max; `name` is copied.  Names are not looked
 * up here: two variables may share one. */
int ex_var(Exprs *e, const char *name, i64 min, i64 max);
/* The variable that the last call with these made, or a new one: for loops, of which
 * plans have many alike. */
int ex_loop_var(Exprs *e, const char *name, i64 n);
int ex_nvars(const Exprs *e);
const char *ex_var_name(const Exprs *e, int var);
const Ex *ex_of_var(Exprs *e, int var);
const Ex *ex_of_atom(Exprs *e, const Atom *a);
const Ex *ex_const(Exprs *e, i64 v);
/* base + the n terms, in any order, atoms repeated or not; merges digits. */
const Ex *ex_sum(Exprs *e, i64 base, const Term *t, int n);
/* An atom as it stands, interned; for the constructors of expr_*.c only. */
const Atom *ex_atom(Exprs *e, const Atom *proto);
/* What is being lowered, for messages; {0} when it is nothing of the user's. */
void ex_locate(Exprs *e, Loc loc);
_Noreturn void ex_overflow(Exprs *e);
_Noreturn void ex_fail(Exprs *e, const char *why);

/* expr_facts.c */
Facts facts_const(i64 v);
Facts facts_range(i64 min, i64 max);
Facts facts_scale(Facts a, i64 k);
Facts facts_add(Facts a, Facts b);
Facts facts_of_atom(const Atom *a, i64 min, i64 max);   /* bounds of an AT_VAR */

/* expr_arith.c */
const Ex *ex_add(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_sub(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_scale(Exprs *e, const Ex *a, i64 k);
const Ex *ex_mul(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_div(Exprs *e, const Ex *a, i64 c);    /* floor; c > 0 */
const Ex *ex_mod(Exprs *e, const Ex *a, i64 c);
const Ex *ex_dig(Exprs *e, const Ex *a, i64 lo, i64 hi);
const Ex *ex_min(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_max(Exprs *e, const Ex *a, const Ex *b);

/* An atom of two operands in canonical order; for the constructors only. */
const Ex *ex_commutative(Exprs *e, AtomOp op, const Ex *a, const Ex *b);

/* expr_bits.c */
const Ex *ex_xor(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_and(Exprs *e, const Ex *a, const Ex *b);
const Ex *ex_or(Exprs *e, const Ex *a, const Ex *b);

/* expr_walk.c */
/* The digit an atom is: every atom is dig(root, 1, inf) of itself at least. */
typedef struct {
    const Ex *root;
    i64 lo, hi;
} Digit;
Digit ex_digit(Exprs *e, const Atom *a);
/* The variable that `x` is, or -1. */
int ex_as_var(const Ex *x);
bool ex_is_const(const Ex *x);
bool ex_is(const Ex *x, i64 v);
/* The operator of an atom; OP_COUNT: it is a variable or a digit. */
Op ex_operator(const Atom *a);
/* Replace variable v by to[v] where that is not NULL; rebuilds, so simplifies. */
const Ex *ex_subst(Exprs *e, const Ex *x, const Ex *const *to);
/* The value at val[var]; plain evaluation, no simplifier.  True when it fits. */
bool ex_eval(const Ex *x, const i64 *val, i64 *out);
/* Set used[v] for every variable in x. */
void ex_vars(const Ex *x, bool *used);
/* The terms of x that have a variable with of[v]; or, with its base, the others. */
const Ex *ex_part(Exprs *e, const Ex *x, const bool *of, bool with);
/* Whether x, as written, needs no more than 31 bits at any point, and no sign unless
 * there is one. */
bool ex_is_narrow(const Ex *x, bool has_sign);

/* expr_print.c: text in one of two spellings. */
typedef struct {
    const char *op[OP_COUNT];    /* those that atoms have, and of digits */
    bool floor;                  /* division and remainder are floor ones */
    const char *suffix;          /* after a number; NULL: nothing */
} Spelling;
extern const Spelling spell_lua;
void ex_print(Buf *b, const Ex *x, const Exprs *e, const Spelling *sp);
const char *ex_text(Exprs *e, const Ex *x);
const char *ex_spelled(Arena *a, const Ex *x, const Exprs *e, const Spelling *sp);

#endif
