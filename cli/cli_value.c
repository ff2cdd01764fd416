/* The values of options: numbers, lists of numbers, shapes. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int
cli_numbers(Cli *c, const char *what, const char *text, i64 *out, int max)
{
    int n = 0;
    for (const char *s = text; *s; n++) {
        char *end;
        errno = 0;
        if (isalpha((unsigned char)*s))
            cli_fail(c, "%s '%s': numbers are needed here; a name, which leaves an extent "
                     "to run time, is for the --shape of emit, explain, verify, check and "
                     "tune", what, text);
        if (n == max)
            cli_fail(c, "%s '%s' has more than %d numbers", what, text, max);
        out[n] = strtoll(s, &end, 10);
        if (end == s || !isdigit((unsigned char)*s) || (*end && *end != ',') ||
            (*end && !end[1]) || errno)
            cli_fail(c, "%s '%s' is not a list of whole numbers, as in 2,64,56,56", what,
                     text);
        s = *end ? end + 1 : end;
    }
    return n;
}

i64
cli_number(Cli *c, const char *what, const char *text, i64 unless, i64 max)
{
    char *end;
    if (!text)
        return unless;
    errno = 0;
    i64 n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < 1 || n > max)
        cli_fail(c, "%s '%s': a whole number from 1 to %lld", what, text, (long long)max);
    return n;
}

int
cli_threads(Cli *c)
{
    enum { THREADS_MAX = 256 };
    return (int)cli_number(c, "--threads", c->o.threads, 0, THREADS_MAX);
}

/* The name at the start of the list; NULL if it is a number or not valid. */
static const char *
leading_name(Cli *c, const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    if (!isalpha((unsigned char)*s) || (s[n] && s[n] != ',') || n > MAX_NAME)
        return NULL;
    return arena_printf(c->arena, "%.*s", (int)n, s);
}

/* True if the list continues with `len` characters that are neither a number nor a name. */
static bool
is_bad_extent(Cli *c, const char *s, size_t len)
{
    if ((isalpha((unsigned char)*s) || *s == '_') && !leading_name(c, s))
        cli_fail(c, "--shape '%s': a name is a letter and at most %d more letters, digits "
                 "and _", c->o.shape, MAX_NAME - 1);
    return !isalpha((unsigned char)*s) &&
           (len == 0 || strspn(s, "0123456789") != len || (s[len] && !s[len + 1]));
}

int
cli_shape_names(Cli *c, i64 *shape, const char **name, bool *any)
{
    Buf b = buf_new(c->arena);
    int n = 0;
    bool bad = false;
    *any = false;
    for (const char *s = c->o.shape; *s; n++) {
        size_t len = strcspn(s, ",");
        const char *own = leading_name(c, s);
        if (n == MAX_RANK)
            cli_fail(c, "--shape '%s' has more than %d extents", c->o.shape, MAX_RANK);
        name[n] = own;
        *any |= own != NULL;
        bad |= is_bad_extent(c, s, len);
        buf_printf(&b, "%s", own ? "0" : "");
        buf_addn(&b, own ? "" : s, own ? 0 : len);
        buf_addn(&b, s + len, s[len] == ',');
        s += len + (s[len] == ',');
    }
    if (!*any)
        return cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    if (bad)
        cli_fail(c, "--shape '%s' is not a list of whole numbers and names, as in N,64,H,W",
                 c->o.shape);
    n = cli_numbers(c, "--shape", b.s, shape, MAX_RANK);
    for (int d = 0; d < n; d++) {
        if (!name[d] && shape[d] < 1)
            cli_fail(c, "--shape %s: extents are 1 or more", c->o.shape);
        shape[d] = name[d] ? RUNTIME_EXTENT : shape[d];
    }
    return n;
}
