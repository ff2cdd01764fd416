/* What plans use of a context: the layouts that it has loaded, its target, an arena with its limit. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

/* Whether `NAME:LAYOUT` can be written with this name. */
static bool
ends_in_lua(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".lua");
}

/* What a text has made. */
struct Text {
    Text *next;
    Arena arena;
    Known known;                  /* with its layouts in front */
};

typedef struct {
    Arena arena;
    const char *text, *name;
    size_t len;
    LayoutDef *first;
} Load;

static void
load(void *arg)
{
    Load *l = arg;
    l->first = spec_load(&l->arena, l->name, l->text, l->len);
    for (LayoutDef *d = l->first; d; d = d->next)
        d->file = ends_in_lua(l->name) ? d->loc.file : NULL;
}

/* Push the layouts in front of the known ones; false if memory runs out. */
static bool
adopt(ravel_context *cx, const Load *l)
{
    LayoutDef *last = l->first;
    const Known *known = cx->known;
    Text *t = malloc(sizeof *t);
    if (!t)
        return false;
    *t = (Text){.next = cx->texts, .arena = l->arena};
    while (!atomic_compare_exchange_weak(&cx->texts, &t->next, t))
        ;
    while (last && last->next)
        last = last->next;
    if (last)
        do {
            last->next = known ? (LayoutDef *)known->loaded : NULL;
            t->known = (Known){l->first, known ? known->builtin : NULL};
        } while (!atomic_compare_exchange_weak(&cx->known, &known, &t->known));
    return true;
}

/* The target of machine code.  To read it takes longer than to make a plan without. */
struct CodeTarget {
    Arena arena;
    const Target *target;
};

static void
load_target(void *arg)
{
    CodeTarget *t = arg;
    t->target = target_load(&t->arena, "c");
}

static void
target_free(CodeTarget *t)
{
    if (t)
        arena_free(&t->arena);
    free(t);
}

const Target *
context_target(ravel_context *cx, Arena *a)
{
    CodeTarget *t = atomic_load(&cx->target), *other = NULL;
    Diag d;
    if (t)
        return t->target;
    t = calloc(1, sizeof *t);
    if (!t)
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    if (!arena_run(&t->arena, &d, load_target, t)) {
        target_free(t);
        diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
    }
    if (atomic_compare_exchange_strong(&cx->target, &other, t))
        return t->target;
    target_free(t);       /* another thread was first */
    return other->target;
}

void
context_join(ravel_context *cx)
{
    atomic_fetch_add(&cx->users, 1);
}

void
context_leave(ravel_context *cx)
{
    if (atomic_fetch_sub(&cx->users, 1) > 1)
        return;
    for (Text *t = cx->texts, *next; t; t = next) {
        next = t->next;
        arena_free(&t->arena);
        free(t);
    }
    for (Threads *t = cx->threads, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    known_free(cx->builtin);
    log_free(cx->log);
    wisdom_free(cx->wisdom);
    target_free(cx->target);
    free(cx);
}

ravel_status
ravel_load(ravel_context *cx, const char *text, size_t len, const char *name,
           ravel_error *err)
{
    if (!cx || !text || !name)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_load: a NULL argument");
    Diag d;
    Load l = {.arena = context_arena(cx), .text = text, .name = name, .len = len};
    ravel_status s = RAVEL_OK;
    if (!arena_run(&l.arena, &d, load, &l))
        s = error_of(err, &d);
    else if (!adopt(cx, &l))
        s = error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    if (s != RAVEL_OK)
        arena_free(&l.arena);
    return s;
}

Arena
context_arena(const ravel_context *cx)
{
    return (Arena){.work = {.most = cx->work}};
}

ravel_status
context_answer(const ravel_context *cx, Arena *arena, void (*f)(void *), void *arg, ravel_error *err)
{
    Diag d;
    *arena = context_arena(cx);
    ravel_status s = arena_run(arena, &d, f, arg) ? RAVEL_OK : error_of(err, &d);
    arena_free(arena);
    return s;
}

Threads
context_threads(const ravel_context *cx, const Key *key)
{
    const Threads *set = key->threads;
    int wanted = key->rq.threads, here = cx->processors;
    Threads t = {0};
    if (set)
        t = (Threads){set->most, set->f, set->host, NULL};
    if (wanted && (!t.most || wanted < t.most))
        t.most = wanted;
    if (!t.most || (!t.f && t.most > here))
        t.most = here;
    return t;
}

const Known *
context_known(ravel_context *cx)
{
    return cx->known;
}
