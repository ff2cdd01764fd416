/* What commands print and write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/compile.h"
#include "cli.h"

const char *const cli_answers[] = {[NO] = "no", [YES] = "yes", [UNKNOWN] = "unknown"};

void
cli_write(Cli *c, const char *path, const void *data, size_t len)
{
    ravel_error err;
    FilePart part = {data, len};
    cli_check(c, file_write(path, &part, 1, &err), &err);
}

void *
cli_json_memory(size_t n)
{
    void *p = malloc(n);
    if (!p && n) {
        fputs("ravel: out of memory\n", stderr);
        exit(EXIT_WRONG);
    }
    return p;
}

void
cli_print_json(json_t *j)
{
    json_dumpf(j, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(j);
}

json_t *
cli_json_numbers(const i64 *v, int n)
{
    json_t *a = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(a, json_integer(v[i]));
    return a;
}

const char *
cli_tuple(Arena *a, const i64 *v, int n)
{
    Buf b = buf_new(a);
    buf_add(&b, "(");
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)v[i]);
    buf_add(&b, ")");
    return b.s;
}

const char *
cli_count(Arena *a, i64 n, const char *one)
{
    return arena_printf(a, "%lld %s%s", (long long)n, one, n == 1 ? "" : "s");
}

const i64 *
cli_shape(Arena *a, const Layout *l)
{
    i64 *n = arena_array(a, i64, l->rank);
    l = layout_as_written(l);
    for (int d = 0; d < l->rank; d++)
        n[d] = l->dim[d].n;
    return n;
}

bool
cli_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

const char *
cli_duration(Arena *a, double ns)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    int k = 0;
    for (; k < 3 && ns >= 999.5; k++)      /* which would be printed as 1e+03 */
        ns /= 1000;
    return arena_printf(a, "%.3g %s", ns, unit[k]);
}
