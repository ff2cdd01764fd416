/* The two sides of a conversion: layouts and their decisions; the plan at a shape. */
#include <string.h>

#include "sides.h"

const DType *
sides_dtype(Arena *a, const char *name)
{
    const DType *t = dtype_find(name ? name : "");
    if (t)
        return t;
    Buf b = buf_new(a);
    for (int i = 0; i < ndtypes; i++)
        buf_printf(&b, " %s", dtypes[i].name);
    const char *near = dtype_meant(name ? name : "");
    diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "unknown dtype '%.30s'%s%s; known:%s",
               name ? name : "", near ? "; write " : "", near ? near : "", b.s);
}

const DType *
sides_any_dtype(const LayoutRef *ref)
{
    if (layout_needs_dtype(ref))
        return NULL;
    for (int i = 0; i < ndtypes && ref->def->bits; i++)
        if (dtypes[i].bits == ref->def->bits)
            return &dtypes[i];
    return dtype_find("f32");
}

/* The scalar of each extent of the request that is left to run time; -1 for the others. */
static void
name_extents(Arena *a, const Request *rq, Sides *s)
{
    for (int d = 0; d < rq->rank; d++) {
        s->given[d].scalar = -1;
        if (rq->shape[d] != RUNTIME_EXTENT)
            continue;
        const char *of = rq->extent ? rq->extent[d] : s->src->dim[d].name;
        for (int i = 0; i < s->scalars->nextents && rq->extent; i++)
            if (!strcmp(s->name[i], of))
                s->given[d].scalar = i;
        if (s->given[d].scalar < 0) {
            s->name[s->scalars->nextents] = arena_string(a, of);
            s->given[d].scalar = scalar_extent(s->scalars, of);
        }
    }
}

/* The scalar of the extent of each dim of src: one that is given, or a product of some; -1: it is
 * a number. */
static void
set_extents(const Request *rq, Sides *s)
{
    for (int d = 0; d < rq->rank; d++) {
        const Ex *all = ex_const(s->scalars->e, 1);
        for (int k = 0; k < rq->rank; k++) {
            const PlanExtent *x = &s->given[k];
            if (x->joined == d)
                all = scalar_times(s->scalars, all, x->scalar < 0 ? ex_const(s->scalars->e, x->n)
                                                    : scalar_ex(s->scalars, x->scalar));
        }
        s->extent[d] = s->shape[d] != RUNTIME_EXTENT ? -1 : scalar_index(s->scalars, all);
    }
}

/* The place for a name of a stride or of a fill, which no other value has. */
static const char **
place_of(Arena *a, Sides *s, const char *name, const char *what)
{
    for (int k = 0; k < s->scalars->nextents; k++)
        if (!strcmp(s->name[k], name))
            diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%s' is the name of an extent and of %s",
                       name, what);
    return &s->name[s->scalars->nextents];
}

/* The fill of the destination, where each run is given it. */
static void
name_fill(Arena *a, const char *name, const DType *t, Sides *s)
{
    if (t->kind == 'c')
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "the fill '%s' is a name, and %s is complex: "
                   "write a number", name, t->name);
    *place_of(a, s, name, "a fill") = name;
    scalar_fill(s->scalars, name, t);
}

/* diag_fatal if an extent that follows from the shape has one of these names, which a run is given. */
static void
refuse_kinds(Arena *a, const LayoutDef *d, const char *const *given, int n)
{
    const Index *x = d->index;
    for (int i = 0; x && i < x->nextents; i++)
        for (int k = 0; k < n; k++)
            if (!(x->given >> i & 1) && !x->extent[i] && x->name[i] && !strcmp(x->name[i], given[k]))
                diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "the name '%s' of an extent of '%.200s', "
                           "which follows from the shape, is that of one which each run is given, "
                           "too: write another name", given[k], x->whole);
}

/* A scalar for each extent of a tensor, then for each stride, that is a name, after those of all
 * extents of the shape; last the fill. */
static void
name_strides(Arena *a, const Request *rq, Sides *s)
{
    const char *name[MAX_RANK], *fill = layout_fill_name(s->dst->ref->def);
    int given = layout_extent_names(s->src->ref->def, name, 0, MAX_RANK);
    given = layout_extent_names(s->dst->ref->def, name, given, MAX_RANK);
    refuse_kinds(a, s->src->ref->def, name, given);
    refuse_kinds(a, s->dst->ref->def, name, given);
    int n = layout_stride_names(s->src->ref->def, name, given, MAX_RANK);
    n = layout_stride_names(s->dst->ref->def, name, n, MAX_RANK);
    if (n < 0 || rq->rank + n + (fill != NULL) > MAX_RANK)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "more than %d dims, strides and fills at run "
                   "time together", MAX_RANK);
    for (int i = 0; i < n; i++) {
        *place_of(a, s, name[i], i < given ? "one of a tensor" : "a stride") = name[i];
        (i < given ? scalar_given : scalar_stride)(s->scalars, name[i]);
    }
    if (fill)
        name_fill(a, fill, s->dst->dtype, s);
}

