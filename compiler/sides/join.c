/* Makes dims one that both sides of a conversion count as one number, H*extent(W) + W: with extents
 * left to run time, its digits are those of one coordinate. */
#include "sides.h"

typedef struct {
    Arena *arena;
    Sides *s;
    const DType *dtype;
    const LayoutRef **from, **to;
    const LayoutDef *unjoined;     /* the destination before dims are joined */
    int back[MAX_RANK];            /* dim of src -> dim of dst */
} Joiner;

static const i64 *
shape_of_dst(const Joiner *j)
{
    i64 *shape = arena_array(j->arena, i64, MAX_RANK);
    for (int d = 0; d < j->s->rq->rank; d++)
        shape[d] = j->s->shape[j->s->map[d]];
    return shape;
}

/* Whether an extent is left to run time, and the layout uses one by name. */
static bool
is_open(const LayoutRef *ref, const i64 *shape)
{
    const LayoutDef *d = ref->def;
    bool open = false, uses = false;
    for (int i = 0; i < d->ndims && !d->index && !d->batch; i++) {
        open |= shape[i] == RUNTIME_EXTENT;
        uses |= layout_uses_extent(d, d->dims[i]);
    }
    return open && uses;
}

/* Whether the destination counts another dim and this one of the source as one number, and its
 * slots that have no coordinates are to be filled: they are holes of its dims, and padding of one
 * that several are joined to. */
static bool
fills_holes(const Joiner *j, int inner)
{
    const LayoutDef *d = j->unjoined;
    return d->fills && !d->index && !d->batch && layout_uses_extent(d, d->dims[j->back[inner]]);
}

/* Whether dims whose extents are numbers are to be joined, too. */
static bool
joins_known(const Joiner *j)
{
    bool joins = is_open(*j->from, j->s->shape) || is_open(*j->to, shape_of_dst(j));
    for (int d = 0; d < j->s->rq->rank; d++)
        joins |= fills_holes(j, d);
    return joins;
}

static bool
join(Joiner *j, int outer, int inner)
{
    Sides *s = j->s;
    const LayoutRef *from = layout_joined(j->arena, *j->from, j->dtype, s->shape, outer, inner);
    const LayoutRef *to = !from ? NULL
        : layout_joined(j->arena, *j->to, j->dtype, shape_of_dst(j), j->back[outer], j->back[inner]);
    if (!to)
        return false;
    i64 both;
    bool known = s->shape[outer] != RUNTIME_EXTENT && s->shape[inner] != RUNTIME_EXTENT;
    if (known && !int_mul(s->shape[outer], s->shape[inner], &both))
        return false;
    *j->from = from;
    *j->to = to;
    s->shape[inner] = known ? both : RUNTIME_EXTENT;
    s->shape[outer] = 1;
    for (int d = 0; d < s->rq->rank; d++)
        if (s->given[d].joined == outer)
            s->given[d].joined = inner;
    return true;
}

static bool
is_joined(const Sides *s, int dim)
{
    bool joined = false;
    for (int d = 0; d < s->rq->rank; d++)
        joined |= d != dim && s->given[d].joined == dim;
    return joined;
}

/* Two dims, of which one needs it: it is one of several already, or an order uses an extent.
 * known: both extents are numbers. */
static bool
join_any(Joiner *j, bool known)
{
    Sides *s = j->s;
    const bool open = is_open(*j->from, s->shape) || is_open(*j->to, shape_of_dst(j));
    for (int outer = 0; outer < s->rq->rank; outer++)
        for (int inner = 0; inner < s->rq->rank; inner++)
            if (outer != inner && s->given[outer].joined == outer &&
                s->given[inner].joined == inner &&
                known == (s->shape[outer] != RUNTIME_EXTENT && s->shape[inner] != RUNTIME_EXTENT) &&
                (open || fills_holes(j, inner) || is_joined(s, outer) || is_joined(s, inner)) &&
                join(j, outer, inner))
                return true;
    return false;
}

void
sides_join(Arena *a, const LayoutRef **from, const LayoutRef **to, const DType *t, Sides *s)
{
    Joiner j = {a, s, t, from, to, (*to)->def, {0}};
    for (int d = 0; d < s->rq->rank; d++) {
        s->shape[d] = s->rq->shape[d];
        s->given[d] = (PlanExtent){.n = s->rq->shape[d], .joined = d};
        j.back[s->map[d]] = d;
    }
    if (is_open(*from, s->shape))
        *from = layout_unfolded(a, *from, t, s->shape);
    if (is_open(*to, shape_of_dst(&j)))
        *to = layout_unfolded(a, *to, t, shape_of_dst(&j));
    while (join_any(&j, false) || (joins_known(&j) && join_any(&j, true)))
        continue;
}
