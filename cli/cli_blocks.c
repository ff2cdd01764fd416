/* The blocks of a conversion that does not fit the memory. */
#include <string.h>

#include "../runtime/proof.h"
#include "cli_blocks.h"

static Layout *
layout_of(const Blocks *b, const Layout *l, const i64 *extent, const int *map)
{
    i64 shape[MAX_RANK];
    for (int d = 0; d < l->rank; d++)
        shape[map ? map[d] : d] = extent[d];
    return layout_make(b->e, l->ref, l->dtype, l->rank, shape);
}

bool
blocks_make(const Blocks *b, const i64 *extent, Block *out)
{
    out->src = layout_of(b, b->p->src, extent, b->p->map);
    out->dst = layout_of(b, b->p->dst, extent, NULL);
    return layout_slab(b->src, out->src, &out->from) &&
           layout_slab(b->dst, out->dst, &out->to);
}

/* The bytes that a conversion block by block allocates. */
static i64
memory_of(const Blocks *b, const Block *one, bool proven)
{
    const Plan p = {.src = one->src, .dst = one->dst, .split = b->p->split};
    i64 src = one->from.n ? layout_bytes(one->src) : 0, all;
    if (!int_add(src, layout_bytes(one->dst), &all))
        return INF;
    return proven && proof_bytes(&p) > all ? proof_bytes(&p) : all;
}

/* The blocks of one size begin at these multiples; `rest`: the shorter block at the end. */
static Starts
starts_of(const Blocks *b, int d, bool rest)
{
    i64 whole = b->n[d] / b->step[d];
    return rest ? (Starts){whole * b->step[d], 0, 1} : (Starts){0, b->step[d], whole};
}

/* Whether the blocks along d, as the part of a layout has them, cover its padded extent. */
static bool
covers(const Dim *whole, const Dim *part, const Starts *at)
{
    i64 end = at->first + at->step * (at->n - 1) + part->padded;
    return end == whole->padded || (at->step && end < whole->padded &&
                                    part->padded == at->step);
}

static bool
side_is_right(const Layout *whole, const Layout *part, const Starts *at)
{
    for (int d = 0; d < whole->rank; d++)
        if (!covers(&whole->dim[d], &part->dim[d], &at[d]))
            return false;
    return layout_is_slab(whole, part, at);
}

/* Whether each slot of the entries is one of the box: slabs of other boxes do not have it. */
static bool
is_onto(const Layout *l)
{
    i64 slots = 1;
    for (int i = 0; i < l->nentry; i++)
        if (!int_mul(slots, l->entry[i].extent, &slots))
            return false;
    return slots == layout_points(l, true);
}

/* Whether the blocks are slabs that cover the storage of both sides, and in the destination
 * do not overlap.  `rest`: of which dims the shorter block is meant, as bits. */
static bool
kind_is_right(const Blocks *b, unsigned rest)
{
    Starts to[MAX_RANK], from[MAX_RANK];
    i64 extent[MAX_RANK];
    Block one;
    for (int d = 0; d < b->dst->rank; d++) {
        bool short_one = rest >> d & 1;
        extent[d] = short_one ? b->n[d] % b->step[d] : b->step[d];
        to[d] = from[b->p->map[d]] = starts_of(b, d, short_one);
        if (extent[d] == 0)
            return true;                   /* there is no such block */
    }
    return blocks_make(b, extent, &one) && is_onto(one.dst) &&
           side_is_right(b->dst, one.dst, to) && side_is_right(b->src, one.src, from);
}

static bool
are_right(const Blocks *b)
{
    for (unsigned rest = 0; rest < 1u << b->dst->rank; rest++) {
        bool cut = true;
        for (int d = 0; d < b->dst->rank; d++)
            cut &= !(rest >> d & 1) || b->step[d] < b->n[d];
        if (cut && !kind_is_right(b, rest))
            return false;
    }
    return true;
}

static i64
lcm(i64 a, i64 b)
{
    i64 r;
    return a && b && int_lcm(a, b, &r) ? r : 0;
}

/* The least multiple at which all digits of a dim begin anew, and a byte if the dim is one of
 * single elements; 0: it does not fit. */
static i64
unit_of(const Layout *l, const Dim *d)
{
    i64 open = d->canonical.open, closed = d->canonical.closed;
    i64 few = l->dtype->bits < 8 ? 8 / l->dtype->bits : 1;
    return lcm(lcm(d->pad, few), lcm(open ? open : 1, closed ? closed : 1));
}

/* The dims that can be cut, each tried alone; none of a part of a tensor, which has a shape of
 * its own. */
