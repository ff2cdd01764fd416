/* Prints kernels through the table of a target; grid_write.c prints their statements. */
#include "grid_parts.h"

typedef struct {
    GridWriter g;
    Writer *w;            /* that of g */
    const GridUnit *u;
    unsigned width[SPACE_SHARED + 1];      /* set of access widths, as bits */
} Renderer;

/* A number as an index. */
static const char *
literal(Renderer *r, i64 v)
{
    return arena_printf(r->w->arena, "%lld%s", (long long)v, r->w->sp.suffix);
}

/* The text of a block's number. */
static const char *
block_number(Renderer *r, const Ex *x)
{
    return ex_is_const(x) ? literal(r, x->base) : writer_expr(r->w, x);
}

static void
open_box(Renderer *r, const GridStmt *s)
{
    bool rows = r->u->rows, only = !r->u->body->next && !rows;
    bool start = ex_is_const(s->first) && s->first->base == 0;
    const char *block = target_text(r->w->t, rows ? "grid_block_rows" : "grid_block");
    Slot slot[] = {{"text", s->name}, {"type", r->g.index}, {"block", block},
                   {"first", block_number(r, s->first)},
                   {"end", block_number(r, s->end)}};
    writer_put(r->w, "comment", slot, LEN(slot));
    writer_put(r->w, only ? "box_only" : start ? "box_first" : "box_open", slot,
               LEN(slot));
    r->w->b->indent++;
    if (ex_of_var(r->u->e, s->var)->f.max > 0)
        writer_put(r->w, start ? "block_first" : "block", slot, LEN(slot));
}

static void
close_box(Renderer *r)
{
    r->w->b->indent--;
    writer_put(r->w, "box_close", NULL, 0);
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
            grid_write_one(&r->g, let);
    grid_write_one(&r->g, s);
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
        grid_write(&r->g, r->u->body->body);
        close_box(r);
        return;
    }
    for (int n = 0; more; n++) {
        size_t before = r->w->b->len;
        if (n)
            writer_put(r->w, "barrier", NULL, 0);
        more = false;
        for (const GridStmt *box = r->u->body; box; box = box->next)
            more |= put_phase(r, box, n);
        if (!more)
            r->w->b->s[r->w->b->len = before] = 0;
    }
}

/* The width in which shared memory is declared: that of all accesses, or a word if they
 * differ. */
static int
shared_width(const Renderer *r)
{
    unsigned w = r->width[SPACE_SHARED];
    return w & (w - 1) ? 4 : (int)w;
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
    int width = r->g.shared;
    Slot slot[] = {{"vectors", writer_number(r->w, r->u->shared / GRID_VECTOR)},
                   {"type", grid_type(r->w, width)},
                   {"count", literal(r, r->u->shared / width)}};
    writer_put(r->w, field, slot, LEN(slot));
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
        for (int w = 1; w <= 16 && target_text(r->w->t, buffers[i].field); w *= 2) {
            Slot slot[] = {{"type", grid_type(r->w, w)},
                           {"width", writer_number(r->w, w)},
                           {"binding", target_text_or(r->w->t, buffers[i].binding, "")}};
            if (r->width[buffers[i].space] & (unsigned)w)
                writer_put(r->w, buffers[i].field, slot, LEN(slot));
        }
    if (r->u->shared && target_text(r->w->t, "shared_in_file"))
        put_shared(r, "shared_in_file");
    buf_add(r->w->b, target_text(r->w->t, "buffer_dst") ? "\n" : "");
}

static void
put_value(Renderer *r, const char *type, const char *name, int at)
{
    Slot slot[] = {{"type", type}, {"index", writer_number(r->w, at)}, {"name", name}};
    writer_put(r->w, "value", slot, LEN(slot));
}

/* Prints definitions of the values from the host; for divisors also the multiplier and the
 * shift. */
static void
put_values(Renderer *r)
{
    static const char letters[] = {'M', 'T'};
    for (int i = 0; i < r->u->nargs; i++) {
        const GridArg *x = &r->u->arg[i];
        int at = grid_value_at(r->u, i);
        if (x->plain)
            put_value(r, x->bits ? grid_type(r->w, 4) : r->g.index, x->name, at);
        for (int k = 0; i < r->u->ndivisors && k < LEN(letters); k++)
            put_value(r, r->g.index, arena_printf(r->w->arena, "%c%d", letters[k], i),
                      at + 1 + k);
    }
}

const GridFields *
grid_fields(const Plan *p)
{
    static const GridFields fields[] = {
        {{"runtime_kernel", "batch_runtime_kernel"}, {"runtime_close", "runtime_close"},
         "runtime_check_open", "runtime_check_close", "runtime_file", true},
        {{"kernel_open", "batch_kernel"}, {"close", "batch_close"},
         "check_open", "check_close", "file_open", false}};
    return &fields[p->scalars->nextents == 0];
}

const char *
grid_opening(const Plan *p, bool batch)
{
    return grid_fields(p)->open[batch];
}

static void
put_kernel(Renderer *r, const Slot *slot, int n)
{
    const GridFields *f = grid_fields(r->u->plan);
    bool batch = r->u->most.batch;
    writer_put(r->w, "comment", &(Slot){"text", r->u->note}, 1);
    if (r->u->narrays)
        writer_put(r->w, "comment", &(Slot){"text", r->u->array_note}, 1);
    writer_add(r->w, f->open[batch], slot, n);
    r->w->b->indent++;
    if (r->u->narrays)
        writer_put(r->w, "array_stop", NULL, 0);
    if (r->u->shared && !target_text(r->w->t, "shared_in_file"))
        put_shared(r, "shared");
    put_values(r);
    put_boxes(r);
    r->w->b->indent--;
    writer_add(r->w, r->u->narrays ? "array_close" : f->close[batch], slot, n);
    if (r->u->narrays)
        grid_put_check(r->w, r->u, f, slot, n);
}

const char *
grid_render(const Target *t, const GridUnit *u)
{
    Buf all = buf_new(ex_arena(u->e)), kernel = buf_new(ex_arena(u->e));
    const GridFields *f = grid_fields(u->plan);
    Renderer r = {.g = {.w = writer_new(t, u->e, &kernel), .loop = -1}, .w = &r.g.w, .u = u};
    find_widths(&r, u->body);
    r.g.index = target_text(t, u->wide ? "index_wide" : "index");
    r.g.shared = shared_width(&r);
    r.g.narrow = !u->wide;
    Slot slot[] = {{"name", u->name}, {"threads", writer_number(r.w, GRID_THREADS)},
                   {"blocks", ex_is_const(u->blocks) ? writer_number(r.w, u->blocks->base)
                                                   : ""},
                   {"values", writer_number(r.w, grid_room(u))}, {"type", r.g.index},
                   {"binding", target_text_or(t, "binding_values", "")},
                   {"arrays", grid_array_params(r.w, u)}, {"names", grid_array_names(r.w, u)},
                   {"pairs", writer_number(r.w, GRID_PAIRS)}};
    put_kernel(&r, slot, LEN(slot));
    r.w->b = &all;
    if (target_text(t, f->file))
        writer_add(r.w, f->file, slot, LEN(slot));
    writer_head(r.w, u->head, NULL, 0, kernel.s);
    put_declarations(&r);
    buf_addn(&all, kernel.s, kernel.len);
    if (f->host)
        grid_put_host(&all, t, u);
    return all.s;
}
