/* What precedes the functions of a file: the comment at the top, the prologue, and the files
 * that the functions need, each once.  A kernel's record names its files; those of other
 * functions are in the target's table. */
#include <string.h>

#include "emit.h"
#include "target.h"

/* The texts written so far. */
typedef struct {
    Writer *w;
    const char *text[TARGET_FILES_MAX];
    int n;
} Files;

static void
put_file(Files *f, const char *text)
{
    for (int i = 0; i < f->n; i++)
        if (f->text[i] == text)
            return;
    f->text[f->n++] = text;
    buf_add(f->w->b, "\n");
    buf_add(f->w->b, text);
}

/* Helpers are called by texts of the table, so only the text of the body shows which. */
static void
put_helpers(Files *f, const char *body)
{
    const TargetHelper *h;
    for (int i = 0; (h = target_helper(f->w->t, i)); i++)
        if (strstr(body, arena_printf(f->w->arena, "%s(", h->symbol)))
            for (int k = 0; k < h->nfiles; k++)
                put_file(f, h->file[k]);
}

static void
put_kernels(Files *f, const bool *called)
{
    const char *folder = target_text(f->w->t, "kernels");
    for (int i = 0; i < nkernels && folder; i++) {
        int n = 0;
        const char *const *file = called[i] ? kernel_text(f->w->arena, &kernels[i], &n) : NULL;
        for (int k = 0; k < n; k++)
            put_file(f, target_kernel_file(f->w->t, f->w->arena, folder, file[k]));
    }
}

/* Marks the kernels that statements call. */
static void
mark_calls(const Stmt *s, bool *called)
{
    for (; s; s = s->next) {
        if (s->kernel)
            called[s->kernel - kernels] = true;
        mark_calls(s->body, called);
    }
}

const bool *
writer_calls(Arena *a, const Unit *const *u, int n)
{
    bool *called = arena_array(a, bool, nkernels);
    for (int i = 0; i < n; i++)
        mark_calls(u[i]->body, called);
    return called;
}

void
writer_helpers(Writer *w, const Unit *const *u, int n, const char *body)
{
    Files f = {.w = w};
    put_helpers(&f, body);
    put_kernels(&f, writer_calls(w->arena, u, n));
}

void
writer_head(Writer *w, const char *head, const Unit *const *u, int n, const char *body)
{
    writer_comment(w, arena_printf(w->arena, "%s%s", head, emit_made()));
    buf_add(w->b, target_file(w->t, "prologue"));
    writer_helpers(w, u, n, body);
    buf_add(w->b, "\n");
}
