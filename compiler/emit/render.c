/* The writer of functions: what is around the statements of a unit. */
#include "emit.h"

/* Parameter i: an extent by `fmt`, an index array by `array`. */
static const char *
parameter(const Writer *w, const Unit *u, int i, const char *fmt, const char *array)
{
    int extents = u->nparams - u->narrays;
    int bits = i < extents ? 64 : u->array[i - extents].bits;
    Slot slot[] = {{"name", u->param[i]}, {"index", writer_number(w, i)},
                   {"bits", writer_number(w, bits)}};
    return writer_fill(w, i < extents ? fmt : array, slot, LEN(slot));
}

static const char *
parameters(const Writer *w, const Unit *u, const char *fmt, const char *array)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < u->nparams; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", parameter(w, u, i, fmt, array));
    return b.s;
}

static const char *
declared(const Writer *w, const Unit *u)
{
    return parameters(w, u, target_text(w->t, "param"), target_text(w->t, "param_array"));
}

const char *
render_params(const Writer *w, const Unit *u)
{
    return u->nparams ? declared(w, u) : target_text(w->t, "no_params");
}

const char *
render_leading(const Writer *w, const Unit *u)
{
    return u->nparams ? arena_printf(w->arena, "%s, ", declared(w, u)) : "";
}

/* n, h, w */
static const char *
arguments(const Writer *w, const Unit *u)
{
    return parameters(w, u, "${name}", "${name}");
}

/* Both texts have the slots. */
static void
put_braced(Writer *w, const char *open, const Slot *slot, int n, const Stmt *body,
           const char *close)
{
    writer_add(w, open, slot, n);
    w->b->indent++;
    render_body(w, body);
    w->b->indent--;
    writer_add(w, close, slot, n);
}

/* Tables are long, so not by a format. */
static void
add_number(Buf *b, int32_t n)
{
    char digits[16], *const end = digits + sizeof digits, *at = end;
    uint32_t left = n < 0 ? -(uint32_t)n : (uint32_t)n;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *--at = '-';
    buf_addn(b, at, (size_t)(end - at));
}

/* For the JIT: a function that receives the addresses of the constants.  To read thousands of
 * numbers takes as long as all the rest. */
static void
put_places(Writer *w, const Unit *u)
{
    i64 i = 0;
    if (!u->table)
        return;
    for (const Table *t = u->table; t; t = t->next)
        writer_put(w, "place", &(Slot){"name", t->name}, 1);
    writer_add(w, "places_open", &(Slot){"name", u->name}, 1);
    w->b->indent++;
    for (const Table *t = u->table; t; t = t->next, i++) {
        Slot slot[] = {{"name", t->name}, {"index", writer_number(w, i)}};
        writer_put(w, "place_set", slot, LEN(slot));
    }
    w->b->indent--;
    writer_add(w, "places_close", NULL, 0);
}

/* The constants, sixteen to a line. */
static void
put_tables(Writer *w, const Unit *u)
{
    for (const Table *t = u->table; t; t = t->next) {
        Slot slot[] = {{"name", t->name}, {"count", writer_number(w, t->n)}};
        writer_put(w, "table_open", slot, LEN(slot));
        w->b->indent++;
        for (i64 i = 0; i < t->n; i += 16) {
            Buf line = buf_new(w->arena);
            for (i64 k = i; k < i + 16 && k < t->n; k++) {
                buf_add(&line, k > i ? ", " : "");
                add_number(&line, t->value[k]);
            }
            buf_line(w->b, "%s%s", line.s, i + 16 < t->n ? "," : "");
        }
        w->b->indent--;
        writer_put(w, "table_close", NULL, 0);
    }
}

/* The conversion as the library calls it: one signature, with the extents in an array. */
static void
put_jit(Writer *w, const Unit *u, const Slot *slot, int n)
{
    put_places(w, u);
    if (u->sizes)
        put_braced(w, "sizes_open", slot, n, u->sizes, "close");
    writer_add(w, "jit_open", slot, n);
    w->b->indent++;
    for (int i = 0; i < u->nparams; i++)
        buf_line(w->b, "%s", parameter(w, u, i, target_text(w->t, "element"),
                                       target_text(w->t, "element_array")));
    w->b->indent--;
    if (u->sizes)
        writer_add(w, "sizes_check", slot, n);
    w->b->indent++;
    render_body(w, u->body);
    w->b->indent--;
    writer_add(w, "jit_close", slot, n);
}

