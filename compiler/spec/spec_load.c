/* Spec texts: the layouts that one declares. */
#include "spec_parts.h"

static void
open_layouts(Sandbox *s)
{
    trace_open(s);
    spec_layout_open(s);
}

const Surroundings spec_surroundings = {open_layouts, spec_push_batch};

static void
collect(Sandbox *s, void *arg)
{
    LayoutDef **out = arg;
    if (s->pending)
        luaL_error(s->L, "%s:%d: layout '%s' has no table", s->file,
                   s->pending_loc.line, s->pending);
    *out = s->first;
}

LayoutDef *
spec_load(Arena *a, const char *name, const char *text, size_t len)
{
    LayoutDef *first = NULL;
    sandbox_run(a, &spec_surroundings, name, text, len, 0, collect, &first);
    return first;
}
