/* What cannot be: sentences about a layout, and about an item of an index. */
#include <string.h>

#include "layout_parts.h"

void
layout_no_fit(const Layout *l, Loc loc)
{
    diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, loc,
               "layout '%s': its storage does not fit 64 bits", l->ref->def->name);
}

void
layout_refuse_open(const Layout *l, Loc loc, const char *what, const char *instead)
{
    diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, loc,
               "layout '%s' with an extent left to run time: %s; %s",
               l->ref->def->name, what, instead);
}

void
layout_index_fail(Arena *a, const char *whole, int place, const char *why)
{
    enum { LINE = 300 };
    char *line = arena_string(a, whole);
    for (char *c = line; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    if (place > LINE || strlen(line) > LINE)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "character %d of the layout: %s",
                   place + 1, why);
    diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "%s\n  %s\n  %*s^", why, line, place, "");
}

_Noreturn void
walk_fail(const LayoutWalk *w, const IndexItem *t, const char *why)
{
    layout_index_fail(w->arena, w->x->whole, t->place, why);
}

const char *
walk_name(const LayoutWalk *w, int d)
{
    const LayoutDef *of = w->x->of->def;
    int own = d - (w->rank_of - of->ndims);
    return own >= 0 ? of->dims[own] : "";
}

const char *
walk_dim(const LayoutWalk *w, int d)
{
    const char *name = walk_name(w, d);
    return *name ? arena_printf(w->arena, "dim %d (%s)", d, name)
                 : arena_printf(w->arena, "dim %d", d);
}
