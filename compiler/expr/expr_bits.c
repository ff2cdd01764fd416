/* Bitwise operators.  A xor splits its operands at bit boundaries and combines the parts with
 * the same bits.  An `and` with a constant becomes digits.  An `or` is a + b - (a & b). */
#include <string.h>

#include "expr.h"

/* The set of bit positions at which a term of x, or a run of ones in its constant, begins
 * or ends. */
static uint64_t
boundaries(const Ex *x)
{
    uint64_t base = (uint64_t)x->base, set = base ^ base << 1;
    for (int i = 0; i < x->n; i++) {
        i64 k = x->t[i].coef, max = x->t[i].atom->f.max;
        if (k < 0)
            k = -k;
        int low = __builtin_ctzll((unsigned long long)k);
        set |= (uint64_t)1 << low;
        if (int_is_pow2(k) && max > 0 && max != INF) {
            int high = low + int_log2(max) + 1;
            set |= high < 63 ? (uint64_t)1 << high : 0;
        }
    }
    return set;
}

/* The operands of one xor piece, a sorted set; two equal operands cancel (rule 42). */
enum { MAX_PARTS = 64 };

typedef struct {
    const Ex *x[MAX_PARTS + 1];   /* room for the constant */
    int n;
    i64 constant;
} Pieces;

/* Rule 42. */
static void
toggle(Exprs *e, Pieces *p, const Ex *x)
{
    int i = 0;
    if (ex_is_const(x)) {
        p->constant ^= x->base;
        return;
    }
    while (i < p->n && ex_order(p->x[i], x) < 0)
        i++;
    if (i < p->n && p->x[i] == x) {
        memmove(p->x + i, p->x + i + 1, (size_t)(--p->n - i) * sizeof *p->x);
        return;
    }
    if (p->n == MAX_PARTS)
        ex_fail(e, "an xor of more than 64 parts");
    memmove(p->x + i + 1, p->x + i, (size_t)(p->n++ - i) * sizeof *p->x);
    p->x[i] = x;
}

/* Adds the operands of x if it is a xor, else x (rule 42). */
static void
toggle_all(Exprs *e, Pieces *p, const Ex *x)
{
    bool is_xor = x->n == 1 && x->base == 0 && x->t[0].coef == 1 &&
                  x->t[0].atom->op == AT_XOR;
    if (!is_xor) {
        toggle(e, p, x);
        return;
    }
    for (int i = 0; i < x->t[0].atom->n; i++)
        toggle(e, p, x->t[0].atom->x[i]);
}

/* a ^ b for operands without boundaries between their first and last bit (rule 42).  `all` is
 * the mask of these bits; 0: there is no upper bound. */
static const Ex *
xor_piece(Exprs *e, const Ex *a, const Ex *b, uint64_t all)
{
    Pieces p = {.n = 0};
    toggle_all(e, &p, a);
    toggle_all(e, &p, b);
    if (p.n == 0)
        return ex_const(e, p.constant);
    if (p.n == 1 && p.constant == 0)
        return p.x[0];
    if (p.n == 1 && all && (uint64_t)p.constant == all)   /* rule 54 */
        return ex_sub(e, ex_const(e, p.constant), p.x[0]);
    if (p.constant)
        p.x[p.n++] = ex_const(e, p.constant);
    Atom proto = {.op = AT_XOR, .n = p.n, .x = p.x};
    return ex_of_atom(e, ex_atom(e, &proto));
}

/* Bits from..to-1 of x, or all bits from `from` on if to is 63 (rule 45). */
static const Ex *
slice(Exprs *e, const Ex *x, int from, int to)
{
    x = ex_div(e, x, (i64)1 << from);
    return to < 63 ? ex_mod(e, x, (i64)1 << (to - from)) : x;
}

static int
bits_of(const Ex *x)
{
    return x->f.max <= 0 ? 0 : int_log2(x->f.max) + 1;
}

/* The boundaries of a and b between 0 and n, exclusive. */
static uint64_t
inner_boundaries(const Ex *a, const Ex *b, int n)
{
    return (boundaries(a) | boundaries(b)) & (((uint64_t)1 << n) - 2);
}

