/* Layout references: names of layouts, and layouts that are written out. */
#include <ctype.h>
#include <string.h>

#include "spec_parts.h"

/* What a reader of the one table that a text returns is called with. */
typedef struct {
    const char *example;
    void (*read)(Sandbox *s, void *out);
    void *out;
    Sandbox *s;
} TableUse;

static void
read_it(void *arg)
{
    TableUse *u = arg;
    u->read(u->s, u->out);
}

static void
use_table(Sandbox *s, void *arg)
{
    TableUse *u = arg;
    bool one = lua_istable(s->L, -2) && lua_isnil(s->L, -1);
    lua_pop(s->L, 1);
    if (!one)
        luaL_error(s->L, "expected one table, as in %s", u->example);
    u->s = s;
    sandbox_try(s, read_it, u);
}

static void
read_inline(Sandbox *s, void *out)
{
    *(LayoutDef **)out = spec_read_layout(s, "inline", (Loc){s->file, 1}, true);
}

static void
read_given(Sandbox *s, void *out)
{
    spec_read_given(s, out);
}

/* Whether a text lacks } at its end and nothing else. */
static bool
is_open(const char *text)
{
    const char *open = strchr(text, '{');
    int depth = 0, inner = 0;
    for (const char *s = open; s && *s; s++) {
        depth += (*s == '{') - (*s == '}');
        inner += (*s == '(') - (*s == ')');
    }
    return open && depth == 1 && inner == 0 && text[strcspn(text, "'\"[-")] == 0;
}

/* The text with a comma after each name or number that is before a blank and a name, as other
 * libraries write them; NULL: it lacks none, or is more than names and digits. */
static const char *
with_commas(Arena *a, const char *text)
{
    static const char simple[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_%/, ";
    const char *open = strchr(text, '{');
    bool any = false;
    Buf b = buf_new(a);
    size_t front = *text == '(' ? 1 + strspn(text + 1, simple) : 0;
    if (!open || strcspn(open, "}") != 1 + strspn(open + 1, simple) ||
        text_after_blanks(text + front + (front > 0)) != open)
        return NULL;
    for (const char *s = text; *s; s++) {
        const char *next = text_after_blanks(s + 1);
        bool lacks = isalnum((unsigned char)*s) && next > s + 1 && isalpha((unsigned char)*next);
        if (lacks && sandbox_reserved(next, strcspn(next, "%/, }")))
            return NULL;
        buf_printf(&b, "%c%s", *s, lacks ? "," : "");
        any |= lacks;
    }
    return any ? b.s : NULL;
}

/* Whether `and` or `or` stands after a value in a text without strings and functions: Lua would drop
 * one of its sides. */
static bool
drops_a_side(const char *text)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (strpbrk(text, "'\"[") || strstr(text, "function"))
        return false;
    bool value = false;
    for (size_t n; *text; text += n + !n) {
        n = strspn(text, word);
        if (value && ((n == 3 && !strncmp(text, "and", n)) || (n == 2 && !strncmp(text, "or", n))))
            return true;
        value = n || *text == ')' || (*text == ' ' && value);
    }
    return false;
}

/* Fails if the text is no layout, and says what is meant. */
static void
check_inline(Arena *a, const char *text)
{
    const char *commas = with_commas(a, text);
    if (is_open(text))
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s' is not closed; did you mean "
                   "'%.100s}'?", text, text);
    if (commas)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s': entries of a layout are separated by "
                   "commas; did you mean '%.100s'?", text, commas);
    if (drops_a_side(text))
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s': 'and' and 'or' are no operators of "
                   "an order; its entries are separated by commas", text);
}

/* (N,C){...} or {...} as Lua. */
static Buf
inline_code(Arena *a, const char *text)
{
    Buf b = buf_new(a);
    if (*text != '(') {
        buf_printf(&b, "return %s", text);
        return b;
    }
    const char *close = strchr(text, ')');
    const char *brace = close ? text_after_blanks(close + 1) : "";
    if (*brace != '{')
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s': dims in front are written (N,C){...}",
                   text);
    buf_add(&b, "return {dims = {");
    buf_addn(&b, text + 1, (size_t)(close - text - 1));
    buf_printf(&b, "}, %s", brace + 1);
    return b;
}

