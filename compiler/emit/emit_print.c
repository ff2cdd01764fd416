/* Statements as text, in the form of docs/ir/stmt.md. */
#include "emit.h"

typedef struct {
    const Unit *u;
    Arena *arena;
    Buf *b;
} Printer;

static const char *const lines[] = {
    [ST_COMMENT] = "; ${text}",
    [ST_FOR] = "for ${text} < ${bound}${step}${split} {",
    [ST_ALONE] = "alone ${count} {",
    [ST_FENCE] = "fence",
    [ST_CALL] = "call ${kernel}(${args})",
    [ST_LET] = "let ${text} = ${value}",
    [ST_SET] = "set out[${count}] = ${value}",
    [ST_CHECK] = "check ${least} <= ${value} <= ${most}",
    [ST_SAME] = "same ${value}, ${other}",
    [ST_UNUSED] = "unused ${text}",
    [ST_RETURN] = "return ${value}",
    [ST_WHEN] = "when ${value} > 0 {",
    [ST_REFUSE] = "refuse unless ${least} <= ${value} <= ${most}",
    [ST_SIZE] = "size ${text} = ${value}",
    [ST_TIMES] = "times ${text}, ${value}",
    [ST_ROUND] = "round ${text}, ${count}",
    [ST_FITS] = "fits ${text}",
    [ST_BYTES] = "bytes ${text} = ${value}",
    [ST_DIVISOR] = "divisor out[${count}] of ${most}",
};

static const char *
number(Printer *p, i64 v)
{
    return arena_printf(p->arena, "%lld", (long long)v);
}

/* Nothing for NULL. */
static const char *
expression(Printer *p, const Ex *x)
{
    return x ? ex_text(p->u->e, x) : "";
}

static const char *
product(Printer *p, const Stmt *s)
{
    Buf b = buf_new(p->arena);
    for (int i = 0; i < s->nfactors; i++)
        buf_printf(&b, "%s%s", i ? " * " : "", expression(p, s->factor[i]));
    return b.s;
}

static const char *
arguments(Printer *p, const Stmt *s)
{
    Buf b = buf_new(p->arena);
    for (int i = 0; i < s->nargs; i++) {
        const Arg *a = &s->arg[i];
        buf_add(&b, i ? ", " : "");
        if (!a->value)
            buf_printf(&b, "0x%llx", (unsigned long long)a->pattern);
        else if (a->buffer)
            buf_printf(&b, "%s[%s]", a->buffer, expression(p, a->value));
        else
            buf_add(&b, expression(p, a->value));
    }
    return b.s;
}

static const char *
split_of(Printer *p, const Stmt *s)
{
    if (!s->split)
        return "";
    if (!s->outer)
        return " split";
    return arena_printf(p->arena, " split %s %s", s->inner ? "inside" : "outside",
                        expression(p, s->outer));
}

static void
put_body(Printer *p, const Stmt *s)
{
    for (; s; s = s->next) {
        const Slot slot[] = {
            {"text", s->text ? s->text : ""},
            {"value", s->nfactors ? product(p, s) : expression(p, s->value)},
            {"other", expression(p, s->other)},
            {"bound", s->bound ? expression(p, s->bound) : number(p, s->count)},
            {"step", s->step > 1 ? arena_printf(p->arena, " step %s", number(p, s->step))
                                 : ""},
            {"split", split_of(p, s)},
            {"count", number(p, s->count)},
            {"least", number(p, s->least)},
            {"most", number(p, s->most)},
            {"kernel", s->kernel ? s->kernel->name : ""},
            {"args", arguments(p, s)},
        };
        buf_line(p->b, "%s", render_line(p->arena, lines[s->kind], slot, LEN(slot)));
        if (!s->body)
            continue;
        p->b->indent++;
        put_body(p, s->body);
        p->b->indent--;
        buf_line(p->b, "}");
    }
}

static void
put_part(Printer *p, const char *what, const Stmt *body)
{
    buf_line(p->b, "%s {", what);
    p->b->indent++;
    put_body(p, body);
    p->b->indent--;
    buf_line(p->b, "}");
}

const char *
emit_print(const Unit *u)
{
    static const char *const kinds[] = {
        [EMIT_RELAYOUT] = "relayout", [EMIT_OFFSET] = "offset",
        [EMIT_INVERSE] = "inverse", [EMIT_LOAD] = "load", [EMIT_STORE] = "store"};
    Buf b = buf_new(ex_arena(u->e));
    Printer p = {u, ex_arena(u->e), &b};
    buf_printf(&b, "%s %s(", kinds[u->kind], u->name);
    for (int i = 0; i < u->nparams; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", u->param[i]);
    buf_printf(&b, ")%s\n", u->split ? " split" : "");
    for (const Table *t = u->table; t; t = t->next)
        buf_line(&b, "table %s of %lld", t->name, (long long)t->n);
    if (u->sizes)
        put_part(&p, "sizes", u->sizes);
    put_part(&p, "body", u->body);
    return b.s;
}
