/* Writes statements: each with one entry of the target's table. */
#include "grid_parts.h"

const char *
grid_type(const Writer *w, int width)
{
    return target_text(w->t, arena_printf(w->arena, "type%d", width));
}

const char *
grid_conditions(const Writer *w, const GridStmt *s, const char *and)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < s->nvalues; i++)
        buf_printf(&b, "%s%s < %s", i ? and : "", writer_expr(w, s->value[i]),
                   writer_expr(w, s->bound[i]));
    if (s->same[0])
        buf_printf(&b, "%s%s == %s", s->nvalues ? and : "", writer_expr(w, s->same[0]),
                   writer_expr(w, s->same[1]));
    return b.s;
}

static void
put_when(GridWriter *g, const GridStmt *s)
{
    const char *text = grid_conditions(&g->w, s, " && ");
    writer_put(&g->w, "when_open", &(Slot){"text", text}, 1);
}

/* The value of a statement: its word, or a vector of its words. */
static const char *
value_of(const Writer *w, const GridStmt *s)
{
    if (s->nwords == 1)
        return s->word[0];
    Slot slot[] = {{"x", s->word[0]}, {"y", s->word[1]}, {"z", s->word[2]},
                   {"w", s->word[3]}};
    return writer_text(w, s->nwords == 2 ? "vector2" : "vector4", slot, s->nwords);
}

/* The name of the table's field for accesses to shared memory.  With the suffix _n an
 * access takes n of the units in which shared memory is declared. */
static const char *
in_parts(const GridWriter *g, const char *field, int width)
{
    int n = width / g->shared;
    const char *parts = arena_printf(g->w.arena, "%s_%d", field, n);
    return n > 1 && target_text(g->w.t, parts) ? parts : field;
}

/* The field for the access of s to its memory.  The tile of a fragment may have fields of
 * its own, for languages in which its pointer has another type than those of buffers. */
static const char *
access_field(const GridWriter *g, const GridStmt *s)
{
    static const char *const fields[][2] = {
        [SPACE_SRC] = {"load", NULL}, [SPACE_DST] = {"load_dst", "store"},
        [SPACE_SHARED] = {"load_shared", "store_shared"},
        [SPACE_TILE] = {"load_tile", "store_tile"}};
    bool store = s->kind == G_STORE;
    const char *field = fields[s->space][store];
    if (s->space == SPACE_SHARED)
        return in_parts(g, field, s->width);
    return target_text(g->w.t, field) ? field : store ? "store" : "load";
}

/* An index with negative terms is written as a signed number.  Compilers for GPUs, nvcc 13.0
 * among them, may add a constant after they have extended a sum of 32 bits to 64: what has
 * wrapped below 0 then is an address 2^32 elements off. */
static const char *
whole_index(const GridWriter *g, Space space, const Ex *at)
{
    const Writer *w = &g->w;
    const char *index = writer_expr(w, at);
    bool buffer = space != SPACE_SHARED && (g->narrow || space == SPACE_TILE);
    return buffer && grid_may_wrap(at) && target_text(w->t, "index_signed")
               ? writer_text(w, "index_signed", &(Slot){"index", index}, 1) : index;
}

/* An index into a buffer or shared memory.  What the unrolled loop and constants add stands
 * apart, in 64 bits for a buffer: then it is a part of the instruction, which a sum of 32 bits
 * that may wrap cannot be.  What they change by a xor stands apart too, and the rest is computed
 * once for all iterations. */
static const char *
index_of(const GridWriter *g, Space space, const Ex *at)
{
    const Writer *w = &g->w;
    GridIndex x = grid_index_apart(w->e, at, g->loop);
    bool wide = space != SPACE_SHARED && g->narrow && target_text(w->t, "index_more") &&
                !ex_is_const(x.rest) && !ex_is(x.more, 0);
    if (ex_is(x.flips, 0) && !wide)
        return whole_index(g, space, at);
    const char *index = writer_expr(w, x.rest), *more = writer_expr(w, x.more);
    if (!ex_is(x.flips, 0))
        index = arena_printf(w->arena, "((%s) %s (%s))", index, w->sp.op[OP_XOR],
                             writer_expr(w, x.flips));
    if (ex_is(x.more, 0))
        return index;
    Slot slot[] = {{"index", index}, {"more", more}};
    return wide ? writer_text(w, "index_more", slot, LEN(slot))
                : arena_printf(w->arena, "%s + %s", index, more);
}

