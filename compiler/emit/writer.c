/* The common part of all writers of statements. */
#include <ctype.h>
#include <string.h>

#include "emit.h"

Writer
writer_new(const Target *t, Exprs *e, Buf *b)
{
    return (Writer){t, e, b->arena, b, t ? target_spelling(t) : spell_lua};
}

const char *
writer_number(const Writer *w, i64 v)
{
    return arena_printf(w->arena, "%lld", (long long)v);
}

const char *
writer_expr(const Writer *w, const Ex *x)
{
    return x ? ex_spelled(w->arena, x, w->e, &w->sp) : "";
}

const char *
writer_above(const Writer *w, const Ex *x)
{
    return x ? ex_above_spelled(w->arena, x, w->e, &w->sp) : "";
}

/* The slot that `text` begins with, as ${name}; NULL: none. */
static const Slot *
find_slot(const char *text, const Slot *slot, int n)
{
    if (strncmp(text, "${", 2))
        return NULL;
    for (int i = 0; i < n; i++) {
        size_t len = strlen(slot[i].name);
        if (!strncmp(text + 2, slot[i].name, len) && text[len + 2] == '}')
            return &slot[i];
    }
    return NULL;
}

const char *
writer_fill(const Writer *w, const char *line, const Slot *slot, int n)
{
    enum { BYTES_MAX = 1 << 16 };
    Arena *a = w->arena;
    Buf b = buf_new(a);
    while (*line) {
        size_t plain = strcspn(line, "$");
        const Slot *s = find_slot(line + plain, slot, n);
        buf_addn(&b, line, plain + (!s && line[plain]));
        line += plain + (!s && line[plain]);
        if (s) {
            buf_add(&b, s->value);
            line += strlen(s->name) + strlen("${}");
        }
        if (b.len > BYTES_MAX)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                       "target: a line becomes longer than %d bytes", BYTES_MAX);
    }
    return b.s;
}

const char *
writer_text(const Writer *w, const char *field, const Slot *slot, int n)
{
    return writer_fill(w, target_text(w->t, field), slot, n);
}

void
writer_add(Writer *w, const char *field, const Slot *slot, int n)
{
    buf_add(w->b, writer_text(w, field, slot, n));
}

void
writer_print(Writer *w, const char *line, const Slot *slot, int n)
{
    buf_line(w->b, "%s", writer_fill(w, line, slot, n));
}

void
writer_put(Writer *w, const char *field, const Slot *slot, int n)
{
    writer_print(w, target_text(w->t, field), slot, n);
}

void
writer_comment(Writer *w, const char *s)
{
    const char *lead = target_text(w->t, "comment_open");
    while (*s) {
        size_t n = strcspn(s, "\n");
        buf_add(w->b, lead);
        for (size_t i = 0; i < n; i++) {
            bool plain = s[i] >= ' ' && s[i] < 127 &&
                         (s[i] != '\\' || isdigit((unsigned char)s[i + 1]));
            bool mark = i > 0 && ((s[i - 1] == '*' && s[i] == '/') ||
                                  (s[i - 1] == '/' && s[i] == '*'));
            buf_add(w->b, mark ? " " : "");
            buf_addn(w->b, plain ? s + i : "?", 1);
        }
        s += n + (s[n] == '\n');
        buf_add(w->b, *s ? "\n" : target_text(w->t, "comment_close"));
        lead = target_text(w->t, "comment_line");
    }
    buf_add(w->b, "\n");
}
