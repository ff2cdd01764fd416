/* The parts of a layout's text: the layout itself, and the index after it. */
#include <ctype.h>
#include <string.h>

#include "spec_parts.h"

/* The character after the text in quotes or brackets that begins at s; NULL: it does not
 * end. */
static const char *
skip_group(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        if (*s == '"' || *s == '\'') {
            const char *end = s + 1;
            while (*end && *end != *s)
                end += 1 + (*end == '\\' && end[1]);
            if (!*end)
                return NULL;
            s = end;
        }
        depth += *s == '{' || *s == '(';
        depth -= *s == '}' || *s == ')';
        if (depth == 0)
            return s + 1;
    }
    return NULL;
}

const char *
text_after_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* The character after "(K,N)", other names of dims, if they begin at s; else s.  Names before
 * an index are extents that are left to run time. */
static const char *
skip_names(const char *s)
{
    const char *end = *s == '(' ? skip_group(s) : NULL;
    bool names = end && isalpha((unsigned char)*text_after_blanks(s + 1)) &&
                 *text_after_blanks(end) != '[';
    for (const char *c = s + 1; names && c < end - 1; c++)
        names = isalnum((unsigned char)*c) || isspace((unsigned char)*c) || strchr("_,", *c);
    for (const char *c = s + 1; names && c < end - 1; c++)
        names = !isdigit((unsigned char)*c) || isalnum((unsigned char)c[-1]) || c[-1] == '_';
    return names ? end : s;
}

const char *
index_begin(const char *text)
{
    const char *end = text + strlen(text), *s = text;
    if (*s == '(')
        s = skip_group(s);
    else if (*s != '{')
        s = skip_names(text_after_blanks(s + strcspn(s, "{([@: \t\n")));
    s = s ? text_after_blanks(s) : end;
    if (*s == '{')
        s = skip_group(s);
    s = s ? text_after_blanks(s) : end;
    return *s == '[' || *s == '@' || (*s == '(' && s > text) ? s : end;
}

const char *
spec_strided(Arena *a, const char *text, int n, const i64 *stride, i64 origin)
{
    const char *index = index_begin(text = text_after_blanks(text));
    Buf b = buf_new(a);
    if (*index == '@')
        layout_index_fail(a, text, (int)(index - text), "the layout has strides already");
    buf_addn(&b, text, (size_t)(index - text));
    buf_printf(&b, "@%lld(", (long long)origin);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)stride[i]);
    buf_printf(&b, ")%s", index);
    return b.s;
}

/* The list of extents after "(", with a number for each that is a name. */
static void
add_extents(Buf *b, const char *s, int n, const i64 *extent)
{
    buf_add(b, "(");
    for (int i = 0; *s && s[-1] != ')'; i++) {
        const size_t skip = strspn(s, " \t\n"), len = strcspn(s + skip, ",) \t\n");
        if (isalpha((unsigned char)s[skip]) && i < n)
            buf_printf(b, "%lld", (long long)extent[i]);
        else
            buf_addn(b, s + skip, len);
        s += skip + len + strspn(s + skip + len, " \t\n");
        buf_addn(b, s, *s != 0);
        s += *s != 0;
    }
}

const char *
spec_with_extents(Arena *a, const char *text, int n, const i64 *extent)
{
    const char *index = index_begin(text = text_after_blanks(text));
    Buf b = buf_new(a);
    if (*index == '@')
        index = text_after_blanks(skip_group(index + strcspn(index, "(")));
    const char *items = *index == '(' ? text_after_blanks(skip_group(index)) : index;
    if (*items != '[')
        return text;
    buf_addn(&b, text, (size_t)(index - text));
    for (int i = 0; i < n && items == index; i++)
        buf_printf(&b, "%s%lld", i ? "," : "(", (long long)extent[i]);
    if (items == index)
        buf_add(&b, n ? ")" : "()");
    else
        add_extents(&b, index + 1, n, extent);
    buf_add(&b, items);
    return b.s;
}

const char *
spec_reindexed(Arena *a, const char *text, int n, const i64 *extent, const char *of)
{
    const char *own = index_begin(text = text_after_blanks(text));
    const char *items = index_begin(of = text_after_blanks(of));
    Buf b = buf_new(a);
    if (*items == '@')
        items = text_after_blanks(skip_group(items + strcspn(items, "(")));
    if (*items == '(')
        items = text_after_blanks(skip_group(items));
    buf_add(&b, spec_with_extents(a, text, n, extent));
    for (int i = 0; i < n && !*own; i++)
        buf_printf(&b, "%s%lld%s", i ? "," : "(", (long long)extent[i], i + 1 < n ? "" : ")");
    buf_add(&b, items);
    return b.s;
}
