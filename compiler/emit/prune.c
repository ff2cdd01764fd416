/* Leaves out of the files before the functions what these cannot reach: definitions whose
 * names nothing that stays mentions, and parts of a kernel that its calls do not reach.  It
 * relies on how templates are written: names of file scope begin with ravel_ or RAVEL_. */
#include <ctype.h>
#include <string.h>

#include "emit.h"

/* A line with #if (OPEN), #else or #elif (BRANCH), #endif (CLOSE); a definition with NAMES;
 * what has none, such as an #include (PLAIN). */
typedef enum { OPEN, BRANCH, CLOSE, NAMES, PLAIN } Kind;
typedef struct {
    Kind kind;
    const char *start, *code, *end;     /* code: behind blank lines and comments */
    int group;            /* the OPEN that it is in or belongs to; -1: none */
    bool named;           /* OPEN: NAMES are inside */
    bool kept;
} Item;

typedef struct {
    const char *s;
    size_t n;
    int item;
} Name;

typedef struct {
    Item *item;
    Name *name;
    int nitems, nnames;
    int *work, nwork;     /* items that are kept, and whose mentions are not seen yet */
} Pruner;

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t
word_length(const char *s)
{
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    return n;
}

static bool
begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* The end of the comment or string at s, or of the text; s: there is none. */
static const char *
behind_quote(const char *s)
{
    if (begins(s, "/*")) {
        const char *e = strstr(s + 2, "*/");
        return e ? e + 2 : s + strlen(s);
    }
    if (*s != '"' && *s != '\'')
        return s;
    const char *e = s + 1;
    while (*e && *e != *s)
        e += *e == '\\' && e[1] ? 2 : 1;
    return e + (*e != 0);
}

static const char *
behind_line(const char *s)
{
    s += strcspn(s, "\n");
    return s + (*s == '\n');
}

/* Behind a line with # and those that continue it. */
static const char *
behind_directive(const char *s)
{
    const char *e = behind_line(s);
    while (e - s >= 2 && e[-1] == '\n' && e[-2] == '\\' && *e)
        e = behind_line(e);
    return e;
}

/* Behind the definition at s: behind its body, which follows a ), or a ;. */
static const char *
behind_definition(const char *s)
{
    bool body = false;
    int depth = 0;
    for (char last = 0; *s; ) {
        const char *e = behind_quote(s);
        if (e > s) {
            s = e;
            continue;
        }
        body |= *s == '{' && depth == 0 && last == ')';
        depth += *s == '(' || *s == '{';
        depth -= *s == ')' || *s == '}';
        bool ends = (*s == ';' && !body) || (*s == '}' && body);
        if (ends && depth == 0)
            return behind_line(s);
        last = isspace((unsigned char)*s) ? last : *s;
        s++;
    }
    return s;
}

/* Behind blank lines and comments. */
static const char *
behind_comments(const char *s)
{
    const char *e = s;
    do {
        s = e + strspn(e, " \n");
        e = behind_quote(s);
    } while (e > s);
    return s;
}

static Kind
kind_of(const char *code)
{
    return begins(code, "#if") ? OPEN : begins(code, "#el") ? BRANCH
         : begins(code, "#endif") ? CLOSE : PLAIN;
}

static void
add_name(Pruner *p, const char *s, size_t n)
{
    p->name[p->nnames++] = (Name){s, n, p->nitems - 1};
    Item *it = &p->item[p->nitems - 1];
    it->kind = NAMES;
    for (int g = it->group; g >= 0; g = p->item[g].group)
        p->item[g].named = true;
}

static bool
is_ours(const char *s)
{
    return begins(s, "ravel_") || begins(s, "RAVEL_");
}

/* The names that the last item defines: those in an enum's braces, else the last one that
 * is in none, before a body or a value. */
static void
find_names(Pruner *p, const char *s, const char *end)
{
    bool numbers = begins(s, "enum"), type = begins(s, "typedef");
    const char *last = NULL;
    if (begins(s, "#define "))
        add_name(p, s + strlen("#define "), word_length(s + strlen("#define ")));
    for (int depth = 0; s < end && *s != '#' && (type || numbers || (*s != '{' && *s != '=')); ) {
        const char *e = behind_quote(s);
        size_t n = word_length(s);
        depth += *s == '(' || *s == '{';
        depth -= *s == ')' || *s == '}';
        if (n && is_ours(s) && numbers && depth == 1)
            add_name(p, s, n);
        else if (n && is_ours(s) && depth == 0)
            last = s;
        s = e > s ? e : s + (n ? n : 1);
    }
    if (last && !numbers)
        add_name(p, last, word_length(last));
}

static void
split(Pruner *p, const char *s)
{
    for (int group = -1; *s; ) {
        const char *code = behind_comments(s);
        Item it = {.kind = kind_of(code), .start = s, .code = code, .group = group};
        it.end = *code == '#' ? behind_directive(code) : behind_definition(code);
        p->item[p->nitems++] = it;
        if (it.kind == OPEN)
            group = p->nitems - 1;
        else if (it.kind == CLOSE)
            group = p->item[group].group;
        else if (it.kind == PLAIN)
            find_names(p, code, it.end);
        s = it.end;
    }
}

