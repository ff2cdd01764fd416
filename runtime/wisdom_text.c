/* Wisdom as text: a strict reader, and a writer whose output the reader accepts. */
#include <stdlib.h>
#include <string.h>

#include "wisdom.h"

const char wisdom_head[] = "ravel wisdom 1\n";

enum { LINE_MAX_BYTES = 1 << 16 };

/* Some characters of a line. */
typedef struct {
    const char *s;
    size_t n;
} Chars;

static bool
made_of(Chars p, const char *letters)
{
    for (size_t i = 0; i < p.n; i++)
        if (!p.s[i] || !strchr(letters, p.s[i]))
            return false;
    return p.n > 0;
}

static bool
is_word(Chars p)
{
    return made_of(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

/* Words with a blank, and perhaps a comma, between. */
static bool
is_phrase(Chars p)
{
    return made_of(p, "abcdefghijklmnopqrstuvwxyz ,") && p.s[0] != ' ' &&
           p.s[p.n - 1] != ' ';
}

/* What can be shown; no blank at an end, where nobody would see it. */
static bool
is_text(Chars p)
{
    uint32_t c;
    if (p.n == 0 || p.s[0] == ' ' || p.s[p.n - 1] == ' ')
        return false;
    for (size_t k; p.n > 0; p.s += k, p.n -= k)
        if (!(k = utf8_next(p.s, p.n, &c)) || utf8_is_hidden(c))
            return false;
    return true;
}

/* Read a number as %lld writes it; -1 if it is not one. */
static i64
number_of(Chars p)
{
    i64 v = 0;
    if (!made_of(p, "0123456789") || (p.s[0] == '0' && p.n > 1))
        return -1;
    for (size_t i = 0; i < p.n; i++)
        if (!int_mul(v, 10, &v) || !int_add(v, p.s[i] - '0', &v))
            return -1;
    return v;
}

static bool
is_count(Chars p)
{
    i64 v = number_of(p);
    return v > 0 && v <= INT32_MAX;
}

/* Remove the text up to the next mark from p, and return it; without a mark, all of p,
 * and *last is set. */
static Chars
take(Chars *p, char mark, bool *last)
{
    const char *end = p->n ? memchr(p->s, mark, p->n) : NULL;
    Chars head = {p->s, end ? (size_t)(end - p->s) : p->n};
    size_t gone = head.n + (end != NULL);
    *last = !end;
    *p = (Chars){p->s + gone, p->n - gone};
    return head;
}

/* A number, or the letter of an extent left to run time: one of those before, or the
 * next. */
static bool
is_extent(Chars p, int *letters)
{
    if (p.n != 1 || *p.s < 'a' || *p.s > 'a' + *letters)
        return number_of(p) >= 0;
    *letters += *p.s == 'a' + *letters;
    return true;
}

/* (2,64,56,56); (a,64,b,c); () */
static bool
is_shape(Chars p)
{
    int rank = 0, letters = 0;
    if (p.n < 2 || p.s[0] != '(' || p.s[p.n - 1] != ')')
        return false;
    Chars rest = {p.s + 1, p.n - 2};
    for (bool last = rest.n == 0; !last; rank++)
        if (!is_extent(take(&rest, ',', &last), &letters))
            return false;
    return rank <= MAX_RANK;
}

static const struct {
    const char *name, *wants;
    bool (*is)(Chars p);
} fields[] = {
    {"processor", "text", is_text},
    {"instruction set", "a word", is_word},
    {"threads", "a number from 1 on", is_count},
    {"element type", "a word", is_word},
    {"shape", "extents as in (2,64,56,56) or (a,64,b,c)", is_shape},
    {"source", "text", is_text},
    {"destination", "text", is_text},
};

/* Remove the key from the start of the line, and return it. */
static Chars
take_key(Arena *a, Chars *line, int number)
{
    Chars key = *line;
    for (int i = 0; i < LEN(fields); i++) {
        bool last;
        if (!fields[i].is(take(line, '\t', &last)))
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d: the %s, field "
                       "%d, is not %s", number, fields[i].name, i + 1, fields[i].wants);
        if (last)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d ends after the "
                       "%s: %d fields are wanted, with tabs between", number,
                       fields[i].name, LEN(fields) + 1);
    }
    key.n = (size_t)(line->s - key.s) - 1;
    return key;
}

static const char *
kept(Arena *a, Chars p)
{
    return arena_printf(a, "%.*s", (int)p.n, p.s);
}

