/* Statements as text, in the form of docs/ir/stmt.md. */
#include "emit.h"

static const char *const lines[] = {
    [ST_COMMENT] = "; ${text}",
    [ST_FOR] = "for ${text} < ${bound}${step}${split} {",
    [ST_ALONE] = "alone ${count} {",
    [ST_FENCE] = "fence",
    [ST_CALL] = "call ${kernel}(${args})",
    [ST_LET] = "let ${text} = ${value}",
    [ST_SET] = "set out[${count}] = ${value}",
    [ST_SET_UPPER] = "set out[${count}] = upper half of ${value}",
    [ST_CHECK] = "check ${least} <= ${value} <= ${most}",
    [ST_SAME] = "same ${value}, ${other}",
    [ST_UNUSED] = "unused ${text}",
    [ST_RETURN] = "return ${value}",
    [ST_WHEN] = "when ${condition} {",
    [ST_REFUSE] = "refuse unless ${least} <= ${value} <= ${most}",
    [ST_SIZE] = "size ${text} = ${value}",
    [ST_TIMES] = "times ${text}, ${value}",
    [ST_ROUND] = "round ${text}, ${count}",
    [ST_FITS] = "fits ${text}",
    [ST_BYTES] = "bytes ${text} = ${value}",
    [ST_LOOKUP] = "lookup ${text} = ${array}[${value}]",
    [ST_TABLE] = "table ${text} of ${count}",
    [ST_NUMBERS] = "numbers ${least} <= ${array}[0..${value} - 1] <= ${most}",
    [ST_DIVISOR] = "divisor out[${count}] of ${most}",
};

static const char *
arguments(const Writer *w, const Stmt *s)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < s->nargs; i++) {
        const Arg *a = &s->arg[i];
        buf_add(&b, i ? ", " : "");
        if (!a->value)
            buf_printf(&b, "0x%llx", (unsigned long long)a->pattern);
        else if (a->buffer)
            buf_printf(&b, "%s[%s]", a->buffer, writer_expr(w, a->value));
        else
            buf_add(&b, writer_expr(w, a->value));
    }
    return b.s;
}

static const char *
split_of(const Writer *w, const Stmt *s)
{
    if (!s->split)
        return "";
    if (!s->outer)
        return " split";
    return arena_printf(w->arena, " split %s %s", s->inner ? "inside" : "outside",
                        writer_expr(w, s->outer));
}

static void
put_body(Writer *w, const Stmt *s)
{
    for (; s; s = s->next) {
        const Slot slot[] = {
            {"text", s->text ? s->text : ""},
            {"array", s->array ? s->array : ""},
            {"value", emit_value(w, s, " * ")},
            {"condition", s->kind == ST_WHEN ? writer_above(w, s->value) : ""},
            {"other", writer_expr(w, s->other)},
            {"bound", s->bound ? writer_expr(w, s->bound) : writer_number(w, s->count)},
            {"step", s->step > 1 ? arena_printf(w->arena, " step %lld",
                                                (long long)s->step) : ""},
            {"split", split_of(w, s)},
            {"count", writer_number(w, s->count)},
            {"least", writer_number(w, s->least)},
            {"most", s->other ? writer_expr(w, s->other) : writer_number(w, s->most)},
            {"kernel", s->kernel ? s->kernel->name : s->text ? s->text : ""},
            {"args", arguments(w, s)},
        };
        writer_print(w, lines[s->kind], slot, LEN(slot));
        if (!s->body)
            continue;
        w->b->indent++;
        put_body(w, s->body);
        w->b->indent--;
        buf_line(w->b, "}");
    }
}

static void
put_part(Writer *w, const char *what, const Stmt *body)
{
    buf_line(w->b, "%s {", what);
    w->b->indent++;
    put_body(w, body);
    w->b->indent--;
    buf_line(w->b, "}");
}

/* How many addresses a visit has. */
static void
put_slots(Writer *w, const Unit *u)
{
    buf_line(w->b, "slots {");
    w->b->indent++;
    put_body(w, u->before);
    buf_line(w->b, "return %s", writer_expr(w, u->slots));
    w->b->indent--;
    buf_line(w->b, "}");
}

/* The parameters of a function: an inverse has an address and the extents. */
static void
put_params(Buf *b, const Unit *u)
{
    bool back = u->kind == EMIT_INVERSE || u->kind == EMIT_VISIT;
    buf_printf(b, "(%s", back ? "a" : "");
    for (int i = back ? u->nparams - u->nextents : 0; i < u->nparams; i++)
        buf_printf(b, "%s%s", i || back ? ", " : "", u->param[i]);
    buf_printf(b, ")%s", u->split ? " split" : "");
    if (u->split && u->turns > 1)
        buf_printf(b, " %lld", (long long)u->turns);
    buf_add(b, "\n");
}

const char *
emit_print(const Unit *u)
{
    static const char *const kinds[] = {
        [EMIT_RELAYOUT] = "relayout", [EMIT_OFFSET] = "offset", [EMIT_INVERSE] = "inverse",
        [EMIT_VISIT] = "visit", [EMIT_SPARSE] = "sparse"};
    Buf b = buf_new(ex_arena(u->e));
    Writer w = writer_new(NULL, u->e, &b);
    buf_printf(&b, "%s %s", kinds[u->kind], u->name);
    put_params(&b, u);
    for (const Table *t = u->table; t; t = t->next)
        buf_line(&b, "table %s of %lld", t->name, (long long)t->n);
    if (u->sizes)
        put_part(&w, "sizes", u->sizes);
    if (u->checks)
        put_part(&w, "checks", u->checks);
    if (u->slots)
        put_slots(&w, u);
    put_part(&w, "body", u->body);
    return b.s;
}
