/* Plans with run-time extents: run them at a shape; make a plan of constants for a
 * shape. */
#include <stdlib.h>

#include "at_shape.h"

/* Convert the extents; false if they are to be checked in detail. */
static bool
quick_extents(const ravel_plan *p, const int64_t *shape, int64_t *extent)
{
    if (!p || !shape || plan_is_fixed(p->plan) || plan_looks_up(p->plan))
        return false;
    return plan_fill_extents(p->plan, shape, extent) < 0;
}

/* Run at a shape, with index arrays. */
static ravel_status
run_at(const ravel_plan *p, void *dst, const void *src, const int64_t *shape,
       const void *const *array, ravel_error *err)
{
    AtShape s = {.p = p, .shape = shape, .run = true, .to = dst, .array = array};
    ravel_status status = at_shape(&s, err);
    if (status != RAVEL_OK)
        return status;
    if ((s.src && !src) || (s.dst && !dst))
        status = error_set(err, RAVEL_ERR_ARGUMENT, "a NULL buffer");
    else if (buffers_overlap(dst, s.dst, src, s.src))
        status = error_set(err, RAVEL_ERR_ARGUMENT, "the buffers overlap: %lld bytes of "
                           "the source, %lld of the destination", (long long)s.src,
                           (long long)s.dst);
    else
        plan_share(p, s.steps, s.extent, s.dst < SPLIT_BYTES ? 1 : p->threads.most, dst,
                   src);
    arena_free(&s.arena);
    return status;
}

/* Run the plan that is specialised for the shape; false if there is none. */
static bool
run_special(const ravel_plan *p, void *dst, const void *src, const int64_t *shape)
{
    ravel_plan *q = special_find(p, shape);
    bool done = q && ravel_run(q, dst, src) == RAVEL_OK;
    ravel_plan_free(q);
    return done;
}

ravel_status
ravel_run_shape(const ravel_plan *p, void *dst, const void *src, const int64_t *shape,
                ravel_error *err)
{
    int64_t extent[MAX_RANK];
    bool quick = dst && src && quick_extents(p, shape, extent);
    if (quick && p->seen && run_special(p, dst, src, shape))
        return RAVEL_OK;
    const int64_t start = p && p->cx->log ? log_start(p->cx) : 0;
    bool done = quick && p->threads.most == 1 && p->code &&
                !p->code(dst, src, extent, 0, 1);
    ravel_status status = done ? RAVEL_OK : run_at(p, dst, src, shape, NULL, err);
    if (status == RAVEL_OK)
        log_run(p, shape, start);
    return status;
}

ravel_status
ravel_run_arrays(const ravel_plan *p, void *dst, const void *src, const int64_t *shape,
                 const void *const *array, ravel_error *err)
{
    int64_t own[MAX_RANK];
    if (!p || !array)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    const int64_t start = log_start(p->cx);
    shape = shape ? shape : plan_own_shape(p, own);
    ravel_status status = run_at(p, dst, src, shape, array, err);
    if (status == RAVEL_OK)
        log_run(p, shape, start);
    return status;
}

typedef struct {
    const ravel_plan *from;
    ravel_plan *to;
    Plan *again;
    const int64_t *shape;
} Specialise;

static void
make_at(void *arg)
{
    Specialise *j = arg;
    Arena *a = &j->to->arena;
    const Steps *steps = j->from->steps;
    int64_t *extent = arena_array(a, int64_t, MAX_RANK + PLAN_ARRAYS);
    const char *why;
    j->to->plan = sides_at(a, j->again, j->shape, &why);
    if (why)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%s", why);
    j->to->uses = arena_array(a, int, nkernels);
    kernels_used(j->to->plan, j->to->uses);
    plan_extents(a, j->again, j->shape, extent);
    arrays_invent(a, j->to->plan, extent + j->again->scalars->nextents);
    if (steps)
        j->to->steps = interpret_at(a, steps, extent);
    j->to->code = j->from->code;
    j->to->extent = extent;
    plan_measure(j->to);
}

ravel_status
plan_at(const ravel_plan *p, Plan *again, const int64_t *shape, ravel_plan **out,
        ravel_error *err)
{
    Diag d;
    ravel_plan *q = *out = calloc(1, sizeof *q);
    if (!q)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    context_join(p->cx);
    q->cx = p->cx;
    q->users = 1;
    q->way = p->way;
    q->threads.most = 1;
    Specialise j = {p, q, again, shape};
    Arena *theirs = ex_arena(again->e);
    Diag *outer = theirs->diag;
    theirs->diag = &d;             /* make_at takes memory of both */
    q->arena.work = theirs->work;
    ravel_status s = arena_run(&q->arena, &d, make_at, &j) ? RAVEL_OK : error_of(err, &d);
    theirs->work = q->arena.work;
    theirs->diag = outer;
    if (s != RAVEL_OK) {
        ravel_plan_free(q);
        *out = NULL;
    }
    return s;
}
