/* The lines of the log for plans that are made and their runs.  A line is a command, and behind #
 * what happened. */
#include "library.h"
#include "measure.h"

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
