/* The log of sparse conversions. */
#include "library.h"
#include "log.h"
#include "measure.h"

typedef struct {
    const SparsePlan *p;
    const char *code;              /* of a plan; NULL: a run */
    int64_t ns, from, to;
} Event;

static void
put_event(Buf *b, const void *arg)
{
    const Event *e = arg;
    buf_printf(b, "ravel explain%s  # %s: %s, %.6g ms, ",
               emit_options(b->arena, &e->p->rq->common, e->p->src->ref, e->p->dst->ref),
               e->code ? "plan" : "run", sparse_ways[e->p->way], (double)e->ns * 1e-6);
    if (e->code)
        buf_add(b, e->code);
    else
        buf_printf(b, "%lld -> %lld values", (long long)e->from, (long long)e->to);
}

void
log_sparse_plan(const ravel_context *cx, const SparsePlan *p, int64_t start, const char *code)
{
    if (start)
        log_line(cx, put_event, &(Event){.p = p, .code = code, .ns = measure_now() - start});
}

void
log_sparse_run(const ravel_context *cx, const SparsePlan *p, int64_t ns, int64_t from,
               int64_t to)
{
    log_line(cx, put_event, &(Event){.p = p, .ns = ns, .from = from, .to = to});
}
