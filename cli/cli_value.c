/* The values of options: numbers, lists of numbers, shapes. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* "; did you mean 2,3?" for numbers that are separated, enclosed or named otherwise, as (2, 3), 2x3
 * or M=2,K=3. */
static const char *
meant(Cli *c, const char *text)
{
    Buf b = buf_new(c->arena);
    for (const char *s = text; *s; s++) {
        size_t name = isalpha((unsigned char)*s) ? strcspn(s, "=, ") : 0;
        if (name && s[name] == '=')
            s += name;
        else if (isdigit((unsigned char)*s))
            buf_printf(&b, "%s%c", b.len && !isdigit((unsigned char)s[-1]) ? "," : "", *s);
        else if (!strchr(" ,x*()[]", *s))
            return "";
    }
    return b.len && strcmp(b.s, text) ? arena_printf(c->arena, "; did you mean %s?", b.s) : "";
}

_Noreturn static void
too_large(Cli *c, const char *what, const char *text, const char *number)
{
    enum { SHOWN = 40 };
    const size_t n = strcspn(number, ",");
    cli_fail(c, "%s '%s': the number %.*s%s does not fit 64 bits", what, text,
             n < SHOWN ? (int)n : SHOWN, number, n < SHOWN ? "" : "...");
}

int
cli_numbers(Cli *c, const char *what, const char *text, i64 *out, int max)
{
    int n = 0;
    for (const char *s = text; *s; n++) {
        char *end;
        errno = 0;
        if (isalpha((unsigned char)*s) && strcmp(what, "--shape"))
            cli_fail(c, "%s '%s': numbers are needed here, as in 1,17,4,6", what, text);
        if (*s == '-' && isdigit((unsigned char)s[1]))
            cli_fail(c, "%s '%s': %.*s is below 0; %s", what, text, (int)strcspn(s, ","), s,
                     strcmp(what, "--shape") ? "whole numbers are needed"
                                             : "extents are 1 or more");
        if (isalpha((unsigned char)*s) && s[strcspn(s, "=,")] == '=')
            cli_fail(c, "%s '%s': extents are numbers, in the order of the dims%s", what, text,
                     meant(c, text));
        if (isalpha((unsigned char)*s))
            cli_fail(c, "%s '%s': numbers are needed here; a name, which leaves an extent "
                     "to run time, is for the --shape of emit, explain, verify, tune, and "
                     "check without --equals and --compatible", what, text);
        if (n == max && max == 1)
            cli_fail(c, "%s '%s': one number is needed", what, text);
        if (n == max)
            cli_fail(c, "%s '%s' has more than %d numbers", what, text, max);
        out[n] = strtoll(s, &end, 10);
        if (errno == ERANGE)
            too_large(c, what, text, s);
        if (end == s || !isdigit((unsigned char)*s) || (*end && *end != ',') ||
            (*end && !end[1]) || errno)
            cli_fail(c, "%s '%s' is not a list of whole numbers, as in 2,64,56,56%s", what, text,
                     meant(c, text));
        s = *end ? end + 1 : end;
    }
    return n;
}

i64
cli_number(Cli *c, const char *what, const char *text, i64 unless, i64 max)
{
    return cli_number_from(c, what, text, unless, 1, max);
}

i64
cli_number_from(Cli *c, const char *what, const char *text, i64 unless, i64 min, i64 max)
{
    char *end;
    if (!text)
        return unless;
    errno = 0;
    i64 n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < min || n > max)
        cli_fail(c, "%s '%s': a whole number from %lld to %lld", what, text, (long long)min,
                 (long long)max);
    return n;
}

int
cli_threads(Cli *c)
{
    enum { THREADS_MAX = 256 };
    return (int)cli_number(c, "--threads", c->o.threads, 0, THREADS_MAX);
}
