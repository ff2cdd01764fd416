/* One to one, dim after dim: with what is known of the coordinates, an entry shows more.
 *
 *     {X, (X + Y) % 3000}      the first entry is X; then the second shows Y modulo 3000
 *
 * An expression of which all atoms but one are known shows this one; so do the digits of a sum,
 * if together they are the sum modulo a number: (X + Y) // 2 and (X + Y) % 2.  Skews and
 * diagonals are decided in this way for every extent: nothing is enumerated.  Sums that one by one do not show
 * a dim may do so together: X + Y and X - Y.  Other layouts may
 * be one-to-one too. */
#include <string.h>

#include "decide_linear.h"

/* Digit (x mod hi) div lo is known; hi = 0: x div lo. */
typedef struct {
    const Ex *x;
    i64 lo, hi;
} Shown;

enum { SHOWN_MAX = 256 };
typedef struct {
    Layout *l;
    Shown shown[SHOWN_MAX];
    int n;
} Order;

/* The least end of digits of x that are shown and follow each other from lo on; 0: they have no
 * upper end.  lo: there are none. */
static i64
shown_from(const Order *o, const Ex *x, i64 lo)
{
    for (int i = 0; i < o->n; i++)
        if (o->shown[i].x == x && o->shown[i].lo == lo)
            return o->shown[i].hi ? shown_from(o, x, o->shown[i].hi) : 0;
    return lo;
}

static bool is_known(const Order *o, const Ex *x);

/* The end of a digit of x, 0 where that is x div lo. */
static i64
end_of(const Ex *x, i64 hi)
{
    return x->f.min >= 0 && hi > x->f.max ? 0 : hi;
}

/* Whether digits of x that are shown make up the digit. */
static bool
is_shown(const Order *o, const Ex *x, i64 lo, i64 hi)
{
    const i64 end = end_of(x, hi);
    for (int i = 0; lo != end && i < o->n; i++)
        if (o->shown[i].x == x && o->shown[i].lo == lo) {
            lo = end_of(x, o->shown[i].hi);
            if (!lo)
                break;
            i = -1;
        }
    return lo == end;
}

static bool
is_known_atom(const Order *o, const Atom *a)
{
    if (a->op == AT_VAR)
        return is_shown(o, ex_of_atom(o->l->e, a), 1, 0);
    if (a->op == AT_DIG && is_shown(o, a->x[0], a->lo, a->hi))
        return true;
    for (int i = 0; i < a->n; i++)
        if (!is_known(o, a->x[i]))
            return false;
    return true;
}

static bool
is_known(const Order *o, const Ex *x)
{
    for (int i = 0; i < x->n; i++)
        if (!is_known_atom(o, x->t[i].atom))
            return false;
    return true;
}

/* Adds what is not known yet. */
static bool
show(Order *o, const Ex *x, i64 lo, i64 hi)
{
    if (o->n == SHOWN_MAX || is_shown(o, x, lo, hi))
        return false;
    o->shown[o->n++] = (Shown){x, lo, hi};
    return true;
}

static bool learn(Order *o, const Ex *x, i64 mod);

/* The value of an atom is known. */
static bool
learn_atom(Order *o, const Atom *a)
{
    const Ex *rest = NULL;
    if (a->op == AT_VAR)
        return show(o, ex_of_atom(o->l->e, a), 1, 0);
    if (a->op == AT_DIG)
        return show(o, a->x[0], a->lo, a->hi);
    for (int i = 0; a->op == AT_XOR && i < a->n; i++)
        if (!is_known(o, a->x[i])) {
            if (rest)
                return false;
            rest = a->x[i];
        }
    return rest && learn(o, rest, 0);
}

static i64
common_divisor(i64 a, i64 b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* The value of x modulo `mod` is known; 0: its value.  True if that shows more. */
static bool
learn(Order *o, const Ex *x, i64 mod)
{
    const Term *one = NULL;
    for (int i = 0; i < x->n; i++)
        if (!is_known_atom(o, x->t[i].atom)) {
            if (one)
                return false;
            one = &x->t[i];
        }
    if (!one)
        return false;
    const Facts f = one->atom->f;
    mod = mod ? mod / common_divisor(int_abs(one->coef) % mod, mod) : 0;
    if (mod == 0 || (f.min > -INF && f.max < INF && f.max - f.min < mod))
        return learn_atom(o, one->atom);
    /* a coordinate that is longer is known modulo the number */
    return one->atom->op == AT_VAR && mod > 1 && show(o, ex_of_atom(o->l->e, one->atom), 1, mod);
}

/* One round: each entry, and each sum of which the last digits are known. */
static bool
learn_all(Order *o)
{
    bool more = false;
    for (int i = 0; i < o->l->nentry; i++)
        more |= learn(o, o->l->entry[i].ex, 0);
    for (int i = 0; i < o->n; i++) {
        const Ex *x = o->shown[i].x;
        i64 end = o->shown[i].lo == 1 ? shown_from(o, x, 1) : 1;
        if (end != 1)
            more |= learn(o, x, end);
    }
    return more;
}

static bool
is_unknown(const void *arg, const Atom *a)
{
    return !is_known_atom(arg, a);
}

/* Entries and sums whose values are known, together. */
static bool
learn_together(Order *o)
{
    Linear *s = arena_new(ex_arena(o->l->e), Linear);
    bool more = false;
    for (int i = 0; i < o->l->nentry; i++)
        linear_add(s, o->l->entry[i].ex, is_unknown, o);
    for (int i = 0; i < o->n; i++)
        if (o->shown[i].lo == 1 && shown_from(o, o->shown[i].x, 1) == 0)
            linear_add(s, o->shown[i].x, is_unknown, o);
    if (!linear_eliminate(s, NULL, NULL))
        return false;
    for (int i = 0; i < s->rows; i++) {
        const int c = linear_alone(s, i);
        more |= c >= 0 && learn_atom(o, s->atom[c]);
    }
    return more;
}

/* Two elements that differ in one dim, by a number modulo which it is known. */
static Answer
collision(const Order *o, Verdict *v)
{
    const Layout *l = o->l;
    for (int i = 0; i < o->n; i++)
        for (int d = 0; d < l->rank; d++) {
            i64 a, b;
            memset(v->x, 0, sizeof v->x);
            memset(v->y, 0, sizeof v->y);
            v->y[d] = o->shown[i].hi;
            if (o->shown[i].x != ex_of_var(l->e, l->dim[d].var) || !v->y[d] ||
                v->y[d] >= l->dim[d].n)
                continue;
            if (layout_address(l, v->x, &a) && layout_address(l, v->y, &b) && a == b)
                return NO;
        }
    return UNKNOWN;
}

Answer
order_injective(Layout *l, Verdict *v)
{
    Arena *a = ex_arena(l->e);
    Order *o = arena_new(a, Order);
    o->l = l;
    if (l->view)
        return UNKNOWN;
    do
        if (!work_try(a, (i64)l->linear->size * (1 + o->n) * (1 + o->n)))
            return UNKNOWN;
    while (learn_all(o) || learn_together(o));
    for (int d = 0; d < l->rank; d++)
        if (!is_known(o, ex_of_var(l->e, l->dim[d].var)))
            return collision(o, v);
    return YES;
}
