/* Places of rows as sums of quotients: of the numbers of index arrays, and of the row where the
 * digits of the other side cut its loop into several. */
#include <math.h>

#include "places.h"

/* What one iteration of a loop adds to x; 0: x does not vary with it, or not linearly. */
static i64
step_in(Exprs *e, const Ex *x, int var)
{
    for (int i = 0; i < x->n; i++) {
        bool *of = ex_flags(e);
        of[var] = true;
        if (x->t[i].atom->op == AT_VAR && x->t[i].atom->var == var)
            return ex_part(e, x, of, true)->n == 1 ? x->t[i].coef : 0;
    }
    return 0;
}

/* Whether the place of a lookup depends on a lookup that varies with the variable. */
static bool
is_indirect(const Nest *n, int side, int lookup, int var)
{
    bool is = false;
    for (int i = 0; n->at[side][i]; i++)
        is |= ex_has(n->at[side][i], var) && ex_has(n->at[side][lookup], n->number[side][i]);
    return is;
}

/* How far apart the numbers of all arrays are that vary with the loop, in apart[]; 0 for the
 * others.  Returns the number of arrays; -1: a row is no place in some of them. */
static int
distances(const Nest *n, const Loop *l, i64 apart[2][MAX_LOOKUPS])
{
    int count = 0;
    for (int s = 0; s < 2; s++) {
        int side = 0;
        if (ex_has(s == SRC ? n->src : n->dst, l->var))
            return -1;
        for (int i = 0; n->at[s][i]; i++) {
            apart[s][i] = step_in(n->e, n->at[s][i], l->var);
            if (is_indirect(n, s, i, l->var) ||
                ex_has(n->at[s][i], l->var) != (apart[s][i] != 0))
                return -1;
            side += apart[s][i] != 0;
        }
        if (side > ROW_LOOKUPS)
            return -1;
        count += side;
    }
    return count;
}

/* Whether all numbers are `times` as far apart as along the first loop. */
static bool
goes_on(const Nest *n, i64 first[2][MAX_LOOKUPS], i64 next[2][MAX_LOOKUPS], i64 times)
{
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            if (next[s][i] != first[s][i] * times)
                return false;
    return true;
}

static i64
least_of(const Nest *n, i64 apart[2][MAX_LOOKUPS])
{
    i64 least = INF;
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            if (apart[s][i] && int_abs(apart[s][i]) < least)
                least = int_abs(apart[s][i]);
    return least;
}

/* The loop along which numbers are nearest, of those that are not left out; -1: there is none. */
static int
innermost(const Nest *n, const bool out[MAX_LOOPS], i64 first[2][MAX_LOOKUPS])
{
    i64 apart[2][MAX_LOOKUPS], best = INF;
    int loop = -1;
    for (int i = 0; i < n->nloops; i++)
        if (!out[i] && distances(n, &n->loop[i], apart) > 0 && least_of(n, apart) < best) {
            best = least_of(n, apart);
            loop = i;
        }
    if (loop >= 0)
        distances(n, &n->loop[loop], first);
    return loop;
}

/* The loop that goes on where the rows so far end; -1: there is none. */
static int
next_loop(const Nest *n, const bool out[MAX_LOOPS], i64 first[2][MAX_LOOKUPS], i64 times)
{
    i64 apart[2][MAX_LOOKUPS];
    for (int i = 0; i < n->nloops; i++)
        if (!out[i] && distances(n, &n->loop[i], apart) > 0 && goes_on(n, first, apart, times))
            return i;
    return -1;
}

static bool
has_strides(const Loop *l)
{
    return ex_is_const(l->ex.ss) && ex_is_const(l->ex.ds);
}

/* So many rows make a call worth its time. */
static i64
enough_rows(const Nest *n, int row)
{
    enum { ENOUGH = 256 };
    int role[ROLES] = {[ROW] = row, [COL] = kernel_run_loop(n)};
    kernel_batch(n, role);
    i64 planes = kernel_count(n, role[BATCH]);
    return planes < 1 ? ENOUGH : ENOUGH / (planes < ENOUGH ? planes : ENOUGH);
}

bool
places_loops(const Nest *n, NumberLoops *out)
{
    const bool none[MAX_LOOPS] = {false};
    i64 first[2][MAX_LOOKUPS] = {{0}}, rows;
    int loop = innermost(n, none, first);
    *out = (NumberLoops){.each = 1};
    if (loop < 0)
        return false;
    const i64 enough = enough_rows(n, loop);
    out->loop[out->n++] = loop;
    while (kernel_is_known(&n->loop[loop]) && int_mul(out->each, n->loop[loop].n, &rows) &&
           rows < enough) {
        int next = next_loop(n, none, first, rows);
        if (next < 0 || !has_strides(&n->loop[next]))
            break;
        out->each = rows;
        out->loop[out->n++] = loop = next;
    }
    return true;
}

NumberLoops
places_given(const Nest *n)
{
    const int table = n->nloops - n->inner;
    bool others[MAX_LOOPS];
    i64 first[2][MAX_LOOKUPS] = {{0}};
    NumberLoops l = {.each = 1};
    for (int i = 0; i < n->nloops; i++)
        others[i] = i != n->role[ROW] && (i < table || i >= table + n->table);
    for (int loop = innermost(n, others, first); loop >= 0;) {
        l.loop[l.n++] = loop;
        if (loop == n->role[ROW])
            break;
        l.each *= n->loop[loop].n;
        loop = next_loop(n, others, first, l.each);
    }
    return l;
}

