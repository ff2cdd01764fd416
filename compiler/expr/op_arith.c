/* The arithmetic operators. */
#include "expr.h"

static i64
same_period(i64 mod)
{
    return mod;
}

const OpMeaning op_add = {
    .value = int_add, .lower = ex_add, .unit = UNIT_SAME, .commutative = true,
    .sum = {1, 1}, .period = same_period};

static bool
sub(i64 a, i64 b, i64 *r)
{
    return !__builtin_sub_overflow(a, b, r);
}

const OpMeaning op_sub = {
    .value = sub, .lower = ex_sub, .unit = UNIT_SAME, .sum = {1, -1},
    .period = same_period};

static bool
neg(i64 a, i64 b, i64 *r)
{
    return sub(b, a, r);
}

/* Rule 65. */
static const Ex *
lower_neg(Exprs *e, const Ex *a, const Ex *b)
{
    (void)b;
    return ex_scale(e, a, -1);
}

const OpMeaning op_neg = {
    .value = neg, .lower = lower_neg, .unit = UNIT_SAME, .sum = {-1, 0},
    .period = same_period};

static bool
times(i64 c, i64 *k)
{
    *k = c;
    return true;
}

const OpMeaning op_mul = {
    .value = int_mul, .lower = ex_mul, .unit = UNIT_PRODUCT, .commutative = true,
    .product = true, .times = times};

static const OpRight divisor = {1, INF, "the divisor must be a constant above 0"};

static bool
quotient(i64 a, i64 b, i64 *r)
{
    *r = int_div(a, b);
    return true;
}

static const Ex *
lower_div(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_div(e, a, b->base);
}

static bool
digit_div(i64 c, i64 *lo, i64 *hi)
{
    *lo = c;
    *hi = 0;
    return true;
}

/* Whether all of b[] are one power of two. */
static bool
one_power(const i64 *b, int n)
{
    i64 other = 0;
    for (int i = 0; i < n; i++)
        other |= b[i] ^ b[0];
    return n > 0 && !other && int_is_pow2(b[0]);
}

static bool
row_div(i64 *a, const i64 *b, int n)
{
    if (!one_power(b, n))
        return false;
    int shift = int_log2(b[0]);
    for (int i = 0; i < n; i++)
        a[i] >>= shift;
    return true;
}

const OpMeaning op_div = {
    .value = quotient, .lower = lower_div, .right = &divisor, .unit = UNIT_RATIO,
    .row = row_div, .digit = digit_div};

static bool
modulo(i64 a, i64 b, i64 *r)
{
    *r = int_mod(a, b);
    return true;
}

static const Ex *
lower_mod(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_mod(e, a, b->base);
}

static bool
range_mod(Span a, Span b, Span *r)
{
    (void)a;
    *r = (Span){0, b.max - 1};
    return b.min == b.max;
}

static bool
digit_mod(i64 c, i64 *lo, i64 *hi)
{
    *lo = 1;
    *hi = c;
    return true;
}

static bool
row_mod(i64 *a, const i64 *b, int n)
{
    if (!one_power(b, n))
        return false;
    i64 mask = b[0] - 1;
    for (int i = 0; i < n; i++)
        a[i] &= mask;
    return true;
}

const OpMeaning op_mod = {
    .value = modulo, .lower = lower_mod, .right = &divisor, .unit = UNIT_SAME,
    .range = range_mod, .row = row_mod, .digit = digit_mod};

static bool
lesser(i64 a, i64 b, i64 *r)
{
    *r = a < b ? a : b;
    return true;
}

const OpMeaning op_min = {
    .value = lesser, .lower = ex_min, .unit = UNIT_SAME, .commutative = true};

static bool
greater(i64 a, i64 b, i64 *r)
{
    *r = a > b ? a : b;
    return true;
}

const OpMeaning op_max = {
    .value = greater, .lower = ex_max, .unit = UNIT_SAME, .commutative = true};
