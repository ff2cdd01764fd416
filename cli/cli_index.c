/* --index: the numbers of index arrays, from files. */
#include <string.h>

#include "cli_index.h"

typedef struct CliNumbers CliNumbers;
struct CliNumbers {
    const char *array, *path;
    i64 n, *number;
    int rank;
    i64 extent[MAX_RANK];
    i64 mask;                      /* the length of the mask whose places these are; 0: it is none */
    CliNumbers *next;
};

/* The length of the name of the array that the text begins with, as idx=idx.npy. */
static size_t
name_length(const char *s)
{
    return strcspn(s, "=,");
}

/* The text after that of one array; NULL: it was the last. */
static const char *
next(const char *s)
{
    s += strcspn(s, ",");
    return *s ? s + 1 : NULL;
}

/* The text of --index for an array, from `s` on; NULL: there is none. */
static const char *
find(const char *s, const char *array, size_t n)
{
    while (s && !(name_length(s) == n && !strncmp(s, array, n)))
        s = next(s);
    return s;
}

/* The file of --index for an array. */
static const char *
file_of(Cli *c, const char *array)
{
    size_t n = strlen(array);
    const char *s = find(c->o.index, array, n);
    if (!s || s[n] != '=')
        cli_fail(c, "the layout has the index array '%s'%s%.60s: give its numbers, as in --index "
                 "%s=FILE.npy", array, c->o.index ? ", and --index has " : "",
                 c->o.index ? c->o.index : "", array);
    return arena_printf(c->arena, "%.*s", (int)strcspn(s + n + 1, ","), s + n + 1);
}

void
cli_refuse_strides(Cli *c, const ravel_plan *p)
{
    const char *name[RAVEL_MAX_RANK];
    if (ravel_plan_strides(p, name))
        cli_fail(c, "'%s' of the layout is a name: this command takes numbers; verify, explain and "
                 "emit, and the library, take names", name[0]);
}

void
cli_check_indices(Cli *c, const ravel_plan *p)
{
    ravel_array a[RAVEL_MAX_ARRAYS];
    int n = ravel_plan_arrays(p, a);
    for (const char *s = c->o.index; s; s = next(s)) {
        int len = (int)name_length(s), k = 0;
        while (k < n && !(strlen(a[k].name) == (size_t)len && !strncmp(a[k].name, s, (size_t)len)))
            k++;
        if (k == n)
            cli_fail(c, "--index: '%.*s' is no index array of the layouts, as idx is of "
                     "'ROW_MAJOR[idx]'", len, s);
        if (find(next(s), s, (size_t)len))
            cli_fail(c, "--index has the array '%.*s' twice", len, s);
    }
}

static i64
number(Cli *c, const CliNumbers *x, const Npy *a, i64 i)
{
    uint64_t bits = 0;
    const int unused = 64 - 8 * a->bytes;
    for (int b = a->bytes; b-- > 0;)
        bits = bits << 8 | a->data[i * a->bytes + b];
    if (a->descr[0] == 'i')
        return (i64)(bits << unused) >> unused;
    if (bits > INT64_MAX)
        cli_fail(c, "number %lld of the index array '%s' does not fit 64 bits", (long long)i,
                 x->array);
    return (i64)bits;
}

/* The places of a mask that are true. */
static void
read_mask(Cli *c, CliNumbers *x, const Npy *a)
{
    x->mask = a->count;
    x->number = arena_array(c->arena, i64, a->count);
    for (i64 i = 0; i < a->count; i++)
        if (a->data[i])
            x->number[x->n++] = i;
    x->rank = 1;
    x->extent[0] = x->n;
}

static void
read_integers(Cli *c, CliNumbers *x, const Npy *a)
{
    x->number = arena_array(c->arena, i64, a->count);
    x->n = a->count;
    x->rank = a->rank;
    memcpy(x->extent, a->shape, (size_t)a->rank * sizeof *a->shape);
    for (i64 i = 0; i < x->n; i++)
        x->number[i] = number(c, x, a, i);
}

/* Reads the numbers of an array. */
static void
read_file(Cli *c, CliNumbers *x)
{
    Npy a;
    ravel_error err;
    x->path = file_of(c, x->array);
    if (!strcmp(x->path, "-") && !strcmp(c->o.arg[0], "-"))
        cli_fail(c, "--index %s=-: standard input is the array to convert", x->array);
    cli_check(c, npy_read(x->path, &a, &err), &err);
    const bool mask = a.rank == 1 && a.descr[0] == 'b';
    if (!mask && (a.rank < 1 || a.rank > MAX_RANK || !strchr("iu", a.descr[0])))
        cli_fail(c, "'%s' is no index array: it has %d dims, of type %s, and must have integers, "
                 "in one dim or, for 'along %s', in the shape of the part; or be a mask of one dim",
                 x->path, a.rank, a.descr, x->array);
    (mask ? read_mask : read_integers)(c, x, &a);
    npy_free(&a);
}

/* The same; every file is read once, as standard input must be. */
static const CliNumbers *
read_numbers(Cli *c, const char *array)
{
    CliNumbers *x = c->numbers;
    while (x && strcmp(x->array, array))
        x = x->next;
    if (!x) {
        x = arena_new(c->arena, CliNumbers);
        *x = (CliNumbers){.array = arena_string(c->arena, array), .next = c->numbers};
        read_file(c, x);
        c->numbers = x;
    }
    return x;
}

