/* Decisions by enumeration of all points, for layouts whose structure does not decide. */
#include <stdlib.h>
#include <string.h>

#include "decide.h"

/* The answer if the points are too much work. */
static Answer
too_much(const Layout *l, Verdict *v, i64 points, int units)
{
    v->why = arena_printf(ex_arena(l->e), "no structure was found that decides it, and "
                          "to look at each of %lld elements, %d operators each, takes "
                          "more work than the limit allows; --limit (ravel_set_limit) "
                          "allows more", (long long)points, units);
    return UNKNOWN;
}

static bool
linear_address(const Layout *l, const i64 *x, i64 *val, i64 *a)
{
    for (int d = 0; d < l->rank; d++)
        val[l->dim[d].var] = x[d];
    return ex_eval(l->linear, val, a) && *a >= 0 && *a < l->size;
}

/* Find the first point with address `at`, which must exist.  Its work has already been
 * counted. */
static void
find_first(const Layout *l, bool padded, i64 at, i64 *val, i64 *out)
{
    i64 a;
    memset(out, 0, MAX_RANK * sizeof *out);
    while (linear_address(l, out, val, &a) && a != at && layout_next(l, padded, out))
        ;
}

bool
enum_small(const Layout *l, bool padded)
{
    return layout_points(l, padded) <= ENUM_MAX && l->size <= (i64)64 * ENUM_MAX;
}

Answer
enum_injective(const Layout *l, bool padded, Verdict *v)
{
    Arena *arena = ex_arena(l->e);
    i64 x[MAX_RANK] = {0}, a;
    int units = 1 + l->linear->size;
    if (!enum_small(l, padded))
        return UNKNOWN;
    unsigned char *seen = arena_array(arena, unsigned char, l->size / 8 + 1);
    i64 *val = arena_array(arena, i64, ex_nvars(l->e));
    do {
        if (!work_try(arena, units))
            return too_much(l, v, layout_points(l, padded), units);
        if (!linear_address(l, x, val, &a))
            return UNKNOWN;
        if (seen[a / 8] >> (a % 8) & 1) {
            memcpy(v->y, x, sizeof v->y);
            find_first(l, padded, a, val, v->x);
            v->at = a;
            return NO;
        }
        seen[a / 8] |= (unsigned char)(1 << (a % 8));
    } while (layout_next(l, padded, x));
    return YES;
}

/* The first address that the swizzle maps to `to`. */
static i64
first_to(const Layout *l, bool padded, i64 to, i64 *val)
{
    i64 x[MAX_RANK] = {0}, a = 0, y;
    do {
        if (linear_address(l, x, val, &a) && layout_swizzle(l, a, &y) && y == to)
            break;
    } while (layout_next(l, padded, x));
    return a;
}

Answer
enum_swizzled(const Layout *l, bool padded, bool distinct, Verdict *v)
{
    Arena *arena = ex_arena(l->e);
    i64 x[MAX_RANK] = {0}, a, to;
    if (!enum_small(l, padded))
        return UNKNOWN;
    unsigned char *seen = arena_array(arena, unsigned char, l->size / 8 + 1);
    i64 *val = arena_array(arena, i64, ex_nvars(l->e));
    do {
        if (!linear_address(l, x, val, &a))
            return UNKNOWN;
        val[l->sigma_var] = a;
        if (!ex_eval(l->sigma, val, &to))
            to = -1;
        bool inside = to >= 0 && to < l->size, taken = false;
        if (inside) {
            taken = distinct && seen[to / 8] >> (to % 8) & 1;
            seen[to / 8] |= (unsigned char)(1 << (to % 8));
        }
        if (inside && !taken)
            continue;
        v->naddresses = taken ? 2 : 1;
        v->address[taken] = a;
        v->at = to;
        if (taken)
            v->address[0] = first_to(l, padded, to, val);
        return NO;
    } while (layout_next(l, padded, x));
    return YES;
}

Answer
enum_distinct(const Layout *l)
{
    Arena *arena = ex_arena(l->e);
    i64 x[MAX_RANK] = {0}, n = 0;
    if (!enum_small(l, false))
        return UNKNOWN;
    i64 *at = arena_array(arena, i64, layout_points(l, false));
    do
        if (!work_try(arena, layout_work(l)) || !layout_address(l, x, &at[n++]))
            return UNKNOWN;
    while (layout_next(l, false, x));
    qsort(at, (size_t)n, sizeof *at, int_compare);
    for (i64 i = 1; i < n; i++)
        if (at[i] == at[i - 1])
            return NO;
    return YES;
}
