/* Decisions by looking at every point, for what structure does not decide. */
#include <string.h>

#include "decide.h"

static bool
next_point(const Layout *l, const i64 *extent, i64 *x)
{
    for (int d = l->rank - 1; d >= 0; d--) {
        if (++x[d] < extent[d])
            return true;
        x[d] = 0;
    }
    return false;
}

static bool
linear_address(const Layout *l, const i64 *x, i64 *val, i64 *a)
{
    for (int d = 0; d < l->rank; d++)
        val[l->dim[d].var] = x[d];
    return ex_eval(l->linear, val, a) && *a >= 0 && *a < l->size;
}

/* The first point with address `at`: it exists. */
static void
find_first(const Layout *l, const i64 *extent, i64 at, i64 *val, i64 *out)
{
    i64 a;
    memset(out, 0, MAX_RANK * sizeof *out);
    while (linear_address(l, out, val, &a) && a != at && next_point(l, extent, out))
        ;
}

bool
enum_small(const Layout *l, const i64 *extent)
{
    i64 points = 1;
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(points, extent[d], &points) || points > ENUM_MAX)
            return false;
    return l->size <= (i64)64 * ENUM_MAX;
}

Answer
enum_injective(const Layout *l, const i64 *extent, Verdict *v)
{
    Arena *arena = ex_arena(l->e);
    i64 x[MAX_RANK] = {0}, a;
    if (!enum_small(l, extent))
        return UNKNOWN;
    unsigned char *seen = arena_array(arena, unsigned char, l->size / 8 + 1);
    i64 *val = arena_array(arena, i64, ex_nvars(l->e));
    do {
        if (!linear_address(l, x, val, &a))
            return UNKNOWN;
        if (seen[a / 8] >> (a % 8) & 1) {
            memcpy(v->y, x, sizeof v->y);
            find_first(l, extent, a, val, v->x);
            v->at = a;
            return NO;
        }
        seen[a / 8] |= (unsigned char)(1 << (a % 8));
    } while (next_point(l, extent, x));
    return YES;
}
