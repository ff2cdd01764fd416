/* Spec texts that Lua 5.4 compiles wrongly.  Before 5.4.5 a function with more than
 * 256 constants computes `1 ~ (x or 3)` with x in the place of 1: once the constant
 * needs a register, it is loaded on one way to the operator only (Lua's commit
 * c764ca71).  Such texts are refused. */
#include <ctype.h>
#include <string.h>

#include "spec_lua.h"

enum { CONSTANTS = 256 };

typedef struct {
    const char *p, *end;
    int line, constants;
    bool operand;         /* the last token could end one */
    bool bitwise;         /* it was a binary & | or ~ */
} Scan;

static void
step_to(Scan *t, const char *to)
{
    for (; t->p < to; t->p++)
        t->line += *t->p == '\n';
}

/* The length of [[ or [==[ at p; 0: none. */
static size_t
long_bracket(const Scan *t, const char *p)
{
    size_t n = 1, left = (size_t)(t->end - p);
    if (left < 2 || *p != '[')
        return 0;
    while (n < left && p[n] == '=')
        n++;
    return n < left && p[n] == '[' ? n + 1 : 0;
}

/* Over the text that a long bracket of n bytes opens. */
static void
skip_long(Scan *t, size_t n)
{
    const char *p = t->p + n;
    for (; p < t->end; p++)
        if (*p == ']' && (size_t)(t->end - p) >= n && p[n - 1] == ']' &&
            strspn(p + 1, "=") >= n - 2) {
            p += n;
            break;
        }
    step_to(t, p);
}

static void
skip_quoted(Scan *t)
{
    char quote = *t->p;
    const char *p = t->p + 1;
    for (; p < t->end && *p != quote && *p != '\n'; p++) {
        if (*p != '\\' || p + 1 == t->end)
            continue;
        if (*++p == 'z')                   /* blanks and ends of lines are no text */
            while (p + 1 < t->end && isspace((unsigned char)p[1]))
                p++;
    }
    step_to(t, p < t->end ? p + 1 : p);
}

static void
skip_comment(Scan *t)
{
    t->p += 2;
    size_t n = long_bracket(t, t->p);
    const char *p = memchr(t->p, '\n', (size_t)(t->end - t->p));
    if (n)
        skip_long(t, n);
    else
        t->p = p ? p : t->end;
}

static bool
is_word(const char *p, size_t n, const char *word)
{
    return n == strlen(word) && !memcmp(p, word, n);
}

/* A name, a keyword or a number.  True for and, or. */
static bool
take_word(Scan *t)
{
    const char *p = t->p;
    while (t->p < t->end && (isalnum((unsigned char)*t->p) || *t->p == '_' ||
                             (*t->p == '.' && isdigit((unsigned char)*p))))
        t->p++;
    bool joins = is_word(p, (size_t)(t->p - p), "and") ||
                 is_word(p, (size_t)(t->p - p), "or");
    t->operand = !joins && !is_word(p, (size_t)(t->p - p), "return");
    t->constants++;
    return joins;
}

static void
take_sign(Scan *t)
{
    bool two = t->end - t->p > 1 && *t->p == '~' && t->p[1] == '=';
    t->bitwise = t->operand && !two && strchr("&|~", *t->p);
    t->operand = strchr(")]}", *t->p);
    t->p += 1 + two;
}

/* The next token; true for and, or. */
static bool
next(Scan *t)
{
    size_t n = long_bracket(t, t->p);
    t->bitwise = false;
    if (isalnum((unsigned char)*t->p) || *t->p == '_')
        return take_word(t);
    if (n || *t->p == '"' || *t->p == '\'') {
        n ? skip_long(t, n) : skip_quoted(t);
        t->operand = true;
        t->constants++;
        return false;
    }
    take_sign(t);
    return false;
}

static void
skip_blank(Scan *t)
{
    for (;;) {
        if (t->end - t->p > 1 && t->p[0] == '-' && t->p[1] == '-')
            skip_comment(t);
        else if (t->p < t->end && (isspace((unsigned char)*t->p) || !*t->p))
            step_to(t, t->p + 1);
        else
            break;
    }
}

int
source_trap(const char *text, size_t len)
{
    Scan t = {.p = text, .end = text + len, .line = 1};
    int depth = 0, inside = 0, line = 0;       /* of the parenthesis after a ~ */
    for (skip_blank(&t); t.p < t.end; skip_blank(&t)) {
        bool after = t.bitwise;
        depth += *t.p == '(';
        if (after && *t.p == '(' && !inside)
            inside = depth;
        if (*t.p == ')' && depth-- == inside)
            inside = 0;
        if (next(&t) && inside && !line)
            line = t.line;
    }
    return t.constants > CONSTANTS ? line : 0;
}
