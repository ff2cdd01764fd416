/* Spec texts that Lua 5.4 compiles wrongly, or takes too long to compile.  Before 5.4.5
 * a function with more than 256 constants computes `1 ~ (x or 3)` with x instead of 1:
 * if the constant needs a register, it is loaded on only one of the paths to the
 * operator (Lua's commit c764ca71).  Such texts are refused.
 *
 * Lua's parser needs quadratic time for some constructs.  It searches for a jump from
 * the start of a list, for a name in all names declared around it, and for a number in a
 * chain of numbers with the same hash, which an attacker can choose. */
#include <ctype.h>
#include <string.h>

#include "spec_parts.h"

enum { CONSTANTS = 256 };

/* The constructs with quadratic work, and their units. */
typedef enum { TOKENS, JUMPS, NAMES, NUMERALS, NCOSTS } Cost;
enum { TOKEN_STEPS = 5, JUMPS_A_STEP = 3, UPVALUES = 255, SMALL_DIGITS = 5 };
static const char *const cost_text[NCOSTS] = {
    [TOKENS] = "its words",
    [JUMPS] = "its 'elseif', 'and', 'or', 'not', 'goto', 'break' and labels",
    [NAMES] = "the names in its nested functions",
    [NUMERALS] = "its long numerals"};

typedef struct {
    const char *p, *text, *end;
    int line, constants;
    i64 cost[NCOSTS], jumps, numerals;
    i64 blocks, locals, outer;     /* open; declared in them, of these in none */
    const char *declares;          /* signs that a list of new names goes on with, or NULL */
    bool named;                    /* one of them was there since the last sign */
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

/* Skip the text after an opening long bracket of n bytes. */
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
    return n && *p == *word && n == strlen(word) && !memcmp(p, word, n);
}

static bool
is_one_of(const char *p, size_t n, const char *const *words)
{
    while (*words && !is_word(p, n, *words))
        words++;
    return *words;
}

/* A block begins or ends; names declared in outermost blocks go out of scope. */
static void
count_block(Scan *t, bool opens)
{
    t->blocks += opens ? 1 : t->blocks > 0 ? -1 : 0;
    if (!t->blocks)
        t->locals = t->outer;
}

/* The work of a name: Lua searches the locals and the upvalues of each enclosing
 * function. */
static void
count_name(Scan *t)
{
    i64 up = t->locals < UPVALUES ? t->locals : UPVALUES;
    if (t->named)                          /* another statement has begun */
        t->declares = NULL;
    if (t->declares) {
        t->named = true;
        t->locals++;
        t->outer += !t->blocks;
    } else {
        t->cost[NAMES] += t->locals + t->blocks * up;
    }
}

static void
count_jump(Scan *t)
{
    t->cost[JUMPS] += ++t->jumps / JUMPS_A_STEP;
}

/* Small whole numbers are few. */
static void
count_number(Scan *t, const char *p, size_t n)
{
    if (n > SMALL_DIGITS || memchr(p, '.', n) || (p > t->text && p[-1] == '.'))
        t->cost[NUMERALS] += ++t->numerals;
}

static void
count_word(Scan *t, const char *p, size_t n)
{
    static const char *const jumps[] = {"elseif", "and", "or", "not", "goto", "break",
                                        NULL};
    static const char *const opens[] = {"function", "if", "do", "repeat", NULL};
    static const char *const closes[] = {"end", "until", NULL};
    static const char *const others[] = {"else", "false", "in", "nil", "return", "then",
                                         "true", "while", NULL};
    bool list = is_word(p, n, "local") || is_word(p, n, "for"), keyword = true;
    if (is_one_of(p, n, jumps))
        count_jump(t);
    else if (is_one_of(p, n, closes))
        count_block(t, false);
    else if (is_one_of(p, n, opens))
        count_block(t, true);
    else
        keyword = list || is_one_of(p, n, others);
    if (keyword)
        t->declares = list ? ",<>" : is_word(p, n, "function") ? ",.:(" : NULL;
    t->named &= !keyword;
    if (keyword)
        return;
    if (isdigit((unsigned char)*p))
        count_number(t, p, n);
    else
        count_name(t);
}

/* Read a name, a keyword or a number.  Returns true for and, or. */
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
    count_word(t, p, (size_t)(t->p - p));
    t->constants++;
    return joins;
}

static void
take_sign(Scan *t)
{
    bool two = t->end - t->p > 1 && *t->p == '~' && t->p[1] == '=';
    t->bitwise = t->operand && !two && strchr("&|~", *t->p);
    t->operand = strchr(")]}", *t->p);
    t->named = false;
    if (t->declares && !strchr(t->declares, *t->p))
        t->declares = NULL;
    if (*t->p == ':' && t->end - t->p > 1 && t->p[1] == ':')
        count_jump(t);
    t->p += 1 + two;
}

/* Read the next token.  Returns true for and, or. */
static bool
next(Scan *t)
{
    size_t n = long_bracket(t, t->p);
    t->bitwise = false;
    t->cost[TOKENS] += TOKEN_STEPS;
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

static SourceFacts
facts_of(const Scan *t, int trap)
{
    SourceFacts f = {.trap = trap};
    i64 most = -1;
    for (int i = 0; i < NCOSTS; i++) {
        f.work += t->cost[i];
        if (t->cost[i] > most)
            f.most = cost_text[i];
        most = t->cost[i] > most ? t->cost[i] : most;
    }
    return f;
}

SourceFacts
source_facts(const char *text, size_t len)
{
    Scan t = {.p = text, .text = text, .end = text + len, .line = 1};
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
    return facts_of(&t, t.constants > CONSTANTS ? line : 0);
}
