/* The log of plans for devices: a line for each plan that is made and for each launch. */
#include "gpu_plan.h"
#include "measure.h"

typedef struct {
    const ravel_device_plan *p;
    const int64_t *shape;          /* of the launch; NULL: that of the plan */
    const DeviceLaunch *launch;    /* NULL: the plan was made */
    int64_t src, dst, ns;
} Event;

/* explain --target shows the kernel of both. */
static void
put_event(Buf *b, const void *arg)
{
    const Event *l = arg;
    const ravel_device_plan *p = l->p;
    const ravel_device *d = p->device;
    buf_printf(b, "ravel explain%s --target %s  # device %s, %s: ",
               log_options(b->arena, p->plan, &p->key.rq, l->shape), d->kind->name,
               l->launch ? "launch" : "plan", d->info.name);
    if (l->launch)
        buf_printf(b, "%lld blocks of %d, %lld -> %lld bytes, enqueued in ",
                   (long long)l->launch->grid, GRID_THREADS, (long long)l->src,
                   (long long)l->dst);
    buf_printf(b, "%.6g ms", (double)l->ns * 1e-6);
}

static void
log_event(Event l, int64_t start)
{
    if (!start)
        return;
    l.ns = measure_now() - start;
    log_line(l.p->cx, put_event, &l);
}

void
log_device_plan(const ravel_device_plan *p, int64_t start)
{
    log_event((Event){.p = p}, start);
}

void
log_launch(const ravel_device_plan *p, const int64_t *shape, const DeviceLaunch *launch,
           int64_t src, int64_t dst, int64_t start)
{
    log_event((Event){.p = p, .shape = shape, .launch = launch, .src = src, .dst = dst}, start);
}