/* The extent that a name means: idx_len is the length of idx, idx_len1 its extent at dim 1.
 * -1: it means another. */
static i64
extent_of(void *cli, const char *name)
{
    Cli *c = cli;
    int dim;
    const int stem = layout_length_name(name, &dim);
    if (!stem)
        return -1;
    const CliNumbers *x = read_numbers(c, arena_printf(c->arena, "%.*s", stem, name));
    if (dim < 0 && x->rank != 1)
        cli_fail(c, "the index array '%s' has one dim, and '%s' the shape %s", x->array, x->path,
                 cli_tuple(c->arena, x->extent, x->rank));
    if (dim >= x->rank)
        cli_fail(c, "the index array '%s' has a number for each element, and '%s' has %d dims",
                 x->array, x->path, x->rank);
    return x->extent[dim < 0 ? 0 : dim];
}

const char *
cli_index_shape(Cli *c, const char *shape)
{
    Buf b = buf_new(c->arena);
    for (const char *s = shape; *s;) {
        int len = (int)strcspn(s, ",");
        i64 n = extent_of(c, arena_printf(c->arena, "%.*s", len, s));
        if (n >= 0)
            buf_printf(&b, "%lld", (long long)n);
        else
            buf_addn(&b, s, (size_t)len);
        s += len;
        buf_addn(&b, s, *s == ',');
        s += *s == ',';
    }
    return b.s;
}

const char *
cli_index_lengths(Cli *c, const char *text)
{
    const char *name[MAX_RANK];
    PartNames p = {.arena = c->arena, .length = extent_of, .env = c};
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    const char *said = layout_ref_text(c->arena, ref);
    const int n = layout_extent_names(ref->def, name, 0, MAX_RANK);
    ref = sides_part(ref, -1, NULL, &p);
    for (int i = 0; i < n; i++)
        if (sides_part_value(&p, name[i]) == 0)
            cli_fail(c, "'%s' of '%s' is 0: the index after it selects elements, and the index array "
                     "is empty", name[i], text);
    const char *with = layout_ref_text(c->arena, ref);
    return strcmp(with, said) ? with : text;
}

static const void *
in_bits(Cli *c, const char *array, const i64 *number, i64 n, int bits)
{
    int32_t *narrow = arena_array(c->arena, int32_t, bits == 32 ? n : 0);
    for (i64 i = 0; bits == 32 && i < n; i++) {
        narrow[i] = (int32_t)number[i];
        if (narrow[i] != number[i])
            cli_fail(c, "number %lld of the index array '%s' is %lld, and does not fit 32 bits",
                     (long long)i, array, (long long)number[i]);
    }
    return bits == 32 ? (const void *)narrow : number;
}

/* That of one layout; an array that --index has not is not empty. */
static const char *
empty_of(Cli *c, const char *text)
{
    const LayoutRef *ref = text ? spec_ref(c->arena, text, c->known) : NULL;
    for (; ref && ref->def->index; ref = ref->def->index->of)
        for (int i = 0; i < ref->def->index->nitems; i++) {
            const IndexItem *t = &ref->def->index->item[i];
            if (t->kind == ITEM_ARRAY && find(c->o.index, t->array, strlen(t->array)) &&
                !read_numbers(c, t->array)->n)
                return t->array;
        }
    return NULL;
}

const char *
cli_empty_index(Cli *c, const char *from, const char *to)
{
    const char *text[] = {from, to, c->o.via ? cli_layout_text(c, c->o.via) : NULL}, *array = NULL;
    for (int i = 0; i < LEN(text) && c->o.index && !array; i++)
        array = empty_of(c, text[i]);
    return array;
}

CliIndices
cli_indices(Cli *c, const ravel_plan *p, const i64 *shape)
{
    ravel_error err;
    CliIndices x;
    ravel_array a[RAVEL_MAX_ARRAYS];
    x.n = ravel_plan_arrays(p, a);
    cli_check(c, ravel_plan_arrays_at(p, shape, a, &err), &err);
    for (int i = 0; i < x.n; i++) {
        const CliNumbers *given = read_numbers(c, a[i].name);
        if (given->mask && given->mask != a[i].bound)
            cli_fail(c, "the mask '%s' has %lld numbers, and '%s' indexes an extent of %lld",
                     given->path, (long long)given->mask, a[i].name, (long long)a[i].bound);
        x.number[i] = given->number;
        x.data[i] = in_bits(c, a[i].name, x.number[i], given->n, a[i].bits);
        if (given->rank != a[i].rank ||
            memcmp(given->extent, a[i].extent, (size_t)a[i].rank * sizeof *a[i].extent))
            cli_fail(c, "the index array '%s' has the shape %s, and '%s' %s", a[i].name,
                     cli_tuple(c->arena, a[i].extent, a[i].rank), given->path,
                     cli_tuple(c->arena, given->extent, given->rank));
    }
    if (x.n)
        cli_check(c, ravel_check_arrays(p, shape, x.data, &err), &err);
    return x;
}
