/* Prints loads and stores of a fragment as functions in the target's language. */
#include "frag.h"

/* A comment with the number of accesses by width and their cost. */
static const char *
note(const Frag *g)
{
    Buf b = buf_new(ex_arena(g->e));
    int sum[4] = {0};
    buf_printf(&b, "%s the %d word%s of lane t of %lld, fragment f of %lld:",
               g->store ? "stores" : "loads", g->words, g->words == 1 ? "" : "s",
               (long long)g->lanes, (long long)g->fragments);
    for (int width = 16; width; width /= 2) {
        int n = 0;
        for (int k = 0; k < g->naccesses; k++)
            n += g->access[k].width == width;
        if (n)
            buf_printf(&b, " %d x %d bytes,", n, width);
    }
    for (int k = 0; k < g->naccesses; k++) {
        const FragAccess *a = &g->access[k];
        sum[0] += a->wavefronts;
        sum[1] += a->least_wavefronts;
        sum[2] += a->sectors;
        sum[3] += a->least_sectors;
    }
    buf_printf(&b, " the tile aligned to %d; of all lanes %d wavefronts in shared "
               "memory, %d at best, or %d sectors in global, %d at best", g->align,
               sum[0], sum[1], sum[2], sum[3]);
    return b.s;
}

/* Marks the parameters f and t that no statement reads. */
static void
put_unused(Writer *w, const Frag *g, const GridStmt *body)
{
    bool *used = arena_array(w->arena, bool, ex_nvars(g->e));
    int var[] = {g->fragment, g->lane};
    grid_vars(body, used);
    for (int i = 0; i < LEN(var); i++)
        if (!used[var[i]])
            writer_put(w, "unused", &(Slot){"name", ex_var_name(g->e, var[i])}, 1);
}

static const char *
kind_of(const Frag *g)
{
    return g->store ? "store" : "load";
}

/* The lines of the comment at the top. */
static const char *
head(const Target *t, const Frag *g, const Request *rq)
{
    Arena *a = ex_arena(g->e);
    Buf b = buf_new(a);
    const Layout *from = g->store ? g->frag : g->tile, *to = g->store ? g->tile : g->frag;
    buf_printf(&b, "%s\n", emit_command(a, t, rq, from->ref, to->ref, kind_of(g)));
    emit_layout_head(&b, "from", from);
    emit_layout_head(&b, "to", to);
    return b.s;
}

const char *
frag_render(const Target *t, const Frag *g, const Request *rq)
{
    Arena *a = ex_arena(g->e);
    Buf b = buf_new(a);
    GridWriter out = {.w = writer_new(t, g->e, &b), .index = target_text(t, "index")};
    const char *open = g->store ? "tile_store_open" : "tile_load_open";
    const char *name = emit_kind_name(a, t, rq, kind_of(g));
    if (!target_text(t, open))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "target '%s' has no tile loads: the table lacks '%s'", target_name(t),
                   open);
    GridStmt *body = frag_statements(g);
    writer_head(&out.w, head(t, g, rq), NULL, 0, "");
    writer_put(&out.w, "comment", &(Slot){"text", note(g)}, 1);
    writer_add(&out.w, open, &(Slot){"name", name}, 1);
    b.indent++;
    put_unused(&out.w, g, body);
    grid_write(&out, body);
    b.indent--;
    writer_add(&out.w, "index_close", NULL, 0);
    return b.s;
}

const char *
frag_print(const Frag *g)
{
    Buf b = buf_new(ex_arena(g->e));
    Writer w = writer_new(NULL, g->e, &b);
    buf_printf(&b, "fragment %s\nlanes %lld of %lld\nwords %d\nalign %d\n",
               kind_of(g), (long long)g->lanes, (long long)g->fragments,
               g->words, g->align);
    grid_print_body(&w, frag_statements(g));
    return b.s;
}
