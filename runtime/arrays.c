/* The index arrays of a run: their lengths, the check of their numbers, and numbers for a
 * proof. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

static i64
number(const PlanArray *a, const void *array, i64 i)
{
    return a->bits == 32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* The first place whose number is out of range; n: there is none. */
static i64
first_bad(Outside *outside, const PlanArray *a, const void *array, i64 n, i64 bound)
{
    i64 i = 0;
    if (!outside(array, a->bits, n, a->least, bound - 1))
        return n;
    while (number(a, array, i) >= a->least && number(a, array, i) < bound)
        i++;
    return i;
}

const char *
arrays_take(Arena *arena, const ravel_plan *p, const i64 *val, const void *const *array,
            const void *dst, i64 dst_bytes, int64_t *out)
{
    PlanArray a[PLAN_ARRAYS];
    int count = plan_arrays(p->plan, a);
    i64 n = 0, bound = 0, bad;
    for (int i = 0; i < count; i++) {
        if (!array)
            return arena_printf(arena, "the plan needs the index array '%s': ravel_run_arrays "
                                "runs it", a[i].name);
        ex_eval(a[i].n, val, &n);
        ex_eval(a[i].bound, val, &bound);
        if (n && !array[i])
            return arena_printf(arena, "the index array '%s' is NULL", a[i].name);
        if (dst && buffers_overlap(dst, dst_bytes, array[i], n * (a[i].bits / 8)))
            return arena_printf(arena, "the index array '%s' overlaps the destination",
                                a[i].name);
        if ((bad = first_bad(p->cx->outside, &a[i], array[i], n, bound)) < n)
            return arena_printf(arena, "number %lld of the index array '%s' is %lld, and must be "
                                "%lld to %lld", (long long)bad, a[i].name,
                                (long long)number(&a[i], array[i], bad), (long long)a[i].least,
                                (long long)bound - 1);
        out[i] = (int64_t)(intptr_t)array[i];
    }
    return NULL;
}

