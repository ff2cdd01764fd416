/* op.h: the meaning of the operators in op.def.  Code that walks over expressions uses
 * these tables; no other file depends on particular operators. */
#ifndef RAVEL_OP_H
#define RAVEL_OP_H

#include "expr.h"

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
/* True if the operator is written as a function, for example min. */
bool op_is_call(Op op);

/* True if each of least..most is allowed as right operand. */
bool op_allows(const OpMeaning *is, i64 least, i64 most);
/* `value` for any b; false also if b is not allowed as right operand. */
bool op_value(const OpMeaning *is, i64 a, i64 b, i64 *r);
bool op_range(const OpMeaning *is, Span a, Span b, Span *r);

#endif
