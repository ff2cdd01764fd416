/* Prints kernels: each statement with one entry of the target's table. */
#include <string.h>

#include "grid_args.h"
#include "grid_render.h"

typedef struct {
    const Target *t;
    const GridUnit *u;
    Arena *arena;
    Buf *b;
    Spelling sp;
    unsigned width[SPACE_SHARED + 1];      /* set of access widths, as bits */
} Renderer;

static void
put(Renderer *r, const char *field, const Slot *slot, int n)
{
    buf_line(r->b, "%s", render_line(r->arena, target_text(r->t, field), slot, n));
}

static const char *
number(Renderer *r, i64 v)
{
    return arena_printf(r->arena, "%lld", (long long)v);
}

/* A number as an index. */
static const char *
literal(Renderer *r, i64 v)
{
    return arena_printf(r->arena, "%lld%s", (long long)v, r->sp.suffix);
}

static const char *
expression(Renderer *r, const Ex *x)
{
    return ex_spelled(r->arena, x, r->u->e, &r->sp);
}

static const char *
index_type(Renderer *r)
{
    return target_text(r->t, r->u->wide ? "index_wide" : "index");
}

static const char *
type_of(Renderer *r, int width)
{
    return target_text(r->t, arena_printf(r->arena, "type%d", width));
}

/* The text of a block's number. */
static const char *
block_number(Renderer *r, const Ex *x)
{
    return ex_is_const(x) ? literal(r, x->base) : expression(r, x);
}

static void put_stmt(Renderer *r, const GridStmt *s);
static void put_body(Renderer *r, const GridStmt *s);

static void
put_block(Renderer *r, const GridStmt *s, const char *close)
{
    r->b->indent++;
    put_body(r, s->body);
    r->b->indent--;
    put(r, close, NULL, 0);
}

static void
open_box(Renderer *r, const GridStmt *s)
{
    bool rows = r->u->rows, only = !r->u->body->next && !rows;
    bool start = ex_is_const(s->first) && s->first->base == 0;
    const char *block = target_text(r->t, rows ? "grid_block_rows" : "grid_block");
    Slot slot[] = {{"text", s->name}, {"type", index_type(r)}, {"block", block},
                   {"first", block_number(r, s->first)},
                   {"end", block_number(r, s->end)}};
    put(r, "comment", slot, LEN(slot));
    put(r, only ? "box_only" : start ? "box_first" : "box_open", slot, LEN(slot));
    r->b->indent++;
    if (!ex_is_const(s->blocks) || s->blocks->base > 1)
        put(r, start ? "block_first" : "block", slot, LEN(slot));
}

static void
close_box(Renderer *r)
{
    r->b->indent--;
    put(r, "box_close", NULL, 0);
}

/* Prints phase number n of the box; before the first phase, also the statements in front
 * of it.  False if the box has fewer phases. */
static bool
put_phase(Renderer *r, const GridStmt *box, int n)
{
    const GridStmt *s = box->body;
    for (int i = 0; s && (s->kind != G_PHASE || i < n); s = s->next)
        i += s->kind == G_PHASE;
    if (!s)
        return false;
    open_box(r, box);
    for (const GridStmt *let = box->body; let && let->kind != G_PHASE; let = let->next)
        if (let->kind != G_BARRIER)
            put_stmt(r, let);
    put_stmt(r, s);
    close_box(r);
    return true;
}

/* Prints each phase for all boxes before the next phase.  So all threads reach a barrier,
 * and none is in a branch, as OpenCL and GLSL require. */
static void
put_boxes(Renderer *r)
{
    bool more = true;
    if (!r->u->body->next) {
        open_box(r, r->u->body);
        put_body(r, r->u->body->body);
        close_box(r);
        return;
    }
    for (int n = 0; more; n++) {
        size_t before = r->b->len;
        if (n)
            put(r, "barrier", NULL, 0);
        more = false;
        for (const GridStmt *box = r->u->body; box; box = box->next)
            more |= put_phase(r, box, n);
        if (!more)
            r->b->s[r->b->len = before] = 0;
    }
}

