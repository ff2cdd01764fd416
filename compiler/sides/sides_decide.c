/* Decides whether the sides of a request can be converted, for all its shapes. */
#include <string.h>

#include "sides.h"

/* A side with run-time extents, to be decided for every shape. */
typedef struct {
    Arena *arena;
    Scalars *scalars;
    const Layout *l;
    const i64 *shape;
    const int *extent;
    const i64 *more;               /* extent d is that of the scalar plus more[d] */
    bool written;                  /* it is the destination */
} Question;

_Noreturn static void
refuse(const Question *q, const char *why)
{
    const LayoutDef *d = q->l->ref->def;
    diag_fatal(q->arena->diag, DIAG_LAYOUT, d->loc, "layout '%s' with an extent left "
               "to run time: %s; give all extents as numbers", d->name, why);
}

/* Check that the fill can be written to all slots at every shape.  If a slot is
 * unreachable when all digits are full, it is unreachable at every shape. */
static void
need_filled(const Question *q, const EveryShape *y)
{
    const Layout *l = y->l;
    const char *why = why_unfilled(y->l, y->v);
    Buf at = buf_new(q->arena);
    for (int d = 0; d < l->rank; d++)
        buf_printf(&at, "%s%lld", d ? "," : "", (long long)l->dim[d].n);
    if (why)
        diag_fatal(q->arena->diag, DIAG_LAYOUT, l->ref->def->loc, "layout '%s' cannot be "
                   "written to, already at shape %s: %s", l->ref->def->name, at.s, why);
}

/* True if an address depends on dim d of a view. */
static bool
is_used(const View *v, int d)
{
    for (int i = 0; i < v->of->rank; i++)
        if (v->at[i].dim == d)
            return true;
    return false;
}

static void need_one_to_one(void *arg);

/* The scalar of the extent of dim d of the tensor of a view, whose dims have those of of[]; -1: it
 * is a number. */
static int
extent_of(const Scalars *s, const View *v, int d, const int *of)
{
    const int like = v->at[d].like;
    return v->at[d].given ? scalar_find_stride(s, v->at[d].given) : like < 0 ? -1 : of[like];
}

/* The question about the tensor of a view.  Its other elements do not matter, but what is
 * decided for every shape is decided for all of them. */
static void
ask_of_tensor(const Question *q)
{
    const View *v = q->l->view;
    i64 shape[MAX_RANK], more[MAX_RANK], i, j;
    int extent[MAX_RANK];
    Question of = {q->arena, q->scalars, v->of, shape, extent, more,
                   q->written && v->of->view};
    for (int d = 0; d < q->l->rank && q->written; d++)
        if (!is_used(v, d) && (q->extent[d] >= 0 || q->l->dim[d].n > 1))
            refuse(q, arena_printf(q->arena, "no address depends on %s, so elements share "
                                   "addresses", q->l->dim[d].name));
    for (int d = 0; d < v->of->rank && q->written; d++)
        if (layout_view_repeats(q->arena, v, d, &i, &j))
            refuse(q, "a number occurs twice in a list, so elements share addresses");
    for (int d = 0; d < v->of->rank; d++) {
        int like = v->at[d].like;
        extent[d] = extent_of(q->scalars, v, d, q->extent);
        shape[d] = extent[d] < 0 ? v->of->dim[d].n : RUNTIME_EXTENT;
        more[d] = like < 0 ? 0 : v->at[d].more + q->more[like];
    }
    need_one_to_one(&of);
}

/* The bound of an extent that shifts are around, where `bound` is that of the slots: the code that
 * computes a shift multiplies the extent by powers of two below the shift. */
static i64
shifted_bound(const Roll *r, i64 bound)
{
    const i64 most = (i64)1 << 40;
    return bound < most ? bound - r->more : most;
}

/* diag_fatal unless the layout is one-to-one, padding included, for all these shapes, up
 * to extents that become the bounds of the scalars, and a destination can have its fill.
 * */
static void
need_one_to_one(void *arg)
{
    const Question *q = arg;
    const Layout *l = q->l;
    if (l->view) {
        ask_of_tensor(q);
        return;
    }
    EveryShape *y = decide_shapes(ex_new(q->arena), l->ref, l->dtype, l->rank, q->shape);
    if (y->injective != YES)
        refuse(q, y->injective == NO && y->v->why ? y->v->why : y->why ? y->why
                  : "it is not one-to-one");
    if (y->v->flaw)
        refuse(q, y->v->why);
    for (int d = 0; d < l->rank; d++) {
        int i = q->extent[d];
        if (i < 0 && y->l->dim[d].padded != l->dim[d].padded)
            refuse(q, "its padding has no storage of its own");
        const Roll *r = i < 0 ? NULL : layout_roll(l->ref->def, l->dim[d].name);
        i64 bound = r ? shifted_bound(r, y->bound[d]) : y->bound[d];
        if (i < 0 || bound == INF)
            continue;
        if (i >= q->scalars->nextents)
            refuse(q, "a product of extents has a limit");
        if (bound - q->more[d] < q->scalars->most[i])
            q->scalars->most[i] = bound - q->more[d];
    }
    if (q->written)
        need_filled(q, y);
}