/* NEST:KERNEL:ORDER */
static bool
read_pick(Arena *a, Chars p, Pick *out)
{
    bool last[3];
    Chars nest = take(&p, ':', &last[0]), kernel = take(&p, ':', &last[1]),
         order = take(&p, ':', &last[2]);
    if (last[0] || last[1] || !last[2] || !is_count(nest) || !is_word(kernel) ||
        !is_phrase(order))
        return false;
    *out = (Pick){(int)number_of(nest) - 1, kept(a, kernel), kept(a, order)};
    return true;
}

static void
read_picks(Arena *a, Chars line, int number, Advice *out)
{
    Pick pick[WISDOM_PICKS_MAX];
    int n = 0;
    for (bool last = false; !last; n++) {
        if (n == WISDOM_PICKS_MAX)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d: more than %d "
                       "picks", number, WISDOM_PICKS_MAX);
        if (!read_pick(a, take(&line, ';', &last), &pick[n]))
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d: pick %d is not "
                       "as in 1:transpose4:tiles", number, n + 1);
        if (n && pick[n].nest <= pick[n - 1].nest)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d: nests are named "
                       "once each, in rising order", number);
    }
    out->pick = arena_copy(a, pick, (size_t)n * sizeof *pick);
    out->n = n;
}

static int
by_key(const void *p, const void *q)
{
    return strcmp(((const Advice *)p)->key, ((const Advice *)q)->key);
}

void
wisdom_sort(Advice *a, int n)
{
    if (n > 1)
        qsort(a, (size_t)n, sizeof *a, by_key);
}

static void
refuse_twins(Arena *a, const Advice *v, int n)
{
    for (int i = 1; i < n; i++)
        if (!strcmp(v[i - 1].key, v[i].key)) {
            int x = v[i - 1].line, y = v[i].line;
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d is about the "
                       "same as line %d", x > y ? x : y, x > y ? y : x);
        }
}

/* Check the first line; *left is the text after it. */
static void
read_head(Arena *a, Chars *left)
{
    size_t n = strlen(wisdom_head), name = strlen("ravel wisdom ");
    if (left->n < name || memcmp(left->s, wisdom_head, name))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "this is no wisdom: its first line is "
                   "not '%.*s'", (int)n - 1, wisdom_head);
    if (left->n < n || memcmp(left->s, wisdom_head, n))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom of another version: its first "
                   "line is not '%.*s'", (int)n - 1, wisdom_head);
    *left = (Chars){left->s + n, left->n - n};
}

static i64
lines_of(Chars p)
{
    i64 n = 0;
    for (size_t i = 0; i < p.n; i++)
        n += p.s[i] == '\n';
    return n;
}

Advices
wisdom_read(Arena *a, const char *text, size_t len)
{
    Chars left = {text, len};
    int n = 0;
    if (len > WISDOM_BYTES_MAX)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom of more than %d bytes",
                   WISDOM_BYTES_MAX);
    read_head(a, &left);
    Advice *v = arena_array(a, Advice, lines_of(left));
    while (left.n > 0) {
        bool last;
        int number = n + 2;
        Chars line = take(&left, '\n', &last);
        if (last || line.n > LINE_MAX_BYTES)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "wisdom, line %d is %s", number,
                       last ? "cut off: no end of line" : "too long");
        v[n].key = kept(a, take_key(a, &line, number));
        v[n].line = number;
        read_picks(a, line, number, &v[n++]);
    }
    wisdom_sort(v, n);
    refuse_twins(a, v, n);
    return (Advices){v, n};
}

void
wisdom_check_key(Arena *a, const char *key)
{
    Chars line = {key, strlen(key)};
    bool good = line.n <= LINE_MAX_BYTES / 2, last = false;
    for (int i = 0; i < LEN(fields); i++)
        good = good && !last && fields[i].is(take(&line, '\t', &last));
    if (!good || !last)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "this relayout cannot be written in a "
                   "line of wisdom");
}

void
wisdom_print(Buf *b, const Advice *a)
{
    buf_printf(b, "%s\t", a->key);
    for (int i = 0; i < a->n; i++)
        buf_printf(b, "%s%d:%s:%s", i ? ";" : "", a->pick[i].nest + 1, a->pick[i].kernel,
                   a->pick[i].order);
    buf_add(b, "\n");
}

const Advice *
wisdom_among(Advices all, const char *key)
{
    Advice wanted = {.key = key};
    return all.n ? bsearch(&wanted, all.a, (size_t)all.n, sizeof *all.a, by_key) : NULL;
}