static void
put_when(Renderer *r, const GridStmt *s)
{
    Buf b = buf_new(r->arena);
    for (int i = 0; i < s->nvalues; i++)
        buf_printf(&b, "%s%s < %s", i ? " && " : "", expression(r, s->value[i]),
                   expression(r, s->bound[i]));
    if (s->same[0])
        buf_printf(&b, "%s%s == %s", s->nvalues ? " && " : "", expression(r, s->same[0]),
                   expression(r, s->same[1]));
    put(r, "when_open", &(Slot){"text", b.s}, 1);
    put_block(r, s, "when_close");
}

/* The value of a statement: its word, or a vector of its words. */
static const char *
value_of(Renderer *r, const GridStmt *s)
{
    if (s->nwords == 1)
        return s->word[0];
    Slot slot[] = {{"x", s->word[0]}, {"y", s->word[1]}, {"z", s->word[2]},
                   {"w", s->word[3]}};
    const char *field = s->nwords == 2 ? "vector2" : "vector4";
    return render_line(r->arena, target_text(r->t, field), slot, s->nwords);
}

/* The width in which shared memory is declared: that of all accesses, or a word if they
 * differ. */
static int
shared_width(const Renderer *r)
{
    unsigned w = r->width[SPACE_SHARED];
    return w & (w - 1) ? 4 : (int)w;
}

/* The name of the table's field for accesses to shared memory.  With the suffix _n an
 * access takes n of the units in which shared memory is declared. */
static const char *
in_parts(Renderer *r, const char *field, int width)
{
    int n = width / shared_width(r);
    const char *parts = arena_printf(r->arena, "%s_%d", field, n);
    return n > 1 && target_text(r->t, parts) ? parts : field;
}

static const char *
access(Renderer *r, const char *field, const Ex *at, int width)
{
    Slot slot[] = {{"index", expression(r, at)}, {"type", type_of(r, width)},
                   {"width", number(r, width)}};
    return render_line(r->arena, target_text(r->t, field), slot, LEN(slot));
}

static void
put_load(Renderer *r, const GridStmt *s)
{
    const char *field = s->space == SPACE_SRC ? "load"
                                              : in_parts(r, "load_shared", s->width);
    Slot slot[] = {{"name", s->name}, {"type", type_of(r, s->width)},
                   {"value", access(r, field, s->value[0], s->width)}};
    put(r, s->declares ? "constant" : "assign", slot, LEN(slot));
}

/* A value of zeros. */
static const char *
zero(Renderer *r, int width)
{
    GridStmt s = {.word = {"0u", "0u", "0u", "0u"}, .nwords = width > 4 ? width / 4 : 1};
    return value_of(r, &s);
}

static void
put_word(Renderer *r, const GridStmt *s)
{
    Slot slot[] = {{"type", type_of(r, s->width < 4 ? 4 : s->width)}, {"name", s->name},
                   {"value", s->value[0] ? access(r, "load_dst", s->value[0], s->width)
                                         : zero(r, s->width)}};
    put(r, "variable", slot, LEN(slot));
}

static void
put_bits(Renderer *r, const GridStmt *s)
{
    const char *value = s->word[0];
    if (s->value[1])
        value = arena_printf(r->arena, "(%s >> (%s) & %uu)",
                             access(r, "load", s->value[1], s->width),
                             expression(r, s->value[2]), s->pattern);
    Slot slot[] = {{"name", s->name}, {"value", value}, {"type", type_of(r, 4)},
                   {"at", expression(r, s->value[0])},
                   {"mask", arena_printf(r->arena, "%uu", s->pattern)}};
    put(r, "put", slot, LEN(slot));
}

