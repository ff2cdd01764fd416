/* The layouts that a name can mean.
 *
 * A spec file of the library takes as long to read as a plan to make, so it is read when a
 * name of it is wanted.  Which file has a name only Lua can tell (layout("NCHW" .. x)); a
 * file with a string that the name begins with is read before the others. */
#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>

#include "spec.h"

/* A file that was read.  The list only grows, at the front. */
struct Builtin {
    Builtin *next;
    const Embedded *file;
    Arena arena;
    LayoutDef *first;
};

static void
load(void *arg)
{
    Builtin *b = arg;
    b->first = spec_load(&b->arena, b->file->name, b->file->text, b->file->len);
}

static Builtin *
builtin_of(Builtin *first, const Embedded *f)
{
    while (first && first->file != f)
        first = first->next;
    return first;
}

static void
builtin_free(Builtin *b)
{
    arena_free(&b->arena);
    free(b);
}

/* Push b, unless another thread has read the same file: then that is the result. */
static Builtin *
push(_Atomic(Builtin *) *list, Builtin *b)
{
    b->next = atomic_load(list);
    do {
        Builtin *other = builtin_of(b->next, b->file);
        if (other) {
            builtin_free(b);
            return other;
        }
    } while (!atomic_compare_exchange_weak(list, &b->next, b));
    return b;
}

/* The layouts of a file, which has an arena and a limit of work of its own: they are not
 * part of the compilation that wants them. */
static const LayoutDef *
layouts_of(Arena *a, const Known *known, const Embedded *f)
{
    Builtin *b = builtin_of(atomic_load(known->builtin), f);
    if (b)
        return b->first;
    Diag d;
    b = calloc(1, sizeof *b);
    if (!b)
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    b->file = f;
    if (!arena_run(&b->arena, &d, load, b)) {
        builtin_free(b);
        diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
    }
    return push(known->builtin, b)->first;
}

/* Whether a string of the file is the start of the name, of two characters or more. */
static bool
mentions(const Embedded *f, const char *name)
{
    const char *end = f->text + f->len;
    for (const char *s = f->text; s < end && (s = memchr(s, '"', (size_t)(end - s))); s++) {
        const char *at = s + 1;
        size_t n = 0;
        while (name[n] && at + n < end && at[n] == name[n])
            n++;
        if (n >= 2 && at + n < end && at[n] == '"')
            return true;
    }
    return false;
}

static const LayoutDef *
find(const LayoutDef *d, const char *name)
{
    while (d && strcmp(d->name, name))
        d = d->next;
    return d;
}

const LayoutDef *
known_find(Arena *a, const Known *known, const char *name)
{
    const LayoutDef *d = known ? find(known->loaded, name) : NULL;
    for (int likely = 1; likely >= 0 && known && known->builtin && !d; likely--)
        for (const Embedded *f = embed_specs(a->diag); f->name && !d; f++)
            if (mentions(f, name) == likely)
                d = find(layouts_of(a, known, f), name);
    return d;
}

const LayoutDef **
known_all(Arena *a, const Known *known)
{
    int nfiles = 0, n = 0;
    const Embedded *specs = known && known->builtin ? embed_specs(a->diag) : NULL;
    while (specs && specs[nfiles].name)
        nfiles++;
    const LayoutDef **first = arena_array(a, const LayoutDef *, nfiles + 1);
    first[nfiles] = known ? known->loaded : NULL;
    for (int i = 0; i < nfiles; i++)
        first[i] = layouts_of(a, known, &specs[i]);
    for (int i = nfiles; i >= 0; i--)
        for (const LayoutDef *d = first[i]; d; d = d->next)
            n++;
    const LayoutDef **all = arena_array(a, const LayoutDef *, n + 1);
    n = 0;
    for (int i = nfiles; i >= 0; i--)
        for (const LayoutDef *d = first[i]; d; d = d->next)
            all[n++] = d;
    return all;
}

void
known_free(Builtin *first)
{
    for (Builtin *next; first; first = next) {
        next = first->next;
        builtin_free(first);
    }
}
