/* Plans with extents left to run time: run at a shape, and as a plan of that shape. */
#include <stdio.h>
#include <stdlib.h>

#include "library.h"
#include "threads.h"

/* Destinations that threads share. */
enum { SHARED_BYTES = 1 << 20 };

typedef struct {
    const ravel_plan *p;
    const int64_t *shape;
    Arena arena;
    int64_t extent[MAX_RANK], src, dst;
    const char *why;
} Place;

static void
find(void *arg)
{
    Place *s = arg;
    s->why = runtime_extents(&s->arena, s->p->plan, s->shape, s->extent);
    if (!s->why && !runtime_bytes(&s->arena, s->p->plan, s->extent, &s->src, &s->dst))
        s->why = "the sizes at this shape do not fit 64 bits";
}

/* The extents and sizes at a shape; everything the caller gave is checked. */
static ravel_status
place(Place *s, const ravel_plan *p, const int64_t *shape, ravel_error *err)
{
    Diag d;
    if (!p || !shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    if (!p->plan->now)
        return error_set(err, RAVEL_ERR_ARGUMENT, "all extents of this plan are numbers: "
                         "ravel_run runs it");
    *s = (Place){.p = p, .shape = shape};
    ravel_status status = RAVEL_OK;
    if (!arena_run(&s->arena, &d, find, s))
        status = error_of(err, &d);
    else if (s->why)
        status = error_set(err, RAVEL_ERR_ARGUMENT, "%s", s->why);
    arena_free(&s->arena);
    return status;
}

ravel_status
ravel_plan_bytes_at(const ravel_plan *p, const int64_t *shape, int64_t *src_bytes,
                    int64_t *dst_bytes, ravel_error *err)
{
    Place s;
    ravel_status status = place(&s, p, shape, err);
    if (status != RAVEL_OK)
        return status;
    if (src_bytes)
        *src_bytes = s.src;
    if (dst_bytes)
        *dst_bytes = s.dst;
    return RAVEL_OK;
}

/* The extents without looking for what is wrong: the code itself refuses those that are
 * none.  False where that needs a closer look. */
static bool
quick_extents(const ravel_plan *p, const int64_t *shape, int64_t *extent)
{
    if (!p || !shape || !p->plan->now)
        return false;
    const RuntimeLayout *r = p->plan->now->src;
    for (int i = 0; i < p->plan->now->scalars->nextents; i++)
        extent[i] = -1;
    for (int d = 0; d < r->l->rank; d++) {
        int i = r->extent[d];
        if (i < 0 ? shape[d] != r->l->dim[d].n : extent[i] >= 0 && extent[i] != shape[d])
            return false;
        if (i >= 0)
            extent[i] = shape[d];
    }
    return true;
}

typedef struct {
    const ravel_plan *p;
    void *dst;
    const void *src;
    const int64_t *extent;
} Run;

static void
run_part(void *arg, int part, int parts)
{
    const Run *r = arg;
    r->p->run_at(r->dst, r->src, r->extent, part, parts);
}

ravel_status
ravel_run_shape(const ravel_plan *p, void *dst, const void *src, const int64_t *shape,
                ravel_error *err)
{
    Place s;
    int64_t extent[MAX_RANK];
    if (dst && src && quick_extents(p, shape, extent) && p->threads.most == 1 &&
        !p->run_at(dst, src, extent, 0, 1))
        return RAVEL_OK;
    ravel_status status = place(&s, p, shape, err);
    if (status != RAVEL_OK)
        return status;
    if ((s.src && !src) || (s.dst && !dst))
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL buffer");
    Run r = {p, dst, src, s.extent};
    int most = s.dst < SHARED_BYTES ? 1 : p->threads.most;
    if (most == 1)
        run_part(&r, 0, 1);
    else if (p->threads.f)
        p->threads.f(p->threads.host, run_part, &r, most);
    else
        threads_run(run_part, &r, most);
    return RAVEL_OK;
}

typedef struct {
    const ravel_plan *from;
    ravel_plan *to;
    Plan *again;
    const int64_t *shape;
} Job;

/* The code is a call of the plan's with the extents filled in. */
static void
make_at(void *arg)
{
    Job *j = arg;
    Arena *a = &j->to->arena;
    int64_t extent[MAX_RANK];
    const char *why;
    j->to->plan = compile_at(a, j->again, j->shape, &why);
    if (why)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%s", why);
    runtime_extents(a, j->again, j->shape, extent);
    Buf b = buf_new(a);
    buf_add(&b, "typedef long long int64_t;\n"
            "int plan(void *, const void *, const int64_t *, int64_t, int64_t);\n"
            "static const int64_t extent[] = {");
    for (int i = 0; i < j->again->now->scalars->nextents; i++)
        buf_printf(&b, "%lld,", (long long)extent[i]);
    buf_add(&b, "};\n"
            "void ravel_relayout(void *dst, const void *src)\n"
            "{\n    plan(dst, src, extent, 0, 1);\n}\n"
            "void ravel_relayout_part(void *dst, const void *src, int64_t part, "
            "int64_t parts)\n"
            "{\n    plan(dst, src, extent, part, parts);\n}\n");
    j->to->source = b.s;
}

ravel_status
plan_at(const ravel_plan *p, Plan *again, const int64_t *shape, ravel_plan **out,
        ravel_error *err)
{
    Diag d;
    ravel_plan *q = *out = calloc(1, sizeof *q);
    if (!q)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    context_join(p->cx);
    q->cx = p->cx;
    q->users = 1;
    q->way = p->way;
    Job j = {p, q, again, shape};
    void (*code)(void) = (void (*)(void))p->run_at;
    const JitSymbol symbols[] = {{"plan", code}, {NULL, NULL}};
    ravel_status s = arena_run(&q->arena, &d, make_at, &j)
        ? jit_compile(q->source, symbols, &q->jit, err) : error_of(err, &d);
    if (s != RAVEL_OK) {
        ravel_plan_free(q);
        *out = NULL;
        return s;
    }
    void (*all)(void) = jit_function(q->jit, "ravel_relayout");
    void (*part)(void) = jit_function(q->jit, "ravel_relayout_part");
    q->run = (Relayout *)all;
    q->part = (RelayoutPart *)part;
    q->threads.most = 1;
    return RAVEL_OK;
}
