/* The index arrays of a plan: every array once, whatever coordinates are its numbers. */
#include <string.h>

#include "plan_parts.h"

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

void
nest_set_lookups(Nest *n, int side, const NestLookups *u)
{
    static const Ex *const none[1];
    Arena *a = ex_arena(n->e);
    bool some = u->at[0];
    n->at[side] = some ? arena_copy(a, u->at, sizeof u->at) : none;
    n->number[side] = some ? arena_copy(a, u->number, sizeof u->number) : NULL;
}

bool
nest_looks_up(const Nest *n)
{
    return n->at[SRC][0] || n->at[DST][0];
}

/* Whether x varies with a loop or with a lookup. */
static bool
varies(const Nest *n, const Ex *x)
{
    for (int i = 0; i < n->nloops; i++)
        if (ex_has(x, n->loop[i].var))
            return true;
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            if (ex_has(x, n->number[s][i]))
                return true;
    return false;
}

/* Whether x is a number of the array times a constant. */
static bool
is_number(const Ex *x, int number)
{
    return x->base == 0 && x->n == 1 && x->t[0].atom->op == AT_VAR &&
           x->t[0].atom->var == number;
}

bool
nest_is_multiple(const Nest *n, const Atom *a, int number)
{
    if (a->op == AT_VAR)
        return a->var == number;
    return a->op == AT_MUL && ((is_number(a->x[0], number) && !varies(n, a->x[1])) ||
                               (is_number(a->x[1], number) && !varies(n, a->x[0])));
}

const Ex *
nest_lookup_terms(const Nest *n, int side, int lookup)
{
    int number = n->number[side][lookup];
    bool *of = ex_flags(n->e);
    of[number] = true;
    const Ex *terms = ex_part(n->e, side == SRC ? n->src : n->dst, of, true);
    for (int i = 0; i < terms->n; i++)
        if (!nest_is_multiple(n, terms->t[i].atom, number))
            return NULL;
    return terms;
}

int
nest_lookup_by_rows(const Nest *n, int side, int which)
{
    if (!n->kernel->family->indexed)
        return -1;
    const int row = n->loop[n->role[ROW]].var;
    for (int i = 0; n->at[side][i]; i++)
        if (ex_has(n->at[side][i], row) && which-- == 0)
            return i;
    return -1;
}

void
nest_begin_numbers(const Nest *n, const Ex **to, const Ex *zero)
{
    if (!n->kernel->family->indexed)
        return;
    for (int i = 0; i < n->table; i++)
        to[n->loop[n->nloops - n->inner + i].var] = zero;
    if (nest_outer(n, n->role[ROW]) < 0)
        to[n->loop[n->role[ROW]].var] = zero;
}

/* The number itself if the atom is its lowest digit, or the atom with 1 for the number if that is
 * a factor; NULL if the address does not increase by that in each step. */
static const Ex *
step_of(const Nest *n, const Atom *a, int number)
{
    const Ex **to = ex_map(n->e);
    to[number] = ex_const(n->e, 1);
    if (nest_is_multiple(n, a, number))
        return ex_subst(n->e, ex_of_atom(n->e, a), to);
    bool lowest = a->op == AT_DIG && a->lo == 1 && ex_as_var(a->x[0]) == number;
    return lowest ? to[number] : NULL;
}

const Ex *
nest_lookup_step(const Nest *n, int side, int which)
{
    const int number = n->number[side][nest_lookup_by_rows(n, side, which)];
    const Ex *x = side == SRC ? n->src : n->dst, *sum = ex_const(n->e, 0);
    for (int i = 0; i < x->n; i++) {
        const Ex *step = step_of(n, x->t[i].atom, number);
        if (step)
            sum = ex_add_scaled(n->e, sum, step, x->t[i].coef);
    }
    return sum;
}

int
plan_array_of(const PlanArray *array, const Lookup *u)
{
    int i = 0;
    while (strcmp(array[i].name, u->array))
        i++;
    return i;
}

static bool
same_shape(const PlanArray *a, const PlanArray *b)
{
    bool same = a->of->rank == b->of->rank;
    for (int d = 0; same && d < a->of->rank; d++)
        same = a->extent[d] == b->extent[d];
    return same;
}

/* An array that two coordinates read: its numbers must be valid for both. */
static void
join(Exprs *e, PlanArray *array, const PlanArray *more)
{
    Arena *a = ex_arena(e);
    const char *other = array->n != more->n ? "length" : array->bits != more->bits ? "type"
                      : !same_shape(array, more) ? "shape" : NULL;
    if (other)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "two index arrays of different %s have the "
                   "name '%s'", other, array->name);
    array->bound = ex_min(e, array->bound, more->bound);
    if (more->least > array->least)
        array->least = more->least;
}

static PlanArray
array_of(Exprs *e, const Lookup *u, const LookupSizes *z)
{
    const i64 most = u->bits == 32 ? (i64)INT32_MAX + !u->skip : INF;
    return (PlanArray){u->array, u->bits, -u->skip,
                       most < INF ? ex_min(e, z->bound, ex_const(e, most)) : z->bound, z->n, u, z->extent};
}

void
plan_set_arrays(Plan *p)
{
    const Sizes *side[] = {p->from, p->to};
    PlanArray *out = arena_array(ex_arena(p->e), PlanArray, PLAN_ARRAYS);
    int n = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < side[s]->l->nlookups; i++) {
            const Lookup *u = &side[s]->l->lookup[i];
            out[n] = array_of(p->e, u, &side[s]->lookup[i]);
            int first = plan_array_of(out, u);
            if (first == n)
                n++;
            else
                join(p->e, &out[first], &out[n]);
        }
    p->array = out;
    p->narrays = n;
}

int
plan_arrays(const Plan *p, PlanArray out[PLAN_ARRAYS])
{
    memcpy(out, p->array, (size_t)p->narrays * sizeof *out);
    return p->narrays;
}