static void
put_store(Renderer *r, const GridStmt *s)
{
    const char *value = value_of(r, s);
    if (s->width < 4)
        value = arena_printf(r->arena, "(%s)%s", type_of(r, s->width), value);
    Slot slot[] = {{"index", expression(r, s->value[0])}, {"type", type_of(r, s->width)},
                   {"width", number(r, s->width)}, {"value", value}};
    put(r, s->space == SPACE_SHARED ? in_parts(r, "store_shared", s->width) : "store",
        slot, LEN(slot));
}

static void
put_divide(Renderer *r, const GridStmt *s)
{
    const char *by = ex_var_name(r->u->e, ex_as_var(s->value[1])) + 1;
    Slot slot[] = {{"value", expression(r, s->value[0])},
                   {"multiplier", arena_printf(r->arena, "M%s", by)},
                   {"shift", arena_printf(r->arena, "T%s", by)}};
    Slot more[] = {{"name", s->name}, {"type", index_type(r)},
                   {"value", render_line(r->arena, target_text(r->t, "divide"), slot,
                                         LEN(slot))}};
    put(r, "constant", more, LEN(more));
}

static void
put_permute(Renderer *r, const GridStmt *s)
{
    const char *field = s->kind == G_PERMUTE ? "permute"
                        : s->pattern ? "nibbles_high" : "nibbles_low";
    Slot slot[] = {{"x", s->word[0]}, {"y", s->word[1]},
                   {"pattern", arena_printf(r->arena, "0x%04x", s->pattern)}};
    Slot more[] = {{"name", s->name}, {"type", type_of(r, 4)},
                   {"value", render_line(r->arena, target_text(r->t, field), slot,
                                         LEN(slot))}};
    put(r, "constant", more, LEN(more));
}

static void
put_stmt(Renderer *r, const GridStmt *s)
{
    Slot slot[] = {{"name", s->name ? s->name : ""}, {"count", number(r, s->count)},
                   {"type", s->kind == G_ARRAY ? type_of(r, s->width) : index_type(r)},
                   {"value", s->value[0] ? expression(r, s->value[0]) : ""},
                   {"threads", number(r, GRID_THREADS)}};
    switch (s->kind) {
    case G_BOX:     break;
    case G_WHEN:    put_when(r, s); break;
    case G_DIVIDE:  put_divide(r, s); break;
    case G_LOAD:    put_load(r, s); break;
    case G_WORD:    put_word(r, s); break;
    case G_PUT:     put_bits(r, s); break;
    case G_SET:
        put(r, "assign", (Slot[]){{"name", s->name}, {"value", value_of(r, s)}}, 2);
        break;
    case G_STORE:   put_store(r, s); break;
    case G_PERMUTE:
    case G_NIBBLES: put_permute(r, s); break;
    case G_BARRIER: put(r, "barrier", NULL, 0); break;
    case G_LET:     put(r, "constant", slot, LEN(slot)); break;
    case G_ARRAY:   put(r, "array", slot, LEN(slot)); break;
    case G_PHASE:
        put(r, "phase_open", slot, LEN(slot));
        put_block(r, s, "phase_close");
        break;
    case G_FOR:
        put(r, "for_open", slot, LEN(slot));
        put_block(r, s, "for_close");
        break;
    }
}

static void
put_body(Renderer *r, const GridStmt *s)
{
    for (; s; s = s->next)
        put_stmt(r, s);
}

/* Finds the widths of the accesses to each memory. */
static void
find_widths(Renderer *r, const GridStmt *s)
{
    for (; s; s = s->next) {
        bool is_access = s->kind == G_LOAD || s->kind == G_STORE ||
                         (s->kind == G_WORD && s->value[0]) ||
                         (s->kind == G_PUT && s->value[1]);
        if (is_access)
            r->width[s->space] |= (unsigned)s->width;
        find_widths(r, s->body);
    }
}

static void
put_shared(Renderer *r, const char *field)
{
    int width = shared_width(r);
    Slot slot[] = {{"vectors", number(r, r->u->shared / GRID_VECTOR)},
                   {"type", type_of(r, width)},
                   {"count", literal(r, r->u->shared / width)}};
    put(r, field, slot, LEN(slot));
}

