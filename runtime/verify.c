/* The proof of a plan: its boxes by plan_check, its code by index stamps. */
#include <stdio.h>
#include <string.h>

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
    const char *flaw = compile_written_flaw(&b->arena, b->plan);
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

static void
set_kernels(const int *uses, ravel_certificate *out)
{
    size_t at = 0, room = sizeof out->kernels;
    out->kernels[0] = 0;
    for (int k = 0; k < nkernels; k++)
        if (uses[k] && at < room)
            at += (size_t)snprintf(out->kernels + at, room - at, "%s%s %d",
                                   at ? ", " : "", kernels[k].name, uses[k]);
}

/* A plan under proof, and the first failure of its runs: a run that had no memory has shown
 * nothing about the code. */
typedef struct {
    const ravel_plan *p;
    atomic_int *failed;
} LaneRun;

static void
note(const LaneRun *r, ravel_status s)
{
    int none = RAVEL_OK;
    if (s != RAVEL_OK)
        atomic_compare_exchange_strong(r->failed, &none, (int)s);
}

static void
run_plan(const void *self, void *dst, const void *src)
{
    const LaneRun *r = self;
    note(r, ravel_run(r->p, dst, src));
}

/* The proof has two buffers, of which the source is not written. */
static void
run_in_place(const void *self, void *dst, const void *src)
{
    const LaneRun *r = self;
    memcpy(dst, src, (size_t)ravel_plan_src_bytes(r->p));
    note(r, ravel_run(r->p, dst, dst));
}

static void
part_of(const void *self, void *dst, const void *src, i64 part, i64 parts)
{
    const LaneRun *r = self;
    plan_part(r->p, dst, src, part, parts);
}

ravel_status
verify_plan(const ravel_plan *p, Proof *q, ravel_certificate *out, ravel_error *err)
{
    *out = (ravel_certificate){.nests = p->plan->n};
    set_kernels(p->uses, out);
    ravel_status s = verify_boxes(p->plan, NULL, err);
    atomic_int failed = RAVEL_OK;
    const LaneRun run = {p, &failed};
    Code code = {.run = p->in_place ? run_in_place : run_plan,
                 .part = p->plan->split && !p->in_place ? part_of : NULL, .self = &run};
    if (s == RAVEL_OK)
        s = proof_run(q, &code, out, err);
    ravel_status first = (ravel_status)atomic_load(&failed);
    return first == RAVEL_OK ? s : error_set(err, first, "%s", ravel_status_text(first));
}

ravel_status
ravel_verify_report(const ravel_plan *p, ravel_certificate *out, ravel_error *err)
{
    Proof *q = NULL;
    if (!p || !out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_verify: a NULL argument");
    if (plan_has_arguments(p->plan) && !p->extent) {
        ravel_status at = verify_shapes(p, out, err);
        set_kernels(p->uses, out);
        return at;
    }
    ravel_status s = proof_new(p->plan, false, &q, err);
    if (s == RAVEL_OK)
        s = verify_plan(p, q, out, err);
    proof_free(q);
    return s;
}

ravel_status
ravel_verify(const ravel_plan *p, ravel_error *err)
{
    ravel_certificate c;
    if (!p)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_verify: plan is NULL");
    return ravel_verify_report(p, &c, err);
}