static i64
common_divisor(i64 a, i64 b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* a + b and a * b modulo n; a and b are below it. */
static i64
plus_mod(i64 a, i64 b, i64 n)
{
    return a < n - b ? a + b : a - (n - b);
}

static i64
times_mod(i64 a, i64 b, i64 n)
{
    i64 sum = 0;
    for (; b; b >>= 1, a = plus_mod(a, a, n))
        sum = b & 1 ? plus_mod(sum, a, n) : sum;
    return sum;
}

/* What counts up along the dim of the array; of arrays that give a coordinate together no two
 * elements have the same counts, unless there are more than coordinates. */
static i64
count_at(const Lookup *u, i64 place)
{
    i64 sum = 0;
    for (int d = u->rank - 1; d >= 0; place /= u->extent[d--])
        sum += u->others >> d & 1 ? 0 : place % u->extent[d];
    return sum / u->before;
}

/* Some elements are not moved: one of 5, and those that would have the place of another. */
static bool
is_skipped(const Lookup *u, i64 place)
{
    i64 inner = 1;
    for (int d = u->own + 1; d < u->rank; d++)
        inner *= u->extent[d];
    i64 own = place / inner % u->extent[u->own] / u->before;
    return u->skip && (own >= u->bound || place % 5 == 3);
}

/* Numbers in an order like that of chance; along the array's dim no two are equal unless there
 * are more than `bound`. */
static const i64 *
invented(Arena *arena, const Lookup *u, i64 n, i64 bound)
{
    i64 *value = arena_array(arena, i64, n), step = bound / 2 + bound / 8 + 1;
    while (common_divisor(step, bound) != 1)
        step++;
    for (i64 i = 0; i < n; i++) {
        i64 at = times_mod(step % bound, count_at(u, i) % bound, bound);
        value[i] = is_skipped(u, i) ? -1 : plus_mod(bound / 3, at, bound);
    }
    return value;
}

static const void *
in_bits(Arena *arena, const i64 *value, i64 n, int bits)
{
    if (bits == 64)
        return value;
    int32_t *narrow = arena_array(arena, int32_t, n);
    for (i64 i = 0; i < n; i++)
        narrow[i] = (int32_t)value[i];
    return narrow;
}

/* Give an array's numbers to the lookups of a layout that read it. */
static void
give(Layout *l, const PlanArray *a, const i64 *value)
{
    for (int i = 0; i < l->nlookups; i++)
        if (!strcmp(l->lookup[i].array, a->name))
            l->lookup[i].value = value;
}

void
arrays_give(const Plan *p, int i, const i64 *value)
{
    PlanArray a[PLAN_ARRAYS];
    plan_arrays(p, a);
    give(p->src, &a[i], value);
    give(p->dst, &a[i], value);
}

void
arrays_invent(Arena *arena, const Plan *p, int64_t *out)
{
    PlanArray a[PLAN_ARRAYS];
    int count = plan_arrays(p, a);
    for (int i = 0; i < count; i++) {
        i64 n = a[i].n->base;
        const i64 *value = invented(arena, a[i].of, n, a[i].bound->base);
        arrays_give(p, i, value);
        out[i] = (int64_t)(intptr_t)in_bits(arena, value, n, a[i].bits);
    }
}

/* The arrays of one index: elements have one place if all their numbers, and their coordinates
 * along other dims, are equal. */
typedef struct {
    int n, rank;
    const PlanArray *of[MAX_LOOKUPS];
    const void *array[MAX_LOOKUPS];
    i64 bound[MAX_LOOKUPS], extent[MAX_RANK], elements, places;
    bool along[MAX_RANK];
} JointArrays;

/* The place of an element among all places; -1: it is not moved. */
static i64
place_in(const JointArrays *g, i64 element)
{
    i64 at = 0, left = g->elements, rest = element;
    for (int d = 0; d < g->rank; d++) {
        left /= g->extent[d];
        at = g->along[d] ? at : at * g->extent[d] + rest / left;
        rest %= left;
    }
    for (int i = 0; i < g->n; i++) {
        i64 v = number(g->of[i], g->array[i], element);
        if (v < 0)
            return -1;
        at = at * g->bound[i] + v;
    }
    return at;
}

/* Two elements with one place: *j is the second, *i the first; false: there are none. */
static bool
repeats(Arena *arena, const JointArrays *g, i64 *i, i64 *j)
{
    unsigned char *seen = arena_array(arena, unsigned char, g->places / 8 + 1);
    i64 at = 0;
    for (*j = 0; *j < g->elements; ++*j) {
        if ((at = place_in(g, *j)) < 0)
            continue;
        if (seen[at / 8] >> at % 8 & 1)
            break;
        seen[at / 8] |= (unsigned char)(1 << at % 8);
    }
    for (*i = 0; *j < g->elements && place_in(g, *i) != at; ++*i)
        ;
    return *j < g->elements;
}

static const char *
repeat_text(Arena *arena, const JointArrays *g, i64 i, i64 j)
{
    Buf b = buf_new(arena);
    buf_printf(&b, "numbers %lld and %lld of the index array%s ", (long long)i, (long long)j,
               g->n > 1 ? "s" : "");
    for (int k = 0; k < g->n; k++)
        buf_printf(&b, "%s'%s'", k ? k + 1 < g->n ? ", " : " and " : "", g->of[k]->name);
    buf_printf(&b, " are both %s", g->n > 1 ? "(" : "");
    for (int k = 0; k < g->n; k++)
        buf_printf(&b, "%s%lld", k ? "," : "",
                   (long long)number(g->of[k], g->array[k], j));
    buf_printf(&b, "%s, so two elements have one place", g->n > 1 ? ")" : "");
    return b.s;
}

/* The lookups of the index of one view, which are those from `first` on of the plan's. */
static JointArrays
group_of(const Plan *p, const i64 *val, const void *const *array, const PlanArray *a, int first,
         int n)
{
    JointArrays g = {.n = n, .elements = 1, .places = 1};
    bool fits = true;
    for (int k = 0; k < n; k++) {
        const Lookup *u = &p->dst->lookup[first + k];
        int of = plan_array_of(a, u);
        g.of[k] = &a[of];
        g.array[k] = array[of];
        g.rank = u->rank;
        g.along[u->own] = true;
        ex_eval(a[of].bound, val, &g.bound[k]);
        fits &= int_mul(g.places, g.bound[k], &g.places);
    }
    for (int d = 0; d < g.rank; d++) {
        ex_eval(p->to->lookup[first].extent[d], val, &g.extent[d]);
        g.elements *= g.extent[d];
        fits &= g.along[d] || int_mul(g.places, g.extent[d], &g.places);
    }
    g.places = fits ? g.places : INF;
    return g;
}

const char *
arrays_repeat(Arena *arena, const Plan *p, const i64 *val, const void *const *array)
{
    PlanArray a[PLAN_ARRAYS];
    i64 i, j;
    plan_arrays(p, a);
    int first = 0;
    for (const Layout *l = p->dst; l->nlookups; l = l->view->of) {
        int own = l->nlookups - l->view->of->nlookups;
        const JointArrays g = group_of(p, val, array, a, first, own);
        if (own && repeats(arena, &g, &i, &j))
            return repeat_text(arena, &g, i, j);
        first += own;
    }
    return NULL;
}

static int
flags_of(const PlanArray *a)
{
    return (a->least < 0 ? RAVEL_ARRAY_SKIPS : 0) | (a->of->rank > 1 ? RAVEL_ARRAY_ALONG : 0);
}

/* A size at the values of the scalars; val is NULL: they are not known. */
static i64
size_at(const Ex *x, const i64 *val)
{
    i64 size = ex_is_const(x) ? x->base : RAVEL_RUNTIME;
    if (val)
        ex_eval(x, val, &size);
    return size;
}

static ravel_array
array_at(const PlanArray *a, const i64 *val)
{
    ravel_array x = {a->name, a->bits, flags_of(a), size_at(a->n, val),
                     size_at(a->bound, val), a->of->rank, {0}};
    for (int d = 0; d < x.rank; d++)
        x.extent[d] = size_at(a->extent[d], val);
    return x;
}

int
arrays_list(const Plan *p, ravel_array *out)
{
    PlanArray a[PLAN_ARRAYS];
    int n = plan_arrays(p, a);
    for (int i = 0; out && i < n; i++)
        out[i] = array_at(&a[i], NULL);
    return n;
}

int
ravel_plan_arrays(const ravel_plan *p, ravel_array *out)
{
    return p ? arrays_list(p->plan, out) : 0;
}

void
arrays_at(const Plan *p, const i64 *val, ravel_array *out)
{
    PlanArray a[PLAN_ARRAYS];
    int n = plan_arrays(p, a);
    for (int i = 0; i < n; i++)
        out[i] = array_at(&a[i], val);
}
