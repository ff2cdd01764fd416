/* The functions of ravel.h that answer questions about layouts without a shape, or about
 * two of them. */
#include <string.h>

#include "library.h"

typedef struct {
    ravel_context *cx;
    const char *a, *b, *dtype;
    int rank;
    const int64_t *shape;
    void *out;
    Arena arena;
} Pair;

static ravel_status
answer(Pair *p, void (*f)(void *), ravel_error *err)
{
    return context_answer(p->cx, &p->arena, f, p, err);
}

static void
any_dtype(void *arg)
{
    Pair *p = arg;
    const LayoutRef *ref = spec_ref(&p->arena, p->a, context_known(p->cx));
    const DType *t = sides_any_dtype(ref);
    if (!t)
        diag_fatal(p->arena.diag, DIAG_ARGUMENT, (Loc){0}, "layout '%s' depends on the "
                   "element size: give a dtype, such as f16", ref->def->name);
    *(const char **)p->out = t->name;
}

ravel_status
ravel_any_dtype(ravel_context *cx, const char *layout, const char **dtype,
                ravel_error *err)
{
    Pair p = {.cx = cx, .a = layout, .out = dtype};
    if (!cx || !layout || !dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    return answer(&p, any_dtype, err);
}

static void
logical(void *arg)
{
    Pair *p = arg;
    const LayoutRef *ref = spec_ref(&p->arena, p->a, context_known(p->cx));
    const DType *t = sides_dtype(&p->arena, p->dtype);
    if (!ref->def->index && !ref->def->batch && p->rank != 1 && p->rank < ref->def->ndims)
        diag_fatal(p->arena.diag, DIAG_ARGUMENT, (Loc){0}, "layout %s has %d dims, and the array "
                   "has %d: reshape it, or flatten it and give the shape", ref->def->name,
                   ref->def->ndims, p->rank);
    if (t->bits < 8 || !sides_logical(ref, p->rank, p->shape, p->out))
        diag_fatal(p->arena.diag, DIAG_ARGUMENT, (Loc){0}, "the logical shape does not "
                   "follow from the stored array in layout '%s': give the shape",
                   ref->def->name);
}

ravel_status
ravel_logical_shape(ravel_context *cx, const char *layout, const char *dtype, int rank,
                    const int64_t *stored, int64_t *shape, ravel_error *err)
{
    int64_t x[MAX_RANK];
    Pair p = {.cx = cx, .a = layout, .dtype = dtype, .rank = rank, .shape = stored,
              .out = x};
    if (!cx || !layout || !dtype || (rank > 0 && !shape))
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status s = shape_check(rank, stored, err);
    if (s == RAVEL_OK)
        s = answer(&p, logical, err);
    if (s == RAVEL_OK && rank)
        memcpy(shape, x, (size_t)rank * sizeof *x);
    return s;
}

static void
equal(void *arg)
{
    Pair *p = arg;
    ravel_equality *out = p->out;
    const Known *known = context_known(p->cx);
    const LayoutRef *a = spec_ref(&p->arena, p->a, known);
    const LayoutRef *b = spec_ref(&p->arena, p->b, known);
    const DType *t = sides_dtype(&p->arena, p->dtype);
    const Comparison c = sides_equal(&p->arena, a, b, t, p->rank, p->shape);
    *out = (ravel_equality){.equal = (ravel_answer)c.q.equal};
    if (c.q.equal != NO)
        return;
    out->rank = c.rank;
    memcpy(out->shape, c.shape, sizeof out->shape);
    memcpy(out->x, c.q.x, sizeof out->x);
    out->at_a = c.q.at_a;
    out->at_b = c.q.at_b;
}

ravel_status
ravel_equal(ravel_context *cx, const char *a, const char *b, const char *dtype, int rank,
            const int64_t *shape, ravel_equality *out, ravel_error *err)
{
    Pair p = {.cx = cx, .a = a, .b = b, .dtype = dtype, .rank = rank, .shape = shape,
              .out = out};
    if (!cx || !a || !b || !dtype || !out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status s = shape ? shape_check(rank, shape, err) : RAVEL_OK;
    return s == RAVEL_OK ? answer(&p, equal, err) : s;
}