/* A function and an empty line after it. */
static void
put_function(Writer *w, const char *open, const Slot *slot, int n, const Stmt *body)
{
    put_braced(w, open, slot, n, body, "close");
    buf_add(w->b, "\n");
}

/* The conversion as a file has it: the function for a part of the work if threads share it or
 * its extents are arguments, and the function for all. */
static void
put_conversion(Writer *w, const Unit *u, const Slot *slot, int n)
{
    put_tables(w, u);
    if (u->sizes)
        put_function(w, "sizes_open", slot, n, u->sizes);
    if (unit_has_part(u))
        put_function(w, "part_open", slot, n, u->body);
    writer_put(w, "comment", &(Slot){"text", u->note}, 1);
    if (u->sizes) {
        writer_add(w, "runtime", slot, n);
        put_braced(w, "sizes_check", slot, n, u->checks, "runtime_run");
    } else if (u->split) {
        const bool turns = u->turns > 1 && target_text_or(w->t, "turns", NULL);
        writer_add(w, turns ? "turns" : "parts", slot, n);
    } else {
        put_braced(w, "relayout_open", slot, n, u->body, "close");
    }
}

static void
put_relayout(Writer *w, const Unit *u, bool stand_alone)
{
    Slot slot[] = {{"name", u->name}, {"params", render_params(w, u)},
                   {"leading", render_leading(w, u)}, {"extents", arguments(w, u)},
                   {"split", writer_number(w, SPLIT_BYTES)},
                   {"turns", writer_number(w, u->turns)}};
    (stand_alone ? put_conversion : put_jit)(w, u, slot, LEN(slot));
}

/* Of EMIT_VISIT the function that it calls has another name. */
static void
put_index_function(Writer *w, const Unit *u)
{
    const int rank = u->nparams - u->nextents;
    const bool visit = u->kind == EMIT_VISIT;
    const char *name = visit ? arena_printf(w->arena, "%s_element", u->name) : u->name;
    Unit extents = *u;
    extents.param += rank;
    extents.nparams = u->nextents;
    const char *all = u->nextents ? arena_printf(w->arena, "%s, ", arguments(w, &extents)) : "";
    Slot slot[] = {{"name", name}, {"params", render_params(w, u)}, {"visit", u->name},
                   {"leading", render_leading(w, &extents)}, {"rank", writer_number(w, rank ? rank : 1)},
                   {"extents", all}, {"slots", writer_expr(w, u->slots)}};
    writer_put(w, "comment", &(Slot){"text", u->note}, 1);
    put_braced(w, u->kind == EMIT_OFFSET ? "offset_open" : "inverse_open", slot, LEN(slot),
               u->body, "index_close");
    if (visit)
        put_braced(w, "visit_open", slot, LEN(slot), u->before, "visit_close");
}

Writer
render_writer(const Target *t, const Unit *u, Buf *b)
{
    Writer w = writer_new(t, u->e, b);
    w.sp.suffix = NULL;
    return w;
}

void
render_functions(Writer *w, const Unit *u, bool stand_alone)
{
    if (u->kind == EMIT_SPARSE)
        put_braced(w, "sparse_open", &(Slot){"name", u->name}, 1, u->body, "close");
    else if (u->kind == EMIT_RELAYOUT)
        put_relayout(w, u, stand_alone);
    else
        put_index_function(w, u);
}

const char *
render_values(const Target *t, const Unit *u, int values)
{
    Buf body = buf_new(ex_arena(u->e)), all = buf_new(ex_arena(u->e));
    Writer w = render_writer(t, u, &body);
    Slot slot[] = {{"name", u->name}, {"params", render_params(&w, u)},
                   {"values", writer_number(&w, values)}};
    put_braced(&w, "values_open", slot, LEN(slot), u->body, "close");
    w.b = &all;
    writer_helpers(&w, NULL, 0, body.s);
    buf_add(&all, "\n");
    buf_addn(&all, body.s, body.len);
    return all.s;
}

const char *
render_extents(const Target *t, const Unit *u)
{
    Buf b = buf_new(ex_arena(u->e));
    Writer w = writer_new(t, u->e, &b);
    return arguments(&w, u);
}

const char *
render_parameters(const Target *t, const Unit *u)
{
    Buf b = buf_new(ex_arena(u->e));
    Writer w = writer_new(t, u->e, &b);
    return render_params(&w, u);
}
