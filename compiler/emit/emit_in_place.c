/* The text of a conversion within one buffer: a function for each pass of blocks, and one that
 * runs all passes. */
#include "emit.h"

static const char *
numbers(const Writer *w, const i64 *v, int n)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", writer_number(w, v[i]));
    return b.s;
}

static void
put_pass(Writer *w, const InPlacePass *p, const Unit *block)
{
    static const char *const field[] = {[PASS_BLOCKS] = "in_place_blocks",
                                        [PASS_CYCLES] = "in_place_cycles",
                                        [PASS_MATRIX] = "in_place_matrix"};
    Slot slot[] = {
        {"symbol", block ? block->name : ""}, {"count", writer_number(w, p->n)},
        {"bytes", writer_number(w, p->bytes)}, {"room", writer_number(w, IN_PLACE_BYTES)},
        {"items", writer_number(w, p->item ? p->bytes / p->item : 0)},
        {"item", writer_number(w, p->item)}, {"digits", writer_number(w, p->digits)},
        {"extents", numbers(w, p->extent, p->digits)},
        {"strides", numbers(w, p->stride, p->digits)},
        {"rows", writer_number(w, p->extent[1])}, {"cols", writer_number(w, p->extent[0])}};
    writer_add(w, field[p->kind], slot, LEN(slot));
}

static void
put_function(Writer *w, const InPlaceUnit *u)
{
    Slot slot[] = {{"name", u->name}, {"bytes", writer_number(w, u->bytes)}};
    writer_add(w, "in_place_open", slot, LEN(slot));
    for (int i = 0; i < u->how->n; i++)
        put_pass(w, &u->how->pass[i], u->block[i]);
    writer_add(w, "close", NULL, 0);
}

static void
put_declaration(Writer *w, const InPlaceUnit *u)
{
    Slot slot[] = {{"name", u->name}, {"room", writer_number(w, in_place_room(u->how))}};
    writer_put(w, "prototype_in_place", slot, LEN(slot));
}

const char *
render_in_place(const Target *t, Exprs *e, const InPlaceUnit *u)
{
    Buf body = buf_new(ex_arena(e)), all = buf_new(ex_arena(e));
    Writer w = writer_new(t, e, &body);
    const Unit *called[IN_PLACE_PASSES];
    int n = 0;
    for (int i = 0; i < u->how->n; i++) {
        if (!u->block[i])
            continue;
        called[n++] = u->block[i];
        Writer b = render_writer(t, u->block[i], &body);
        buf_add(&body, "\n");
        writer_comment(&b, u->block[i]->head);
        render_functions(&b, u->block[i], true);
    }
    put_function(&w, u);
    w.b = &all;
    writer_head(&w, u->head, called, n, body.s);
    writer_add(&w, "prototypes_open", NULL, 0);
    for (int i = 0; i < u->how->n; i++)
        if (u->block[i])
            writer_put(&w, "prototype", &(Slot){"name", u->block[i]->name}, 1);
    put_declaration(&w, u);
    writer_add(&w, "prototypes_close", NULL, 0);
    buf_addn(&all, body.s, body.len);
    return all.s;
}