static const char *
access(const GridWriter *g, const char *field, Space space, const Ex *at, int width)
{
    const Writer *w = &g->w;
    Slot slot[] = {{"index", index_of(g, space, at)}, {"type", grid_type(w, width)},
                   {"width", writer_number(w, width)}};
    return writer_text(w, field, slot, LEN(slot));
}

static void
put_load(GridWriter *g, const GridStmt *s)
{
    const char *value = access(g, access_field(g, s), s->space, s->value[0], s->width);
    Slot slot[] = {{"name", s->name}, {"type", grid_type(&g->w, s->width)},
                   {"value", value}};
    writer_put(&g->w, s->declares ? "constant" : "assign", slot, LEN(slot));
}

static void
put_store(GridWriter *g, const GridStmt *s)
{
    const char *type = grid_type(&g->w, s->width), *value = value_of(&g->w, s);
    if (s->width < 4)
        value = arena_printf(g->w.arena, "(%s)%s", type, value);
    Slot slot[] = {{"index", index_of(g, s->space, s->value[0])}, {"type", type},
                   {"width", writer_number(&g->w, s->width)}, {"value", value}};
    writer_put(&g->w, access_field(g, s), slot, LEN(slot));
}

/* A value of zeros. */
static const char *
zero(const Writer *w, int width)
{
    GridStmt s = {.word = {"0u", "0u", "0u", "0u"}, .nwords = width > 4 ? width / 4 : 1};
    return value_of(w, &s);
}

/* Bits of the value of an access: those of the mask, from bit `at` on. */
static const char *
bits_of(const Writer *w, const char *value, const Ex *at, uint32_t mask)
{
    return arena_printf(w->arena, "(%s >> (%s)) & %uu", value, writer_expr(w, at), mask);
}

static void
put_word(GridWriter *g, const GridStmt *s)
{
    const Writer *w = &g->w;
    const char *type = grid_type(w, s->width < 4 ? 4 : s->width);
    const char *value = s->value[0] ? access(g, access_field(g, s), s->space, s->value[0],
                                             s->width)
                                    : zero(w, s->width);
    if (s->value[1])
        value = bits_of(w, arena_printf(w->arena, "(%s)%s", type, value), s->value[1],
                        s->pattern);
    Slot slot[] = {{"type", type}, {"name", s->name}, {"value", value}};
    writer_put(&g->w, "variable", slot, LEN(slot));
}

static void
put_set(GridWriter *g, const GridStmt *s)
{
    Slot slot[] = {{"name", s->name}, {"value", value_of(&g->w, s)}};
    writer_put(&g->w, "assign", slot, LEN(slot));
}

static void
put_bits(GridWriter *g, const GridStmt *s)
{
    const Writer *w = &g->w;
    const char *value = s->word[0];
    if (s->value[1])
        value = arena_printf(w->arena, "(%s)",
                             bits_of(w, access(g, "load", SPACE_SRC, s->value[1], s->width),
                                     s->value[2], s->pattern));
    Slot slot[] = {{"name", s->name}, {"value", value}, {"type", grid_type(w, 4)},
                   {"at", writer_expr(w, s->value[0])},
                   {"mask", arena_printf(w->arena, "%uu", s->pattern)}};
    writer_put(&g->w, "put", slot, LEN(slot));
}

static void
put_divide(GridWriter *g, const GridStmt *s)
{
    Arena *a = g->w.arena;
    const char *by = ex_var_name(g->w.e, ex_as_var(s->value[1])) + 1;
    Slot slot[] = {{"value", writer_expr(&g->w, s->value[0])},
                   {"multiplier", arena_printf(a, "M%s", by)},
                   {"shift", arena_printf(a, "T%s", by)}};
    Slot let[] = {{"name", s->name}, {"type", g->index},
                  {"value", writer_text(&g->w, "divide", slot, LEN(slot))}};
    writer_put(&g->w, "constant", let, LEN(let));
}

