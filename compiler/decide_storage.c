/* Storage without an element: padding and holes, as runs of addresses. */
#include "decide.h"

/* A set of addresses. */
typedef unsigned char Set;

static bool
has(const Set *s, i64 a)
{
    return s[a / 8] >> (a % 8) & 1;
}

/* The addresses of all coordinates, or padded ones too; NULL when one lies outside the
 * storage. */
static Set *
addresses_of(const Layout *l, bool padded)
{
    Arena *arena = ex_arena(l->e);
    i64 x[MAX_RANK] = {0}, a;
    Set *set = arena_array(arena, Set, l->size / 8 + 1);
    i64 *val = arena_array(arena, i64, ex_nvars(l->e));
    do {
        for (int d = 0; d < l->rank; d++)
            val[l->dim[d].var] = x[d];
        if (!ex_eval(l->addr, val, &a) || a < 0 || a >= l->size)
            return NULL;
        set[a / 8] |= (Set)(1 << (a % 8));
    } while (layout_next(l, padded, x));
    return set;
}

int
storage_gaps(const Layout *l, Gap *gap, int max)
{
    i64 extent[MAX_RANK];
    int count = 0;
    for (int d = 0; d < l->rank; d++)
        extent[d] = l->dim[d].padded;
    const Set *real = enum_small(l, extent) ? addresses_of(l, false) : NULL, *all;
    if (!real)
        return -1;
    if (!(all = addresses_of(l, true)))    /* then none of it is padding */
        all = real;
    for (i64 a = 0; a < l->size; a++) {
        Gap *last = count ? &gap[count - 1] : NULL;
        if (has(real, a))
            continue;
        if (last && last->to == a && last->padding == has(all, a))
            last->to++;
        else if (count == max)
            break;
        else
            gap[count++] = (Gap){a, a + 1, has(all, a)};
    }
    return count;
}

/* Where there is too much to look at: the first padded coordinate is a gap; a hole is
 * looked for among the first addresses with the inverse. */
static bool
sample_gap(const Layout *l, const Verdict *v, Gap *gap)
{
    i64 x[MAX_RANK] = {0}, a;
    for (int d = 0; d < l->rank; d++)
        if (l->dim[d].padded > l->dim[d].n) {
            x[d] = l->dim[d].n;
            *gap = (Gap){.padding = layout_address(l, x, &a)};
            gap->to = 1 + (gap->from = a);
            return gap->padding;
        }
    for (a = 0; v->inverse && a < l->size && a < ENUM_MAX / 64; a++)
        if (!verdict_element(l, v, a, x)) {
            *gap = (Gap){a, a + 1, false};
            return true;
        }
    return false;
}

void
storage_decide(Layout *l, Verdict *v)
{
    int n = storage_gaps(l, &v->gap, 1);
    v->has_gap = n == 1;
    v->onto = n < 0 ? UNKNOWN : n ? NO : YES;
    if (n >= 0 || v->injective != YES)
        return;
    v->onto = v->padding || v->holes ? NO : YES;
    v->has_gap = v->onto == NO && sample_gap(l, v, &v->gap);
}
