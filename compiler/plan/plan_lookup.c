/* The index arrays of a plan: every array once, whatever coordinates are its numbers. */
#include <string.h>

#include "plan.h"

bool
plan_looks_up(const Plan *p)
{
    return p->src->nlookups || p->dst->nlookups;
}

bool
plan_has_arguments(const Plan *p)
{
    return !plan_is_fixed(p) || plan_looks_up(p);
}

bool
nest_looks_up(const Nest *n)
{
    return n->at[SRC][0] || n->at[DST][0];
}

int
plan_array_of(const PlanArray *array, const Lookup *u)
{
    int i = 0;
    while (strcmp(array[i].name, u->array))
        i++;
    return i;
}

/* An array that two coordinates read: its numbers must be valid for both. */
static void
join(Arena *a, PlanArray *array, const PlanArray *more)
{
    if (array->n != more->n || array->bits != more->bits)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "two index arrays of different %s have the "
                   "name '%s'", array->n != more->n ? "length" : "type", array->name);
    if (more->bound < array->bound)
        array->bound = more->bound;
}

int
plan_arrays(const Plan *p, PlanArray out[PLAN_ARRAYS])
{
    const Sizes *side[] = {p->from, p->to};
    int n = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < side[s]->l->nlookups; i++) {
            const Lookup *u = &side[s]->l->lookup[i];
            const i64 most = u->bits == 32 ? (i64)INT32_MAX + 1 : INF;
            out[n] = (PlanArray){u->array, u->bits, u->bound < most ? u->bound : most,
                                 side[s]->lookup[i].n};
            int first = plan_array_of(out, u);
            if (first == n)
                n++;
            else
                join(ex_arena(p->e), &out[first], &out[n]);
        }
    return n;
}
