/* Contexts: the specs that are loaded. */
#include <stdlib.h>
#include <string.h>

#include "../compiler/embed.h"
#include "library.h"

/* A name that `NAME:LAYOUT` can be written with. */
static bool
ends_in_lua(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".lua");
}

static ravel_status
add_text(ravel_context *cx, const char *text, size_t len, const char *name,
         bool builtin, ravel_error *err)
{
    Diag d;
    Arena arena = {.diag = &d};
    if (diag_catch(&d)) {
        arena_free(&arena);
        return error_of(err, &d);
    }
    LayoutDef *first = spec_load(&arena, name, text, len), *last = first;
    for (LayoutDef *l = first; l && !builtin; l = l->next)
        l->file = ends_in_lua(name) ? l->loc.file : NULL;
    pthread_mutex_lock(&cx->lock);
    Arena *more = realloc(cx->arenas, (size_t)(cx->narenas + 1) * sizeof *more);
    if (more) {
        cx->arenas = more;
        cx->arenas[cx->narenas++] = arena;
        while (last && last->next)
            last = last->next;
        if (last) {
            last->next = (LayoutDef *)cx->known;
            cx->known = first;
        }
    }
    pthread_mutex_unlock(&cx->lock);
    if (more)
        return RAVEL_OK;
    arena_free(&arena);
    return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
}

static ravel_status
load_target(ravel_context *cx, ravel_error *err)
{
    Diag d;
    cx->target_arena = (Arena){.diag = &d};
    if (diag_catch(&d))
        return error_of(err, &d);
    cx->target = target_load(&cx->target_arena, "c");
    return RAVEL_OK;
}

ravel_status
ravel_context_new(ravel_context **out, ravel_error *err)
{
    if (!out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_context_new: out is NULL");
    ravel_context *cx = calloc(1, sizeof *cx);
    *out = NULL;
    if (!cx)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&cx->lock, NULL);
    ravel_status s = load_target(cx, err);
    for (const Embedded *f = embed_specs; s == RAVEL_OK && f->name; f++)
        s = add_text(cx, f->text, f->len, f->name, true, err);
    if (s == RAVEL_OK)
        *out = cx;
    else
        ravel_context_free(cx);
    return s;
}

void
ravel_context_free(ravel_context *cx)
{
    if (!cx)
        return;
    for (int i = 0; i < cx->narenas; i++)
        arena_free(&cx->arenas[i]);
    free(cx->arenas);
    arena_free(&cx->target_arena);
    pthread_mutex_destroy(&cx->lock);
    free(cx);
}

ravel_status
ravel_load(ravel_context *cx, const char *text, size_t len, const char *name,
           ravel_error *err)
{
    if (!cx || !text || !name)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_load: a NULL argument");
    return add_text(cx, text, len, name, false, err);
}

const LayoutDef *
context_known(ravel_context *cx)
{
    pthread_mutex_lock(&cx->lock);
    const LayoutDef *d = cx->known;
    pthread_mutex_unlock(&cx->lock);
    return d;
}
