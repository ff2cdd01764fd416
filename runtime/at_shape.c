/* What a plan with run-time extents is at a shape: its sizes, the extents of its storages, its index
 * arrays. */
#include "at_shape.h"

/* A storage without elements has the extents of its entries: its strides say nothing. */
static void
stored_empty(const Layout *l, ravel_extents *out)
{
    const int n = l->nentry, bits = l->dtype->bits;
    bool empty = false;
    *out = (ravel_extents){.rank = 1};
    for (int i = 0; i < n; i++)
        empty = empty || l->entry[i].extent == 0;
    if (!empty || (l->view && l->view->strided) ||
        (bits < 8 && l->entry[n - 1].extent * bits % 8))
        return;
    for (int i = 0; i < n; i++)
        out->extent[i] = l->entry[i].extent;
    if (bits < 8)
        out->extent[n - 1] = out->extent[n - 1] * bits / 8;
    out->rank = n;
}

/* The extents of a storage at the values of the scalars: those of the layout that has
 * these slots and strides. */
static void
stored_at(const Sizes *r, const i64 *val, ravel_extents *out)
{
    Layout l = *r->l;
    ex_eval(r->size, val, &l.size);
    for (int i = 0; i < l.nentry; i++) {
        ex_eval(r->slots[i], val, &l.entry[i].extent);
        ex_eval(r->stride[i], val, &l.entry[i].stride);
    }
    if (l.size == 0)
        stored_empty(&l, out);
    else
        out->rank = sides_stored(&l, out->extent);
}

/* The same of a side that the planner has in other words than the request: by these words. */
static void
stored_as_written(Arena *a, const Sizes *r, const i64 *shape, ravel_extents *out)
{
    const LayoutRef *ref = layout_written(r->l->ref);
    const Layout *l = layout_make(ex_new(a), ref, r->l->dtype, r->l->rank, shape);
    if (l->size == 0)
        stored_empty(l, out);
    else
        out->rank = sides_stored(l, out->extent);
}

static void
stored_of(AtShape *s, const i64 *val)
{
    const Plan *p = s->p->plan;
    const Sizes *side[] = {p->from, p->to};
    i64 shape[2][MAX_RANK];
    for (int d = 0; d < p->src->rank; d++) {
        shape[0][d] = s->shape[d];
        shape[1][d] = s->shape[p->map[d]];
    }
    for (int i = 0; i < 2; i++)
        if (p->scalars->nstrides || side[i]->l->ref->def->nrolls ||
            layout_written(side[i]->l->ref) == side[i]->l->ref)
            stored_at(side[i], val, &s->stored[i]);
        else
            stored_as_written(&s->arena, side[i], shape[i], &s->stored[i]);
}

static void
find(void *arg)
{
    AtShape *s = arg;
    const Plan *p = s->p->plan;
    s->why = plan_extents(&s->arena, p, s->shape, s->extent);
    const i64 *val = s->why ? NULL : plan_values(&s->arena, p, s->extent);
    if (!s->why && (!val || !plan_bytes_at(p, val, &s->src, &s->dst)))
        s->why = "the sizes at this shape do not fit 64 bits";
    if (!s->why && s->run && plan_looks_up(p))
        s->why = arrays_take(&s->arena, s->p, val, s->array, s->to, s->dst,
                             s->extent + p->scalars->nextents);
    if (!s->why && s->distinct)
        s->why = arrays_repeat(&s->arena, p, val, s->array);
    if (!s->why && s->stored)
        stored_of(s, val);
    if (!s->why && s->arrays)
        arrays_at(p, val, s->arrays);
    if (!s->why && s->run && s->p->steps && s->dst > 0)
        s->steps = interpret_at(&s->arena, s->p->steps, s->extent);
}

ravel_status
at_shape(AtShape *s, ravel_error *err)
{
    Diag d;
    const ravel_plan *p = s->p;
    if (!p || !s->shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    if (!plan_has_arguments(p->plan))
        return error_set(err, RAVEL_ERR_ARGUMENT, "all extents of this plan are numbers: "
                         "ravel_run runs it");
    s->arena = context_arena(p->cx);
    ravel_status status = RAVEL_OK;
    if (!arena_run(&s->arena, &d, find, s))
        status = error_of(err, &d);
    else if (s->why)
        status = error_set(err, RAVEL_ERR_ARGUMENT, "%s", s->why);
    if (status != RAVEL_OK)
        arena_free(&s->arena);
    return status;
}

int
ravel_plan_strides(const ravel_plan *p, const char **name)
{
    const Scalars *s = p ? p->plan->scalars : NULL;
    for (int i = 0; s && name && i < s->nstrides; i++)
        name[i] = p->plan->name[s->nextents - s->nstrides + i];
    return s ? s->nstrides : 0;
}

const char *
ravel_plan_fill(const ravel_plan *p)
{
    return p && p->plan->scalars->fill >= 0 ? p->plan->name[p->plan->scalars->fill] : NULL;
}

ravel_status
ravel_plan_bytes_at(const ravel_plan *p, const int64_t *shape, int64_t *src_bytes,
                    int64_t *dst_bytes, ravel_error *err)
{
    AtShape s = {.p = p, .shape = shape};
    ravel_status status = at_shape(&s, err);
    if (status != RAVEL_OK)
        return status;
    arena_free(&s.arena);
    if (src_bytes)
        *src_bytes = s.src;
    if (dst_bytes)
        *dst_bytes = s.dst;
    return RAVEL_OK;
}

ravel_status
ravel_plan_shapes_at(const ravel_plan *p, const int64_t *shape, ravel_extents *src,
                     ravel_extents *dst, ravel_error *err)
{
    ravel_extents stored[2];
    AtShape s = {.p = p, .shape = shape, .stored = stored};
    if (!src || !dst)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status status = at_shape(&s, err);
    if (status != RAVEL_OK)
        return status;
    arena_free(&s.arena);
    *src = stored[0];
    *dst = stored[1];
    return RAVEL_OK;
}

const int64_t *
plan_own_shape(const ravel_plan *p, int64_t *shape)
{
    for (int d = 0; d < p->plan->src->rank; d++)
        shape[d] = p->plan->src->dim[d].n;
    return plan_is_fixed(p->plan) ? shape : NULL;
}

ravel_status
ravel_check_arrays(const ravel_plan *p, const int64_t *shape, const void *const *array,
                   ravel_error *err)
{
    int64_t own[MAX_RANK];
    if (!p || !array)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    AtShape s = {.p = p, .shape = shape ? shape : plan_own_shape(p, own), .run = true, .array = array,
               .distinct = true};
    ravel_status status = at_shape(&s, err);
    if (status == RAVEL_OK)
        arena_free(&s.arena);
    return status;
}

ravel_status
ravel_plan_arrays_at(const ravel_plan *p, const int64_t *shape, ravel_array *out,
                     ravel_error *err)
{
    int64_t own[MAX_RANK];
    if (!p || !out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    if (!plan_looks_up(p->plan))
        return RAVEL_OK;
    AtShape s = {.p = p, .shape = shape ? shape : plan_own_shape(p, own), .arrays = out};
    ravel_status status = at_shape(&s, err);
    if (status == RAVEL_OK)
        arena_free(&s.arena);
    return status;
}

Threads
plan_threads_at(const ravel_plan *p, const int64_t *shape)
{
    Threads t = p->threads;
    i64 dst;
    if (shape && (ravel_plan_bytes_at(p, shape, NULL, &dst, NULL) || dst < SPLIT_BYTES))
        t.most = 1;
    return t;
}
