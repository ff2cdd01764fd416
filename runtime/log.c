/* The log of a context: a line for each plan that is made and for each run.  A line is a
 * command, and behind # what happened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "log.h"
#include "measure.h"

struct Log {
    ravel_log *f;                  /* NULL: nothing is logged */
    void *host;
    Log *next;
};

static void
to_stderr(void *host, const char *line)
{
    (void)host;
    fprintf(stderr, "%s\n", line);
}

static ravel_status
push(ravel_context *cx, ravel_log *f, void *host, ravel_error *err)
{
    Log *l = malloc(sizeof *l);
    if (!l)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    *l = (Log){f, host, cx->log};
    while (!atomic_compare_exchange_weak(&cx->log, &l->next, l))
        ;
    return RAVEL_OK;
}

ravel_status
log_begin(ravel_context *cx, ravel_error *err)
{
    const char *wanted = getenv("RAVEL_VERBOSE");
    if (!wanted || !*wanted || !strcmp(wanted, "0"))
        return RAVEL_OK;
    if (!strcmp(wanted, "1"))
        return push(cx, to_stderr, NULL, err);
    return error_set(err, RAVEL_ERR_ARGUMENT, "RAVEL_VERBOSE is '%.40s': 0 or 1", wanted);
}

ravel_status
ravel_set_log(ravel_context *cx, ravel_log *f, void *host, ravel_error *err)
{
    if (!cx)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_set_log: cx is NULL");
    return push(cx, f, host, err);
}

void
log_free(Log *l)
{
    for (Log *next; l; l = next) {
        next = l->next;
        free(l);
    }
}

int64_t
log_start(const ravel_context *cx)
{
    const Log *l = cx->log;
    return l && l->f ? measure_now() : 0;
}

/* A line that is being made. */
typedef struct {
    Arena arena;
    LogPut *put;
    const void *arg;
    Buf b;
} Line;

static void
make_line(void *arg)
{
    Line *l = arg;
    l->b = buf_new(&l->arena);
    l->put(&l->b, l->arg);
}

void
log_line(const ravel_context *cx, LogPut *put, const void *arg)
{
    Diag d;
    const Log *log = cx->log;
    if (!log || !log->f)
        return;
    Line l = {.put = put, .arg = arg};
    log->f(log->host, arena_run(&l.arena, &d, make_line, &l) ? l.b.s : d.text);
    arena_free(&l.arena);
}

/* What a line says of a plan. */
typedef struct {
    const ravel_plan *p;
    const int64_t *shape;          /* of the run; NULL: the plan's */
    int64_t ns;
    bool run;
} Event;

const char *
log_options(Arena *a, const Plan *p, const ravel_request *q, const int64_t *shape)
{
    const char **name = arena_array(a, const char *, MAX_RANK);
    for (int d = 0; d < q->rank; d++)
        name[d] = p->src->dim[d].name;
    Request rq = {.dtype = q->dtype, .rank = q->rank, .extent = name,
                  .shape = shape ? shape : q->shape};
    const LayoutRef *from = p->src->ref, *to = p->dst->ref;
    const Scalars *s = p->scalars;
    if (shape && s->nstrides) {
        from = layout_given(a, from, p->src->dtype, s, p->name, shape + q->rank);
        to = layout_given(a, to, p->dst->dtype, s, p->name, shape + q->rank);
    }
    return emit_options(a, &rq, from, to);
}

/* The command: bench repeats a run, explain a plan. */
static void
put_command(Buf *b, const Event *l)
{
    buf_printf(b, "ravel %s%s%s", l->run && !l->p->in_place ? "bench" : "explain",
               log_options(b->arena, l->p->plan, &l->p->key.rq, l->shape),
               l->p->in_place ? " --in-place" : "");
    if (l->p->threads.most > 1 || l->run)
        buf_printf(b, " --threads %d", l->p->threads.most);
    if (!l->run || l->p->in_place)
        buf_add(b, " --processor here");
}

