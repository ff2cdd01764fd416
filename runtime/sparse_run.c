/* The functions of ravel_sparse.h that run plans: sizes of the result, then its arrays. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../templates/c/sparse_size.h"
#include "measure.h"
#include "sparse_job.h"

enum { SPARE_BYTES = 64 << 20 };   /* of more spare memory the system may take pages */
enum { LARGE_PAGE = 2 << 20 };
enum { SHARED_BYTES = 1 << 18, PART_BYTES = 1 << 15 };

/* Run a function of the plan: compiled, or its statements. */
static int
run(const ravel_sparse_plan *p, SparseFunction *f, const Stmt *body, ravel_sparse_job *j,
    void *const *out)
{
    return f ? f(j->work + 1, j->in, j->n, out, j->m)
           : sparse_interpret(p->plan, body, j->work + 1, j->in, j->n, out, j->m);
}

typedef struct {
    const ravel_sparse_job *job;
    Arena arena;
    int flaw;
    const char *text;
} FlawText;

/* What an array of the source's indices has at the place of the flaw. */
static bool
number_there(const ravel_sparse_job *j, int64_t *number)
{
    const SparseFormat *f = j->plan->plan->src;
    int64_t array = j->m[0], at = j->m[1];
    if (array < 0 || array >= f->narray || at < 0 || at >= j->n[array] ||
        (f->array[array].kind != ARRAY_POS && f->array[array].kind != ARRAY_CRD))
        return false;
    const char *x = (const char *)j->in[array] + at * f->width;
    int32_t narrow;
    memcpy(f->width == 4 ? (void *)&narrow : number, x, (size_t)f->width);
    if (f->width == 4)
        *number = narrow;
    return true;
}

static void
describe(void *arg)
{
    FlawText *f = arg;
    const ravel_sparse_job *j = f->job;
    int64_t number;
    bool has = number_there(j, &number);
    f->text = sparse_flaw(&f->arena, j->plan->plan, f->flaw, j->m[0], j->m[1],
                          has ? &number : NULL);
}

static ravel_status
say_flaw(const ravel_sparse_job *j, int flaw, ravel_error *err)
{
    Diag d;
    FlawText f = {.job = j, .arena = context_arena(j->plan->cx), .flaw = flaw};
    bool ok = arena_run(&f.arena, &d, describe, &f);
    error_set(err, RAVEL_ERR_ARGUMENT, "%s", ok ? f.text : "the source is not valid");
    arena_free(&f.arena);
    return RAVEL_ERR_ARGUMENT;
}

/* Memory in pages as large as there are: a fault for each small page would take longer
 * than a conversion. */
