/* show for a sparse format: its levels, and a sample with its arrays. */
#include <stdio.h>

#include "cli_sparse_show.h"

/* A matrix with about a third of its elements: the values are their numbers. */
static int32_t *
sample(Cli *c, const i64 *shape, int rank, i64 *count)
{
    enum { MOST = 4096 };
    *count = 1;
    for (int d = 0; d < rank; d++)
        if (!int_mul(*count, shape[d], count) || *count > MOST)
            cli_fail(c, "show draws a sample of at most %d elements: give a smaller --shape",
                     MOST);
    int32_t *v = arena_array(c->arena, int32_t, *count);
    uint32_t state = 1;
    for (i64 i = 0; i < *count; i++) {
        state = state * 1664525u + 1013904223u;
        v[i] = state >> 16 < 22000 ? (int32_t)i + 1 : 0;
    }
    return v;
}

/* Remove what does not fit below a parent of a level nofm, whose parents are dense levels. */
static void
thin(Cli *c, const SparseFormat *f, int32_t *v, i64 count)
{
    const Level *last = &f->level[f->nlevel - 1];
    if (last->def.kind != LEVEL_NOFM)
        return;
    i64 *value = arena_array(c->arena, i64, ex_nvars(f->l->e));
    i64 *entries = arena_array(c->arena, i64, f->l->size);
    for (i64 i = 0; i < count; i++) {
        i64 rest = i, parent = 0, at = 0;
        for (int d = f->l->rank - 1; d >= 0; d--) {
            value[f->l->dim[d].var] = rest % f->l->dim[d].n;
            rest /= f->l->dim[d].n;
        }
        for (int k = 0; k + 1 < f->nlevel; k++) {
            ex_eval(f->level[k].x, value, &at);
            parent = parent * f->level[k].n + at;
        }
        if (v[i] && ++entries[parent] > last->number)
            v[i] = 0;
    }
}

static void
print_sample(const int32_t *v, i64 count, i64 cols)
{
    enum { COLS_MAX = 16, ROWS_MAX = 24 };
    printf("\na sample, row-major; a dot: no entry\n");
    for (i64 r = 0; count && r < count / cols && r < ROWS_MAX; r++) {
        printf(" ");
        for (i64 k = 0; k < cols && k < COLS_MAX; k++)
            if (v[r * cols + k])
                printf(" %4d", v[r * cols + k]);
            else
                printf("    .");
        printf("%s\n", cols > COLS_MAX ? " ..." : "");
    }
}

/* The arrays of the tensor v, row-major, in the format. */
static void
print_arrays(Cli *c, const ravel_sparse_request *rq, const int32_t *v, i64 count)
{
    ravel_error err;
    ravel_sparse_plan *p;
    ravel_sparse_job *job;
    ravel_sparse_array array[RAVEL_SPARSE_ARRAYS];
    int64_t m[RAVEL_SPARSE_ARRAYS];
    void *out[RAVEL_SPARSE_ARRAYS];
    const void *in[] = {v};
    cli_check(c, ravel_sparse_compile(c->cx, rq, &p, &err), &err);
    int n = ravel_sparse_arrays(p, 1, array);
    cli_check(c, ravel_sparse_sizes(p, in, &count, m, &job, &err), &err);
    for (int i = 0; i < n; i++)
        out[i] = arena_array(c->arena, int32_t, m[i] + 1);
    cli_check(c, ravel_sparse_fill(job, out, &err), &err);
    sparse_print_arrays(c, array, n, (const void *const *)out, m);
    ravel_sparse_end(job);
    ravel_sparse_free(p);
}

int
cli_sparse_show(Cli *c, const char *text)
{
    i64 shape[MAX_RANK], count;
    int rank;
    const char *const option[][2] = {
        {"--svg", c->o.svg}, {"--html", c->o.html}, {"--by", c->o.by}, {"--plane", c->o.plane},
        {"--at", c->o.at}, {"--beside", c->o.beside}, {"--dtype", c->o.dtype}};
    sparse_refuse_options(c, option, LEN(option));
    c->o.dtype = "i32";
    const SparseFormat *f = sparse_format_of(c, text, shape, &rank);
    int32_t *v = sample(c, shape, rank, &count);
    thin(c, f, v, count);
    Buf b = buf_new(c->arena);
    printf("%s\n%s\n\n", layout_ref_text(c->arena, f->ref), f->ref->def->doc ? f->ref->def->doc : "");
    sparse_levels_print(&b, f);
    fputs(b.s, stdout);
    print_sample(v, count, shape[rank - 1]);
    ravel_sparse_request rq = {.from = "ROW_MAJOR", .to = text, .dtype = "i32", .rank = rank,
                               .shape = shape};
    print_arrays(c, &rq, v, count);
    return EXIT_YES;
}
