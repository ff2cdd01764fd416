/* Files of functions: the comment at the top, the prologue, helpers, declarations, the
 * functions; and headers of declarations. */
#include <string.h>

#include "emit.h"

/* The declarations of the functions of u that other files may call. */
static void
put_declarations(Writer *w, const Unit *u)
{
    Slot slot[] = {{"name", u->name}, {"params", render_params(w, u)},
                   {"leading", render_leading(w, u)}};
    if (u->kind == EMIT_RELAYOUT && unit_has_part(u))
        writer_put(w, "prototype_part", slot, LEN(slot));
    writer_put(w, u->kind == EMIT_SPARSE ? "prototype_sparse"
                  : u->sizes ? "prototype_runtime" : "prototype", slot, LEN(slot));
}

/* Functions of indices are local to a file. */
static void
put_prototypes(Writer *w, const Unit *const *u, int n)
{
    if (u[0]->kind != EMIT_RELAYOUT && u[0]->kind != EMIT_SPARSE)
        return;
    writer_add(w, "prototypes_open", NULL, 0);
    for (int i = 0; i < n; i++)
        put_declarations(w, u[i]);
    writer_add(w, "prototypes_close", NULL, 0);
    buf_add(w->b, "\n");
}

/* A buffer of more bytes is larger than the address space of a machine of 32 bits. */
static void
put_limits(Writer *w, const Unit *u)
{
    Slot slot[] = {{"name", u->name}, {"bytes", writer_number(w, u->bytes)}};
    if (u->bytes > INT32_MAX)
        writer_add(w, "address_space", slot, LEN(slot));
}

/* A conversion may have several functions: the first one has the comment. */
static int
conversions(const Unit *const *u, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        k += u[i]->head != NULL;
    return k;
}

static const char *
head_of(Arena *a, const Unit *const *u, int n)
{
    int k = conversions(u, n);
    return k == 1 ? u[0]->head
           : arena_printf(a, "%d conversions between layouts of tensors\n", k);
}

const char *
render_file(const Target *t, const Unit *const *u, int n)
{
    Arena *a = ex_arena(u[0]->e);
    Buf body = buf_new(a), all = buf_new(a);
    for (int i = 0; i < n; i++) {
        Writer w = render_writer(t, u[i], &body);
        buf_add(&body, i ? "\n" : "");
        if (u[i]->head && conversions(u, n) > 1)
            writer_comment(&w, u[i]->head);
        put_limits(&w, u[i]);
        render_functions(&w, u[i], true);
    }
    Writer w = render_writer(t, u[0], &all);
    writer_head(&w, head_of(a, u, n), u, n, body.s);
    put_prototypes(&w, u, n);
    buf_addn(&all, body.s, body.len);
    return all.s;
}

/* The command that made a function, and what its caller must know. */
static const char *
in_header(Arena *a, const Unit *u)
{
    const char *head = u->head ? u->head : "", *note = u->note ? u->note : "";
    int n = (int)strcspn(head, "\n");
    return arena_printf(a, "%.*s%s%s", n, head, n && *note ? "\n" : "", note);
}

const char *
render_header(const Target *t, const Unit *const *u, int n, const char *guard)
{
    Arena *a = ex_arena(u[0]->e);
    Buf all = buf_new(a);
    Writer w = render_writer(t, u[0], &all);
    Slot slot = {"guard", guard};
    writer_comment(&w, emit_made());
    writer_add(&w, "header_open", &slot, 1);
    writer_add(&w, "prototypes_open", NULL, 0);
    for (int i = 0; i < n; i++) {
        const char *about = in_header(a, u[i]);
        if (*about)
            writer_comment(&w, about);
        put_declarations(&w, u[i]);
    }
    writer_add(&w, "prototypes_close", NULL, 0);
    writer_add(&w, "header_close", &slot, 1);
    return all.s;
}
