/* Sparse formats in emit, explain, check and show. */
#include <stdio.h>
#include <string.h>

#include "cli_sparse_json.h"

bool
cli_is_sparse(Cli *c, const char *a, const char *b)
{
    const char *text[] = {a, b};
    bool sparse = false;
    for (int i = 0; i < LEN(text); i++)
        if (text[i] && !strchr("{(", *text[i]))
            sparse |= compile_is_sparse(c->arena, c->known, text[i]);
    return sparse;
}

/* Fail if one of these options is given: they are for layouts. */
static void
refuse(Cli *c, const char *const (*option)[2], int n)
{
    for (int i = 0; i < n; i++)
        if (option[i][1])
            cli_fail(c, "%s is for layouts, not for sparse formats", option[i][0]);
}

bool
cli_has_sparse(const Cli *c)
{
    return c->o.duplicates || c->o.threshold || c->o.masked || c->o.index_type;
}

void
cli_refuse_sparse(Cli *c)
{
    if (cli_has_sparse(c))
        cli_fail(c, "--duplicates, --threshold, --mask and --index-type are of sparse formats");
}

double
cli_threshold(Cli *c)
{
    char *end;
    if (!c->o.threshold)
        return 0;
    double t = strtod(c->o.threshold, &end);
    if (end == c->o.threshold || *end || !(t >= 0))
        cli_fail(c, "--threshold '%s' is no number from 0 on", c->o.threshold);
    return t;
}

/* The bytes of an index of each side. */
static void
set_widths(Cli *c, int *from, int *to)
{
    static const struct {
        const char *text;
        int from, to;
    } type[] = {{"i32", 4, 4}, {"i64", 8, 8}, {"i32,i32", 4, 4}, {"i32,i64", 4, 8},
                {"i64,i32", 8, 4}, {"i64,i64", 8, 8}};
    if (!c->o.index_type)
        return;
    for (int i = 0; i < LEN(type); i++)
        if (!strcmp(type[i].text, c->o.index_type)) {
            *from = type[i].from;
            *to = type[i].to;
            return;
        }
    cli_fail(c, "--index-type '%s' is none of i32, i64, or two of them, as in i64,i32",
             c->o.index_type);
}

static SparsePlan *
plan_of(Cli *c, const char *from, const char *to)
{
    SparseRequest *rq = arena_new(c->arena, SparseRequest);
    i64 *shape = arena_array(c->arena, i64, MAX_RANK);
    const char *extent[MAX_RANK];
    bool any;
    if (!from || !to || !c->o.dtype)
        cli_fail(c, "a sparse conversion needs --from, --to and --dtype");
    if (c->o.kind && strcmp(c->o.kind, "relayout"))
        cli_fail(c, "--kind %s: beside a sparse format only relayout", c->o.kind);
    if (!target_is(cli_target(c), "functions"))
        cli_fail(c, "--target %s: sparse conversions are written in C only", c->o.target);
    *rq = (SparseRequest){.common = {.from = from, .to = to, .dtype = c->o.dtype, .shape = shape,
                                     .name = c->o.name},
                          .threshold = cli_threshold(c),
                          .zero_threshold = c->o.threshold != NULL, .mask = c->o.masked,
                          .equal = sparse_equals_of(c->arena, c->o.duplicates)};
    set_widths(c, &rq->from_width, &rq->to_width);
    rq->common.rank = cli_shape_names(c, shape, extent, &any);
    return compile_sparse(c->arena, cli_target(c), c->known, rq);
}

int
cli_sparse_functions(Cli *c, const char *from, const char *to, Emitted *e)
{
    const Unit *u[SPARSE_FUNCTIONS];
    const char *const option[][2] = {{"--manifest", c->o.manifest}};
    refuse(c, option, LEN(option));
    const SparsePlan *p = plan_of(c, from, to);
    compile_sparse_units(cli_target(c), p, u);
    for (int i = 0; i < LEN(u); i++)
        e[i] = (Emitted){.rq = {.name = u[i]->name}, .shape = c->o.shape, .unit = u[i],
                         .sparse = i ? NULL : p};
    return LEN(u);
}

int
cli_sparse_emit(Cli *c, const char *from, const char *to)
{
    Emitted e[SPARSE_FUNCTIONS];
    return cli_emit_units(c, cli_target(c), e, cli_sparse_functions(c, from, to, e));
}

int
cli_sparse_explain(Cli *c, const char *from, const char *to)
{
    const char *const option[][2] = {{"--html", c->o.html}};
    refuse(c, option, LEN(option));
    if (c->o.json && c->o.statements)
        cli_fail(c, "--statements is text");
    if (c->o.json) {
        cli_check_json(c, from);
        cli_check_json(c, to);
    }
    const SparsePlan *p = plan_of(c, from, to);
    if (c->o.json)
        cli_print_json(sparse_explain_json(p));
    else
        fputs(sparse_print(p, c->o.statements), stdout);
    return EXIT_YES;
}

/* The format at --shape, or at 64 for each dim. */
static SparseFormat *
format_of(Cli *c, const char *text, i64 *shape, int *rank)
{
    enum { SAMPLE = 64 };
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    *rank = ref->def->ndims;
    for (int d = 0; d < *rank; d++)
        shape[d] = SAMPLE;
    if (c->o.shape)
        *rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    return sparse_format(ex_new(c->arena), ref, cli_dtype_of(c, text), *rank, shape, 0,
                         false);
}

int
cli_sparse_check(Cli *c, const char *text)
{
    i64 shape[MAX_RANK];
    int rank;
    const char *const option[][2] = {
        {"--equals", c->o.equals}, {"--banks", c->o.banks}, {"--compatible", c->o.compatible}};
    refuse(c, option, LEN(option));
    const SparseFormat *f = format_of(c, text, shape, &rank);
    if (c->o.json) {
        cli_check_json(c, text);
        cli_print_json(sparse_check_json(text, f, shape));
        return EXIT_YES;
    }
    Buf at = buf_new(c->arena);
    for (int d = 0; d < rank; d++)
        buf_printf(&at, "%s%lld", d ? "," : "", (long long)shape[d]);
    printf("yes: %s gives each coordinate of shape %s one path of levels\n", text, at.s);
    printf("  the place of an entry depends on the data\n");
    if (f->level[0].def.repeats)
        printf("  not one-to-one: a coordinate may be there more than once\n");
    if (f->level[f->nlevel - 1].def.kind == LEVEL_NOFM)
        printf("  not every array fits: at most %lld entries are below a parent of the last "
               "level\n", (long long)f->level[f->nlevel - 1].number);
    if (f->padded)
        printf("  places without an entry hold the fill\n");
    Buf b = buf_new(c->arena);
    sparse_levels_print(&b, f);
    fputs(b.s, stdout);
    return EXIT_YES;
}

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

static void
print_array(const ravel_sparse_array *a, const void *data, i64 n)
{
    enum { MOST = 20 };
    printf("  %-5s %5lld:", a->name, (long long)n);
    for (i64 i = 0; i < n && i < MOST; i++)
        if (a->bytes == 1)
            printf(" %02x", ((const uint8_t *)data)[i]);
        else
            printf(" %d", ((const int32_t *)data)[i]);
    printf("%s\n", n > MOST ? " ..." : "");
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
    printf("\narrays\n");
    for (int i = 0; i < n; i++)
        print_array(&array[i], out[i], m[i]);
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
    refuse(c, option, LEN(option));
    c->o.dtype = "i32";
    const SparseFormat *f = format_of(c, text, shape, &rank);
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
