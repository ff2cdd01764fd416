/* Computes the facts of a value from the facts of its parts. */
#include "expr.h"

/* The sum of two lower bounds (`low`) or of two upper bounds (rule 73).  It is infinite if
 * one of them is: -INF for lower bounds, INF for upper ones.  INF as a lower bound and -INF
 * as an upper one are ordinary numbers. */
static i64
bound_add(i64 a, i64 b, bool low)
{
    i64 r, none = low ? -INF : INF;
    if (a == none || b == none)
        return none;
    if (int_add(a, b, &r) && r > -INF && r < INF)
        return r;
    return a > 0 ? INF : -INF;
}

/* Rule 74. */
static i64
bound_mul(i64 a, i64 k)
{
    i64 r;
    if (a == 0 || k == 0)
        return 0;
    if (a != INF && a != -INF && int_mul(a, k, &r) && r > -INF && r < INF)
        return r;
    return (a > 0) == (k > 0) ? INF : -INF;
}

/* Rule 79. */
static uint64_t
ones_below(i64 max)
{
    if (max <= 0)
        return 0;
    return max == INF ? INT64_MAX : ((uint64_t)2 << int_log2(max)) - 1;
}

Facts
facts_const(i64 v)
{
    return (Facts){v, v, 0, v, v < 0 ? ~(uint64_t)0 : (uint64_t)v};
}

/* Rule 79. */
static Facts
facts_range(i64 min, i64 max)
{
    Facts f = {min, max, 1, 0, min < 0 ? ~(uint64_t)0 : ones_below(max)};
    return min == max ? facts_const(min) : f;
}

/* Interval, congruence and bits of k*a (rules 74, 76, 88, 78). */
Facts
facts_scale(Facts a, i64 k)
{
    i64 p = bound_mul(a.min, k), q = bound_mul(a.max, k);
    Facts f = facts_range(p < q ? p : q, p < q ? q : p);
    if (f.mod == 0)
        return f;
    if (!int_mul(a.mod, int_abs(k), &f.mod) || !int_mul(a.rem, k, &f.rem))
        f.mod = 1;
    f.rem = int_mod(f.rem, f.mod);
    if (f.min >= 0 && int_is_pow2(k))
        f.ones &= a.ones << int_log2(k);
    return f;
}

/* Interval, congruence and bits of a + b (rules 73, 75, 77). */
Facts
facts_add(Facts a, Facts b)
{
    Facts f = facts_range(bound_add(a.min, b.min, true), bound_add(a.max, b.max, false));
    if (f.mod == 0)
        return f;
    i64 g = int_gcd(a.mod, b.mod), r = 0;
    f.mod = g ? g : 1;
    if (int_add(int_mod(a.rem, f.mod), int_mod(b.rem, f.mod), &r))
        f.rem = int_mod(r, f.mod);
    else
        f.mod = 1;
    if (a.min >= 0 && b.min >= 0 && !(a.ones & b.ones))
        f.ones &= a.ones | b.ones;
    return f;
}

/* Rules 80, 81. */
static Facts
facts_dig(const Atom *a)
{
    Facts x = a->x[0]->f;
    i64 min = x.min == -INF ? -INF : int_div(x.min, a->lo);
    i64 max = x.max == INF ? INF : int_div(x.max, a->lo);
    if (!a->hi)
        return facts_range(min, max);
    i64 top = a->hi / a->lo - 1;
    return facts_range(0, min >= 0 && max < top ? max : top);
}

/* The number of bits, without the sign, that hold every value of both operands in two's
 * complement (rule 84); 63 if an operand is unbounded. */
static int
width(Facts a, Facts b)
{
    int n = 0;
    i64 v[4] = {a.max, b.max, a.min, b.min};
    for (int i = 0; i < 4; i++) {
        i64 m = v[i] < 0 ? ~v[i] : v[i];
        if (v[i] == INF || v[i] == -INF)
            return 63;
        while (n < 63 && m >> n)
            n++;
    }
    return n;
}

/* The range of a bitwise operator whose operands may be negative (rule 83). */
static Facts
facts_signed(Facts a, Facts b)
{
    int n = width(a, b);
    return n >= 62 ? facts_range(-INF, INF)
                   : facts_range(-((i64)1 << n), ((i64)1 << n) - 1);
}

/* Rules 52, 82; 83 if an operand may be negative. */
static Facts
facts_xor(const Atom *a)
{
    Facts f = a->x[0]->f;
    for (int i = 1; i < a->n; i++) {
        Facts g = a->x[i]->f;
        if (f.min < 0 || g.min < 0) {
            f = facts_signed(f, g);
            continue;
        }
        bool open = f.max == INF || g.max == INF;
        uint64_t ones = f.ones | g.ones;
        f = facts_range(0, open ? INF : (i64)(ones & INT64_MAX));
        f.ones = ones;
    }
    return f;
}

/* Rule 85; 83 if both operands may be negative. */
static Facts
facts_and(const Atom *a)
{
    Facts p = a->x[0]->f, q = a->x[1]->f;
    if (p.min < 0 && q.min < 0)
        return facts_signed(p, q);
    bool open = p.max == INF && q.max == INF;
    uint64_t ones = p.ones & q.ones & INT64_MAX;
    Facts f = facts_range(0, open ? INF : (i64)ones);
    f.ones = ones;
    return f;
}

/* Rule 86. */
static Facts
facts_mul(const Atom *a)
{
    Facts p = a->x[0]->f, q = a->x[1]->f;
    i64 v[4] = {bound_mul(p.min, q.min), bound_mul(p.min, q.max),
                bound_mul(p.max, q.min), bound_mul(p.max, q.max)};
    i64 min = v[0], max = v[0];
    for (int i = 1; i < 4; i++) {
        min = v[i] < min ? v[i] : min;
        max = v[i] > max ? v[i] : max;
    }
    return facts_range(min, max);
}

/* Rule 87: of the smaller or the larger of two.  Without a limit it is INF, which is compared as a number. */
static Facts
facts_extreme(const Atom *a)
{
    Facts p = a->x[0]->f, q = a->x[1]->f;
    Span r = {-INF, INF};
    op_range(op_info[ex_operator(a)].is, (Span){p.min, p.max}, (Span){q.min, q.max}, &r);
    return facts_range(r.min, r.max);
}

Facts
facts_of_atom(const Atom *a, i64 min, i64 max)
{
    static Facts (*const known[AT_COUNT])(const Atom *) = {
#define ATOM(name, op, facts, print, open) facts,
#include "expr.def"
#undef ATOM
    };
    return a->op == AT_VAR ? facts_range(min, max) : known[a->op](a);
}