static void
set_units(Blocks *b)
{
    if (b->src->view || b->dst->view)
        return;
    for (int d = 0; d < b->dst->rank; d++) {
        i64 unit = lcm(unit_of(b->dst, &b->dst->dim[d]),
                       unit_of(b->src, &b->src->dim[b->p->map[d]]));
        if (unit == 0 || unit >= b->n[d])
            continue;
        b->step[d] = unit;
        b->unit[d] = are_right(b) ? unit : 0;
        b->step[d] = b->n[d];
    }
}

/* About half of the extent. */
static i64
halved(const Blocks *b, int d)
{
    i64 half;
    return b->unit[d] && int_round_up(int_ceil_div(b->step[d], 2), b->unit[d], &half) &&
           half < b->step[d] ? half : 0;
}

/* Runs of both files, in proportion. */
static double
runs_of(const Blocks *b, const Block *one)
{
    return (double)layout_bytes(b->src) / (double)one->from.run +
           (double)layout_bytes(b->dst) / (double)one->to.run;
}

int
blocks_ncut(const Blocks *b)
{
    int n = 0;
    for (int d = 0; d < b->dst->rank; d++)
        n += b->step[d] < b->n[d];
    return n;
}

/* Halve the blocks along the dim that leaves the fewest runs.  False: they are smallest. */
static bool
halve(Blocks *b, Block *now)
{
    int best = -1;
    double least = 0;
    for (int d = 0; d < b->dst->rank; d++) {
        Block one;
        i64 half = halved(b, d), was = b->step[d];
        if (!half || (was == b->n[d] && blocks_ncut(b) == BLOCKS_CUT_MAX))
            continue;
        b->step[d] = half;
        if (blocks_make(b, b->step, &one) && (best < 0 || runs_of(b, &one) < least)) {
            best = d;
            least = runs_of(b, &one);
            *now = one;
        }
        b->step[d] = was;
    }
    if (best >= 0)
        b->step[best] = halved(b, best);
    return best >= 0;
}

/* Sort the dims by how far the next block along them lies in the destination. */
static void
set_order(Blocks *b)
{
    i64 far[MAX_RANK];
    for (int d = 0; d < b->dst->rank; d++) {
        i64 x[MAX_RANK] = {0};
        int i = d;
        x[d] = b->step[d] < b->n[d] ? b->step[d] : 0;
        layout_address(b->dst, x, &far[d]);
        for (; i > 0 && far[b->order[i - 1]] < far[d]; i--)
            b->order[i] = b->order[i - 1];
        b->order[i] = d;
    }
}

Blocks *
blocks_new(Cli *c, const Plan *p, i64 memory, bool proven, i64 *least)
{
    Blocks *b = arena_new(c->arena, Blocks);
    Block one;
    *b = (Blocks){.e = ex_new(c->arena), .p = p};
    for (int d = 0; d < p->dst->rank; d++)
        b->n[d] = b->step[d] = p->dst->dim[d].n;
    b->src = layout_of(b, p->src, b->n, p->map);
    b->dst = layout_of(b, p->dst, b->n, NULL);
    set_units(b);
    blocks_make(b, b->n, &one);
    i64 whole = memory_of(b, &one, proven);
    while ((*least = memory_of(b, &one, proven)) > memory)
        if (!halve(b, &one))
            return NULL;
    set_order(b);
    if (are_right(b))
        return b;
    *least = whole;
    return NULL;
}

bool
blocks_run_long(const Blocks *b)
{
    enum { LONG = 4096 };
    Block one;
    return blocks_make(b, b->step, &one) && one.from.run >= LONG && one.to.run >= LONG;
}

unsigned
blocks_extents(const Blocks *b, const i64 *x, i64 *extent)
{
    unsigned rest = 0, bit = 1;
    for (int d = 0; d < b->dst->rank; d++) {
        bool last = b->n[d] - x[d] < b->step[d];
        extent[d] = last ? b->n[d] - x[d] : b->step[d];
        rest |= last ? bit : 0;
        bit <<= b->step[d] < b->n[d];
    }
    return rest;
}

bool
blocks_corner(const Blocks *b, unsigned rest, i64 *x)
{
    bool any = true;
    for (int d = 0; d < b->dst->rank; d++) {
        bool cut = b->step[d] < b->n[d];
        x[d] = cut && rest & 1 ? b->n[d] / b->step[d] * b->step[d] : 0;
        any &= x[d] < b->n[d];
        rest >>= cut;
    }
    return any;
}

bool
blocks_next(const Blocks *b, i64 *x)
{
    for (int i = b->dst->rank - 1; i >= 0; i--) {
        int d = b->order[i];
        x[d] += b->step[d];
        if (x[d] < b->n[d])
            return true;
        x[d] = 0;
    }
    return false;
}