/* An extent left to run time that a layout uses by name, in a way that needs a number.  map: as in
 * refuse_number. */
static void
refuse_extent(Arena *a, const LayoutRef *ref, const Sides *s, const int *map)
{
    const LayoutDef *d = ref->def;
    for (int i = 0; i < d->ndims && !d->index && !d->batch; i++)
        if (s->shape[map ? map[i] : i] == RUNTIME_EXTENT && layout_needs_extent(d, d->dims[i]))
            diag_fatal(a->diag, DIAG_LAYOUT, d->loc, "layout '%s' with an extent left to run time: %s; "
                       "give the extent of %s as a number", d->name, layout_extent_flaw(a, d, d->dims[i]),
                       d->dims[i]);
}

_Noreturn static void
fail_number(Arena *a, const LayoutDef *def, i64 n, int d)
{
    diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "'%.200s' has extent %lld at dim %d, which "
               "the shape leaves to run time: write %lld in the shape, or a name in the "
               "layout, as in NHWC(N,56,56,64)", def->index->whole, (long long)n, d, (long long)n);
}

/* An extent that a layout as written has cannot be left to run time.  map: from the layout's dims
 * to those of the shape; NULL: they are these. */
static void
refuse_number(Arena *a, const LayoutRef *ref, const Request *rq, const int *map)
{
    i64 n[MAX_RANK];
    const char *name[MAX_RANK];
    if (!ref->def->index || layout_view_shape(a, ref, n, name) != rq->rank)
        return;
    for (int d = 0; d < rq->rank; d++)
        if (rq->shape[map ? map[d] : d] == RUNTIME_EXTENT && n[d] > 1)
            fail_number(a, ref->def, n[d], d);
}

/* The same of an extent 1 where the view has one of several elements.  Where the tensor has one, it is
 * repeated, in a source. */
static void
refuse_one(Arena *a, const Layout *l, const Sides *s, bool dst)
{
    bool open[MAX_RANK], below[MAX_RANK];
    const LayoutDef *def = l->ref->def;
    for (int d = 0; d < l->rank; d++)
        open[d] = s->shape[dst ? s->map[d] : d] == RUNTIME_EXTENT;
    for (const View *v = l->view; v && !v->strided; v = v->of->view) {
        for (int d = 0; d < v->of->rank; d++) {
            const int dim = v->at[d].dim, like = v->at[d].like;
            const bool given = v->at[d].given, follows = like >= 0 || v->at[d].need.by || v->at[d].lookup >= 0;
            below[d] = given || (like >= 0 && open[like]);
            if (dim >= 0 && open[dim] && !follows && (dst || given || v->of->dim[d].n > 1))
                fail_number(a, def, 1, dim);
        }
        memcpy(open, below, sizeof open);
    }
}

/* Where blocks of a dim left to run time are read from its end, counts that dim from its other end
 * on both sides: then the blocks begin at 0. */
static void
turn(Arena *a, const Request *rq, const int *map, const LayoutRef **from, const LayoutRef **to)
{
    for (int d = 0; d < rq->rank; d++) {
        if (rq->shape[map[d]] != RUNTIME_EXTENT ||
            !(layout_turns_blocks(*from, map[d]) || layout_turns_blocks(*to, d)))
            continue;
        const LayoutRef *src = layout_turned(a, *from, map[d], false);
        const LayoutRef *dst = layout_turned(a, *to, d, true);
        if (src && dst) {
            *from = src;
            *to = dst;
        }
    }
}

/* Both layouts as the request has them, if all of its extents are numbers. */
static void
set_written(Sides *s)
{
    i64 shape[MAX_RANK];
    bool open = s->scalars->nextents > (s->scalars->fill >= 0);
    for (int d = 0; d < s->rq->rank; d++)
        shape[d] = s->rq->shape[s->map[d]];
    if (open)
        return;
    sides_set_written(s->src, s->rq->shape);
    sides_set_written(s->dst, shape);
}

/* Match the dims of both layouts, and replace each by one of digits that it stands for. */
static void
rewrite_both(Arena *a, const LayoutRef **from, const LayoutRef **to, const DType *t, Sides *s)
{
    const Request *rq = s->rq;
    i64 shape[MAX_RANK];
    layout_check_rank(a, (*from)->def, rq->rank);
    layout_check_rank(a, (*to)->def, rq->rank);
    plan_match(a, *from, *to, rq->rank, s->map);
    for (int d = 0; d < rq->rank; d++)
        shape[d] = rq->shape[s->map[d]];
    if (layout_uses_open_extent((*from)->def, rq->rank, rq->shape) ||
        layout_uses_open_extent((*to)->def, rq->rank, shape)) {
        *from = layout_unbatched(a, *from, rq->rank);
        *to = layout_unbatched(a, *to, rq->rank);
    }
    if (!rq->index) {
        *from = layout_unflipped(a, *from, rq->shape, false);
        *to = layout_unflipped(a, *to, shape, true);
    }
    *from = layout_given_strides(a, *from, 0, NULL, NULL);
    *to = layout_given_strides(a, *to, 0, NULL, NULL);
    *from = layout_unrolled(a, *from, t, rq->shape, rq->index);
    *to = layout_unrolled(a, *to, t, shape, rq->index);
    if (!rq->index)
        turn(a, rq, s->map, from, to);
    sides_join(a, from, to, t, s);
}

