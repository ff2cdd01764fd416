/* convert with a sparse format on a side: files to arrays and back. */
#include <stdio.h>
#include <string.h>

#include "cli_sparse_convert.h"

void
sparse_to_shape(Convert *v)
{
    int map[MAX_RANK];
    Arena *a = v->c->arena;
    plan_match(a, spec_ref(a, v->from, v->c->known), spec_ref(a, v->to, v->c->known), v->rank,
               map);
    for (int d = 0; d < v->rank; d++)
        v->to_shape[d] = v->shape[map[d]];
}

/* Two equal entries that are true have no sum that is a bool. */
static const char *
equal_of(Convert *v)
{
    bool values = !v->pattern && compile_is_sparse(v->c->arena, v->c->known, v->from);
    bool truth = values && !strcmp(sparse_source_values(v)->descr, "b1");
    return v->c->o.duplicates || !truth ? v->c->o.duplicates : "error";
}

/* The mask becomes an array of the source. */
static void
read_mask(Convert *v)
{
    Cli *c = v->c;
    ravel_error err;
    Npy a;
    cli_check(c, npy_read(c->o.mask, &a, &err), &err);
    if (a.bytes != 1)
        cli_fail(c, "'%s' has %d-byte elements: a mask has u1 or b1", c->o.mask, a.bytes);
    const SparseMember *val = sparse_source_values(v);
    const DType *t = v->pattern ? NULL : sides_dtype(c->arena, v->dtype);
    bool packed = t && t->bits < 8;
    if (val->rank && !packed && (a.rank != val->rank ||
                      memcmp(a.shape, val->shape, (size_t)a.rank * sizeof *a.shape)))
        cli_fail(c, "'%s' has the shape %s, and the values beside it %s", c->o.mask,
                 cli_tuple(c->arena, a.shape, a.rank), cli_tuple(c->arena, val->shape, val->rank));
    if (v->in.n == SPARSE_MEMBERS)
        cli_fail(c, "'%s' has too many arrays", v->in.path);
    v->in.member[v->in.n++] = (SparseMember){
        .name = "mask", .descr = "u1", .bytes = 1, .count = a.count,
        .data = arena_copy(c->arena, a.data, (size_t)a.count)};
    npy_free(&a);
}

/* Compiles the conversion of what was read, and finds its arrays. */
static void
plan(Convert *v)
{
    Cli *c = v->c;
    const bool concat = c->o.concat != NULL;
    ravel_error err;
    ravel_sparse_request rq = {.from = v->from, .to = v->to, .dtype = v->dtype, .rank = v->rank,
                               .shape = v->shape, .from_index = v->width, .to_index = v->width,
                               .threshold = concat ? 0 : cli_threshold(c),
                               .zero_threshold = !concat && c->o.threshold != NULL,
                               .mask = c->o.mask != NULL,
                               .equal = equal_of(v)};
    cli_check(c, ravel_sparse_compile(c->cx, &rq, &v->plan, &err), &err);
    sparse_to_shape(v);
    sparse_source_find(v);
}

/* Memory for the arrays of the result, of m[i] elements each; returns their bytes. */
static int64_t
result_new(Convert *v, const int64_t *m, void **out)
{
    Cli *c = v->c;
    int64_t total = 0;
    for (int i = 0; i < v->n[1]; i++) {
        i64 bytes;
        bool fits = int_mul(m[i], 16, &bytes);           /* no element has more */
        bytes = sparse_array_bytes(&v->array[1][i], m[i]);
        if (!fits || !int_add(total, bytes, &total))
            cli_fail(c, "the result does not fit memory");
    }
    cli_need_memory(c, total, arena_printf(c->arena, "a result as %s, %s of %lld,", v->to,
                                           cli_count(c->arena, m[v->n[1] - 1], "value"),
                                           (long long)v->size[v->n[0] - 1]));
    for (int i = 0; i < v->n[1]; i++)
        out[i] = arena_array(c->arena, unsigned char,
                             sparse_array_bytes(&v->array[1][i], m[i]) + 1);
    return total;
}

static void
convert(void *arg)
{
    Convert *v = arg;
    Cli *c = v->c;
    ravel_error err;
    int64_t m[RAVEL_SPARSE_ARRAYS];
    void *out[RAVEL_SPARSE_ARRAYS];
    const char *from = v->from;
    sparse_source_read(v);
    if (c->o.concat)
        sparse_concat(v, from);
    if (c->o.mask)
        read_mask(v);
    plan(v);
    cli_need_memory(c, sparse_work_bytes(v->plan, v->data, v->size), "work memory");
    cli_check(c, ravel_sparse_sizes(v->plan, v->data, v->size, m, &v->job, &err), &err);
    int64_t total = result_new(v, m, out);
    cli_check(c, ravel_sparse_fill(v->job, out, &err), &err);
    sparse_result_write(v, m, out, total);
    if (strcmp(c->o.arg[1], "-"))
        printf("%s: %s of %s as %s, %s, %s\n", c->o.arg[1], v->dtype,
               cli_tuple(c->arena, v->shape, v->rank), v->to,
               cli_count(c->arena, m[v->n[1] - 1], "value"), cli_count(c->arena, total, "byte"));
}

int
cli_sparse_convert(Cli *c, const char *from, const char *to)
{
    Diag d;
    Convert *v = arena_new(c->arena, Convert);
    *v = (Convert){.c = c, .from = from, .to = to};
    v->pattern = c->o.dtype && !strcmp(c->o.dtype, sparse_pattern);
    if (!from)
        cli_fail(c, "--from LAYOUT is needed: the layout of the source, or its sparse format");
    if (c->o.tensor || c->o.offset)
        cli_fail(c, "--tensor and --offset are for layouts: a sparse format has several arrays");
    if (c->o.mem || c->o.via)
        cli_fail(c, "--mem and --via are for layouts: a sparse format is converted as a whole, "
                 "in one step");
    sparse_file_check(c, c->o.arg[0], c->o.arg[1], compile_is_sparse(c->arena, c->known, to));
    if (c->o.verify)
        cli_fail(c, "--verify is for layouts: the places of a sparse format depend on the data");
    bool ok = arena_run(c->arena, &d, convert, v);
    ravel_sparse_end(v->job);
    ravel_sparse_free(v->plan);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return EXIT_YES;
}