/* Prints the declarations in front of the function that languages without pointers need:
 * one for each width in which a buffer is accessed, and one for shared memory. */
static void
put_declarations(Renderer *r)
{
    static const struct { Space space; const char *field, *binding; } buffers[] = {
        {SPACE_DST, "buffer_dst", "binding_dst"},
        {SPACE_SRC, "buffer_src", "binding_src"},
    };
    for (int i = 0; i < LEN(buffers); i++)
        for (int w = 1; w <= 16 && target_text(r->t, buffers[i].field); w *= 2) {
            Slot slot[] = {{"type", type_of(r, w)}, {"width", number(r, w)},
                           {"binding", target_text_or(r->t, buffers[i].binding, "")}};
            if (r->width[buffers[i].space] & (unsigned)w)
                put(r, buffers[i].field, slot, LEN(slot));
        }
    if (r->u->shared && target_text(r->t, "shared_in_file"))
        put_shared(r, "shared_in_file");
    buf_add(r->b, target_text(r->t, "buffer_dst") ? "\n" : "");
}

static void
put_value(Renderer *r, const char *letter, int arg, int at)
{
    Slot slot[] = {{"type", index_type(r)}, {"index", number(r, at)},
                   {"name", arena_printf(r->arena, "%s%d", letter, arg)}};
    put(r, "value", slot, LEN(slot));
}

/* Prints definitions of the values from the host; for divisors also the multiplier and the
 * shift. */
static void
put_values(Renderer *r)
{
    for (int i = 0; i < r->u->nargs; i++) {
        int at = grid_value_at(r->u, i);
        if (r->u->arg[i].plain)
            put_value(r, "S", i, at);
        if (i < r->u->ndivisors) {
            put_value(r, "M", i, at + 1);
            put_value(r, "T", i, at + 2);
        }
    }
}

static void
put_kernel(Renderer *r, const Slot *slot, int n)
{
    bool fixed = plan_is_fixed(r->u->plan);
    const char *open = fixed ? "kernel_open" : "runtime_kernel";
    put(r, "comment", &(Slot){"text", r->u->note}, 1);
    buf_add(r->b, render_line(r->arena, target_text(r->t, open), slot, n));
    r->b->indent++;
    if (r->u->shared && !target_text(r->t, "shared_in_file"))
        put_shared(r, "shared");
    put_values(r);
    put_boxes(r);
    r->b->indent--;
    const char *close = fixed ? "close" : "runtime_close";
    buf_add(r->b, render_line(r->arena, target_text(r->t, close), slot, n));
}

const char *
grid_render(const Target *t, const GridUnit *u)
{
    Arena *a = ex_arena(u->e);
    Buf all = buf_new(a), kernel = buf_new(a);
    bool fixed = plan_is_fixed(u->plan);
    Renderer r = {.t = t, .u = u, .arena = a, .b = &kernel};
    r.sp = target_spelling(t);
    Slot slot[] = {{"name", u->name}, {"threads", number(&r, GRID_THREADS)},
                   {"blocks", fixed ? number(&r, u->blocks->base) : ""},
                   {"values", number(&r, grid_room(u))}, {"type", index_type(&r)},
                   {"binding", target_text_or(t, "binding_values", "")}};
    const char *open = target_text_or(t, fixed ? "file_open" : "runtime_file", "");
    find_widths(&r, u->body);
    put_kernel(&r, slot, LEN(slot));
    r.b = &all;
    buf_add(&all, render_line(a, open, slot, LEN(slot)));
    render_head(&all, t, u->head);
    buf_add(&all, target_file(t, "prologue"));
    render_helpers(&all, t, kernel.s);
    buf_add(&all, "\n");
    put_declarations(&r);
    buf_addn(&all, kernel.s, kernel.len);
    if (!fixed)
        grid_put_host(&all, t, u);
    return all.s;
}