void
sides_set(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
          const Request *rq, Sides *s)
{
    i64 ones[MAX_RANK], shape[MAX_RANK];
    Exprs *e = ex_new(a);
    *s = (Sides){.rq = rq, .scalars = scalars_new(e)};
    s->name = arena_array(a, const char *, MAX_RANK);
    rewrite_both(a, &from, &to, t, s);
    refuse_extent(a, from, s, NULL);
    refuse_extent(a, to, s, s->map);
    refuse_number(a, from, rq, NULL);
    refuse_number(a, to, rq, s->map);
    for (int d = 0; d < rq->rank; d++)
        ones[d] = s->shape[d] == RUNTIME_EXTENT ? 1 : s->shape[d];
    s->src = layout_make(e, from, t, rq->rank, ones);
    name_extents(a, rq, s);
    for (int d = 0; d < rq->rank; d++)
        shape[d] = ones[s->map[d]];
    s->dst = layout_make(e, to, t, rq->rank, shape);
    refuse_one(a, s->src, s, false);
    refuse_one(a, s->dst, s, true);
    name_strides(a, rq, s);
    set_extents(rq, s);
    set_written(s);
    layout_check_limits(s->src);
    layout_check_limits(s->dst);
}

static void
check(void *arg)
{
    const Plan *p = arg;
    Arena *a = ex_arena(p->e);
    const char *flaw = plan_check(a, p, false).flaw;
    if (flaw)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "no right plan was found from layout "
                   "'%s' to '%s', which is a defect of ravel: %s", p->src->ref->def->name,
                   p->dst->ref->def->name, flaw);
}

/* diag_fatal if strides of the destination, which are numbers, have no room at any shape. */
static void
need_room_of_strides(const Plan *p)
{
    Arena *a = ex_arena(p->e);
    for (int i = 0; p->to->strided && i < p->dst->nentry; i++) {
        const Ex *room = plan_stride_room(p, i);
        if (ex_is_const(room) && room->base < 0)
            diag_fatal(a->diag, DIAG_LAYOUT, p->dst->ref->def->loc, "'%s' is no destination: the "
                       "stride of '%s' is %lld elements less than the entries after it take",
                       p->dst->ref->def->name, ast_text(a, p->dst->entry[i].x),
                       (long long)-room->base);
    }
}

void
sides_check(Plan *p)
{
    need_room_of_strides(p);
    arena_scratch(ex_arena(p->e), check, p);
}

/* The layout of a side of p at a shape, with the strides after the extents; joined[]: the extents of
 * its dims. */
static Layout *
layout_at(Exprs *e, const Plan *p, const Layout *l, const i64 *shape, const i64 *joined,
          const int *map)
{
    const Scalars *s = p->scalars;
    i64 n[MAX_RANK];
    for (int d = 0; d < l->rank; d++)
        n[d] = joined[map ? map[d] : d];
    const LayoutRef *ref = l->ref->def->nrolls ? layout_written(l->ref) : l->ref;
    ref = layout_given(ex_arena(e), ref, l->dtype, s, p->name, shape + l->rank);
    Layout *at = layout_make(e, ref, l->dtype, l->rank, n);
    for (int d = 0; d < l->rank; d++)
        n[d] = shape[map ? map[d] : d];
    if (!l->nlookups)              /* the numbers of index arrays are those of this layout */
        sides_set_written(at, n);
    return at;
}

Request
sides_request(Arena *a, const Plan *p)
{
    int rank = p->src->rank;
    i64 *shape = arena_array(a, i64, rank + 1);
    const char **name = arena_array(a, const char *, rank + 1);
    for (int d = 0; d < rank; d++) {
        int i = p->given[d].scalar;
        shape[d] = i < 0 ? p->given[d].n : RUNTIME_EXTENT;
        name[d] = i < 0 ? NULL : p->name[i];
    }
    return (Request){.rank = rank, .shape = shape, .extent = name, .machine = p->machine};
}

Plan *
sides_at(Arena *a, const Plan *p, const i64 *shape, const char **why)
{
    i64 extent[MAX_RANK];
    *why = plan_extents(a, p, shape, extent);
    if (*why)
        return NULL;
    Exprs *e = ex_new(a);
    i64 joined[2 * MAX_RANK];
    plan_joined(p, shape, joined);
    Layout *src = layout_at(e, p, p->src, shape, joined, NULL);
    Layout *dst = layout_at(e, p, p->dst, shape, joined, p->map);
    decide_readable_or_fail(src);
    decide_destination_or_fail(dst);
    return plan_at_shape(p, src, dst, extent);
}
