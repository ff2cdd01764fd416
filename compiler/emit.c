/* Statements and names. */
#include <ctype.h>
#include <string.h>

#include "emit.h"

Stmt *
emit_add(Arena *a, Stmt ***tail, StKind kind)
{
    Stmt *s = arena_new(a, Stmt);
    s->kind = kind;
    **tail = s;
    *tail = &s->next;
    return s;
}

/* Words that mean something in C, C++, CUDA or OpenCL, or in emitted code. */
static const char *const reserved[] = {
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch",
    "char", "class", "compl", "const", "constexpr", "continue", "decltype", "default",
    "delete", "do", "double", "dst", "else", "enum", "explicit", "export", "extern",
    "false", "float", "for", "friend", "global", "goto", "half", "if", "inline", "int",
    "kernel", "linux", "local", "long", "mutable", "namespace", "new", "not", "nullptr",
    "operator", "or", "out", "private", "protected", "public", "register", "restrict",
    "return", "short", "signed", "sizeof", "src", "static", "struct", "switch",
    "template", "this", "throw", "true", "try", "typedef", "typeid", "typename",
    "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "while", "xor", "main",
    "a",
};

/* What the C library keeps for itself (C11 7.31) and what emitted code uses. */
static bool
is_reserved(const char *s)
{
    static const char *const prefixes[] = {"_", "ravel_", "RAVEL_", "mem", "str", "wcs",
                                           "INT", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_",
                                           "WINT_", "SIG_", "NULL"};
    size_t n = strlen(s);
    for (int i = 0; i < LEN(reserved); i++)
        if (!strcmp(reserved[i], s))
            return true;
    for (int i = 0; i < LEN(prefixes); i++)
        if (!strncmp(s, prefixes[i], strlen(prefixes[i])))
            return true;
    return n > 1 && !strcmp(s + n - 2, "_t");
}

bool
emit_is_identifier(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    return n > 0 && n < 128 && !s[n] && !isdigit((unsigned char)*s) && !is_reserved(s);
}

const char *
emit_identifier(Arena *a, const char *wish, const char *const *taken, int n)
{
    char *s = arena_string(a, wish);
    for (char *c = s; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (is_reserved(s))
        s = arena_printf(a, "x_%s", s);
    bool again = true;
    while (again) {
        again = is_reserved(s);
        for (int i = 0; i < n; i++)
            again |= !strcmp(taken[i], s);
        if (again)                       /* also ends a name in _t differently */
            s = arena_printf(a, "%s_", s);
    }
    return s;
}

void
emit_layout_head(Buf *b, const char *what, const Layout *l)
{
    const LayoutDef *d = l->ref->def;
    buf_printf(b, "%s %s: ", what, d->name);
    ex_print(b, l->addr, l->e, &spell_lua);
    buf_printf(b, "\n");
    for (size_t i = 0; i < strlen(what) + 1; i++)
        buf_add(b, " ");
    buf_printf(b, "%s, ", l->dtype->name);
    for (int i = 0; i < l->rank; i++)
        buf_printf(b, "%s=%lld ", l->dim[i].name, (long long)l->dim[i].n);
    buf_printf(b, "in %lld elements, %lld bytes\n", (long long)l->size,
               (long long)layout_bytes(l));
}