static void *
memory_new(size_t bytes)
{
    const size_t large = LARGE_PAGE;
    void *p = NULL;
    bool few = bytes < large / 2;
    if (posix_memalign(&p, few ? 64 : large, bytes))
        return NULL;
    if (!few)
        madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

/* A conversion of few bytes is not shared: each part has memory of its own. */
static Threads
threads_of(const ravel_sparse_job *j)
{
    const ravel_sparse_plan *p = j->plan;
    const SparseFormat *f = p->plan->src;
    Threads t = p->threads;
    i64 bytes = 0;
    for (int i = 0; i < f->narray; i++)
        bytes += j->n[i] * (i + 1 < f->narray ? f->width : sparse_bytes(f->l->dtype));
    i64 most = bytes < SHARED_BYTES ? 1 : bytes / PART_BYTES;
    most = most > RAVEL_TEAM ? RAVEL_TEAM : most;
    t.most = t.most > most ? (int)most : t.most;
    return t;
}

/* The plan's spare memory, if it is large enough. */
static SparseWork *
work_new(ravel_sparse_plan *p, const SparseWork *head)
{
    SparseWork *w = atomic_exchange(&p->spare, NULL);
    if (w && w->bytes < head->bytes) {
        free(w);
        w = NULL;
    }
    size_t bytes = w ? w->bytes : head->bytes;
    if (!w)
        w = memory_new(sizeof *head + bytes);
    if (w)
        *w = (SparseWork){head->threads, bytes};
    return w;
}

/* The spare memory keeps its pages, because new ones would be cleared first. */
static void
work_end(ravel_sparse_plan *p, SparseWork *w)
{
    if (w && w->bytes > SPARE_BYTES)
        madvise((char *)w + LARGE_PAGE, w->bytes - w->bytes % LARGE_PAGE - LARGE_PAGE, MADV_FREE);
    free(w ? atomic_exchange(&p->spare, w) : w);
}

static ravel_status
check_arrays(const ravel_sparse_job *j, ravel_error *err)
{
    const int64_t *most = j->plan->plan->most;
    const SparseFormat *f = j->plan->plan->src;
    for (int i = 0; i < f->narray; i++)
        if (j->n[i] < 0 || j->n[i] > most[i] || (j->n[i] && !j->in[i]))
            return error_set(err, RAVEL_ERR_ARGUMENT, "%s: %s has %lld elements%s",
                             f->ref->def->name, f->array[i].name, (long long)j->n[i],
                             j->n[i] > 0 && j->n[i] <= most[i] ? " and is NULL" : "");
    return RAVEL_OK;
}

/* m[0] becomes the bytes of work memory. */
static void
run_work(ravel_sparse_job *j, SparseWork *head)
{
    *head = (SparseWork){threads_of(j), 0};
    j->work = head;
    run(j->plan, j->plan->work, j->plan->plan->work, j, NULL);
    j->work = NULL;
}

static void
set_source(ravel_sparse_job *j, const ravel_sparse_plan *p, const void *const *in,
           const int64_t *n)
{
    j->plan = (ravel_sparse_plan *)p;              /* only its spare memory changes */
    memcpy(j->in, in, (size_t)p->plan->src->narray * sizeof *in);
    memcpy(j->n, n, (size_t)p->plan->src->narray * sizeof *n);
}

int64_t
sparse_work_bytes(const ravel_sparse_plan *p, const void *const *in, const int64_t *n)
{
    SparseWork head;
    ravel_sparse_job j = {0};
    set_source(&j, p, in, n);
    if (check_arrays(&j, NULL))
        return 0;
    run_work(&j, &head);
    return j.m[0] < 0 ? INT64_MAX : j.m[0];
}

int64_t
sparse_values(const ravel_sparse_plan *p, const int64_t *n)
{
    for (int i = 0; i + 1 < p->plan->src->narray; i++)
        if (n[i] < 0 || n[i] > p->plan->most[i])
            return -1;
    return sparse_number(p->plan, n, p->plan->values);
}

bool
sparse_is_index(const ravel_sparse_array *a)
{
    return a->role == RAVEL_SPARSE_POS || a->role == RAVEL_SPARSE_CRD;
}

int64_t
sparse_array_bytes(const ravel_sparse_array *a, int64_t n)
{
    return a->bytes ? n * a->bytes : n / 8 * a->bits + (n % 8 * a->bits + 7) / 8;
}

static ravel_status
begin(ravel_sparse_job *j, ravel_error *err)
{
    const ravel_sparse_plan *p = j->plan;
    SparseWork head;
    ravel_status s = check_arrays(j, err);
    if (s)
        return s;
    run_work(j, &head);
    head.bytes = (size_t)j->m[0];
    j->work = j->m[0] < 0 ? NULL : work_new(j->plan, &head);
    if (!j->work)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for %lld bytes, the work of a sparse "
                         "conversion", (long long)j->m[0]);
    int flaw = run(p, p->sizes, p->plan->sizes, j, NULL);
    return flaw ? say_flaw(j, flaw, err) : RAVEL_OK;
}

ravel_status
ravel_sparse_sizes(const ravel_sparse_plan *p, const void *const *in, const int64_t *n,
                   int64_t *m, ravel_sparse_job **job, ravel_error *err)
{
    if (!p || !in || !n || !m || !job)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_sparse_sizes: a NULL argument");
    ravel_sparse_job *j = *job = calloc(1, sizeof *j);
    if (!j)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    const int64_t start = log_start(p->cx);
    set_source(j, p, in, n);
    ravel_status s = begin(j, err);
    if (s) {
        ravel_sparse_end(j);
        *job = NULL;
    } else {
        memcpy(m, j->m, (size_t)p->plan->dst->narray * sizeof *m);
        j->ns = start ? measure_now() - start : 0;
    }
    return s;
}

/* A byte for each value of the result, if they are packed; else *out is NULL. */
static bool
bytes_new(const ravel_sparse_job *j, void **out)
{
    const SparseFormat *f = j->plan->plan->dst;
    *out = f->packed ? memory_new((size_t)j->m[f->narray - 1] + 1) : NULL;
    return *out || !f->packed;
}

ravel_status
ravel_sparse_fill(ravel_sparse_job *j, void *const *out, ravel_error *err)
{
    if (!j || !out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_sparse_fill: a NULL argument");
    const SparseFormat *f = j->plan->plan->dst;
    for (int i = 0; i < f->narray; i++)
        if (!out[i] && j->m[i])
            return error_set(err, RAVEL_ERR_ARGUMENT, "%s: %s is NULL", f->ref->def->name,
                             f->array[i].name);
    const int64_t start = log_start(j->plan->cx);
    const SparsePlan *p = j->plan->plan;
    int64_t to = j->m[p->dst->narray - 1];
    void *all[RAVEL_SPARSE_ARRAYS], *bytes;
    if (!bytes_new(j, &bytes))
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for %lld bytes, the values of a sparse "
                         "conversion", (long long)to);
    memcpy(all, out, (size_t)p->dst->narray * sizeof *out);
    all[p->dst->narray] = bytes;
    int flaw = run(j->plan, j->plan->fill, p->fill, j, all);
    free(bytes);
    if (flaw)
        return say_flaw(j, flaw, err);
    if (start)
        log_sparse_run(j->plan->cx, p, j->ns + measure_now() - start, j->n[p->src->narray - 1],
                       to);
    return RAVEL_OK;
}

void
ravel_sparse_end(ravel_sparse_job *j)
{
    if (!j)
        return;
    work_end(j->plan, j->work);
    free(j);
}
