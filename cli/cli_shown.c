/* Output to a terminal.  Names and texts come from untrusted files, so characters that
 * control a terminal or hide text are replaced by escapes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { PIECE = 512, WIDEST = 8 };      /* bytes at once; room for \u0000 */

/* The descriptor of a stream, and the bytes of an incomplete character. */
typedef struct {
    int fd;
    char held[PIECE + 4];
    size_t n;
} Shown;

static Shown streams[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

static bool
put(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, s, n);
        if (k < 0 && errno != EINTR)
            return false;
        s += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

/* Write one character, or one byte that is not part of a character. */
static size_t
show(char *out, const char *s, size_t k, uint32_t c)
{
    bool plain = k && (!utf8_is_hidden(c) || c == '\n' || c == '\t');
    if (plain) {
        memcpy(out, s, k);
        return k;
    }
    if (k)      /* as JSON writes it, whose text passes here too */
        return (size_t)snprintf(out, WIDEST, "\\u%04x", c & 0xffff);
    return (size_t)snprintf(out, WIDEST, "\\x%02x", (unsigned char)*s);
}

/* Whether the bytes are the start of a character that is incomplete. */
static bool
is_cut(const char *s, size_t n)
{
    unsigned char lead = (unsigned char)*s;
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1, i = 1;
    while (i < n && ((unsigned char)s[i] & 0xc0) == 0x80)
        i++;
    return i == n && n < want;
}

static bool
show_held(Shown *t)
{
    char out[(PIECE + 4) * WIDEST];
    size_t at = 0, len = 0, k;
    uint32_t c = 0;
    for (; at < t->n; at += k ? k : 1) {
        k = utf8_next(t->held + at, t->n - at, &c);
        if (!k && is_cut(t->held + at, t->n - at))
            break;
        len += show(out + len, t->held + at, k, c);
    }
    t->n -= at;
    memmove(t->held, t->held + at, t->n);
    return put(t->fd, out, len);
}

static ssize_t
write_shown(void *cookie, const char *s, size_t n)
{
    Shown *t = cookie;
    for (size_t at = 0; at < n;) {
        size_t k = n - at < PIECE ? n - at : PIECE;
        memcpy(t->held + t->n, s + at, k);
        t->n += k;
        at += k;
        if (!show_held(t))
            return 0;
    }
    return (ssize_t)n;
}

static FILE *
shown(Shown *t, FILE *plain, int mode)
{
    FILE *f = fopencookie(t, "w", (cookie_io_functions_t){.write = write_shown});
    if (!f)
        return plain;
    setvbuf(f, NULL, mode, BUFSIZ);
    return f;
}

/* A terminal that cannot be written to has no reader, so errors are ignored. */
void
cli_show_colored(const char *text)
{
    fflush(stdout);
    put(STDOUT_FILENO, text, strlen(text));
}

void
cli_show_streams(void)
{
    stdout = shown(&streams[0], stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = shown(&streams[1], stderr, _IOLBF);
}
