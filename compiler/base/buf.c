#include <stdio.h>
#include <string.h>

#include "base.h"

Buf
buf_new(Arena *a)
{
    Buf b = {.arena = a, .cap = 32};
    b.s = arena_alloc(a, b.cap);
    return b;
}

static void
reserve(Buf *b, size_t more)
{
    if (b->cap - b->len > more)
        return;
    size_t need = b->len + more + 1, cap = more < b->cap ? need + need / 2 : need;
    b->s = arena_resize(b->arena, b->s, b->cap, cap);
    b->cap = cap;
}

void
buf_addn(Buf *b, const char *s, size_t n)
{
    reserve(b, n);
    memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = 0;
}

void
buf_add(Buf *b, const char *s)
{
    buf_addn(b, s, strlen(s));
}

/* Formats once more only if there was too little room. */
static void
add_formatted(Buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t room = b->cap - b->len;
    int n = vsnprintf(b->s + b->len, room, fmt, ap);
    if (n >= 0 && (size_t)n >= room) {
        b->s[b->len] = 0;
        reserve(b, (size_t)n);
        vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
    }
    b->len += n > 0 ? (size_t)n : 0;
    b->s[b->len] = 0;
    va_end(again);
}

void
buf_printf(Buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_formatted(b, fmt, ap);
    va_end(ap);
}

void
buf_line(Buf *b, const char *fmt, ...)
{
    va_list ap;
    for (int i = 0; i < b->indent && *fmt; i++)
        buf_add(b, "    ");
    va_start(ap, fmt);
    add_formatted(b, fmt, ap);
    va_end(ap);
    buf_add(b, "\n");
}
