/* Functions to make statements and identifiers. */
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

/* The keywords of C and C++, main, and the names that emitted code itself uses.  A target's
 * table lists the keywords that its language adds (`reserved`); a compiler refuses others. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t class compl const const_cast constexpr continue decltype default delete do "
    "double dynamic_cast else enum explicit export extern false float for friend goto if "
    "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast restrict return short signed sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while "
    "xor xor_eq main dst out src ";

static bool
is_keyword(const char *s)
{
    size_t n = strlen(s);
    for (const char *at = strstr(keywords, s); at; at = strstr(at + 1, s))
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* Names of implementations (C11 7.1.3), and ravel's own. */
static bool
is_reserved(const char *s)
{
    return *s == '_' || !strncmp(s, "ravel_", 6) || !strncmp(s, "RAVEL_", 6);
}

bool
emit_is_identifier(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    return n > 0 && n < 128 && !s[n] && !isdigit((unsigned char)*s) && !is_reserved(s) &&
           !is_keyword(s);
}

/* A letter, perhaps with digits: no keyword, no macro. */
static bool
is_safe(const char *s)
{
    size_t n = strspn(s + 1, "0123456789");
    return isalpha((unsigned char)*s) && s[1 + n] == 0 && strcmp(s, "a");
}

const char *
emit_identifier(Arena *a, const char *wish, const char *const *taken, int n)
{
    char *s = arena_string(a, wish);
    for (char *c = s; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!isalpha((unsigned char)*s) || is_reserved(s) || !strcmp(s, "dst") || !strcmp(s, "src"))
        s = arena_printf(a, "x%s", s);
    if (!is_safe(s))
        s = arena_printf(a, "%s_", s);        /* as no keyword or macro ends */
    if (!strncmp(s, "gl_", 3))
        s = arena_printf(a, "x%s", s);        /* GLSL's own names begin so */
    for (int i = 0; i < n; i++)
        if (!strcmp(taken[i], s)) {
            s = arena_printf(a, "%s_", s);
            i = -1;
        }
    return s;
}

void
emit_layout_head(Buf *b, const char *what, const Layout *l)
{
    l = layout_as_written(l);
    buf_printf(b, "%s %s: ", what, l->ref->def->name);
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

void
emit_sizes_head(Buf *b, const char *what, const Sizes *z)
{
    const Layout *l = z->l;
    if (ex_is_const(z->size))
        emit_layout_head(b, what, l);
    else
        buf_printf(b, "%s %s: %s, %s\n", what, l->ref->def->name,
                   layout_text(b->arena, layout_written(l->ref)->def), l->dtype->name);
}

void
emit_plan_head(Buf *b, const Plan *p)
{
    const char *moved = plan_moved(b->arena, p);
    emit_sizes_head(b, "src", p->from);
    emit_sizes_head(b, "dst", p->to);
    if (moved)
        buf_printf(b, "%s\n", moved);
}
