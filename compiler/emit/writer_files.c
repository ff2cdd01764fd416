/* What precedes the functions of a file: the comment at the top, the prologue, and the files
 * that the functions need, each once.  A kernel's record names its files; those of other
 * functions are in the target's table. */
#include <string.h>

#include "emit.h"
#include "target.h"

/* The text so far, and the files in it. */
typedef struct {
    const Writer *w;
    Buf b;
    const char *text[TARGET_FILES_MAX];
    int n;
} Files;

static bool
is_new(Files *f, const char *text)
{
    for (int i = 0; i < f->n; i++)
        if (f->text[i] == text)
            return false;
    f->text[f->n++] = text;
    buf_add(&f->b, "\n");
    return true;
}

/* Helpers are called by texts of the table, so only the text of the body shows which. */
static void
add_helpers(Files *f, const char *body)
{
    const TargetHelper *h;
    for (int i = 0; (h = target_helper(f->w->t, i)); i++)
        if (strstr(body, arena_printf(f->w->arena, "%s(", h->symbol)))
            for (int k = 0; k < h->nfiles; k++)
                if (is_new(f, h->file[k]))
                    buf_add(&f->b, h->file[k]);
}

static void
add_kernel(Files *f, const char *folder, const Kernel *k, unsigned parts)
{
    int n;
    Arena *a = f->w->arena;
    const char *const *file = kernel_text(a, k, &n);
    for (int i = 0; i < n; i++) {
        const char *text = target_kernel_file(f->w->t, a, folder, file[i]);
        if (is_new(f, text))
            buf_add(&f->b, prune_parts(a, text, k, parts));
    }
}

static void
mark_calls(const Stmt *s, KernelCalls *calls)
{
    for (; s; s = s->next) {
        if (s->kernel) {
            calls[s->kernel - kernels].called = true;
            calls[s->kernel - kernels].parts |= s->parts;
        }
        mark_calls(s->body, calls);
    }
}

const KernelCalls *
writer_calls(Arena *a, const Unit *const *u, int n)
{
    KernelCalls *calls = arena_array(a, KernelCalls, nkernels);
    for (int i = 0; i < n; i++)
        if (u[i]->kind != EMIT_SPARSE)         /* the text names its steps */
            mark_calls(u[i]->body, calls);
    return calls;
}

void
writer_helpers(Writer *w, const Unit *const *u, int n, const char *body)
{
    Files f = {.w = w, .b = buf_new(w->arena)};
    const char *folder = target_text(w->t, "kernels");
    const KernelCalls *calls = writer_calls(w->arena, u, n);
    add_helpers(&f, body);
    for (int i = 0; i < nkernels && folder; i++)
        if (calls[i].called)
            add_kernel(&f, folder, &kernels[i], calls[i].parts);
    buf_add(w->b, target_is(w->t, "functions") ? prune(w->arena, f.b.s, body) : f.b.s);
}

void
writer_head(Writer *w, const char *head, const Unit *const *u, int n, const char *body)
{
    writer_comment(w, arena_printf(w->arena, "%s%s", head, emit_made()));
    buf_add(w->b, target_file(w->arena, w->t, "prologue"));
    writer_helpers(w, u, n, body);
    buf_add(w->b, "\n");
}
