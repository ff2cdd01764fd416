/* The dims of a batch, which a declaration leaves to the shape. */
#include <string.h>

#include "layout_parts.h"

const char *
layout_batch_name(Arena *a, const LayoutDef *d, int i)
{
    const char *name = arena_printf(a, "b%d", i);
    bool clash = layout_find_param(d, name) >= 0;
    for (int k = 0; k < d->ndims; k++)
        clash |= !strcmp(d->dims[k], name);
    if (clash)
        diag_fatal(a->diag, DIAG_LAYOUT, d->loc, "the name '%s' is taken by a batch dim", name);
    return name;
}

static bool
has_positions(const Setting *t, int n)
{
    bool found = false;
    for (int i = 0; i < n; i++)
        found |= !t[i].dim;
    return found;
}

/* The entries, with one for each dim of the batch where the batch stands; their number. */
static int
unbatched_order(Arena *a, const LayoutDef *d, int batch, const char *const *dims, EntryDef *order)
{
    int n = 0;
    for (int i = 0; i < d->norder; i++) {
        const EntryDef *t = &d->order[i];
        for (int b = 0; t->kind != ENTRY_EXPR && b < batch; b++) {
            int which = t->kind == ENTRY_BATCH ? b : batch - 1 - b;
            order[n++] = (EntryDef){ENTRY_EXPR, ast_sym(a, dims[which], t->loc), t->loc};
        }
        if (t->kind == ENTRY_EXPR)
            order[n++] = *t;
    }
    return n;
}

const LayoutRef *
layout_unbatched(Arena *a, const LayoutRef *ref, int rank)
{
    const LayoutDef *d = ref->def;
    const int batch = rank - d->ndims;
    if (!d->batch || d->index || has_positions(d->pitches, d->npitches))
        return ref;
    LayoutDef *to = arena_copy(a, d, sizeof *to);
    EntryDef *order = arena_array(a, EntryDef, d->norder + 2 * rank);
    const char **dims = arena_array(a, const char *, rank + 1);
    for (int i = 0; i < rank; i++)
        dims[i] = i < batch ? layout_batch_name(a, d, i) : d->dims[i - batch];
    const int n = unbatched_order(a, d, batch, dims, order);
    if (n > MAX_ENTRIES)
        return ref;
    to->batch = false;
    to->dims = dims;
    to->ndims = rank;
    to->order = order;
    to->norder = n;
    LayoutRef *r = arena_copy(a, ref, sizeof *r);
    r->def = to;
    r->written = layout_written(ref);
    return r;
}
