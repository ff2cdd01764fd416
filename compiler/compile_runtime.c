/* Conversions with extents left to run time: the passes, and such a plan at a shape. */
#include <string.h>

#include "compile.h"

bool
compile_is_runtime(const Request *rq)
{
    for (int d = 0; d < rq->rank; d++)
        if (rq->shape[d] == RUNTIME_EXTENT)
            return true;
    return false;
}

_Noreturn static void
refuse(Arena *a, const Layout *l, const char *why)
{
    diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc, "layout '%s' with an extent left "
               "to run time: %s; give all extents as numbers", l->ref->def->name, why);
}

/* l is one-to-one for all shapes of the request, its padding too, up to the largest
 * extents that the scalars are given. */
static EveryShape *
need_one_to_one(Arena *a, Scalars *s, const Layout *l, const i64 *shape,
                const int *extent)
{
    EveryShape *y = decide_shapes(ex_new(a), l->ref, l->dtype, l->rank, shape);
    if (y->injective != YES)
        refuse(a, l, y->injective == NO && y->v->why ? y->v->why : y->why ? y->why
                     : "it is not one-to-one");
    if (y->v->flaw)
        refuse(a, l, y->v->why);
    for (int d = 0; d < l->rank; d++) {
        if (extent[d] < 0 && y->l->dim[d].padded != l->dim[d].padded)
            refuse(a, l, "its padding has no storage of its own");
        if (extent[d] >= 0 && y->bound[d] < s->most[extent[d]])
            s->most[extent[d]] = y->bound[d];
    }
    return y;
}

/* A fill goes to all of the storage, whatever the shape: where slots are left with all
 * digits full, slots are left. */
static void
need_filled(Arena *a, const EveryShape *y)
{
    const Layout *l = y->l;
    const char *why = why_unfilled(y->l, y->v);
    Buf at = buf_new(a);
    for (int d = 0; d < l->rank; d++)
        buf_printf(&at, "%s%lld", d ? "," : "", (long long)l->dim[d].n);
    if (why)
        diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc, "layout '%s' cannot be "
                   "written to, already at shape %s: %s", l->ref->def->name, at.s, why);
}

/* The scalar of each dim of src that is left to run time; -1 for the others. */
static void
name_extents(Arena *a, Scalars *s, const Request *rq, const Layout *src, int *extent,
             const char **name)
{
    for (int d = 0; d < rq->rank; d++) {
        extent[d] = -1;
        if (rq->shape[d] != RUNTIME_EXTENT)
            continue;
        const char *of = rq->extent ? rq->extent[d] : src->dim[d].name;
        for (int i = 0; i < s->nextents && rq->extent; i++)
            if (!strcmp(name[i], of))
                extent[d] = i;
        if (extent[d] < 0) {
            name[s->nextents] = arena_string(a, of);
            extent[d] = scalar_extent(s, of);
        }
    }
}

Plan *
compile_runtime(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
                const Request *rq)
{
    int map[MAX_RANK], extent[MAX_RANK], of[MAX_RANK];
    i64 ones[MAX_RANK], shape[MAX_RANK], fixed[MAX_RANK];
    const char **name = arena_array(a, const char *, MAX_RANK);
    Exprs *e = ex_new(a);
    Scalars *s = scalars_new(e);
    for (int d = 0; d < rq->rank; d++)
        ones[d] = rq->shape[d] == RUNTIME_EXTENT ? 1 : rq->shape[d];
    Layout *src = layout_make(e, from, t, rq->rank, ones);
    layout_check_rank(a, to->def, rq->rank);
    plan_match(a, from, to, rq->rank, map);
    name_extents(a, s, rq, src, extent, name);
    for (int d = 0; d < rq->rank; d++) {
        shape[d] = ones[map[d]];
        fixed[d] = rq->shape[map[d]];
        of[d] = extent[map[d]];
    }
    Layout *dst = layout_make(e, to, t, rq->rank, shape);
    if (!from->def->view)
        need_one_to_one(a, s, src, rq->shape, extent);
    need_filled(a, need_one_to_one(a, s, dst, fixed, of));
    return plan_make_runtime(s, name, src, dst, map, extent);
}

static Layout *
layout_at(Exprs *e, const Layout *l, const i64 *shape, const int *map)
{
    i64 n[MAX_RANK];
    for (int d = 0; d < l->rank; d++)
        n[d] = shape[map ? map[d] : d];
    return layout_make(e, l->ref, l->dtype, l->rank, n);
}

Plan *
compile_at(Arena *a, const Plan *p, const i64 *shape, const char **why)
{
    i64 extent[MAX_RANK];
    *why = runtime_extents(a, p, shape, extent);
    if (*why)
        return NULL;
    Exprs *e = ex_new(a);
    Layout *src = layout_at(e, p->src, shape, NULL);
    Layout *dst = layout_at(e, p->dst, shape, p->map);
    decide_readable_or_fail(src);
    decide_destination_or_fail(dst);
    return runtime_at(p, src, dst, extent);
}

Plan *
compile_again(Arena *a, const Plan *p)
{
    i64 shape[MAX_RANK];
    const char *name[MAX_RANK];
    Request rq = {.rank = p->src->rank, .shape = shape, .extent = name};
    for (int d = 0; d < rq.rank; d++) {
        int i = p->now->src->extent[d];
        shape[d] = i < 0 ? p->src->dim[d].n : RUNTIME_EXTENT;
        name[d] = i < 0 ? NULL : p->now->name[i];
    }
    return compile_runtime(a, p->src->ref, p->dst->ref, p->src->dtype, &rq);
}
