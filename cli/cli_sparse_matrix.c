/* show for a file with a sparse matrix: its levels, a drawing, and the arrays. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli_sparse_convert.h"
#include "cli_sparse_show.h"

/* Of the matrix: what fits a screen; the entries of one that is drawn. */
enum { ROWS_MAX = 24, COLS_MAX = 16, ENTRIES_MAX = 1 << 20, ELEMENTS_MAX = 20 };

bool
cli_is_matrix(Cli *c, const char *text)
{
    struct stat st;
    if (strchr("{(", *text))
        return false;
    if (cli_ends_with(text, ".mtx") || cli_ends_with(text, ".npz") || cli_ends_with(text, "/"))
        return true;
    return !known_find(c->arena, c->known, text) && !stat(text, &st) && S_ISDIR(st.st_mode);
}

/* Element i, of at most 64 bits. */
static uint64_t
bits_of(const DType *t, const unsigned char *data, i64 i)
{
    uint64_t bits = 0;
    if (t->bits < 8)
        return (uint64_t)data[i * t->bits / 8] >> (i * t->bits % 8) & ((1u << t->bits) - 1);
    memcpy(&bits, data + i * (t->bits / 8), (size_t)t->bits / 8);
    return bits;
}

static const char *
complex_text(Arena *a, const DType *part, const void *data, i64 i)
{
    const char *re = sparse_element_text(a, part, data, 2 * i);
    const char *im = sparse_element_text(a, part, data, 2 * i + 1);
    return arena_printf(a, "%s%s%si", re, *im == '-' ? "" : "+", im);
}

const char *
sparse_element_text(Arena *a, const DType *t, const void *data, i64 i)
{
    if (t->kind == 'c')
        return complex_text(a, dtype_find(t->bits == 64 ? "f32" : "f64"), data, i);
    uint64_t bits = bits_of(t, data, i), sign = (uint64_t)1 << (t->bits - 1);
    return t->kind == 'i' ? arena_printf(a, "%lld", (long long)((bits ^ sign) - sign))
           : t->kind == 'u' ? arena_printf(a, "%llu", (unsigned long long)bits)
           : arena_printf(a, "%.6g", dtype_decode(t, bits));
}

/* Codes are bits of bytes. */
static void
print_array(Cli *c, const ravel_sparse_array *a, const void *data, i64 n)
{
    bool codes = a->role == RAVEL_SPARSE_CODES;
    const DType *t = dtype_find(a->dtype);
    printf("  %-5s %5lld:", a->name, (long long)n);
    for (i64 i = 0; i < n && i < ELEMENTS_MAX; i++)
        if (codes)
            printf(" %02x", ((const uint8_t *)data)[i]);
        else
            printf(" %s", sparse_element_text(c->arena, t, data, i));
    printf("%s\n", n > ELEMENTS_MAX ? " ..." : "");
}

void
sparse_print_arrays(Cli *c, const ravel_sparse_array *array, int n, const void *const *data,
                    const int64_t *size)
{
    printf("\narrays\n");
    for (int i = 0; i < n; i++)
        print_array(c, &array[i], data[i], size[i]);
}

/* The text of each cell that is shown; NULL: no entry. */
typedef struct {
    const char *cell[ROWS_MAX][COLS_MAX];
    i64 rows, cols;
    int width;
} Drawing;

/* The row of entry k, of all dims but the last one; ROWS_MAX: it is not shown. */
static i64
row_of(const Convert *v, const SparseArrays *list, i64 k)
{
    i64 row = 0;
    for (int d = 0; d + 1 < v->rank; d++) {
        row = row * v->shape[d] + ((const int64_t *)list->data[d + 1])[k];
        if (row >= ROWS_MAX)
            return ROWS_MAX;
    }
    return row;
}

static void
put_entry(Drawing *d, i64 row, i64 col, const char *text)
{
    const char **cell = &d->cell[row][col];
    *cell = *cell ? "*" : text;
    d->width = (int)strlen(*cell) > d->width ? (int)strlen(*cell) : d->width;
}

/* The list has pos1, a coordinate for each dim and, unless it is of a pattern, the values. */
static void
draw_entries(Convert *v, const SparseArrays *list, Drawing *d)
{
    const DType *t = v->pattern ? NULL : dtype_find(v->dtype);
    for (i64 k = 0; k < list->size[1]; k++) {
        i64 row = row_of(v, list, k), col = ((const int64_t *)list->data[v->rank])[k];
        if (row < ROWS_MAX && col < COLS_MAX)
            put_entry(d, row, col, t ? sparse_element_text(v->c->arena, t, list->data[v->rank + 1], k)
                                     : "x");
    }
}

