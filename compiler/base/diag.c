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

bool
diag_is_final(const Diag *d)
{
    return d->kind == DIAG_MEMORY || d->kind == DIAG_LIMIT;
}

enum { NAME_MAX_LEN = 40 };

/* The letter O is often written for the digit 0. */
static char
plain(char c)
{
    return c == '0' ? 'o' : (char)(c | 32);
}

static bool
same(char a, char b)
{
    return plain(a) == plain(b);
}

/* What it costs to take b for a: EDIT, or half of it if they look alike, as 0 and O. */
enum { EDIT = 2 };

static int
differ(char a, char b)
{
    static const char *const alike[] = {"0oO", "1lI"};
    for (int i = 0; i < LEN(alike); i++)
        if (strchr(alike[i], a) && strchr(alike[i], b))
            return same(a, b) ? 0 : EDIT / 2;
    return same(a, b) ? 0 : EDIT;
}

/* The edit distance in which a swap of two adjacent characters counts once (optimal
 * string alignment); case is ignored.  Names longer than the limit are cut.  Of the
 * table of the distances of all prefixes, three rows are kept. */
static int
distance(const char *a, const char *b)
{
    int rows[3][NAME_MAX_LEN + 1], i = 0;
    int n = (int)strnlen(b, NAME_MAX_LEN);
    for (int j = 0; j <= n; j++)
        rows[0][j] = EDIT * j;
    for (; i < NAME_MAX_LEN && a[i]; i++) {
        const int *last = rows[i % 3], *before = rows[(i + 2) % 3];
        int *row = rows[(i + 1) % 3];
        row[0] = EDIT * (i + 1);
        for (int j = 0; j < n; j++) {
            int step = (row[j] < last[j + 1] ? row[j] : last[j + 1]) + EDIT;
            row[j + 1] = last[j] + differ(a[i], b[j]);
            if (i && j && same(a[i], b[j - 1]) && same(a[i - 1], b[j]) &&
                before[j - 1] + EDIT < row[j + 1])
                row[j + 1] = before[j - 1] + EDIT;
            if (step < row[j + 1])
                row[j + 1] = step;
        }
    }
    return rows[i % 3][n];
}

const char *
diag_nearest(const char *name, const char *const *names)
{
    const char *best = NULL;
    int n = (int)strnlen(name, NAME_MAX_LEN), limit = n < 2 ? EDIT / 2 : EDIT * (1 + n / 4);
    for (; *names; names++) {
        int d = distance(name, *names);
        if (d <= limit) {
            limit = d - 1;
            best = *names;
        }
    }
    return best;
}