/* Halves of groups of 2 or 4 bits. */
static const char *
halves_of(const Writer *w, const GridStmt *s)
{
    uint32_t low = s->count == 1 ? 0x55555555 : 0x33333333;
    const char *x = s->word[0], *y = s->word[1];
    return s->pattern ? arena_printf(w->arena, "((%s >> %d) & 0x%xu) | (%s & 0x%xu)", x,
                                     (int)s->count, low, y, ~low)
                      : arena_printf(w->arena, "(%s & 0x%xu) | ((%s & 0x%xu) << %d)", x, low,
                                     y, low, (int)s->count);
}

/* A word made of two. */
static void
put_of_two(GridWriter *g, const GridStmt *s)
{
    const Writer *w = &g->w;
    const char *field = s->kind == G_PERMUTE ? "permute" : s->kind == G_FUNNEL ? "funnel"
                        : s->pattern ? "nibbles_high" : "nibbles_low";
    Slot slot[] = {{"x", s->word[0]}, {"y", s->word[1]},
                   {"pattern", arena_printf(w->arena, "0x%04x", s->pattern)},
                   {"at", writer_expr(w, s->value[0])}};
    const char *value = s->kind == G_HALVES && s->count < 4 ? halves_of(w, s)
                        : writer_text(w, field, slot, LEN(slot));
    Slot let[] = {{"name", s->name}, {"type", grid_type(w, 4)}, {"value", value}};
    writer_put(&g->w, "constant", let, LEN(let));
}

static void
put_lookup(GridWriter *g, const GridStmt *s)
{
    Slot slot[] = {{"name", s->name}, {"type", g->index},
                   {"array", arena_printf(g->w.arena, "I%d", s->array)},
                   {"index", writer_expr(&g->w, s->value[0])}};
    writer_put(&g->w, "lookup", slot, LEN(slot));
}

static void
put_array(GridWriter *g, const GridStmt *s)
{
    Slot slot[] = {{"name", s->name}, {"count", writer_number(&g->w, s->count)},
                   {"type", grid_type(&g->w, s->width)}};
    writer_put(&g->w, "array", slot, LEN(slot));
}

/* A kind of statement: the field with its text, or a function, and the field that closes
 * its body.  G_BOX is written by grid_render. */
static const struct {
    const char *field, *close;
    void (*put)(GridWriter *g, const GridStmt *s);
} kinds[] = {
    [G_PHASE] = {.field = "phase_open", .close = "phase_close"},
    [G_BARRIER] = {.field = "barrier"},
    [G_FOR] = {.field = "for_open", .close = "for_close"},
    [G_WHEN] = {.put = put_when, .close = "when_close"},
    [G_ELSE] = {.field = "else_open", .close = "when_close"},
    [G_LET] = {.field = "constant"},
    [G_DIVIDE] = {.put = put_divide},
    [G_LOOKUP] = {.put = put_lookup},
    [G_MOVED] = {.field = "moved_open", .close = "when_close"},
    [G_ARRAY] = {.put = put_array},
    [G_LOAD] = {.put = put_load},
    [G_STORE] = {.put = put_store},
    [G_WORD] = {.put = put_word},
    [G_SET] = {.put = put_set},
    [G_PUT] = {.put = put_bits},
    [G_PERMUTE] = {.put = put_of_two},
    [G_HALVES] = {.put = put_of_two},
    [G_FUNNEL] = {.put = put_of_two},
};

static void
put_text(GridWriter *g, const GridStmt *s)
{
    Slot slot[] = {{"name", s->name ? s->name : ""}, {"type", g->index},
                   {"count", writer_number(&g->w, s->count)},
                   {"value", writer_expr(&g->w, s->value[0])},
                   {"threads", writer_number(&g->w, GRID_THREADS)}};
    writer_put(&g->w, kinds[s->kind].field, slot, LEN(slot));
}

void
grid_write_one(GridWriter *g, const GridStmt *s)
{
    if (kinds[s->kind].put)
        kinds[s->kind].put(g, s);
    else
        put_text(g, s);
    if (!kinds[s->kind].close)
        return;
    int outer = g->loop;
    g->loop = s->kind == G_FOR ? s->var : outer;
    g->w.b->indent++;
    grid_write(g, s->body);
    g->w.b->indent--;
    g->loop = outer;
    writer_put(&g->w, kinds[s->kind].close, NULL, 0);
}

void
grid_write(GridWriter *g, const GridStmt *s)
{
    for (; s; s = s->next)
        grid_write_one(g, s);
}
