/* The bitwise operators on 64-bit two's complement numbers. */
#include "expr.h"

/* The mask of all bits up to the highest bit of v >= 0. */
static i64
bits_up_to(i64 v)
{
    return v > 0 ? (i64)(((uint64_t)2 << int_log2(v)) - 1) : 0;
}

static bool
is_number(Span a)
{
    return a.min == a.max;
}

/* The range v..v if both operands are constant, else 0..most.  False if an operand may be
 * negative. */
static bool
range_bits(Span a, Span b, i64 v, i64 most, Span *r)
{
    bool known = is_number(a) && is_number(b);
    *r = (Span){known ? v : 0, known ? v : most};
    return a.min >= 0 && b.min >= 0;
}

static bool
or(i64 a, i64 b, i64 *r)
{
    *r = a | b;
    return true;
}

static bool
range_or(Span a, Span b, Span *r)
{
    return range_bits(a, b, a.min | b.min, bits_up_to(a.max) | bits_up_to(b.max), r);
}

const OpMeaning op_or = {
    .value = or, .lower = ex_or, .range = range_or, .commutative = true};

static bool
xor(i64 a, i64 b, i64 *r)
{
    *r = a ^ b;
    return true;
}

static bool
range_xor(Span a, Span b, Span *r)
{
    return range_bits(a, b, a.min ^ b.min, bits_up_to(a.max) | bits_up_to(b.max), r);
}

/* The low bits of the value depend only on the low bits of the operands. */
static i64
period_xor(i64 mod)
{
    return mod && int_is_pow2(mod) ? mod : 0;
}

static bool
row_xor(i64 *a, const i64 *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] ^= b[i];
    return true;
}

const OpMeaning op_xor = {
    .value = xor, .lower = ex_xor, .range = range_xor, .row = row_xor,
    .commutative = true, .period = period_xor};

static bool
and(i64 a, i64 b, i64 *r)
{
    *r = a & b;
    return true;
}

/* The value of an `and` with a mask is at most the mask. */
static bool
range_and(Span a, Span b, Span *r)
{
    i64 most = a.max < b.max ? a.max : b.max;
    if (is_number(a) || is_number(b))
        most = (is_number(a) ? a.min : bits_up_to(a.max)) &
               (is_number(b) ? b.min : bits_up_to(b.max));
    return range_bits(a, b, a.min & b.min, most, r);
}

/* Only for the masks 0, 1, 3, 7, ... */
static bool
digit_and(i64 c, i64 *lo, i64 *hi)
{
    *lo = 1;
    *hi = c >= 0 && c < INF ? c + 1 : 0;
    return int_is_pow2(*hi);
}

static bool
row_and(i64 *a, const i64 *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] &= b[i];
    return true;
}

const OpMeaning op_and = {
    .value = and, .lower = ex_and, .range = range_and, .row = row_and,
    .commutative = true, .digit = digit_and};

static bool
not(i64 a, i64 b, i64 *r)
{
    (void)b;
    *r = ~a;
    return true;
}

/* Rule 58. */
static const Ex *
lower_not(Exprs *e, const Ex *a, const Ex *b)
{
    (void)b;
    return ex_sub(e, ex_const(e, -1), a);
}

const OpMeaning op_not = {.value = not, .lower = lower_not};

static const OpRight shift = {0, SHIFT_MAX, "the shift must be a constant from 0 to 61"};

static bool
times_shl(i64 c, i64 *k)
{
    *k = (i64)1 << c;
    return true;
}

static bool
shl(i64 a, i64 b, i64 *r)
{
    return int_mul(a, (i64)1 << b, r);
}

/* A left shift becomes a product (rule 70). */
static const Ex *
lower_shl(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_scale(e, a, (i64)1 << b->base);
}

/* Whether all of b[] are one shift. */
static bool
one_shift(const i64 *b, int n)
{
    i64 other = 0;
    for (int i = 0; i < n; i++)
        other |= b[i] ^ b[0];
    return n > 0 && !other && b[0] >= 0 && b[0] <= SHIFT_MAX;
}

static bool
row_shl(i64 *a, const i64 *b, int n)
{
    if (!one_shift(b, n))
        return false;
    int by = (int)b[0];
    i64 most = INT64_MAX >> by, beyond = 0;
    for (int i = 0; i < n; i++)
        beyond |= a[i] | (i64)((uint64_t)most - (uint64_t)a[i]);
    for (int i = 0; i < n && beyond >= 0; i++)
        a[i] <<= by;
    return beyond >= 0;
}

const OpMeaning op_shl = {
    .value = shl, .lower = lower_shl, .right = &shift, .row = row_shl, .times = times_shl};

static bool
shr(i64 a, i64 b, i64 *r)
{
    *r = int_div(a, (i64)1 << b);
    return true;
}

static bool
row_shr(i64 *a, const i64 *b, int n)
{
    if (!one_shift(b, n))
        return false;
    int by = (int)b[0];
    for (int i = 0; i < n; i++)
        a[i] >>= by;
    return true;
}

/* A right shift becomes a quotient (rule 70). */
static const Ex *
lower_shr(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_div(e, a, (i64)1 << b->base);
}

static bool
digit_shr(i64 c, i64 *lo, i64 *hi)
{
    *lo = (i64)1 << c;
    *hi = 0;
    return true;
}

const OpMeaning op_shr = {
    .value = shr, .lower = lower_shr, .right = &shift, .row = row_shr, .digit = digit_shr};
