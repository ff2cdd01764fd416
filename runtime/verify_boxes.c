/* What is checked of a plan without running its code: its boxes, and that its layouts are those of the
 * request. */
#include "proof.h"

typedef struct {
    const Plan *plan;
    Arena arena;
    ravel_error *err;
    ravel_status status;
} BoxCheck;

static void
check_boxes(void *arg)
{
    BoxCheck *b = arg;
    const char *flaw = plan_check(&b->arena, b->plan, true).flaw;
    if (!flaw && plan_is_fixed(b->plan))
        flaw = nests_flaw(&b->arena, b->plan);
    if (flaw)
        b->status = error_set(b->err, RAVEL_ERR_VERIFY, "the plan is wrong: %s", flaw);
}

ravel_status
verify_boxes(const Plan *p, Budget *work, ravel_error *err)
{
    Diag d;
    BoxCheck b = {.plan = p, .err = err};
    b.arena.work = work ? *work : (Budget){.most = ex_arena(p->e)->work.most};
    work_on(&b.arena, "to check the boxes of the plan", NULL);
    if (!arena_run(&b.arena, &d, check_boxes, &b))
        b.status = error_of(err, &d);
    if (work)
        work->spent = b.arena.work.spent;
    arena_free(&b.arena);
    return b.status;
}

static void
check_written(void *arg)
{
    BoxCheck *b = arg;
    const char *flaw = sides_written_flaw(&b->arena, b->plan);
    if (flaw)
        b->status = error_set(b->err, RAVEL_ERR_VERIFY, "the plan is for other layouts: %s", flaw);
}

ravel_status
verify_written(const Plan *p, ravel_error *err)
{
    Diag d;
    BoxCheck b = {.plan = p, .err = err};
    b.arena.work = (Budget){.most = ex_arena(p->e)->work.most};
    work_on(&b.arena, "to compare the layouts of the plan with those of the request", NULL);
    if (!arena_run(&b.arena, &d, check_written, &b))
        b.status = error_of(err, &d);
    arena_free(&b.arena);
    return b.status;
}
