/* The C source of a plan.  A plan keeps the machine code only: its text is longer than most of
 * what a plan holds, and is written again when somebody asks for it. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

typedef struct {
    const ravel_plan *p;
    Arena arena;
    char *text;           /* the caller's */
} Writing;

/* Gives the nests of `again` the schedules that tuning chose for those of p. */
static void
pick_as(Plan *again, const Plan *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->nest[i]->picked)
            plan_pick(again, &(Pick){i, p->nest[i]->kernel->name, p->nest[i]->order});
}

static void
write_text(void *arg)
{
    Writing *w = arg;
    Request q = request_of(&w->p->key.rq);
    q.machine = w->p->cx->machine;
    Plan *again = compile_again(&w->arena, w->p->plan);
    pick_as(again, w->p->plan);
    w->text = strdup(compile_jit(context_target(w->p->cx, &w->arena), again, &q).text);
}

const char *
ravel_plan_source(const ravel_plan *plan)
{
    if (!plan || !plan->source)
        return NULL;
    char *seen = atomic_load(plan->source);
    if (seen)
        return seen;
    Diag d;
    Writing w = {.p = plan, .arena = context_arena(plan->cx)};
    arena_run(&w.arena, &d, write_text, &w);
    arena_free(&w.arena);
    if (!w.text || atomic_compare_exchange_strong(plan->source, &seen, w.text))
        return w.text;
    free(w.text);         /* another thread was first */
    return seen;
}
