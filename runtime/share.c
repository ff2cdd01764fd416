/* Shares the work of a plan, and any other task, among threads. */
#include "library.h"
#include "threads.h"

typedef struct {
    const ravel_plan *p;
    const Steps *steps;
    const int64_t *extent;
    void *dst;
    const void *src;
} PlanRun;

static void
do_turn(const PlanRun *r, i64 part, i64 parts)
{
    if (r->steps)
        interpret_part(r->steps, r->dst, r->src, r->extent, part, parts);
    else if (r->p->code)
        r->p->code(r->dst, r->src, r->extent, part, parts);
}

static void
do_part(const PlanRun *r, i64 part, i64 parts)
{
    const i64 turns = r->p->turns > parts ? r->p->turns / parts : 1;
    for (i64 i = 0; i < turns; i++)
        do_turn(r, part * turns + i, parts * turns);
}

void
plan_part(const ravel_plan *p, void *dst, const void *src, i64 part, i64 parts)
{
    do_part(&(PlanRun){p, p->steps, p->extent, dst, src}, part, parts);
}

static void
run_part(void *arg, int part, int parts)
{
    do_part(arg, part, parts);
}

void
threads_share(const Threads *t, ravel_task *task, void *arg)
{
    if (t->most == 1)
        task(arg, 0, 1);
    else if (t->f)
        t->f(t->host, task, arg, t->most);
    else
        threads_run(task, arg, t->most);
}

void
plan_share(const ravel_plan *p, const Steps *steps, const int64_t *extent, int most,
           void *dst, const void *src)
{
    Threads t = p->threads;
    t.most = most;
    threads_share(&t, run_part, &(PlanRun){p, steps, extent, dst, src});
}

bool
buffers_overlap(const void *dst, i64 dst_bytes, const void *src, i64 src_bytes)
{
    uintptr_t d = (uintptr_t)dst, s = (uintptr_t)src;
    return dst_bytes && src_bytes &&
           (d < s ? s - d < (uintptr_t)dst_bytes : d - s < (uintptr_t)src_bytes);
}