static const LayoutRef *
inline_ref(Arena *a, const char *text)
{
    check_inline(a, text);
    LayoutDef *def = NULL;
    const Buf b = inline_code(a, text);
    TableUse use = {"{N, C//16, H, W, C%16}", read_inline, &def, NULL};
    sandbox_run(a, &spec_surroundings, "(inline)", b.s, b.len, 2, use_table, &use);
    LayoutRef *ref = arena_new(a, LayoutRef);
    ref->def = def;
    return ref;
}

/* The layout that other libraries call so, or NULL. */
static const char *
word_of_others(const char *name)
{
    static const char *const words[][2] = {
        {"channels_last", "NHWC"}, {"channels_first", "NCHW"}, {"channels_last_3d", "NDHWC"},
        {"contiguous_format", "ROW_MAJOR"}, {"C", "ROW_MAJOR"}, {"F", "COL_MAJOR"}};
    for (int i = 0; i < LEN(words); i++)
        if (!strcmp(words[i][0], name))
            return words[i][1];
    return NULL;
}

static const LayoutDef *
lookup(Arena *a, const char *name, const char *text, const Known *known)
{
    const LayoutDef *found = known_find(a, known, name);
    if (found)
        return found;
    const LayoutDef **all = known_all(a, known);
    int n = 0;
    while (all[n])
        n++;
    const char **names = arena_array(a, const char *, n + 1);
    for (int i = 0; i < n; i++)
        names[i] = all[i]->name;
    const char *other = word_of_others(name), *near = other ? other : diag_nearest(name, names);
    size_t len = strlen(name);
    if (len > 4 && !strcmp(name + len - 4, ".lua"))
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0},
                   "'%.100s' is a spec file: a layout of it is written %.100s:NAME", name,
                   name);
    if (strchr(name, '.'))
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s' is no layout, and looks like a file: "
                   "a layout is a name, as NCHW, or inline, as '{N, C//16, H, W, C%%16}'", name);
    if (strchr(name, ',') || !*name)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s' is no layout: an inline one is in "
                   "braces, as in '{N, C//16, H, W, C%%16}'", text);
    diag_fatal(a->diag, DIAG_SPEC, (Loc){0},
               "unknown layout '%.100s'%s%s%s ('ravel list' shows all; an inline one "
               "is written '{N, C//16, H, W, C%%16}')", name,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* What other libraries write, and where it goes here. */
static void
refuse_pattern(Arena *a, const char *text)
{
    size_t words = strspn(text, "abcdefghijklmnopqrstuvwxyz ");
    if (strstr(text, "->"))
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s' has two layouts: give what stands "
                   "before -> as the source and the other as the destination; an inline one is "
                   "in braces with commas, as in '{n, h, w, c}'", text);
    if (!text[words] && strchr(text, ' '))
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s' is no layout: an inline one is in "
                   "braces with commas, as in '{n, h, w, c}'", text);
}

/* A layout without an index. */
static const LayoutRef *
layout_ref(Arena *a, const char *text, const Known *known)
{
    if (*text == '{' || *text == '(')
        return inline_ref(a, text);
    size_t n = strcspn(text, "({: \t\n");
    const char *dot = memchr(text, '.', n);
    if (text[n] == ':' && dot)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "'%.100s': the name of a spec file ends in "
                   ".lua, as in mine.lua:NAME", text);
    if (text[n] == ':')
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0},
                   "'%.100s': other systems' notations are not read yet; write the "
                   "layout inline, as in '{N, C//16, H, W, C%%16}'", text);
    char *name = arena_copy(a, text, n + 1);
    name[n] = 0;
    LayoutRef *ref = arena_new(a, LayoutRef);
    ref->def = lookup(a, name, text, known);
    text = text_after_blanks(text + n);
    if (*text == '(')
        text = text_after_blanks(spec_read_dims(a, ref, text));
    if (*text) {
        const char *chunk = arena_printf(a, "return %s", text);
        TableUse use = {"NC1HWC0{C0=32}", read_given, ref, NULL};
        sandbox_run(a, &spec_surroundings, name, chunk, strlen(chunk), 2, use_table, &use);
    }
    return ref;
}

const LayoutRef *
spec_ref(Arena *a, const char *text, const Known *known)
{
    text = text_after_blanks(text);
    const char *index = index_begin(text);
    refuse_pattern(a, text);
    if (index == text && *text)
        lookup(a, "", text, known);
    if (!*index)
        return layout_ref(a, text, known);
    const char *own = arena_printf(a, "%.*s", (int)(index - text), text);
    return index_ref(a, layout_ref(a, own, known), text, index);
}
