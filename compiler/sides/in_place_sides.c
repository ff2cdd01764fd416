/* A conversion within one buffer: by the digits of both layouts, or in blocks that have the same
 * bytes on both sides. */
#include "sides.h"

enum { TRIES = 16 };               /* sizes of a block along a dim */

/* The whole conversion as one block. */
static InPlacePass
whole(Arena *a, const Plan *p, const Request *rq)
{
    return (InPlacePass){.n = 1, .bytes = layout_bytes(p->src), .from = rq->from, .to = rq->to,
                         .rank = p->src->rank, .shape = sides_extents(a, p->src)};
}

/* Whether the boxes of n elements along dim d, one after the other, are the storage of l, in the
 * layout that a tensor of their shape has. */
static bool
follow(const Layout *l, int d, i64 n, i64 bytes)
{
    i64 shape[MAX_RANK], x[MAX_RANK] = {0};
    Starts at[MAX_RANK];
    SlabRuns runs;
    for (int i = 0; i < l->rank; i++) {
        shape[i] = i == d ? n : l->dim[i].n;
        at[i] = i == d ? (Starts){0, n, l->dim[i].n / n} : (Starts){0, 0, 1};
    }
    const Layout *part = layout_make(l->e, l->ref, l->dtype, l->rank, shape);
    if (layout_bytes(part) != bytes || !layout_is_slab(l, part, at) ||
        !layout_slab(l, part, &runs) || runs.run != bytes)
        return false;
    x[d] = l->dim[d].n - n;
    return layout_slab_start(l, part, x) == bytes * (l->dim[d].n / n - 1);
}

static int
dim_of(const Plan *p, int d)
{
    int i = 0;
    while (p->map[i] != d)
        i++;
    return i;
}

/* Cut dim d of the source into equal boxes, the largest first. */
static bool
cut(Arena *a, const Plan *p, const Request *rq, int d, InPlacePass *out)
{
    const i64 bytes = layout_bytes(p->src), n = p->src->dim[d].n;
    i64 most = n / int_ceil_div(bytes, IN_PLACE_BYTES);
    int tries = 0;
    for (i64 k = most; k > 0 && tries < TRIES; k--) {
        if (n % k || bytes % (n / k))
            continue;
        i64 block = bytes / (n / k);
        tries++;
        if (!follow(p->src, d, k, block) || !follow(p->dst, dim_of(p, d), k, block))
            continue;
        *out = whole(a, p, rq);
        i64 *shape = arena_copy(a, out->shape, (size_t)p->src->rank * sizeof *shape);
        shape[d] = k;
        out->n = n / k;
        out->bytes = block;
        out->shape = shape;
        return true;
    }
    return false;
}

static bool
in_boxes(Arena *a, const Plan *p, const Request *rq, InPlace *out)
{
    *out = (InPlace){.n = 1};
    if (p->src->view || p->dst->view)
        return false;
    for (int d = 0; d < p->src->rank; d++)
        if (cut(a, p, rq, d, &out->pass[0]))
            return true;
    return false;
}

static bool
pads(const Layout *l)
{
    i64 n = 1;
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(n, l->dim[d].n, &n))
            return false;
    return n != l->size;
}

/* What a conversion in place needs, and these layouts have not; NULL: it may be. */
static const char *
refusal(Arena *a, const Plan *p)
{
    if (!plan_is_fixed(p))
        return "all extents to be numbers, because its passes follow from them, but some are names";
    if (plan_looks_up(p))
        return "layouts without index arrays, but one has some";
    if (layout_bytes(p->src) != layout_bytes(p->dst))
        return arena_printf(a, "source and destination of one size, but these have %lld and "
                            "%lld bytes", (long long)layout_bytes(p->src),
                            (long long)layout_bytes(p->dst));
    return plan_writes_all(p) ? NULL : "a destination without holes, but this one has some, "
                                       "which would keep their bytes";
}

const InPlace *
sides_in_place(const Plan *p, const Request *rq)
{
    Arena *a = ex_arena(p->e);
    InPlace *out = arena_new(a, InPlace);
    work_on(a, "to convert in place", NULL);
    const char *why = refusal(a, p);
    bool can = !why && layout_bytes(p->src) <= IN_PLACE_BYTES;
    if (can)
        *out = (InPlace){1, {whole(a, p, rq)}};
    else if (!why && !(plan_in_place(p, out) || in_boxes(a, p, rq, out)))
        why = arena_printf(a, "layouts that are the same digits in two orders and fill the "
                           "storage, or that have the same bytes in blocks of at most %d KB, "
                           "but these %s", IN_PLACE_BYTES >> 10, pads(p->src) || pads(p->dst)
                           ? "leave padding" : "are not such");
    if (why)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0}, "%s -> %s cannot be converted in place, "
                   "which needs %s", layout_ref_text(a, p->src->ref), layout_ref_text(a, p->dst->ref),
                   why);
    return out;
}
