/* Compiled plans: their properties, running and freeing them. */
#include <stdlib.h>

#include "library.h"

void
ravel_plan_free(ravel_plan *p)
{
    if (!p || atomic_fetch_sub(&p->users, 1) > 1)
        return;
    for (int i = 0; p->in_place && i < IN_PLACE_PASSES; i++)
        ravel_plan_free(p->in_place->block[i]);
    jit_free(p->jit);
    if (p->source)
        free(atomic_load(p->source));
    arena_free(&p->arena);
    context_leave(p->cx);
    free(p);
}

int64_t
ravel_plan_src_bytes(const ravel_plan *p)
{
    return !p ? 0 : !plan_is_fixed(p->plan) ? -1 : layout_bytes(p->plan->src);
}

int64_t
ravel_plan_dst_bytes(const ravel_plan *p)
{
    return !p ? 0 : !plan_is_fixed(p->plan) ? -1 : layout_bytes(p->plan->dst);
}

ravel_status
ravel_plan_shapes(const ravel_plan *p, ravel_extents *src, ravel_extents *dst,
                  ravel_error *err)
{
    if (!p || !src || !dst)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    if (!plan_is_fixed(p->plan))
        return error_set(err, RAVEL_ERR_ARGUMENT, "the plan has run-time extents");
    src->rank = sides_stored(p->plan->src, src->extent);
    dst->rank = sides_stored(p->plan->dst, dst->extent);
    return RAVEL_OK;
}

const char *
ravel_plan_way(const ravel_plan *p)
{
    return p ? p->way : NULL;
}

int
ravel_plan_threads(const ravel_plan *p)
{
    return p ? p->threads.most : 0;
}

void
plan_measure(ravel_plan *p)
{
    p->runs = plan_is_fixed(p->plan) && (!plan_looks_up(p->plan) || p->extent);
    p->src_bytes = p->runs ? layout_bytes(p->plan->src) : 0;
    p->dst_bytes = p->runs ? layout_bytes(p->plan->dst) : 0;
    p->turns = p->runs ? plan_turns(p->plan) : 1;
}

ravel_status
ravel_run(const ravel_plan *p, void *dst, const void *src)
{
    if (!p || !dst || !src || !p->runs ||
        (p->in_place ? dst != src : buffers_overlap(dst, p->dst_bytes, src, p->src_bytes)))
        return RAVEL_ERR_ARGUMENT;
    const int64_t start = p->cx->log ? log_start(p->cx) : 0;
    ravel_status s = RAVEL_OK;
    if (p->in_place)
        s = in_place_run(p, dst);
    else if (p->threads.most == 1)
        plan_part(p, dst, src, 0, 1);
    else
        plan_share(p, p->steps, p->extent, p->threads.most, dst, src);
    if (start && s == RAVEL_OK)
        log_run(p, NULL, start);
    return s;
}
