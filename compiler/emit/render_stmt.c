/* The writer of statements: each statement becomes one text of the target's table. */
#include "emit.h"

const char *
emit_value(const Writer *w, const Stmt *s, const char *times)
{
    if (s->kind == ST_LET && s->other)
        return arena_printf(w->arena, ex_as_var(s->other) < 0 ? "%s%s(%s)" : "%s%s%s",
                            writer_expr(w, s->value), w->sp.op[s->rest ? OP_MOD : OP_DIV],
                            writer_expr(w, s->other));
    if (!s->nfactors)
        return writer_expr(w, s->value);
    Buf b = buf_new(w->arena);
    for (int i = 0; i < s->nfactors; i++)
        buf_printf(&b, "%s%s", i ? times : "", writer_expr(w, s->factor[i]));
    return b.s;
}

static const char *
argument(const Writer *w, const Arg *a)
{
    if (!a->value) {
        const char *hex = arena_printf(w->arena, "%llx", (unsigned long long)a->pattern);
        return writer_text(w, "pattern", &(Slot){"hex", hex}, 1);
    }
    if (a->bits)
        return writer_text(w, "pattern_of", &(Slot){"value", writer_expr(w, a->value)}, 1);
    if (!a->buffer)
        return writer_expr(w, a->value);
    if (ex_is(a->value, 0))
        return a->buffer;
    Slot s[] = {{"buffer", a->buffer}, {"value", writer_expr(w, a->value)}};
    return writer_text(w, "buffer", s, LEN(s));
}

static void
put_call(Writer *w, const Stmt *s)
{
    Buf args = buf_new(w->arena);
    for (int i = 0; i < s->nargs; i++)
        buf_printf(&args, "%s%s", i ? ", " : "", argument(w, &s->arg[i]));
    Slot slot[] = {{"symbol", s->kernel ? s->kernel->symbol : s->text}, {"args", args.s}};
    writer_put(w, "call", slot, LEN(slot));
}

/* The number of iterations of a loop to a bound. */
static const char *
iterations_of(const Writer *w, const Stmt *s)
{
    const Ex *x = ex_add(w->e, s->bound, ex_const(w->e, s->step - 1));
    x = ex_div(w->e, x, s->step);
    const char *text = writer_expr(w, x);
    return ex_as_var(x) < 0 ? arena_printf(w->arena, "(%s)", text) : text;
}

static void
put_for(Writer *w, const Stmt *s)
{
    i64 n = s->count / s->step + (s->count % s->step != 0);
    bool constant = !s->bound || ex_is_const(s->bound);
    Slot slot[] = {{"name", s->text},
                   {"count", constant ? writer_number(w, s->count)
                                      : writer_expr(w, s->bound)},
                   {"step", writer_number(w, s->step)},
                   {"iterations", constant ? writer_number(w, n) : iterations_of(w, s)},
                   {"outer", writer_expr(w, s->outer)}};
    const char *shared = s->inner ? s->step > 1 ? "for_inner_step" : "for_inner"
                         : s->outer ? "for_outer"
                         : s->step > 1 ? "for_split_step" : "for_split";
    writer_put(w, s->split ? shared : s->step > 1 ? "for_step" : "for_open", slot,
               LEN(slot));
}

/* A kind of statement: the field with its text, or a function, and the field that closes
 * its body. */
static const struct {
    const char *field, *close;
    void (*put)(Writer *w, const Stmt *s);
} kinds[] = {
    [ST_COMMENT] = {.field = "comment"},
    [ST_FOR] = {.put = put_for, .close = "for_close"},
    [ST_ALONE] = {.field = "alone_open", .close = "alone_close"},
    [ST_FENCE] = {.field = "fence"},
    [ST_CALL] = {.put = put_call},
    [ST_LET] = {.field = "let"},
    [ST_SET] = {.field = "set"},
    [ST_SET_UPPER] = {.field = "set_upper"},
    [ST_CHECK] = {.field = "check"},
    [ST_SAME] = {.field = "same"},
    [ST_UNUSED] = {.field = "unused"},
    [ST_RETURN] = {.field = "ret"},
    [ST_WHEN] = {.field = "when_open", .close = "when_close"},
    [ST_REFUSE] = {.field = "refuse"},
    [ST_SIZE] = {.field = "size"},
    [ST_TIMES] = {.field = "times"},
    [ST_ROUND] = {.field = "round"},
    [ST_FITS] = {.field = "fits"},
    [ST_BYTES] = {.field = "bytes"},
    [ST_LOOKUP] = {.field = "lookup"},
    [ST_TABLE] = {.field = "table"},
    [ST_NUMBERS] = {.field = "numbers"},
    [ST_DIVISOR] = {.field = "divisor"},
};

static void
put_text(Writer *w, const Stmt *s)
{
    Slot slot[] = {
        {"name", s->text ? s->text : ""},
        {"text", s->text ? s->text : ""},
        {"array", s->array ? s->array : ""},
        {"value", emit_value(w, s, "*")},
        {"condition", s->kind == ST_WHEN ? writer_above(w, s->value) : ""},
        {"other", writer_expr(w, s->other)},
        {"count", writer_number(w, s->count)},
        {"index", writer_number(w, s->count)},
        {"least", writer_number(w, s->least)},
        {"most", s->other ? writer_expr(w, s->other) : writer_number(w, s->most)},
    };
    writer_put(w, kinds[s->kind].field, slot, LEN(slot));
}

void
render_body(Writer *w, const Stmt *s)
{
    for (; s; s = s->next) {
        if (kinds[s->kind].put)
            kinds[s->kind].put(w, s);
        else
            put_text(w, s);
        if (!kinds[s->kind].close)
            continue;
        w->b->indent++;
        render_body(w, s->body);
        w->b->indent--;
        writer_put(w, kinds[s->kind].close, NULL, 0);
    }
}
