/* Parses the text of expressions by precedence climbing over op.def. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "expr.h"

typedef struct {
    Arena *arena;
    const char *text, *s;    /* the whole text; the rest of it */
    Loc loc;
    int depth;
} Parser;

_Noreturn static void
fail(Parser *p, const char *what)
{
    diag_fatal(p->arena->diag, DIAG_SPEC, p->loc, "%s at '%.20s' in '%.100s'",
               what, p->s, p->text);
}

static void
blanks(Parser *p)
{
    while (isspace((unsigned char)*p->s))
        p->s++;
}

static bool
take(Parser *p, const char *token)
{
    blanks(p);
    size_t n = strlen(token);
    if (strncmp(p->s, token, n))
        return false;
    p->s += n;
    return true;
}

static void
expect(Parser *p, const char *token)
{
    char what[32];
    snprintf(what, sizeof what, "expected '%s'", token);
    if (!take(p, token))
        fail(p, what);
}

static const Ast *parse_level(Parser *p, int level);

static const Ast *
parse_number(Parser *p)
{
    i64 v = 0;
    for (; isdigit((unsigned char)*p->s); p->s++)
        if (!int_mul(v, 10, &v) || !int_add(v, *p->s - '0', &v))
            fail(p, "a number beyond 64 bits");
    if (isalpha((unsigned char)*p->s) || *p->s == '.' || *p->s == '_')
        fail(p, "not a whole decimal number");
    return ast_num(p->arena, v, p->loc);
}

static Op
find_call(const char *name)
{
    int op = 0;
    while (op < OP_COUNT && !(op_is_call((Op)op) && !strcmp(op_info[op].lua, name)))
        op++;
    return (Op)op;
}

static const Ast *
parse_call(Parser *p, const char *name)
{
    const Ast *x[2] = {NULL};
    Op op = find_call(name);
    if (op == OP_COUNT)
        fail(p, "not a known function");
    for (int i = 0; i < op_info[op].nargs; i++) {
        if (i)
            expect(p, ",");
        x[i] = parse_level(p, 0);
    }
    expect(p, ")");
    return ast_op(p->arena, op, x[0], x[1], p->loc);
}

static const Ast *
parse_bit(Parser *p, const Ast *x)
{
    blanks(p);
    const Ast *k = parse_number(p);
    expect(p, "]");
    if (k->num > SHIFT_MAX)
        fail(p, "a bit number beyond 61");
    return ast_bit(p->arena, x, k->num, p->loc);
}

static const Ast *
parse_name(Parser *p)
{
    char name[64];
    size_t n = 0;
    while (isalnum((unsigned char)*p->s) || *p->s == '_') {
        if (n == sizeof name - 1)
            fail(p, "a name of more than 63 letters");
        name[n++] = *p->s++;
    }
    name[n] = 0;
    if (take(p, "("))
        return parse_call(p, name);
    const Ast *x = ast_sym(p->arena, name, p->loc);
    while (take(p, "["))
        x = parse_bit(p, x);
    return x;
}

/* Reads the next operator if it has nargs operands and at least this level. */
static Op
next_op(Parser *p, int nargs, int level)
{
    blanks(p);
    for (int op = 0; op < OP_COUNT; op++) {
        const OpInfo *o = &op_info[op];
        if (o->nargs == nargs && o->level < LEVEL_CALL && o->level >= level &&
            take(p, o->lua))
            return (Op)op;
    }
    return OP_COUNT;
}

static const Ast *
parse_primary(Parser *p)
{
    blanks(p);
    if (isdigit((unsigned char)*p->s))
        return parse_number(p);
    if (isalpha((unsigned char)*p->s) || *p->s == '_')
        return parse_name(p);
    Op op = next_op(p, 1, 0);
    if (op != OP_COUNT)
        return ast_op(p->arena, op, parse_level(p, op_info[op].level), NULL, p->loc);
    if (!take(p, "("))
        fail(p, "expected an expression");
    const Ast *x = parse_level(p, 0);
    expect(p, ")");
    return x;
}

static const Ast *
parse_level(Parser *p, int level)
{
    Op op;
    if (++p->depth > AST_MAX_DEPTH)
        fail(p, "nested too deeply");
    const Ast *x = parse_primary(p);
    while ((op = next_op(p, 2, level)) != OP_COUNT)
        x = ast_op(p->arena, op, x, parse_level(p, op_info[op].level + 1), p->loc);
    p->depth--;
    return x;
}

const Ast *
ast_parse(Arena *a, const char *text, Loc loc)
{
    Parser p = {.arena = a, .text = text, .s = text, .loc = loc};
    const Ast *x = parse_level(&p, 0);
    blanks(&p);
    if (*p.s)
        fail(&p, "unexpected text");
    return x;
}