static void
put_kernels(Buf *b, const int *uses)
{
    const char *between = " ";
    for (int k = 0; k < nkernels; k++)
        if (uses[k]) {
            buf_printf(b, "%s%s x%d", between, kernels[k].name, uses[k]);
            between = " + ";
        }
}

static void
put_moved(Buf *b, int64_t src, int64_t dst, int64_t ns)
{
    buf_printf(b, ", %lld -> %lld bytes", (long long)src, (long long)dst);
    if (ns > 0)
        buf_printf(b, ", %.3g GB/s", ((double)src + (double)dst) / (double)ns);
}

static void
put_bytes(Buf *b, const Event *l)
{
    int64_t src, dst;
    if (!l->shape && !plan_is_fixed(l->p->plan))
        return;
    if (!l->shape) {
        src = layout_bytes(l->p->plan->src);
        dst = layout_bytes(l->p->plan->dst);
    } else if (ravel_plan_bytes_at(l->p, l->shape, &src, &dst, NULL) != RAVEL_OK)
        return;
    put_moved(b, src, dst, l->run ? l->ns : 0);
}

static void
put_event(Buf *b, const void *arg)
{
    const Event *l = arg;
    put_command(b, l);
    buf_printf(b, "  # %s:", l->run ? "run" : "plan");
    if (l->p->in_place)
        buf_printf(b, " %s", l->p->way);
    else
        put_kernels(b, l->p->uses);
    buf_printf(b, ", %.6g ms", (double)l->ns * 1e-6);
    put_bytes(b, l);
    if (!l->run)
        buf_printf(b, ", %s", l->p->way);
}

void
log_plan(const ravel_plan *p, int64_t start)
{
    if (start)
        log_line(p->cx, put_event, &(Event){.p = p, .ns = measure_now() - start});
}

/* Runs of a proof at one of many shapes (plan_at) have no line. */
void
log_run(const ravel_plan *p, const int64_t *shape, int64_t start)
{
    Event l = {.p = p, .shape = shape, .ns = start ? measure_now() - start : 0, .run = true};
    if (start && p->key.rq.dtype)
        log_line(p->cx, put_event, &l);
}

typedef struct {
    const ravel_plan *p;
    const Plan *whole;
    const ravel_request *rq;
    int64_t blocks, ns;
    int threads;
} InBlocks;

static void
put_blocks(Buf *b, const void *arg)
{
    const InBlocks *l = arg;
    int64_t src = layout_bytes(l->whole->src), dst = layout_bytes(l->whole->dst);
    buf_printf(b, "ravel bench%s --threads %d  # run:",
               log_options(b->arena, l->whole, l->rq, NULL), l->threads);
    put_kernels(b, l->p->uses);
    buf_printf(b, ", %.6g ms", (double)l->ns * 1e-6);
    put_moved(b, src, dst, l->ns);
    buf_printf(b, ", %lld block%s", (long long)l->blocks, l->blocks == 1 ? "" : "s");
}

void
log_blocks(const ravel_plan *p, const Plan *whole, const ravel_request *rq, int64_t blocks,
           int threads, int64_t start)
{
    InBlocks l = {p, whole, rq, blocks, start ? measure_now() - start : 0, threads};
    if (l.ns > 0)
        log_line(p->cx, put_blocks, &l);
}

/* What a line says of a plan that becomes text. */
typedef struct {
    const Plan *p;
    const char *command;
    int64_t ns;
} Written;

static void
put_written(Buf *b, const void *arg)
{
    const Written *w = arg;
    int *uses = arena_array(b->arena, int, nkernels);
    kernels_used(w->p, uses);
    buf_printf(b, "%s  # plan:", w->command);
    put_kernels(b, uses);
    buf_printf(b, ", %.6g ms", (double)w->ns * 1e-6);
    if (plan_is_fixed(w->p))
        buf_printf(b, ", %lld -> %lld bytes", (long long)layout_bytes(w->p->src),
                   (long long)layout_bytes(w->p->dst));
    buf_add(b, ", text");
}

void
log_written(const ravel_context *cx, const Plan *p, const char *command, int64_t start)
{
    if (start)
        log_line(cx, put_written, &(Written){p, command, measure_now() - start});
}
