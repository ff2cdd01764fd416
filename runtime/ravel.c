/* The library's functions: argument checks, one boundary each, then the passes. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "library.h"
#include "threads.h"

static ravel_status
check_shape(int rank, const int64_t *shape, ravel_error *err)
{
    if (rank < 0 || rank > RAVEL_MAX_RANK)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a rank of %d: 0 to %d", rank,
                         RAVEL_MAX_RANK);
    if (rank && !shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "shape is NULL");
    return RAVEL_OK;
}

typedef struct {
    ravel_context *cx;
    const ravel_request *rq;
    ravel_plan *p;
} Job;

/* The passes, inside a boundary. */
static void
make_source(void *arg)
{
    const Job *j = arg;
    const ravel_request *rq = j->rq;
    Request q = {rq->from, rq->to, rq->dtype, rq->rank, rq->shape, "ravel_relayout"};
    j->p->plan = compile_plan(&j->p->arena, context_known(j->cx), &q);
    j->p->source = compile_text(j->cx->target, j->p->plan, &q, false);
}

static void
take_functions(ravel_plan *p)
{
    void (*all)(void) = jit_function(p->jit, "ravel_relayout");
    void (*part)(void) = jit_function(p->jit, "ravel_relayout_part");
    p->run = (Relayout *)all;
    p->part = (RelayoutPart *)part;
}

ravel_status
ravel_compile(ravel_context *cx, const ravel_request *rq, ravel_plan **out,
              ravel_error *err)
{
    if (!cx || !rq || !out || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_compile: a NULL argument");
    *out = NULL;
    ravel_status s = check_shape(rq->rank, rq->shape, err);
    if (s == RAVEL_OK && rq->threads < 0)
        s = error_set(err, RAVEL_ERR_ARGUMENT, "%d threads", rq->threads);
    if (s != RAVEL_OK)
        return s;
    Diag d;
    ravel_plan *p = calloc(1, sizeof *p);
    if (!p)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    Job job = {cx, rq, p};
    s = arena_run(&p->arena, &d, make_source, &job)
        ? jit_compile(p->source, kernels_here()->symbols, &p->jit, err) : error_of(err, &d);
    if (s != RAVEL_OK) {
        ravel_plan_free(p);
        return s;
    }
    take_functions(p);
    p->threads = context_threads(cx, rq->threads);
    if (!p->part)
        p->threads.most = 1;
    *out = p;
    return RAVEL_OK;
}

void
ravel_plan_free(ravel_plan *p)
{
    if (!p)
        return;
    jit_free(p->jit);
    arena_free(&p->arena);
    free(p);
}

int64_t
ravel_plan_src_bytes(const ravel_plan *p)
{
    return p ? layout_bytes(p->plan->src) : 0;
}

int64_t
ravel_plan_dst_bytes(const ravel_plan *p)
{
    return p ? layout_bytes(p->plan->dst) : 0;
}

const char *
ravel_plan_source(const ravel_plan *p)
{
    return p ? p->source : NULL;
}

int
ravel_plan_threads(const ravel_plan *p)
{
    return p ? p->threads.most : 0;
}

void
plan_part(const ravel_plan *p, void *dst, const void *src, i64 part, i64 parts)
{
    if (p->part)
        p->part(dst, src, part, parts);
    else if (part == 0)
        p->run(dst, src);
}

typedef struct {
    const ravel_plan *p;
    void *dst;
    const void *src;
} Run;

static void
run_part(void *arg, int part, int parts)
{
    const Run *r = arg;
    plan_part(r->p, r->dst, r->src, part, parts);
}

ravel_status
ravel_run(const ravel_plan *p, void *dst, const void *src)
{
    if (!p || !dst || !src)
        return RAVEL_ERR_ARGUMENT;
    if (p->threads.most == 1) {
        p->run(dst, src);
        return RAVEL_OK;
    }
    Run r = {p, dst, src};
    if (p->threads.f)
        p->threads.f(p->threads.host, run_part, &r, p->threads.most);
    else
        threads_run(run_part, &r, p->threads.most);
    return RAVEL_OK;
}

typedef struct {
    ravel_context *cx;
    const char *layout, *dtype;
    int rank;
    const int64_t *shape;
    int64_t *out;
} Query;

typedef struct {
    const Query *q;
    void (*f)(Layout *, const Query *);
    Arena arena;
} Question;

static void
ask(void *arg)
{
    Question *u = arg;
    const Query *q = u->q;
    Layout *l = compile_layout(&u->arena, context_known(q->cx), q->layout, q->dtype,
                               q->rank, q->shape);
    decide_readable_or_fail(l);
    u->f(l, q);
}

/* Run f on the layout of a query, inside a boundary of its own. */
static ravel_status
with_layout(const Query *q, void (*f)(Layout *, const Query *), ravel_error *err)
{
    if (!q->cx || !q->layout || !q->dtype || !q->out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status s = check_shape(q->rank, q->shape, err);
    if (s != RAVEL_OK)
        return s;
    Diag d;
    Question u = {.q = q, .f = f};
    if (!arena_run(&u.arena, &d, ask, &u))
        s = error_of(err, &d);
    arena_free(&u.arena);
    return s;
}

static void
fill_table(Layout *l, const Query *q)
{
    i64 n = 0, x[MAX_RANK] = {0};
    i64 *val = arena_array(ex_arena(l->e), i64, ex_nvars(l->e));
    do {
        for (int i = 0; i < l->rank; i++)
            val[l->dim[i].var] = x[i];
        if (!ex_eval(l->addr, val, &q->out[n++]))
            ex_overflow(l->e);
    } while (layout_next(l, false, x));
}

ravel_status
ravel_table(ravel_context *cx, const char *layout, const char *dtype, int rank,
            const int64_t *shape, int64_t *out, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, out};
    return with_layout(&q, fill_table, err);
}

static void
storage_bytes(Layout *l, const Query *q)
{
    *q->out = layout_bytes(l);
}

ravel_status
ravel_storage_bytes(ravel_context *cx, const char *layout, const char *dtype, int rank,
                    const int64_t *shape, int64_t *out, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, out};
    return with_layout(&q, storage_bytes, err);
}
