/* The command that reproduces a file, and the name of its function. */
#include <ctype.h>
#include <string.h>

#include "emit.h"

const char *
emit_made(void)
{
    return "made by ravel " RAVEL_VERSION ", whose licence does not cover this file";
}

static const char *
shape_text(Arena *a, const Request *rq, const char *between)
{
    Buf b = buf_new(a);
    for (int i = 0; i < rq->rank; i++)
        if (rq->shape[i] == RUNTIME_EXTENT && rq->extent)
            buf_printf(&b, "%s%s", i ? between : "", rq->extent[i]);
        else
            buf_printf(&b, "%s%lld", i ? between : "", (long long)rq->shape[i]);
    return b.s;
}

static const char default_name[] = "ravel_relayout";

static void
check_name(Arena *a, const Target *t, const char *name)
{
    if (!emit_is_identifier(name) && strcmp(name, default_name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "'%.100s' cannot name a C function: a "
                   "name is letters, digits and _, begins with a letter, and is no word of "
                   "C or C++ and no name of ravel", name);
    if (target_reserves(t, name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "'%.100s' cannot name a function of the target %.100s, where it means "
                   "something", name, target_name(t));
}

static const char *
name_by_default(Arena *a, const Target *t)
{
    if (target_reserves(t, default_name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "the target %.100s keeps '%s', the function's name unless given: give "
                   "one with --name", target_name(t), default_name);
    return default_name;
}

/* nchw_to_nc1hwc0; the default where a side has no name */
const char *
emit_name(Arena *a, const Target *t, const Request *rq)
{
    if (rq->name) {
        check_name(a, t, rq->name);
        return rq->name;
    }
    size_t n = strcspn(rq->from, "{([@: "), m = strcspn(rq->to, "{([@: ");
    if (!n || !m)
        return name_by_default(a, t);
    char *s = arena_printf(a, "%.*s_to_%.*s", (int)n, rq->from, (int)m, rq->to);
    for (char *c = s; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    bool good = emit_is_identifier(s) && !target_reserves(t, s);
    return good ? s : name_by_default(a, t);
}

const char *
emit_kind_name(Arena *a, const Target *t, const Request *rq, const char *kind)
{
    return rq->name ? emit_name(a, t, rq) : arena_printf(a, "ravel_%s", kind);
}

/* The word of an operator in a name, or NULL. */
static const char *
operator_word(const char *s)
{
    static const char *const word[] = {['%'] = "mod", ['~'] = "xor", ['+'] = "plus",
                                       ['-'] = "minus", ['*'] = "times"};
    const unsigned char c = (unsigned char)*s;
    if (c == '/')
        return s[1] == '/' ? "div" : NULL;
    return c < sizeof word / sizeof *word ? word[c] : NULL;
}

/* The letters and digits of a layout, without a space in front, in lower case, with one _ for what
 * is between them; operators are words. */
static void
add_words(Buf *b, const char *text)
{
    bool gap = false, first = true;
    for (const char *s = text; *s; s++) {
        const char *word = operator_word(s);
        bool plain = isalnum((unsigned char)*s);
        char c = (char)tolower((unsigned char)*s);
        if ((plain && gap && !first) || word)
            buf_add(b, "_");
        if (plain)
            buf_addn(b, &c, 1);
        else if (word)
            buf_add(b, word);
        first &= !plain;
        gap = !plain;
    }
}

const char *
emit_full_name(Arena *a, const Target *t, const Request *rq)
{
    Buf b = buf_new(a);
    enum { LONGEST = 120 };
    add_words(&b, rq->from);
    buf_add(&b, "_to_");
    add_words(&b, rq->to);
    buf_add(&b, "_");
    add_words(&b, shape_text(a, rq, "x"));
    buf_printf(&b, "%s%s", rq->rank ? "_" : "", rq->dtype);
    bool good = b.len <= LONGEST && emit_is_identifier(b.s) && !target_reserves(t, b.s);
    return good ? b.s : NULL;
}

/* Bytes that a comment in C cannot hold, each as its octal number. */
static void
add_encoded(Buf *b, const char *value)
{
    for (const char *s = value; *s; s++) {
        bool mark = s > value && ((s[-1] == '*' && *s == '/') ||
                                  (s[-1] == '/' && *s == '*') ||
                                  (s[-1] == '?' && *s == '?'));
        if (*s == '%')
            buf_add(b, "%%");
        else if (*s < ' ' || *s > '~' || *s == '\'' || *s == '\\' || mark ||
                 (*s == '-' && s == value))
            buf_printf(b, "\\%03o", (unsigned char)*s);
        else
            buf_addn(b, s, 1);
    }
}

/* " --flag value" as a POSIX shell reads it, in characters that a comment can hold: '...'
 * or, where that will not do, what printf makes of octal numbers. */
static const char *
option(Arena *a, const char *flag, const char *value)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_,";
    if (*value && value[strspn(value, safe)] == 0)
        return arena_printf(a, " %s %s", flag, value);
    Buf octal = buf_new(a), all = buf_new(a);
    add_encoded(&octal, value);
    buf_printf(&all, " %s ", flag);
    if (strchr(octal.s, '\\'))
        buf_printf(&all, "\"$(printf '%s')\"", octal.s);
    else
        buf_printf(&all, "'%s'", value);
    return all.s;
}

const char *
emit_options(Arena *a, const Request *rq, const LayoutRef *from, const LayoutRef *to)
{
    Buf b = buf_new(a);
    if (from)
        buf_add(&b, option(a, "--from", layout_ref_text(a, from)));
    buf_add(&b, option(a, "--to", layout_ref_text(a, to)));
    buf_add(&b, option(a, "--shape", shape_text(a, rq, ",")));
    buf_add(&b, option(a, "--dtype", rq->dtype));
    return b.s;
}

const char *
emit_command(Arena *a, const Target *t, const Request *rq, const LayoutRef *from,
             const LayoutRef *to, const char *kind)
{
    Buf b = buf_new(a);
    buf_printf(&b, "ravel emit%s", emit_options(a, rq, from, to));
    if (kind)
        buf_add(&b, option(a, "--kind", kind));
    if (rq->name)
        buf_add(&b, option(a, "--name", rq->name));
    if (!target_is(t, "functions"))
        buf_add(&b, option(a, "--target", target_name(t)));
    if (target_is(t, "blocks") && rq->align)
        buf_printf(&b, " --align %d", rq->align);
    if (rq->batch)
        buf_add(&b, " --batch");
    return b.s;
}
