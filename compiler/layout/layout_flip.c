/* A layout that counts dims from their other ends, extent(R) - 1 - R, as a part of one that does
 * not, {R, S}[::-1, :]: so their extents can be left to run time. */
#include <string.h>

#include "layout_parts.h"

static bool
is_sym(const Ast *x, const char *name)
{
    return x->op == OP_SYM && !x->table && !strcmp(x->name, name);
}

/* Whether x is extent(R) - 1 - R, or extent(R) - R - 1. */
static bool
is_flip(const Ast *x, const char *dim)
{
    i64 one;
    if (x->op != OP_SUB || x->table || x->x[0]->op != OP_SUB || x->x[0]->table)
        return false;
    const Ast *n = x->x[0]->x[0], *a = x->x[0]->x[1], *b = x->x[1];
    const Ast *number = is_sym(a, dim) ? b : a, *own = is_sym(a, dim) ? a : b;
    return n->op == OP_SYM && layout_extent_is(n->name, dim) && ast_number(number, &one) &&
           one == 1 && is_sym(own, dim);
}

/* x with R for what counts R from its end; *else_used is set if R occurs in another way. */
static const Ast *
without(Arena *a, const Ast *x, const char *dim, bool *else_used)
{
    if (is_flip(x, dim))
        return ast_sym(a, dim, x->loc);
    *else_used |= is_sym(x, dim) || x->table != NULL;
    int n = op_info[x->op].nargs;
    if (x->table || n == 0)
        return x;
    const Ast *l = without(a, x->x[0], dim, else_used);
    const Ast *r = n > 1 ? without(a, x->x[1], dim, else_used) : NULL;
    return l == x->x[0] && r == x->x[1] ? x : ast_op(a, x->op, l, r, x->loc);
}

static bool
names(const Setting *t, int n, const char *dim)
{
    bool found = false;
    for (int i = 0; i < n; i++)
        found |= t[i].dim && !strcmp(t[i].dim, dim);
    return found;
}

/* Changes the order of d; false if the dim is not counted from its end everywhere. */
static bool
unflip(Arena *a, LayoutDef *d, const char *dim)
{
    bool else_used = names(d->pads, d->npads, dim) || names(d->pitches, d->npitches, dim);
    EntryDef *order = arena_copy(a, d->order, (size_t)d->norder * sizeof *order);
    for (int i = 0; i < d->norder; i++)
        order[i].x = without(a, order[i].x, dim, &else_used);
    d->order = order;
    return !else_used && !layout_uses_extent(d, dim);
}

/* Whether every slot has an element: a part of a tensor has no fill. */
static bool
is_plain(const LayoutDef *d)
{
    for (int i = 0; i < d->norder; i++)
        if (d->order[i].x->op != OP_SYM || d->order[i].x->table)
            return false;
    return d->npads == 0;
}

/* The parameters as they are used, for the text of an inline layout. */
static void
take_given(Arena *a, LayoutDef *d, const LayoutRef *ref)
{
    d->params = arena_copy(a, d->params, (size_t)d->nparams * sizeof *d->params);
    for (int i = 0; i < ref->n; i++)
        d->params[layout_find_param(d, ref->given[i].name)] = ref->given[i];
    d->is_inline = true;
}

const LayoutRef *
layout_unflipped(Arena *a, const LayoutRef *ref, const i64 *shape, bool written)
{
    if (ref->def->index || ref->def->batch || ref->def->level)
        return ref;
    LayoutRef *of = arena_copy(a, ref, sizeof *of), *r = arena_copy(a, ref, sizeof *r);
    LayoutDef *inner = arena_copy(a, ref->def, sizeof *inner), *d = arena_copy(a, inner, sizeof *d);
    Index *x = arena_new(a, Index);
    *x = (Index){.of = of, .whole = ref->def->name, .nextents = -1, .nstrides = -1,
                 .nitems = inner->ndims, .item = arena_array(a, IndexItem, inner->ndims + 1)};
    bool needed = false;
    for (int i = 0; i < inner->ndims; i++) {
        LayoutDef kept = *inner;
        bool uses = layout_uses_extent(inner, inner->dims[i]), open = shape[i] == RUNTIME_EXTENT;
        bool flip = uses && unflip(a, inner, inner->dims[i]);
        if (uses && !flip && open)
            return ref;
        if (uses && !flip)
            *inner = kept;
        x->item[i] = (IndexItem){.kind = ITEM_SLICE, .step = flip ? -1 : 1};
        needed |= flip && open;
    }
    if (!needed || (written && inner->fill != FILL_NONE && !is_plain(inner)))
        return ref;
    take_given(a, inner, ref);
    of->def = inner;
    d->index = x;
    d->fill = FILL_NONE;
    d->fills = false;
    d->view = true;
    d->next = NULL;
    layout_view_dims(a, d);
    d->name = layout_ref_text(a, of);
    r->def = d;
    d->name = layout_ref_text(a, r);
    return r;
}
