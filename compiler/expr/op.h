/* op.h: what the operators of op.def mean.  Whatever walks over an expression reads it
 * here; no other file knows the operators. */
#ifndef RAVEL_OP_H
#define RAVEL_OP_H

#include "expr.h"

enum { LEVEL_CALL = 9, SHIFT_MAX = 61 };

typedef struct { i64 min, max; } Span;

/* A right operand that must be a number. */
typedef struct {
    i64 least, most;
    const char *why;      /* "the divisor must be ..." */
} OpRight;

/* The units of operands that are fractions, and of the value. */
typedef enum {
    UNIT_WHOLE,           /* there are none: whole numbers only */
    UNIT_SAME,            /* both operands have the value's */
    UNIT_RATIO,           /* both operands have one, the value counts them */
    UNIT_PRODUCT          /* the value has the product */
} OpUnit;

typedef struct {
    /* Required.  The value; false where it does not fit 64 bits.  b is 0 for one
     * argument, and is within `right`. */
    bool (*value)(i64 a, i64 b, i64 *r);
    /* Required.  The canonical form.  b is NULL for one argument, a number within
     * `right`. */
    const Ex *(*lower)(Exprs *e, const Ex *a, const Ex *b);
    const OpRight *right; /* NULL: any integer, known or not */
    OpUnit unit;
    /* The interval that the values span.  NULL: the value is monotonic in each operand,
     * its ends are among those of the operands' ends. */
    bool (*range)(Span a, Span b, Span *r);

    /* What else is known; all of it may be absent. */
    bool commutative;
    int sum[2];           /* it is sum[0]*a + sum[1]*b; 0, 0: it is no sum */
    bool product;         /* it is a*b */
    /* With a number c for the right operand it is k*a; false: not for this c. */
    bool (*times)(i64 c, i64 *k);
    /* With a number c it is dig(a, lo, hi) of expr.h; false: not for this c. */
    bool (*digit)(i64 c, i64 *lo, i64 *hi);
    /* Where only the remainder of the value by `mod` matters, only those of the operands
     * by this do; a modulus of 0: all of a value matters.  NULL: what follows from times
     * and digit, or 0. */
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
/* A function by name, as min. */
bool op_is_call(Op op);

/* Whether all of least..most may be its right operand. */
bool op_allows(const OpMeaning *is, i64 least, i64 most);
/* The value for any b; false where it may not be the right operand either. */
bool op_value(const OpMeaning *is, i64 a, i64 b, i64 *r);
bool op_range(const OpMeaning *is, Span a, Span b, Span *r);

#endif
