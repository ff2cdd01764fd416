#include <stdio.h>
#include <string.h>

#include "base.h"

void
diag_fatal(Diag *d, DiagKind kind, Loc loc, const char *fmt, ...)
{
    int n = 0;
    if (loc.file)
        n = snprintf(d->text, sizeof d->text, "%.200s:%d: ", loc.file, loc.line);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->text + n, sizeof d->text - (size_t)n, fmt, ap);
    va_end(ap);
    d->kind = kind;
    longjmp(d->jmp, 1);
}

bool
diag_run(Diag *d, void (*f)(void *), void *arg)
{
    if (diag_catch(d))
        return false;
    f(arg);
    return true;
}

enum { NAME_MAX_LEN = 40 };

/* Edit distance (Levenshtein), case ignored; names longer than the limit
 * are cut, which only makes them less alike. */
static int
distance(const char *a, const char *b)
{
    int row[NAME_MAX_LEN + 1];
    int n = (int)strnlen(b, NAME_MAX_LEN);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; i < NAME_MAX_LEN && a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int swap = diagonal + ((a[i] | 32) != (b[j] | 32));
            diagonal = row[j + 1];
            int step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = swap < step ? swap : step;
        }
    }
    return row[n];
}

const char *
diag_nearest(const char *name, const char *const *names)
{
    const char *best = NULL;
    int limit = 1 + (int)strnlen(name, NAME_MAX_LEN) / 4;
    for (; *names; names++) {
        int d = distance(name, *names);
        if (d <= limit) {
            limit = d - 1;
            best = *names;
        }
    }
    return best;
}