/* Keeps an item, and of the groups that it is in what has no names. */
static void
keep(Pruner *p, int i)
{
    Item *it = &p->item[i];
    if (it->kept)
        return;
    it->kept = true;
    p->work[p->nwork++] = i;
    if (it->group >= 0)
        keep(p, it->group);
    for (int k = i + 1; k < p->nitems && it->kind == OPEN; k++)
        if (p->item[k].group == i && p->item[k].kind != NAMES && !p->item[k].named)
            keep(p, k);
}

/* Keeps what defines a name that begins with n characters of s and, unless tail is NULL,
 * has more and ends with the m characters of tail. */
static void
keep_name(Pruner *p, const char *s, size_t n, const char *tail, size_t m)
{
    for (int i = 0; i < p->nnames; i++) {
        const Name *name = &p->name[i];
        bool fits = tail ? name->n >= n + m && !memcmp(name->s + name->n - m, tail, m)
                         : name->n == n;
        if (fits && !memcmp(name->s, s, n))
            keep(p, name->item);
    }
}

/* Of ravel_##n##x4 the ends are known, of RAVEL_EACH##w the start.  quotes: comments and
 * strings mention nothing. */
static void
keep_mentioned(Pruner *p, const char *s, const char *end, bool quotes)
{
    while (s < end) {
        const char *e = quotes ? behind_quote(s) : s, *tail = NULL;
        size_t n = word_length(s), m = 0;
        if (begins(s + n, "##")) {
            tail = s + n + 2 + word_length(s + n + 2);
            tail += begins(tail, "##") ? 2 : 0;
            m = tail[-1] == '#' ? word_length(tail) : 0;
        }
        if (n && is_ours(s))
            keep_name(p, s, n, tail, m);
        s = e > s ? e : s + (n ? n : 1);
    }
}

static bool
is_empty_else(const Pruner *p, int i)
{
    int k = i + 1;
    while (k < p->nitems && !p->item[k].kept)
        k++;
    return k < p->nitems && begins(p->item[i].code, "#else") && p->item[k].kind == CLOSE;
}

static const char *
kept_text(Arena *a, const Pruner *p)
{
    Buf out = buf_new(a);
    bool first = false;
    for (int i = 0; i < p->nitems; i++) {
        const Item *it = &p->item[i];
        if (!it->kept || (it->kind == BRANCH && is_empty_else(p, i)))
            continue;
        bool edge = first || it->kind == CLOSE || it->kind == BRANCH;
        size_t blank = edge ? strspn(it->start, "\n") : 0;
        buf_addn(&out, it->start + blank, (size_t)(it->end - it->start) - blank);
        first = it->kind == OPEN || it->kind == BRANCH;
    }
    return out.s;
}

static i64
lines_of(const char *s)
{
    i64 n = 1;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

const char *
prune(Arena *a, const char *text, const char *body)
{
    i64 lines = lines_of(text), names = (i64)(strlen(text) / strlen("ravel_")) + 1;
    Pruner p = {.item = arena_array(a, Item, lines), .name = arena_array(a, Name, names),
                .work = arena_array(a, int, lines)};
    split(&p, text);
    for (int i = 0; i < p.nitems; i++)
        if (p.item[i].group < 0 && p.item[i].kind != NAMES && !p.item[i].named)
            keep(&p, i);
    keep_mentioned(&p, body, body + strlen(body), false);    /* of the user's table, perhaps */
    while (p.nwork) {
        const Item *it = &p.item[p.work[--p.nwork]];
        keep_mentioned(&p, it->code, it->end, true);
    }
    return kept_text(a, &p);
}

/* Whether the line at s is the #ifndef of a part of k; sets *stays. */
static bool
opens_part(const Kernel *k, unsigned parts, const char *s, bool *stays)
{
    static const char mark[] = "#ifndef RAVEL_WITHOUT_";
    const char *name = NULL;
    if (!begins(s, mark))
        return false;
    s += strlen(mark);
    for (int i = 0; (name = kernel_part(k, i)); i++)
        if (begins(s, name) && isdigit((unsigned char)s[strlen(name)])) {
            *stays = parts >> i & 1;
            return true;
        }
    return false;
}

const char *
prune_parts(Arena *a, const char *text, const Kernel *k, unsigned parts)
{
    Buf out = buf_new(a);
    bool inside = false, stays = true;
    int depth = 0;        /* of other conditions inside */
    for (const char *end; *text; text = end) {
        bool edge = true;
        end = behind_line(text);
        if (!inside && opens_part(k, parts, text, &stays)) {
            inside = true;
        } else if (inside && depth == 0 && begins(text, "#else")) {
            stays = !stays;
        } else if (inside && depth == 0 && begins(text, "#endif")) {
            inside = false;
            stays = true;
        } else {
            edge = false;
            depth += inside ? begins(text, "#if") - begins(text, "#endif") : 0;
        }
        if (stays && !edge)
            buf_addn(&out, text, (size_t)(end - text));
    }
    return out.s;
}