/* The coordinates of dims of a tensor that arrays give for dim `dim` of its view; INF: there may
 * be any number of elements, as some are not moved. */
static i64
room_of(const Layout *l, int dim)
{
    bool counted[MAX_LOOKUPS] = {false};
    i64 room = 1;
    for (int d = 0; d < l->view->of->rank; d++) {
        int i = l->view->at[d].lookup;
        if (i < 0 || l->view->at[d].dim != dim || counted[i])
            continue;
        counted[i] = true;
        if (l->lookup[i].skip || !int_mul(room, l->lookup[i].bound, &room))
            return INF;
    }
    return room;
}

/* Along its dim the index array has as many numbers as the extent `of` to run time, -1: none,
 * and `more`. */
static void
need_room_of(const Sides *s, const Lookup *u, i64 room, int of, i64 more)
{
    i64 most = room > more ? room - more : 0, n = u->extent[u->own];
    if (of >= 0 && most < s->scalars->most[of])
        s->scalars->most[of] = most;
    if (n > room)
        diag_fatal(ex_arena(s->dst->e)->diag, DIAG_LAYOUT, s->dst->ref->def->loc, "'%s' is no "
                   "destination: the index array '%s' of %lld numbers writes some of %lld "
                   "coordinates twice", s->dst->ref->def->name, u->array, (long long)n,
                   (long long)room);
}

/* The limits of extents at run time; of[d] is the scalar of dim d of l. */
static void
take_limits(Scalars *s, const Layout *l, const int *extent)
{
    int of[MAX_RANK], below[MAX_RANK];
    i64 more[MAX_RANK] = {0}, rest[MAX_RANK];
    memcpy(of, extent, (size_t)l->rank * sizeof *of);
    for (; l->view; l = l->view->of) {
        for (int d = 0; d < l->view->of->rank; d++) {
            int like = l->view->at[d].like;
            below[d] = extent_of(s, l->view, d, of);
            rest[d] = like < 0 ? 0 : more[like] + l->view->at[d].more;
        }
        memcpy(of, below, sizeof of);
        memcpy(more, rest, sizeof more);
    }
    for (int d = 0; d < l->rank; d++)
        if (of[d] >= 0 && l->dim[d].most < INF && l->dim[d].most - more[d] < s->most[of[d]])
            s->most[of[d]] = l->dim[d].most > more[d] ? l->dim[d].most - more[d] : 0;
}

/* More numbers than coordinates cannot be distinct, so elements would share addresses.  The
 * index of each view in turn, down to the tensor. */
static void
need_room(const Sides *s)
{
    int of[MAX_RANK], below[MAX_RANK];
    i64 more[MAX_RANK] = {0}, rest[MAX_RANK];
    for (int d = 0; d < s->dst->rank; d++)
        of[d] = s->extent[s->map[d]];
    for (const Layout *l = s->dst; l->nlookups && l->view; l = l->view->of) {
        for (int d = 0; d < l->view->of->rank; d++) {
            int dim = l->view->at[d].dim, like = l->view->at[d].like;
            int lookup = l->view->at[d].lookup;
            below[d] = extent_of(s->scalars, l->view, d, of);
            rest[d] = like < 0 ? 0 : more[like] + l->view->at[d].more;
            if (lookup >= 0)
                need_room_of(s, &l->lookup[lookup], room_of(l, dim), of[dim], more[dim]);
        }
        memcpy(of, below, sizeof of);
        memcpy(more, rest, sizeof more);
    }
}

static void
decide_source(const Sides *s)
{
    const i64 more[MAX_RANK] = {0};
    Arena *a = ex_arena(s->src->e);
    Question q = {a, s->scalars, s->src, s->shape, s->extent, more, false};
    take_limits(s->scalars, s->src, s->extent);
    if (!layout_declared(s->src->ref->def)->view)
        arena_scratch(a, need_one_to_one, &q);
}

static void
decide_destination(const Sides *s)
{
    i64 shape[MAX_RANK];
    const i64 more[MAX_RANK] = {0};
    int extent[MAX_RANK];
    for (int d = 0; d < s->rq->rank; d++) {
        shape[d] = s->shape[s->map[d]];
        extent[d] = s->extent[s->map[d]];
    }
    Arena *a = ex_arena(s->src->e);
    Question q = {a, s->scalars, s->dst, shape, extent, more, true};
    take_limits(s->scalars, s->dst, extent);
    arena_scratch(a, need_one_to_one, &q);
}

/* Two ways: a shape of numbers may be decided by elements, swizzles and tables of that shape, and its
 * verdict has padding taken back and an example; for all shapes only digits decide, and limits follow. */
void
sides_decide(const Sides *s)
{
    need_room(s);
    if (s->scalars->nextents) {
        decide_source(s);
        decide_destination(s);
    } else {
        decide_readable_or_fail(s->src);
        decide_destination_or_fail(s->dst);
    }
}

const Verdict *
sides_decide_index(const Sides *s, bool inverse)
{
    if (!s->scalars->nextents)
        return inverse ? decide_inverse_or_fail(s->src) : decide_readable_or_fail(s->src);
    decide_source(s);
    return NULL;
}
