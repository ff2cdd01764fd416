/* Converts a piece to a comb: runs with a constant distance.  plan_check.c uses combs. */
#include "plan_parts.h"

/* The comb n times at a distance of `step`, if that is a comb. */
static bool
repeat(Comb *c, i64 n, i64 step)
{
    i64 span;
    if (n == 1)
        return true;
    if (c->count == 1 && step == c->run)
        return int_mul(c->run, n, &c->run);
    if (c->count == 1 && step > c->run) {
        c->period = step;
        c->count = n;
        return true;
    }
    return int_mul(c->period, c->count, &span) && step == span &&
           int_mul(c->count, n, &c->count);
}

bool
comb_of(const Piece *p, const i64 *val, Comb *c)
{
    i64 span;
    *c = (Comb){.run = 1, .count = 1};
    if (!ex_eval(p->start, val, &c->start))
        return false;
    for (int i = p->nloops - 1; i >= 0; i--) {
        i64 step = p->loop[i].step, n, first;
        if (!ex_eval(p->loop[i].n, val, &n) || !ex_eval(p->loop[i].first, val, &first) ||
            n < 0 || (n > 1 && step < 1))
            return false;
        if (n == 0) {
            *c = (Comb){.run = 1, .count = 1, .last = -1};
            return true;
        }
        if (!int_mul(step, first, &span) || !int_add(c->start, span, &c->start) ||
            !repeat(c, n, step))
            return false;
    }
    return int_mul(c->run, c->count, &c->size) &&
           int_mul(c->period, c->count - 1, &span) &&
           int_add(span, c->run - 1, &span) && int_add(span, c->start, &c->last);
}

/* True if [lo, hi] has a coordinate in common with b.  Requires that it meets the range
 * of b. */
static bool
run_meets(i64 lo, i64 hi, const Comb *b)
{
    if (b->count == 1)
        return true;
    i64 first = -int_div(b->start + b->run - 1 - lo, b->period);
    i64 last = int_div(hi - b->start, b->period);
    return first <= last;
}

bool
comb_meets(const Comb *a, const Comb *b)
{
    if (!a->size || !b->size || a->last < b->start || b->last < a->start)
        return false;
    if (a->count == 1)
        return run_meets(a->start, a->last, b);
    if (b->count == 1)
        return run_meets(b->start, b->last, a);
    i64 g = int_gcd(a->period, b->period), off = int_mod(b->start - a->start, g);
    return off < a->run || off + b->run > g;
}
