/* Index arrays in a function: their numbers in the loops, apart from those that a kernel
 * reads. */
#include "emit.h"
#include "../plan/plan.h"

/* name = number `place` of the array that u reads. */
static const Ex *
add_lookup(const Plan *p, const Lookup *u, const char *array, const char *name, const Ex *place,
           Stmt ***at)
{
    Stmt *s = emit_add(ex_arena(p->e), at, ST_LOOKUP);
    s->text = name;
    s->array = array;
    s->value = place;
    return ex_of_var(p->e, lookup_var(p->e, u, name));
}

/* The statements after it are for a number that is not -1. */
static Stmt ***
add_guard(const Plan *p, const Ex *number, Stmt ***at)
{
    Arena *a = ex_arena(p->e);
    Stmt *s = emit_add(a, at, ST_WHEN), ***inner = arena_new(a, Stmt **);
    s->value = ex_add(p->e, number, ex_const(p->e, 1));
    *inner = &s->body;
    return inner;
}

Stmt ***
emit_lookups(const Plan *p, const Nest *n, const Ex **to, const char **name, int *taken,
             Stmt ***at)
{
    PlanArray array[PLAN_ARRAYS];
    const Layout *l[] = {p->src, p->dst};
    plan_arrays(p, array);
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++) {
            const Lookup *u = &l[s]->lookup[i];
            if (i == nest_lookup_by_rows(n, s, 0) || i == nest_lookup_by_rows(n, s, 1))
                continue;
            const char *of = name[p->scalars->n + plan_array_of(array, u)];
            name[*taken] = emit_identifier(ex_arena(p->e), "at", name, *taken);
            to[u->var] = add_lookup(p, u, of, name[(*taken)++], ex_subst(p->e, n->at[s][i], to),
                                    at);
            at = u->skip ? add_guard(p, to[u->var], at) : at;
        }
    return at;
}
