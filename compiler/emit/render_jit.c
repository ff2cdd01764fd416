/* The text of a unit as the library compiles it: what precedes functions there, and the functions. */
#include "emit.h"

/* A declaration for every kernel that is called. */
static void
put_prototypes(Buf *b, const KernelCalls *calls)
{
    for (int i = 0; i < nkernels; i++) {
        if (!calls[i].called)
            continue;
        buf_printf(b, "void %s(", kernels[i].symbol);
        for (const char *c = kernel_letters(&kernels[i]); *c; c++)
            buf_printf(b, "%s%s", c > kernel_letters(&kernels[i]) ? ", " : "",
                       kernel_arg(*c)->type);
        buf_add(b, ");\n");
    }
}

const char *
render(const Target *t, const Unit *u, bool stand_alone)
{
    Buf body = buf_new(ex_arena(u->e)), all = buf_new(ex_arena(u->e));
    if (stand_alone)
        return render_file(t, &u, 1);
    Writer w = render_writer(t, u, &body);
    render_functions(&w, u, false);
    buf_add(&all, target_file(all.arena, t, "jit_prologue"));
    put_prototypes(&all, writer_calls(all.arena, &u, 1));
    buf_add(&all, "\n");
    buf_addn(&all, body.s, body.len);
    arena_drop(body.arena, body.s, body.cap);
    return all.s;
}

const char *
render_units(const Target *t, const Unit *const *u, int n, const char *prototypes)
{
    Buf b = buf_new(ex_arena(u[0]->e));
    buf_add(&b, target_file(b.arena, t, "jit_prologue"));
    buf_add(&b, prototypes);
    for (int i = 0; i < n; i++) {
        Writer w = render_writer(t, u[i], &b);
        render_functions(&w, u[i], false);
    }
    return b.s;
}
