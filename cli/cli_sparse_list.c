/* Entries of any sparse format or layout as a list of coordinates, in memory. */
#include <string.h>

#include "cli_sparse_list.h"

const char *
cli_list_of(Cli *c, const char *name, const LayoutDef *d, int rank)
{
    ravel_error err;
    Buf b = buf_new(c->arena);
    if (rank < 2 || d->ndims != rank)
        return NULL;
    buf_printf(&b, "sparse \"%s\" { dims = { ", name);
    for (int i = 0; i < rank; i++)
        buf_printf(&b, "%s, ", d->dims[i]);
    buf_printf(&b, "}, levels = { compressed(%s, \"nonunique\", \"unordered\")", d->dims[0]);
    for (int i = 1; i < rank; i++)
        buf_printf(&b, ", singleton(%s, \"unordered\")", d->dims[i]);
    buf_add(&b, " } }\n");
    cli_check(c, ravel_load(c->cx, b.s, strlen(b.s), "a list of entries", &err), &err);
    c->known = context_known(c->cx);
    return name;
}

/* The plan and the job are freed where a step fails, too. */
typedef struct {
    Cli *c;
    const ravel_sparse_request *rq;
    const void *const *in;
    const int64_t *n;
    i64 most;
    SparseArrays *to;
    ravel_sparse_plan *plan;
    ravel_sparse_job *job;
} ListCheck;

static void
run(void *arg)
{
    ListCheck *r = arg;
    Cli *c = r->c;
    ravel_error err;
    SparseArrays *to = r->to;
    int64_t m[RAVEL_SPARSE_ARRAYS];
    cli_check(c, ravel_sparse_compile(c->cx, r->rq, &r->plan, &err), &err);
    to->n = ravel_sparse_arrays(r->plan, 1, to->array);
    for (int i = 0; i < to->n; i++)
        to->array[i].name = arena_string(c->arena, to->array[i].name);
    cli_need_memory(c, sparse_work_bytes(r->plan, r->in, r->n), "work memory");
    ravel_status s = ravel_sparse_sizes(r->plan, r->in, r->n, m, &r->job, &err);
    for (int i = 0; !s && i < to->n; i++)
        to->large |= m[i] > r->most / 16;
    if (to->large)
        return;
    for (int i = 0; !s && i < to->n; i++) {
        i64 bytes = sparse_array_bytes(&to->array[i], m[i]);
        cli_need_memory(c, bytes, "entries");
        to->size[i] = m[i];
        to->data[i] = arena_array(c->arena, unsigned char, bytes + 1);
    }
    s = s ? s : ravel_sparse_fill(r->job, to->data, &err);
    to->why = s == RAVEL_ERR_ARGUMENT ? arena_string(c->arena, err.text) : NULL;
    if (!to->why)
        cli_check(c, s, &err);
}

void
cli_sparse_run(Cli *c, const ravel_sparse_request *rq, const void *const *in, const int64_t *n,
               i64 most, SparseArrays *to)
{
    Diag d;
    ListCheck r = {.c = c, .rq = rq, .in = in, .n = n, .most = most, .to = to};
    *to = (SparseArrays){0};
    bool ok = arena_run(c->arena, &d, run, &r);
    ravel_sparse_end(r.job);
    ravel_sparse_free(r.plan);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
}
