/* A layout that counts dims from their other ends, extent(R) - 1 - R, as a part of one that does
 * not, {R, S}[::-1, :]: so their extents can be left to run time. */
#include <string.h>

#include "layout_parts.h"

bool
layout_is_sym(const Ast *x, const char *name)
{
    return x->op == OP_SYM && !x->table && !strcmp(x->name, name);
}

bool
layout_is_flip(const Ast *x, const char *dim)
{
    i64 one;
    if (x->op != OP_SUB || x->table || x->x[0]->op != OP_SUB || x->x[0]->table)
        return false;
    const Ast *n = x->x[0]->x[0], *a = x->x[0]->x[1], *b = x->x[1];
    const Ast *number = layout_is_sym(a, dim) ? b : a, *own = layout_is_sym(a, dim) ? a : b;
    return n->op == OP_SYM && layout_extent_is(n->name, dim) && ast_number(number, &one) &&
           one == 1 && layout_is_sym(own, dim);
}

/* x with R for what counts R from its end; *else_used is set if R occurs in another way. */
static const Ast *
without(Arena *a, const Ast *x, const char *dim, bool *else_used)
{
    if (layout_is_flip(x, dim))
        return ast_sym(a, dim, x->loc);
    *else_used |= layout_is_sym(x, dim) || x->table != NULL;
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

bool
layout_pads(const LayoutDef *d, const char *dim)
{
    return names(d->pads, d->npads, dim) || names(d->pitches, d->npitches, dim);
}

/* Changes the order of d; false if the dim is not counted from its end everywhere. */
static bool
unflip(Arena *a, LayoutDef *d, const char *dim)
{
    bool else_used = layout_pads(d, dim);
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

/* Rewrite the dims of d that are reversed, and set an item for each dim.  False: d has to stay,
 * as one of them cannot be rewritten, or none has an extent left to run time. */
static bool
unflip_dims(Arena *a, LayoutDef *d, const i64 *shape, IndexItem *item)
{
    bool needed = false;
    for (int i = 0; i < d->ndims; i++) {
        LayoutDef kept = *d;
        bool uses = layout_uses_extent(d, d->dims[i]), open = shape[i] == RUNTIME_EXTENT;
        bool flip = uses && unflip(a, d, d->dims[i]);
        if (uses && !flip && open)
            return false;
        if (uses && !flip)
            *d = kept;
        item[i] = (IndexItem){.kind = ITEM_SLICE, .step = flip ? -1 : 1};
        needed |= flip && open;
    }
    return needed;
}

/* The part x of a tensor `of` as a layout: `d` is the layout that was written. */
static void
set_view(Arena *a, LayoutRef *r, LayoutDef *d, const Index *x)
{
    layout_set_index(a, d, x);
    d->name = layout_ref_text(a, x->of);
    r->def = d;
    d->name = layout_ref_text(a, r);
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
    if (!unflip_dims(a, inner, shape, x->item) ||
        (written && inner->fill != FILL_NONE && !is_plain(inner)))
        return ref;
    take_given(a, inner, ref);
    of->def = inner;
    set_view(a, r, d, x);
    return r;
}

/* The item of dim `dim` of a view, and the dim of the tensor that it takes; NULL: there is none. */
static IndexItem *
item_of(const Index *x, int rank_of, int dim, int *of)
{
    int view = 0, tensor = 0, rest = rank_of;
    for (int i = 0; i < x->nitems; i++)
        rest -= x->item[i].kind != ITEM_NEW && x->item[i].kind != ITEM_REST;
    for (int i = 0; i < x->nitems; i++) {
        IndexItem *t = &x->item[i];
        if (t->kind == ITEM_REST) {
            view += rest;
            tensor += rest;
            continue;
        }
        if (t->kind == ITEM_LIST || t->kind == ITEM_ARRAY)
            return NULL;
        *of = tensor;
        if (view == dim && t->kind == ITEM_SLICE)
            return t;
        view += t->kind != ITEM_AT;
        tensor += t->kind != ITEM_NEW;
    }
    return NULL;
}

/* A part of a tensor whose declaration is its own; NULL: of another part, or with strides. */
static const LayoutDef *
tensor_of(const Index *x)
{
    const LayoutDef *of = x ? x->of->def : NULL;
    return of && x->nstrides < 0 && !of->index && !of->batch ? of : NULL;
}

static bool
is_whole(const IndexItem *t)
{
    return t && !t->starts && !t->stops && (t->step == 1 || t->step == -1);
}

bool
layout_turns_blocks(const LayoutRef *ref, int dim)
{
    const Index *x = ref->def->index;
    const LayoutDef *d = tensor_of(x);
    int of;
    const IndexItem *t = d ? item_of(x, d->ndims, dim, &of) : NULL;
    bool blocks = false;
    if (!is_whole(t) || t->step > 0)
        return false;
    for (int i = 0; i < d->norder; i++)
        blocks |= d->order[i].x->op != OP_SYM && ast_names(d->order[i].x, d->dims[of]);
    return blocks;
}

/* All of a tensor, as a part of it. */
static LayoutRef *
as_part(Arena *a, const LayoutRef *ref)
{
    LayoutDef *d = arena_copy(a, ref->def, sizeof *d);
    LayoutRef *r = arena_copy(a, ref, sizeof *r);
    Index *x = arena_new(a, Index);
    *x = (Index){.of = ref, .whole = d->name, .nextents = -1, .nstrides = -1, .nitems = d->ndims,
                 .item = arena_array(a, IndexItem, d->ndims + 1)};
    for (int i = 0; i < d->ndims; i++)
        x->item[i] = (IndexItem){.kind = ITEM_SLICE, .step = 1};
    layout_set_index(a, d, x);
    r->def = d;
    return r;
}

const LayoutRef *
layout_turned(Arena *a, const LayoutRef *ref, int dim, bool written)
{
    const LayoutDef *d = ref->def;
    int of;
    if (!d->index && (d->batch || d->level || d->nrolls || (written && d->fill != FILL_NONE && !is_plain(d))))
        return NULL;
    LayoutRef *r = d->index ? arena_copy(a, ref, sizeof *r) : as_part(a, ref);
    const LayoutDef *tensor = tensor_of(r->def->index);
    if (!tensor)
        return NULL;
    LayoutDef *to = arena_copy(a, r->def, sizeof *to);
    Index *x = arena_copy(a, to->index, sizeof *x);
    x->item = arena_copy(a, x->item, ((size_t)x->nitems + 1) * sizeof *x->item);
    IndexItem *t = item_of(x, tensor->ndims, dim, &of);
    if (!is_whole(t))
        return NULL;
    t->step = -t->step;
    to->index = x;
    r->def = to;
    r->written = layout_written(ref);
    return r;
}
