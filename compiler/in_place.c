/* The C of a conversion within one buffer: a function for each pass of blocks. */
#include "compile.h"

/* The function of a pass of blocks: a conversion by itself, of which only the list of passes makes the
 * plan. */
static const Unit *
block_unit(Arena *a, const Known *known, const InPlacePass *w, const Request *rq,
           const char *name)
{
    const Request block = {.from = w->from, .to = w->to, .dtype = rq->dtype, .rank = w->rank,
                           .shape = w->shape, .name = name, .machine = rq->machine};
    return emit_relayout(compile_plan(a, known, &block), name, "a block:");
}

const char *
compile_in_place_text(const Target *t, const Known *known, const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    InPlaceUnit u = {.name = emit_name(a, t, rq), .bytes = layout_bytes(p->src),
                     .how = sides_in_place(p, rq)};
    if (!target_text(t, "in_place_open"))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "the target '%s' has no conversions in "
                   "place", target_name(t));
    Buf head = buf_new(a);
    buf_printf(&head, "%s --in-place\n",
               emit_command(a, t, rq, p->src->ref, p->dst->ref, NULL));
    emit_plan_head(&head, p);
    u.head = head.s;
    for (int i = 0; i < u.how->n; i++)
        if (u.how->pass[i].kind == PASS_BLOCKS)
            u.block[i] = block_unit(a, known, &u.how->pass[i], rq,
                                    arena_printf(a, "%s_pass%d", u.name, i + 1));
    return render_in_place(t, p->e, &u);
}
