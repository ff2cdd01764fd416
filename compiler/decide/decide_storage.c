/* Slots without an element, padding and holes, as runs of addresses. */
#include "decide.h"

/* The largest number of addresses that are examined by the inverse. */
enum { WALK_MAX = 1 << 18 };

typedef struct {
    Layout *l;
    Verdict *v;
    int max;
} Gaps;

/* Record that address a has no element; false if there is no room for another run. */
static bool
add_gap(Gaps *g, i64 a, bool padding)
{
    Gap *last = g->v->ngaps ? &g->v->gap[g->v->ngaps - 1] : NULL;
    if (last && last->to == a && last->padding == padding)
        last->to++;
    else if (g->v->ngaps == g->max)
        return false;
    else
        g->v->gap[g->v->ngaps++] = (Gap){a, a + 1, padding};
    return true;
}

/* The padded coordinate at address a; false when there is none. */
static bool
coordinate_at(const Gaps *g, i64 a, bool *real)
{
    const Layout *l = g->l;
    i64 x[MAX_RANK] = {0}, back, *val = g->v->scratch;
    *real = true;
    val[g->v->inverse_var] = a;
    for (int d = 0; d < l->rank; d++) {
        if (!ex_eval(g->v->inverse[d], val, &x[d]) || x[d] < 0 ||
            x[d] >= l->dim[d].padded)
            return false;
        *real &= x[d] < l->dim[d].n;
    }
    return layout_address(l, x, &back) && back == a;
}

static void
walk(Gaps *g)
{
    bool real;
    i64 a = 0;
    i64 units = layout_work(g->l);
    for (int d = 0; d < g->l->rank; d++)
        units += g->v->inverse[d]->size;
    for (; a < g->l->size && a < WALK_MAX; a++) {
        if (!work_try(ex_arena(g->l->e), units))
            break;
        bool found = coordinate_at(g, a, &real);
        if (!(found && real) && !add_gap(g, a, found))
            break;
    }
    g->v->more_gaps = a < g->l->size;
}

/* A set of addresses. */
typedef unsigned char Set;

static bool
has(const Set *s, i64 a)
{
    return s[a / 8] >> (a % 8) & 1;
}

/* The addresses of all coordinates, or padded ones too; NULL when one lies outside the
 * storage, or it is too much work. */
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
        if (!work_try(arena, 1 + l->addr->size) || !ex_eval(l->addr, val, &a) || a < 0 ||
            a >= l->size)
            return NULL;
        set[a / 8] |= (Set)(1 << (a % 8));
    } while (layout_next(l, padded, x));
    return set;
}

/* Decide by enumeration of the elements; false if they are too many. */
static bool
look(Gaps *g)
{
    const Layout *l = g->l;
    const Set *real = enum_small(l, true) ? addresses_of(l, false) : NULL, *all;
    if (!real)
        return false;
    if (!(all = addresses_of(l, true)))    /* then none of it is padding */
        all = real;
    for (i64 a = 0; a < l->size && !g->v->more_gaps; a++)
        if (!has(real, a))
            g->v->more_gaps = !add_gap(g, a, has(all, a));
    return true;
}

/* If enumeration is too much work, report the first padded coordinate as a gap. */
static void
name_one(Gaps *g)
{
    const Layout *l = g->l;
    i64 x[MAX_RANK] = {0}, a;
    g->v->more_gaps = true;
    for (int d = 0; d < l->rank && !g->v->ngaps; x[d++] = 0)
        if (l->dim[d].padded > l->dim[d].n) {
            x[d] = l->dim[d].n;
            if (layout_address(l, x, &a))
                add_gap(g, a, true);
        }
}

void
storage_decide(Layout *l, Verdict *v, int max)
{
    Gaps g = {l, v, max};
    bool one_to_one = v->injective == YES && v->flaw != FLAW_SIGMA;
    v->gap = arena_array(ex_arena(l->e), Gap, max);
    v->onto = !one_to_one ? UNKNOWN : v->padding || v->holes ? NO : YES;
    if (v->onto == YES)
        return;
    if (one_to_one && v->inverse)
        walk(&g);
    else if (look(&g))
        v->onto = v->ngaps ? NO : YES;
    if (one_to_one && !v->ngaps)
        name_one(&g);
}
