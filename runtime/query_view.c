/* The functions of ravel.h about parts of tensors, and tensors with strides. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

typedef struct {
    const ravel_request *rq;
    ravel_view *out;
    ravel_context *cx;
    const char *layout;
    int n;
    const int64_t *stride;
    int64_t origin, *shape;
    char **text;
    Arena arena;
} Ask;

static ravel_status
answer(Ask *v, void (*f)(void *), ravel_error *err)
{
    return context_answer(v->cx, &v->arena, f, v, err);
}

static void
strided(void *arg)
{
    Ask *v = arg;
    const char *text = spec_strided(&v->arena, v->layout, v->n, v->stride, v->origin);
    spec_ref(&v->arena, text, context_known(v->cx));
    if (!(*v->text = malloc(strlen(text) + 1)))
        diag_fatal(v->arena.diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    strcpy(*v->text, text);
}

ravel_status
ravel_with_strides(ravel_context *cx, const char *layout, int axes,
                   const int64_t *strides, int64_t origin, char **text,
                   ravel_error *err)
{
    Ask v = {.cx = cx, .layout = layout, .n = axes, .stride = strides, .origin = origin,
              .text = text};
    if (!cx || !layout || !text || (axes > 0 && !strides))
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    *text = NULL;
    if (axes < 0 || axes > RAVEL_MAX_STORED)
        return error_set(err, RAVEL_ERR_ARGUMENT, "%d strides: 0 to %d", axes,
                         RAVEL_MAX_STORED);
    return answer(&v, strided, err);
}

static void
view_shape(void *arg)
{
    Ask *v = arg;
    const char *name[MAX_RANK];
    const LayoutRef *ref = spec_ref(&v->arena, v->layout, context_known(v->cx));
    v->n = layout_view_shape(&v->arena, ref, v->shape, name);
    if (v->n < 0)
        diag_fatal(v->arena.diag, DIAG_ARGUMENT, (Loc){0}, "'%.200s' has no extents, as in "
                   "NCHW(8,64,56,56)", v->layout);
    for (int d = 0; d < v->n; d++)
        v->shape[d] = v->shape[d] ? v->shape[d] : RAVEL_RUNTIME;
}

ravel_status
ravel_view_shape(ravel_context *cx, const char *layout, int *rank,
                 int64_t shape[RAVEL_MAX_RANK], ravel_error *err)
{
    Ask v = {.cx = cx, .layout = layout, .shape = shape};
    if (!cx || !layout || !rank || !shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status s = answer(&v, view_shape, err);
    if (s == RAVEL_OK)
        *rank = v.n;
    return s;
}

static void
view_of(void *arg)
{
    Ask *v = arg;
    ravel_view *out = v->out;
    const Request q = request_of(v->rq);
    const Plan *p = compile_plan(&v->arena, context_known(v->cx), &q);
    if (!plan_is_fixed(p))
        diag_fatal(v->arena.diag, DIAG_ARGUMENT, (Loc){0}, "extents are numbers here");
    const Strides s = sides_view_of(p);
    *out = (ravel_view){.is_view = (ravel_answer)s.is_view, .origin = s.origin,
                        .axes = s.axes, .run = sides_walk(p).run};
    memcpy(out->extent, s.extent, sizeof out->extent);
    memcpy(out->stride, s.stride, sizeof out->stride);
    if (s.why)
        memcpy(out->why, s.why, strnlen(s.why, sizeof out->why - 1));
}

ravel_status
ravel_view_of(ravel_context *cx, const ravel_request *rq, ravel_view *out, ravel_error *err)
{
    Ask v = {.cx = cx, .rq = rq, .out = out};
    if (!cx || !rq || !out || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_view_of: a NULL argument");
    ravel_status s = request_check(rq, err);
    return s == RAVEL_OK ? answer(&v, view_of, err) : s;
}
