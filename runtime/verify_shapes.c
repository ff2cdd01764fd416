/* The proof of a plan with run-time extents: its boxes for every residue of the extents,
 * its code at every boundary value and its neighbours. */
#include <stdio.h>
#include <stdlib.h>

#include "proof.h"
#include "reference.h"

/* The number of slots that are filled and checked in the time of a step; the number of
 * walks over all coordinates in a proof. */
enum { SLOTS_A_STEP = 4, WALKS = 10 };

typedef struct {
    const ravel_plan *p;
    Arena arena;
    Plan *again;
    ShapeList boundaries;
} Shapes;

static void
again(void *arg)
{
    Shapes *s = arg;
    s->again = compile_again(&s->arena, s->p->plan);
}

static void
list(void *arg)
{
    Shapes *s = arg;
    again(arg);
    s->boundaries = plan_boundaries(&s->arena, s->again);
}

/* Add the shape to an error message. */
static ravel_status
at_shape(const Shapes *s, const i64 *shape, ravel_status status, ravel_error *err)
{
    char text[sizeof err->text], of[256];
    size_t n = 0;
    if (status == RAVEL_OK || !err)
        return status;
    for (int d = 0; d < s->p->plan->src->rank && n < sizeof of; d++)
        n += (size_t)snprintf(of + n, sizeof of - n, "%s%lld", d ? "," : "",
                              (long long)shape[d]);
    snprintf(text, sizeof text, "%s", err->text);
    return error_set(err, status, "at shape %s: %.700s", of, text);
}

static void
sum_up(ravel_certificate *sum, const ravel_certificate *c)
{
    sum->nests += c->nests;
    sum->passes = c->passes > sum->passes ? c->passes : sum->passes;
    sum->runs += c->runs;
    sum->threads = c->threads > sum->threads ? c->threads : sum->threads;
    sum->parts = c->parts > sum->parts ? c->parts : sum->parts;
    sum->stamped += c->stamped;
    sum->elements += c->elements;
    sum->padding += c->padding;
    sum->holes += c->holes;
}

/* The number of operators in entries of several dims.  Every walk evaluates these at each
 * coordinate; entries of one dim come from a table. */
static i64
mixed_operators(const Layout *l)
{
    i64 tables, all = reference_work(l, &tables);
    return all - 1 - l->nentry;
}

/* The steps of work of the proof of a plan in numbers; INF: the number does not fit. */
static i64
steps_of(const Plan *p)
{
    i64 mixed = mixed_operators(p->src) + mixed_operators(p->dst), walks, all;
    if (!int_mul(layout_points(p->dst, true), WALKS * mixed, &walks) ||
        !int_add(proof_slots(p) / SLOTS_A_STEP, walks, &all))
        return INF;
    return all;
}

/* A sixteenth of the limit stays for the decisions about the shapes that follow (work_try). */
ravel_status
verify_affords(const Plan *p, int shapes, Budget *work, ravel_error *err)
{
    const i64 steps = steps_of(p), all = work_most_tried(work) - work_most(work) / 16;
    if (steps <= all - work->spent && work_take(work, steps))
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_LIMIT, "to run the code at the %d shapes at and "
                     "beside the boundaries of its blocks takes more work than the limit "
                     "allows; blocks that are small, or multiples of each other, take "
                     "less, and --limit (ravel_set_limit) allows more", shapes);
}

bool
verify_skips(const ShapeList *list, int i, ravel_status s)
{
    return s == RAVEL_ERR_LIMIT && i >= list->sure;
}

/* Run the code at shape i of the list, and add up what was examined. */
static ravel_status
code(const Shapes *s, int i, ravel_certificate *sum, ravel_error *err)
{
    ravel_plan *q;
    ravel_certificate c;
    ravel_error own;               /* *err is not written where a shape is left out */
    const i64 *shape = s->boundaries.shape[i];
    ravel_status status = plan_at(s->p, s->again, shape, &q, &own);
    if (status == RAVEL_OK && !plan_is_fixed(s->p->plan))
        status = verify_affords(q->plan, s->boundaries.n, &ex_arena(s->again->e)->work, &own);
    if (verify_skips(&s->boundaries, i, status)) {
        ravel_plan_free(q);
        sum->not_run++;
        return RAVEL_OK;
    }
    if (status == RAVEL_OK)
        status = verify_code(q, &c, &own);
    ravel_plan_free(q);
    if (status == RAVEL_OK)
        sum_up(sum, &c);
    else if (err)
        *err = own;
    return at_shape(s, shape, status, err);
}

ravel_status
verify_plan_at(const ravel_plan *p, const int64_t *shape, Proof *q, ravel_certificate *out,
               ravel_error *err)
{
    Diag d;
    ravel_plan *at = NULL;
    Shapes s = {.p = p, .arena = context_arena(p->cx)};
    ravel_status status = arena_run(&s.arena, &d, again, &s) ? RAVEL_OK
                                                             : error_of(err, &d);
    if (status == RAVEL_OK)
        status = plan_at(p, s.again, shape, &at, err);
    if (status == RAVEL_OK)
        status = verify_plan(at, q, out, err);
    ravel_plan_free(at);
    arena_free(&s.arena);
    return at_shape(&s, shape, status, err);
}

ravel_status
verify_shapes(const ravel_plan *p, ravel_certificate *out, ravel_error *err)
{
    Diag d;
    Shapes s = {.p = p, .arena = context_arena(p->cx)};
    ravel_status status = arena_run(&s.arena, &d, list, &s) ? RAVEL_OK
                                                            : error_of(err, &d);
    *out = (ravel_certificate){.not_run = s.boundaries.idle};
    if (status == RAVEL_OK)
        status = verify_boxes(s.again, &ex_arena(s.again->e)->work, err);
    if (status == RAVEL_OK && s.boundaries.n == 0)
        status = error_set(err, RAVEL_ERR_LIMIT, "no shape was found of which the indices select as "
                           "many elements as it has, so no code was run");
    for (int i = 0; status == RAVEL_OK && i < s.boundaries.n; i++)
        status = code(&s, i, out, err);
    arena_free(&s.arena);
    return status;
}
