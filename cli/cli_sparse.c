/* Sparse formats in emit, explain and check. */
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

void
sparse_refuse_options(Cli *c, const char *const (*option)[2], int n)
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
    sparse_refuse_options(c, option, LEN(option));
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
    sparse_refuse_options(c, option, LEN(option));
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

SparseFormat *
sparse_format_of(Cli *c, const char *text, i64 *shape, int *rank)
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
    sparse_refuse_options(c, option, LEN(option));
    const SparseFormat *f = sparse_format_of(c, text, shape, &rank);
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
