/* ravel_compose */
#include "library.h"

typedef struct {
    ravel_context *cx;
    const ravel_request *first, *second;
    ravel_plan **out;
    ravel_error *err;
    ravel_status status;
    Arena arena;
} Compose;

static void
compose(void *arg)
{
    Compose *c = arg;
    const ravel_request *s = c->second;
    const Request first = request_of(c->first), second = request_of(s);
    Composed one = compile_compose(&c->arena, context_known(c->cx), &first, &second);
    if (one.why) {
        c->status = error_set(c->err, RAVEL_ERR_LAYOUT, "the conversions are not one: %s",
                              one.why);
        return;
    }
    ravel_request rq = {one.from, s->to, s->dtype, one.rank, one.shape, s->threads,
                        s->in_place};
    c->status = ravel_compile(c->cx, &rq, c->out, c->err);
}

static ravel_status
check(const ravel_request *rq, ravel_error *err)
{
    if (!rq || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_compose: a NULL argument");
    ravel_status s = request_check(rq, err);
    for (int d = 0; s == RAVEL_OK && d < rq->rank; d++)
        if (rq->shape[d] == RAVEL_RUNTIME)
            s = error_set(err, RAVEL_ERR_ARGUMENT, "ravel_compose: extents are numbers");
    return s;
}

ravel_status
ravel_compose(ravel_context *cx, const ravel_request *first, const ravel_request *second,
              ravel_plan **out, ravel_error *err)
{
    Diag d;
    if (!cx || !out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_compose: a NULL argument");
    *out = NULL;
    Compose c = {cx, first, second, out, err, check(first, err), context_arena(cx)};
    if (c.status == RAVEL_OK)
        c.status = check(second, err);
    if (c.status == RAVEL_OK && !arena_run(&c.arena, &d, compose, &c))
        c.status = error_of(err, &d);
    arena_free(&c.arena);
    return c.status;
}