static bool
fits(i64 x)
{
    return x >= INT32_MIN && x <= INT32_MAX;
}

bool
places_add(PlacePart *p, i64 more, i64 div, i64 weight)
{
    int i = 0;
    while (i < p->n && (p->quotient[i].more != more || p->quotient[i].div != div))
        i++;
    if (i == QUOTIENTS)
        return false;
    p->quotient[i].more = more;
    p->quotient[i].div = div;
    p->quotient[i].weight = (i < p->n ? p->quotient[i].weight : 0) + weight;
    p->n += i == p->n;
    return true;
}

/* A digit is a quotient less a multiple of another one. */
static bool
add_digit(PlacePart *p, const Atom *a, int number, i64 weight, i64 most)
{
    i64 lo = a->lo, hi = a->hi, back = 0;
    const Ex *x = a->x[0];
    bool plain = x->n == 1 && x->t[0].coef == 1 && x->t[0].atom->op == AT_VAR &&
                 x->t[0].atom->var == number && x->base >= 0 && x->base <= INT32_MAX - most;
    if (!plain || (hi && !int_mul(weight, -(hi / lo), &back)))
        return false;
    bool first = lo == 1 && x->base == 0;     /* part of nest_lookup_step */
    return (first || lo > most + x->base || places_add(p, x->base, lo, weight)) &&
           (!hi || hi > most + x->base || places_add(p, x->base, hi, back));
}

static bool
has_atom(const Ex *x, const Atom *a)
{
    for (int i = 0; x && i < x->n; i++)
        if (x->t[i].atom == a)
            return true;
    return false;
}

/* The quotients of the numbers that a lookup reads. */
static bool
add_number(const Nest *n, int side, int lookup, i64 size, const Ex *leave, PlacePart *p)
{
    const int number = n->number[side][lookup];
    const i64 most = ex_of_var(n->e, number)->f.max;
    bool *of = ex_flags(n->e);
    of[number] = true;
    const Ex *x = ex_part(n->e, side == SRC ? n->src : n->dst, of, true);
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        i64 weight;
        if (nest_is_multiple(n, a, number) || has_atom(leave, a))
            continue;
        if (a->op != AT_DIG || most >= INT32_MAX || !int_mul(x->t[i].coef, size, &weight) ||
            !add_digit(p, a, number, weight, most))
            return false;
    }
    return true;
}

/* The quotients of a row: its digits are the loops. */
static bool
add_rows(const Nest *n, const NumberLoops *l, int side, i64 size, PlacePart *p)
{
    i64 inner = 0, times = 1, stride;
    for (int i = 0; i < l->n && l->n > 1; i++) {
        const Loop *k = &n->loop[l->loop[i]];
        if (!int_mul(side == SRC ? k->ss : k->ds, size, &stride))
            return false;
        if (i == 0 && !fits(stride))
            return false;
        if (i == 0)
            p->first = stride;
        else if (stride != inner && !places_add(p, 0, times, stride - inner))
            return false;
        if (i + 1 < l->n && (!int_mul(stride, k->n, &inner) || !int_mul(times, k->n, &times)))
            return false;
    }
    return true;
}

bool
places_parts(const Nest *n, const NumberLoops *l, int bits, const Ex *const leave[2],
             PlacePart out[2][PLACE_PARTS])
{
    i64 first[2][MAX_LOOKUPS] = {{0}};
    const i64 size = bits / 8;
    distances(n, &n->loop[l->loop[0]], first);
    for (int s = 0; s < 2; s++) {
        PlacePart *p = out[s];
        for (int i = 0; i < PLACE_PARTS; i++)
            p[i] = (PlacePart){.first = i > 0, .most = INF};
        if (!add_rows(n, l, s, size, p))
            return false;
        for (int i = 0; n->at[s][i]; i++) {
            if (!first[s][i])
                continue;
            (++p)->first = first[s][i];
            p->most = ex_of_var(n->e, n->number[s][i])->f.max;
            if (!fits(p->first) || !add_number(n, s, i, size, leave ? leave[s] : NULL, p))
                return false;
        }
    }
    return true;
}

/* How far the terms of an address that have a number of the rows can be from 0, in elements; the
 * facts of a digit are those of a number that is not skipped, whose place alone matters. */
static double
reach_of_numbers(const Nest *n, const NumberLoops *l, int side)
{
    i64 first[2][MAX_LOOKUPS] = {{0}};
    distances(n, &n->loop[l->loop[0]], first);
    bool *of = ex_flags(n->e);
    for (int i = 0; n->at[side][i]; i++)
        if (first[side][i])
            of[n->number[side][i]] = true;
    const Facts f = ex_part(n->e, side == SRC ? n->src : n->dst, of, true)->f;
    return fmax(fabs((double)f.max), fabs((double)f.min));
}

bool
places_are_near(const Nest *n, const NumberLoops *l, int side, int bits)
{
    double reach = reach_of_numbers(n, l, side);
    for (int i = 0; i < l->n; i++) {
        const Loop *k = &n->loop[l->loop[i]];
        bool row = i + 1 == l->n;
        if (!has_strides(k) || (row && !ex_is_const(k->ex.n) && nest_outer(n, n->role[ROW]) < 0))
            return false;
        double steps = (double)(row ? nest_tile(n, ROW) : k->n);
        reach += (double)int_abs(side == SRC ? k->ss : k->ds) * steps;
    }
    for (int i = 0; n->at[side][i]; i++)
        if (ex_of_var(n->e, n->number[side][i])->f.max >= INT32_MAX)
            return false;
    return reach * bits / 8 < TABLE_NEAR;
}
