/* --index: the numbers of index arrays, from files. */
#include "cli_index.h"

#include <string.h>

#include "../runtime/npy.h"

typedef struct CliNumbers CliNumbers;
struct CliNumbers {
    const char *array;
    i64 n, *number;
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
number(const Npy *a, i64 i)
{
    int32_t narrow;
    i64 wide;
    if (a->bytes == sizeof narrow) {
        memcpy(&narrow, a->data + i * a->bytes, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, a->data + i * a->bytes, sizeof wide);
    return wide;
}

/* Reads the numbers of an array; sets *n. */
static i64 *
read_file(Cli *c, const char *array, i64 *n)
{
    Npy a;
    ravel_error err;
    const char *path = file_of(c, array);
    if (!strcmp(path, "-") && !strcmp(c->o.arg[0], "-"))
        cli_fail(c, "--index %s=-: standard input is the array to convert", array);
    cli_check(c, npy_read(path, &a, &err), &err);
    bool right = a.rank == 1 && a.descr[0] == 'i' && (a.bytes == 4 || a.bytes == 8);
    i64 *out = right ? arena_array(c->arena, i64, a.count) : NULL;
    *n = a.count;
    for (i64 i = 0; right && i < *n; i++)
        out[i] = number(&a, i);
    npy_free(&a);
    if (!right)
        cli_fail(c, "'%s' is no index array: it must have one dim, of type i4 or i8", path);
    if (!*n)
        cli_fail(c, "the index array '%s' is empty: '%s' has no numbers", array, path);
    return out;
}

/* The same; every file is read once, as standard input must be. */
static i64 *
read_numbers(Cli *c, const char *array, i64 *n)
{
    CliNumbers *x = c->numbers;
    while (x && strcmp(x->array, array))
        x = x->next;
    if (!x) {
        x = arena_new(c->arena, CliNumbers);
        *x = (CliNumbers){.array = arena_string(c->arena, array), .next = c->numbers};
        x->number = read_file(c, array, &x->n);
        c->numbers = x;
    }
    *n = x->n;
    return x->number;
}

const char *
cli_index_shape(Cli *c, const char *shape)
{
    static const char end[] = "_len";
    Buf b = buf_new(c->arena);
    for (const char *s = shape; *s;) {
        int len = (int)strcspn(s, ","), name = len - (int)strlen(end);
        i64 n;
        if (name > 0 && !strncmp(s + name, end, strlen(end))) {
            read_numbers(c, arena_printf(c->arena, "%.*s", name, s), &n);
            buf_printf(&b, "%lld", (long long)n);
        } else {
            buf_addn(&b, s, (size_t)len);
        }
        s += len;
        buf_addn(&b, s, *s == ',');
        s += *s == ',';
    }
    return b.s;
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

CliIndices
cli_indices(Cli *c, const ravel_plan *p)
{
    ravel_error err;
    CliIndices x;
    ravel_array a[RAVEL_MAX_ARRAYS];
    x.n = ravel_plan_arrays(p, a);
    for (int i = 0; i < x.n; i++) {
        i64 n;
        x.number[i] = read_numbers(c, a[i].name, &n);
        x.data[i] = in_bits(c, a[i].name, x.number[i], n, a[i].bits);
        if (n != a[i].n)
            cli_fail(c, "the index array '%s' has %lld numbers, and the shape %lld", a[i].name,
                     (long long)n, (long long)a[i].n);
    }
    if (x.n)
        cli_check(c, ravel_check_arrays(p, NULL, x.data, &err), &err);
    return x;
}
