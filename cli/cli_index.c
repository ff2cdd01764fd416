/* --index: the numbers of index arrays, from files. */
#include "cli_index.h"

#include <string.h>

#include "../runtime/npy.h"

/* The file of --index for an array. */
static const char *
file_of(Cli *c, const char *array)
{
    size_t n = strlen(array);
    for (const char *s = c->o.index; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (!strncmp(s, array, n) && s[n] == '=')
            return arena_printf(c->arena, "%.*s", (int)strcspn(s + n + 1, ","), s + n + 1);
    cli_fail(c, "the layout has the index array '%s': give its numbers, as in --index "
             "%s=FILE.npy", array, array);
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

/* The numbers of an array; sets *n. */
static i64 *
read_numbers(Cli *c, const char *array, i64 *n)
{
    Npy a;
    ravel_error err;
    const char *path = file_of(c, array);
    cli_check(c, npy_read(path, &a, &err), &err);
    bool right = a.rank == 1 && a.descr[0] == 'i' && (a.bytes == 4 || a.bytes == 8);
    i64 *out = right ? arena_array(c->arena, i64, a.count) : NULL;
    *n = a.count;
    for (i64 i = 0; right && i < *n; i++)
        out[i] = number(&a, i);
    npy_free(&a);
    if (!right)
        cli_fail(c, "'%s' is no index array: it must have one dim, of type i4 or i8", path);
    return out;
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
