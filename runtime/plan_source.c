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

Plan *
plan_again(const ravel_plan *p, Arena *a)
{
    const Plan *was = p->plan;
    const Advice *advice = p->wisdom.advice;
    Plan *again = compile_again(a, was);
    for (int i = 0; advice && was->n == 0 && i < advice->n; i++)
        plan_pick(again, &advice->pick[i]);
    for (int i = 0; i < was->n; i++)
        if (was->nest[i]->picked)
            plan_pick(again, &(Pick){i, was->nest[i]->kernel->name, was->nest[i]->order});
    return again;
}

static void
write_text(void *arg)
{
    Writing *w = arg;
    Request q = request_of(&w->p->key.rq);
    q.machine = w->p->cx->machine;
    Plan *again = plan_again(w->p, &w->arena);
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
