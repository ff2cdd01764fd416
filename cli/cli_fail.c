/* Errors of a command: they end it. */
#include <stdarg.h>
#include <stdio.h>

#include "cli.h"

void
cli_fail(Cli *c, const char *fmt, ...)
{
    enum { HALF = 400 };         /* a long argument leaves room for what is wrong */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap);
    char *text = arena_array(c->arena, char, (i64)n + 1);
    vsnprintf(text, n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    if (n > 2 * HALF)
        diag_fatal(c->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%.*s...%s", HALF, text,
                   text + n - HALF);
    diag_fatal(c->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%s", text);
}

void
cli_check(Cli *c, ravel_status s, const ravel_error *err)
{
    if (s == RAVEL_ERR_MEMORY)
        diag_fatal(c->arena->diag, DIAG_MEMORY, (Loc){0}, "%s", err->text);
    if (s != RAVEL_OK)
        cli_fail(c, "%s", err->text);
}
