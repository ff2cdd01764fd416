/* The index arrays of a run: their lengths, the check of their numbers, and numbers for a
 * proof. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

/* The check that emitted code makes: a definition, which no other file shares. */
#include "../templates/c/outside.c"

static i64
number(const PlanArray *a, const void *array, i64 i)
{
    return a->bits == 32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* The first place whose number is out of range; n: there is none. */
static i64
first_bad(const PlanArray *a, const void *array, i64 n)
{
    i64 i = 0;
    if (!ravel_outside(array, a->bits, n, a->bound - 1))
        return n;
    while ((uint64_t)number(a, array, i) < (uint64_t)a->bound)
        i++;
    return i;
}

const char *
arrays_take(Arena *arena, const Plan *p, const i64 *val, const void *const *array,
            const void *dst, i64 dst_bytes, int64_t *out)
{
    PlanArray a[PLAN_ARRAYS];
    int count = plan_arrays(p, a);
    i64 n = 0, bad;
    for (int i = 0; i < count; i++) {
        if (!array)
            return arena_printf(arena, "the plan needs the index array '%s': ravel_run_arrays "
                                "runs it", a[i].name);
        ex_eval(a[i].n, val, &n);
        if (n && !array[i])
            return arena_printf(arena, "the index array '%s' is NULL", a[i].name);
        if (buffers_overlap(dst, dst_bytes, array[i], n * (a[i].bits / 8)))
            return arena_printf(arena, "the index array '%s' overlaps the destination",
                                a[i].name);
        if ((bad = first_bad(&a[i], array[i], n)) < n)
            return arena_printf(arena, "number %lld of the index array '%s' is %lld, and must be "
                                "0 to %lld", (long long)bad, a[i].name,
                                (long long)number(&a[i], array[i], bad),
                                (long long)a[i].bound - 1);
        out[i] = (int64_t)(intptr_t)array[i];
    }
    return NULL;
}

static i64
common_divisor(i64 a, i64 b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Numbers in an order like that of chance; no two are equal unless there are more than
 * `bound`. */
static const i64 *
invented(Arena *arena, i64 n, i64 bound)
{
    i64 *value = arena_array(arena, i64, n), step = bound / 2 + bound / 8 + 1;
    while (common_divisor(step, bound) != 1)
        step++;
    for (i64 i = 0, at = bound / 3; i < n; i++) {
        value[i] = at;
        at = at < bound - step % bound ? at + step % bound : at + step % bound - bound;
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
        const i64 *value = invented(arena, n, a[i].bound);
        arrays_give(p, i, value);
        out[i] = (int64_t)(intptr_t)in_bits(arena, value, n, a[i].bits);
    }
}

/* Two places with one number: *j is the second, *i the first; false: there are none. */
static bool
repeats(Arena *arena, const PlanArray *a, const void *array, i64 n, i64 *i, i64 *j)
{
    unsigned char *seen = arena_array(arena, unsigned char, a->bound / 8 + 1);
    for (*j = 0; *j < n; ++*j) {
        i64 v = number(a, array, *j);
        if (seen[v / 8] >> v % 8 & 1)
            break;
        seen[v / 8] |= (unsigned char)(1 << v % 8);
    }
    for (*i = 0; *j < n && number(a, array, *i) != number(a, array, *j); ++*i)
        ;
    return *j < n;
}

const char *
arrays_repeat(Arena *arena, const Plan *p, const i64 *val, const void *const *array)
{
    PlanArray a[PLAN_ARRAYS];
    plan_arrays(p, a);
    for (int k = 0; k < p->dst->nlookups; k++) {
        int of = plan_array_of(a, &p->dst->lookup[k]);
        i64 n = 0, i, j;
        ex_eval(a[of].n, val, &n);
        if (repeats(arena, &a[of], array[of], n, &i, &j))
            return arena_printf(arena, "numbers %lld and %lld of the index array '%s' are both "
                                "%lld, so two elements have one place", (long long)i,
                                (long long)j, a[of].name, (long long)number(&a[of], array[of], j));
    }
    return NULL;
}

int
ravel_plan_arrays(const ravel_plan *p, ravel_array *out)
{
    PlanArray a[PLAN_ARRAYS];
    int n = p ? plan_arrays(p->plan, a) : 0;
    for (int i = 0; out && i < n; i++)
        out[i] = (ravel_array){a[i].name, a[i].bits,
                               ex_is_const(a[i].n) ? a[i].n->base : RAVEL_RUNTIME, a[i].bound};
    return n;
}

void
arrays_at(const Plan *p, const i64 *val, ravel_array *out)
{
    PlanArray a[PLAN_ARRAYS];
    int n = plan_arrays(p, a);
    for (int i = 0; i < n; i++) {
        i64 count = 0;
        ex_eval(a[i].n, val, &count);
        out[i] = (ravel_array){a[i].name, a[i].bits, count, a[i].bound};
    }
}
