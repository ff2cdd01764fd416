/* Extents by name.  extent(W) in a spec is a symbol, whose name is the text extent(W).  It
 * has a value only for a shape, so nothing that is decided for every shape may use it. */
#include <string.h>

#include "layout_parts.h"

static const char before[] = "extent(";

static const char supported[] = "That extent can be left to run time "
    "in extent(W) - 1 - W, in shifts as (W + 4)%extent(W) and (W + 1)%(extent(W) + 2), and in "
    "H*extent(W) + W if the other layout has H and W side by side";

const char *
layout_extent_name(Arena *a, const char *dim)
{
    return arena_printf(a, "%s%s)", before, dim);
}

bool
layout_extent_is(const char *name, const char *dim)
{
    size_t n = strlen(before), m = strlen(dim);
    return !strncmp(name, before, n) && !strncmp(name + n, dim, m) &&
           !strcmp(name + n + m, ")");
}

bool
layout_extent(const Layout *l, const char *name, i64 *v)
{
    if (strncmp(name, before, strlen(before)))
        return false;
    for (int d = 0; d < l->rank; d++)
        if (layout_extent_is(name, l->dim[d].name)) {
            *v = l->dim[d].n;
            return true;
        }
    return false;
}

static bool
names_extent(const Ast *x, const char *dim)
{
    if (!x)
        return false;
    if (x->op == OP_SYM)
        return layout_extent_is(x->name, dim);
    return names_extent(x->x[0], dim) || names_extent(x->x[1], dim);
}

static bool
setting_names_extent(const Setting *t, int n, const char *dim)
{
    bool found = false;
    for (int i = 0; i < n; i++)
        found |= names_extent(t[i].value, dim);
    return found;
}

bool
layout_needs_extent(const LayoutDef *d, const char *dim)
{
    bool found = names_extent(d->swizzle, dim) || setting_names_extent(d->pads, d->npads, dim);
    for (int i = 0; i < d->norder; i++)
        found |= names_extent(d->order[i].x, dim);
    return found;
}

bool
layout_uses_extent(const LayoutDef *d, const char *dim)
{
    return layout_needs_extent(d, dim) || setting_names_extent(d->pitches, d->npitches, dim);
}

const char *
layout_extent_flaw(Arena *a, const LayoutDef *d, const char *dim)
{
    const bool swizzle = names_extent(d->swizzle, dim);
    if (swizzle || setting_names_extent(d->pads, d->npads, dim))
        return arena_printf(a, "its %s uses extent(%s)", swizzle ? "swizzle" : "pad", dim);
    int i = 0;
    while (i + 1 < d->norder && !names_extent(d->order[i].x, dim))
        i++;
    const char *text = d->norder && d->order[i].x ? ast_text(a, d->order[i].x) : "";
    return arena_printf(a, "its order uses an extent by name, extent(%s) in '%.100s%s'.  %s", dim, text,
                        strlen(text) > 100 ? "..." : "", supported);
}

bool
layout_uses_open_extent(const LayoutDef *d, int rank, const i64 *shape)
{
    bool uses = false;
    for (int i = 0; i < d->ndims; i++)
        uses |= shape[rank - d->ndims + i] == RUNTIME_EXTENT && layout_uses_extent(d, d->dims[i]);
    return uses && !d->index;
}
