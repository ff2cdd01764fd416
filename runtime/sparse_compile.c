/* The functions of ravel_sparse.h that make plans. */
#include <stdlib.h>
#include <string.h>

#include "sparse_job.h"

typedef struct {
    const ravel_sparse_request *rq;
    const Known *known;
    ravel_sparse_plan *p;
} SparseCompile;

static void
make(void *arg)
{
    const SparseCompile *j = arg;
    Arena *a = &j->p->arena;
    const ravel_sparse_request *rq = j->rq;
    SparseRequest *q = arena_new(a, SparseRequest);
    *q = (SparseRequest){
        .common = {.from = arena_string(a, rq->from), .to = arena_string(a, rq->to),
                   .dtype = arena_string(a, rq->dtype), .rank = rq->rank,
                   .shape = arena_copy(a, rq->shape, (size_t)rq->rank * sizeof *rq->shape),
                   .name = "ravel_relayout"},
        .from_width = rq->from_index, .to_width = rq->to_index,
        .equal = sparse_equals_of(a, rq->equal),
        .threshold = rq->threshold, .mask = rq->mask != 0,
        .zero_threshold = rq->zero_threshold != 0};
    j->p->threads = context_threads(j->p->cx, &(Key){.threads = j->p->cx->threads});
    const Target *t = context_target(j->p->cx, a);
    j->p->plan = compile_sparse(a, t, j->known, q);
    if (j->p->cx->way != CODE_INTERPRETER && jit_is_built)
        j->p->source = sparse_render(t, j->p->plan);
}

static SparseFunction *
function(const ravel_sparse_plan *p, const char *suffix)
{
    char name[64] = "ravel_relayout";
    strcat(name, suffix);
    void (*f)(void) = jit_function(p->jit, name);
    return (SparseFunction *)f;
}

static ravel_status
make_code(ravel_sparse_plan *p, ravel_error *err)
{
    if (!p->source)
        return p->cx->way == CODE_JIT
               ? error_set(err, RAVEL_ERR_JIT, "there is no JIT in this library") : RAVEL_OK;
    ravel_status s = jit_compile(p->source, sparse_symbols, &p->jit, err);
    if (s == RAVEL_ERR_JIT && p->cx->way == CODE_BEST) {
        p->source = NULL;
        return RAVEL_OK;
    }
    if (s)
        return s;
    p->work = function(p, "_work");
    p->sizes = function(p, "_sizes");
    p->fill = function(p, "");
    return RAVEL_OK;
}

ravel_status
ravel_sparse_compile(ravel_context *cx, const ravel_sparse_request *rq,
                     ravel_sparse_plan **out, ravel_error *err)
{
    Diag d;
    if (!cx || !rq || !out || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_sparse_compile: a NULL argument");
    *out = NULL;
    ravel_status s = shape_check(rq->rank, rq->shape, err);
    if (s)
        return s;
    ravel_sparse_plan *p = calloc(1, sizeof *p);
    if (!p)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    SparseCompile j = {rq, context_known(cx), p};
    const int64_t start = log_start(cx);
    context_join(cx);
    p->arena = context_arena(cx);
    p->cx = cx;
    s = arena_run(&p->arena, &d, make, &j) ? make_code(p, err) : error_of(err, &d);
    if (s) {
        ravel_sparse_free(p);
        return s;
    }
    *out = p;
    log_sparse_plan(cx, p->plan, start, p->source ? "machine code" : "interpreter");
    return s;
}

void
ravel_sparse_free(ravel_sparse_plan *p)
{
    if (!p)
        return;
    jit_free(p->jit);
    free(p->spare);
    arena_free(&p->arena);
    context_leave(p->cx);
    free(p);
}

const char *
ravel_sparse_source(const ravel_sparse_plan *p)
{
    return p ? p->source : NULL;
}

static const ravel_sparse_role roles[] = {
    [ARRAY_POS] = RAVEL_SPARSE_POS, [ARRAY_CRD] = RAVEL_SPARSE_CRD, [ARRAY_CODES] = RAVEL_SPARSE_CODES,
    [ARRAY_VAL] = RAVEL_SPARSE_VAL, [ARRAY_MASK] = RAVEL_SPARSE_MASK};

int
ravel_sparse_arrays(const ravel_sparse_plan *p, int destination, ravel_sparse_array *out)
{
    if (!p)
        return 0;
    const SparseFormat *f = destination ? p->plan->dst : p->plan->src;
    for (int i = 0; out && i < f->narray; i++) {
        const DType *t = sparse_array_type(f, i);
        out[i] = (ravel_sparse_array){f->array[i].name, t->name, t->bits / 8, t->bits,
                                      roles[f->array[i].kind]};
    }
    return f->narray;
}