/* a ^ b for operands in [0, 2^n), in pieces between the boundaries of both (rules 43, 44, 47,
 * 51, 64).  It recurses because a slice may have new boundaries. */
static const Ex *
xor_bounded(Exprs *e, const Ex *a, const Ex *b, int n)
{
    uint64_t cut = inner_boundaries(a, b, n);
    const Ex *r = ex_const(e, 0);
    if (!cut)
        return xor_piece(e, a, b, ((uint64_t)1 << n) - 1);
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && !(cut >> to & 1); to++)
            ;
        const Ex *x = slice(e, a, from, to), *y = slice(e, b, from, to);
        r = ex_add_scaled(e, r, ex_xor(e, x, y), (i64)1 << from);
    }
    return r;
}

static bool
bounded(const Ex *x)
{
    return x->f.min >= 0 && x->f.max < (i64)1 << 62;
}

static bool
is_negative(const Ex *x)
{
    return ex_is_const(x) && x->base < 0;
}

/* Rule 58. */
static const Ex *
complement(Exprs *e, const Ex *x)
{
    return ex_sub(e, ex_const(e, -1), x);
}

/* Equal operands cancel (rule 42).  Operands without common bits are added (48, 63).  A
 * negative constant is complemented (58).  Otherwise only the low bits, as many as the
 * shorter operand has, are combined (64). */
const Ex *
ex_xor(Exprs *e, const Ex *a, const Ex *b)
{
    if (a == b)
        return ex_const(e, 0);
    if (a->f.min >= 0 && b->f.min >= 0 && !(a->f.ones & b->f.ones))
        return ex_add(e, a, b);
    if (is_negative(a) || is_negative(b))
        return complement(e, is_negative(a) ? ex_xor(e, b, complement(e, a))
                                            : ex_xor(e, a, complement(e, b)));
    if (!bounded(b) || (bounded(a) && bits_of(a) < bits_of(b))) {
        const Ex *t = a;
        a = b;
        b = t;
    }
    if (!bounded(b))
        return xor_piece(e, a, b, 0);
    int n = bits_of(b);
    if (bounded(a) && bits_of(a) == n)
        return xor_bounded(e, a, b, n);
    i64 span = (i64)1 << n;                                      /* rules 49, 50, 53 */
    const Ex *low = ex_xor(e, ex_mod(e, a, span), b);
    return ex_add_scaled(e, low, ex_div(e, a, span), span);
}

/* x & mask: one digit for each run of ones (rules 45, 46, 60, 61); mask >= 0. */
static const Ex *
masked(Exprs *e, const Ex *x, i64 mask)
{
    const Ex *r = ex_const(e, 0);
    for (int from = 0, to; from < 63; from = to) {
        bool one = mask >> from & 1;
        for (to = from + 1; to < 63 && (mask >> to & 1) == one; to++)
            ;
        if (one) {
            if (to == 63 && x->f.min < 0)
                ex_overflow(e);
            r = ex_add_scaled(e, r, slice(e, x, from, to), (i64)1 << from);
        }
    }
    return r;
}

/* Equal operands (rule 59), a constant (62), operands without common bits (63). */
const Ex *
ex_and(Exprs *e, const Ex *a, const Ex *b)
{
    if (a == b)
        return a;
    if (ex_is_const(a)) {
        const Ex *t = a;
        a = b;
        b = t;
    }
    if (ex_is_const(b))
        return b->base >= 0 ? masked(e, a, b->base)
                            : ex_sub(e, a, masked(e, a, -1 - b->base));
    if (a->f.min >= 0 && b->f.min >= 0 && !(a->f.ones & b->f.ones))
        return ex_const(e, 0);
    return ex_commutative(e, AT_AND, a, b);
}

/* Rule 57. */
const Ex *
ex_or(Exprs *e, const Ex *a, const Ex *b)
{
    return ex_sub(e, ex_add(e, a, b), ex_and(e, a, b));
}
