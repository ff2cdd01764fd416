/* The proof of the code of a plan that ravel_run runs, by index stamps. */
#include <stdio.h>
#include <string.h>

#include "proof.h"

void
verify_set_kernels(const int *uses, ravel_certificate *out)
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
    verify_set_kernels(p->uses, out);
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
verify_code(const ravel_plan *p, ravel_certificate *out, ravel_error *err)
{
    Proof *q = NULL;
    ravel_status s = proof_new(p->plan, false, &q, err);
    if (s == RAVEL_OK)
        s = verify_plan(p, q, out, err);
    proof_free(q);
    return s;
}