static void
print_drawing(const Drawing *d, const char *to)
{
    if (to)
        printf("\nthe entries as the file has them, before they become %s", to);
    printf("\na dot: no entry; a star: more than one entry of the file\n");
    for (i64 r = 0; r < d->rows && r < ROWS_MAX; r++) {
        printf(" ");
        for (i64 k = 0; k < d->cols && k < COLS_MAX; k++)
            printf(" %*s", d->width, d->cell[r][k] ? d->cell[r][k] : ".");
        printf("%s\n", d->cols > COLS_MAX ? " ..." : "");
    }
    if (d->rows > ROWS_MAX)
        printf("  ...\n");
}

/* The rows and columns of the matrix; of more dims, those of the last one are columns. */
static Drawing *
drawing_new(Convert *v)
{
    Drawing *d = arena_new(v->c->arena, Drawing);
    d->rows = 1;
    for (int i = 0; i + 1 < v->rank; i++)
        if (!int_mul(d->rows, v->shape[i], &d->rows))
            d->rows = ROWS_MAX + 1;
    d->cols = v->shape[v->rank - 1];
    d->width = 1;
    return d;
}

/* The matrix of the file in the format `to`. */
static void
convert_to(Convert *v, const char *to, int width, i64 most, SparseArrays *list)
{
    ravel_sparse_request rq = {.from = v->from, .to = to, .dtype = v->dtype, .rank = v->rank,
                               .shape = v->shape, .from_index = v->width, .to_index = width};
    sparse_source_arrays(v, &rq);
    cli_sparse_run(v->c, &rq, v->data, v->size, most, list);
    if (list->why)
        cli_fail(v->c, "'%s': %s", v->in.path, list->why);
}

static void
print_matrix(Convert *v)
{
    SparseArrays list;
    const LayoutDef *def = spec_ref(v->c->arena, v->from, v->c->known)->def;
    const char *format = cli_list_of(v->c, "SHOWN_ENTRIES", def, v->rank);
    if (!format)
        return;
    convert_to(v, format, 8, (i64)ENTRIES_MAX * 16, &list);
    if (list.large) {
        printf("\nnot drawn: more than %d entries\n", ENTRIES_MAX);
        return;
    }
    Drawing *d = drawing_new(v);
    draw_entries(v, &list, d);
    print_drawing(d, v->c->o.to);
}

static void
print_levels(Convert *v, const char *text, const i64 *shape)
{
    Cli *c = v->c;
    Buf b = buf_new(c->arena);
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    const DType *t = v->pattern ? NULL : sides_dtype(c->arena, v->dtype);
    sparse_levels_print(&b, sparse_format(ex_new(c->arena), ref, t, v->rank, shape, v->width, false));
    printf("%s: %s of %s\n%s\n\n%s", layout_ref_text(c->arena, ref), v->dtype,
           cli_tuple(c->arena, shape, v->rank), ref->def->doc ? ref->def->doc : "", b.s);
}

/* What the file says it holds. */
static const char *
format_of_file(const Convert *v)
{
    int row = scipy_of_file(v);
    if (row < 0 && !v->in.format)
        cli_fail(v->c, "'%s' does not say its format: give --from, as in --from CSR", v->in.path);
    return row < 0 ? "CSR" : scipy[row].name;          /* the source is refused where it is read */
}

static void
show(void *arg)
{
    Convert *v = arg;
    Cli *c = v->c;
    SparseArrays result = {0};
    sparse_file_read(c, c->o.arg[0], &v->in);
    v->from = c->o.from ? c->o.from : format_of_file(v);
    const char *to = c->o.to;
    if (!cli_is_sparse(c, v->from, NULL) || (to && !cli_is_sparse(c, to, NULL)))
        cli_fail(c, "--from and --to of show are sparse formats (ravel list sparse)");
    sparse_source_read(v);
    v->to = to ? to : v->from;
    convert_to(v, v->to, v->width, INT64_MAX, &result);
    sparse_to_shape(v);
    print_levels(v, v->to, v->to_shape);
    print_matrix(v);
    sparse_print_arrays(c, result.array, result.n, (const void *const *)result.data, result.size);
}

int
cli_matrix_show(Cli *c)
{
    Diag d;
    const char *const option[][2] = {
        {"--svg", c->o.svg}, {"--html", c->o.html}, {"--by", c->o.by}, {"--plane", c->o.plane},
        {"--at", c->o.at}, {"--beside", c->o.beside}};
    Convert *v = arena_new(c->arena, Convert);
    sparse_refuse_options(c, option, LEN(option));
    *v = (Convert){.c = c, .pattern = c->o.dtype && !strcmp(c->o.dtype, sparse_pattern)};
    bool ok = arena_run(c->arena, &d, show, v);
    ravel_sparse_free(v->plan);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return EXIT_YES;
}
