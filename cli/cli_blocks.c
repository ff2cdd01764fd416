/* The blocks of a conversion that does not fit the memory. */
#include <string.h>

#include "cli_blocks.h"

/* A plan of a block, as far as it says what its proof takes. */
static Plan
plan_of(const Blocks *b, const Block *one)
{
    return (Plan){.src = one->from.part, .dst = one->to.part, .split = b->p->split};
}

/* The bytes that a conversion block by block needs.  A proof is made before, by one thread; each
 * thread has tables for its comparison. */
static i64
memory_of(const Blocks *b, const Block *one, bool proven)
{
    const Plan p = plan_of(b, one);
    i64 src = b->src.in_place || one->from.runs.n ? one->from.bytes : 0, all;
    i64 tables = proven ? reference_bytes(b->p) : 0;
    if (!int_add(src, one->to.bytes, &all) || !int_add(all, tables, &all) ||
        !int_mul(all, b->threads, &all))
        return INF;
    proven &= !b->src.in_place && !b->dst.in_place;
    return proven && proof_bytes(&p) > all ? proof_bytes(&p) : all;
}

static bool
takes_long(const Blocks *b, const Block *one, const BlockLimits *most)
{
    const Plan p = plan_of(b, one);
    return most->proven && !b->src.in_place && !b->dst.in_place && proof_slots(&p) > most->work;
}

static i64
lcm(i64 a, i64 b)
{
    i64 r;
    return a && b && int_lcm(a, b, &r) ? r : 0;
}

/* The least multiple of dim d at which all its digits begin anew, and a byte if the dim is one
 * of single elements; 0: there is none. */
static i64
unit_of(const Layout *l, int d)
{
    const Dim *x = &l->dim[d];
    const View *v = l->view;
    i64 open = x->canonical.open, closed = x->canonical.closed;
    i64 bytes = l->dtype->bits < 8 ? 8 / l->dtype->bits : 1, unit = bytes, of;
    if (!v)
        return lcm(lcm(x->pad, bytes), lcm(open ? open : 1, closed ? closed : 1));
    for (int i = 0; i < v->of->rank; i++) {
        if (v->at[i].dim != d)
            continue;
        of = v->at[i].list ? 0 : unit_of(v->of, i);
        unit = of ? lcm(unit, of / int_gcd(of, v->at[i].step)) : 0;
    }
    return unit;
}

/* The least multiple of the unit at which dim d can be cut, tried alone; 0: there is none.
 * A swizzle has a period, for which a multiple is doubled. */
static i64
least_cut(Blocks *b, int d)
{
    i64 unit = lcm(unit_of(b->dst.whole, d), unit_of(b->src.whole, b->src.dim[d]));
    bool swizzled = b->dst.whole->sigma || b->src.whole->sigma;
    for (; unit && unit < b->n[d]; unit = swizzled ? unit * 2 : 0) {
        b->step[d] = unit;
        bool right = blocks_are_right(b);
        b->step[d] = b->n[d];
        if (right)
            return unit;
    }
    return 0;
}

/* About half of the extent. */
static i64
halved(const Blocks *b, int d)
{
    i64 half;
    return b->unit[d] && int_round_up(int_ceil_div(b->step[d], 2), b->unit[d], &half) &&
           half < b->step[d] ? half : 0;
}

/* Runs of both files, in proportion.  One that is written is a call, and shares its first page
 * and its last with others. */
static double
runs_of(const Blocks *b, const Block *one)
{
    enum { WRITTEN = 4 };
    return (double)layout_bytes(b->src.whole) / (double)one->from.run +
           WRITTEN * (double)layout_bytes(b->dst.whole) / (double)one->to.run;
}

int
blocks_ncut(const Blocks *b)
{
    int n = 0;
    for (int d = 0; d < b->p->dst->rank; d++)
        n += b->step[d] < b->n[d];
    return n;
}

/* Halve the blocks along the dim that leaves the fewest runs.  False: they are smallest. */
static bool
halve(Blocks *b, Block *now)
{
    int best = -1;
    double least = 0;
    for (int d = 0; d < b->p->dst->rank; d++) {
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
    for (int d = 0; d < b->p->dst->rank; d++) {
        i64 x[MAX_RANK] = {0};
        int i = d;
        x[d] = b->step[d] < b->n[d] ? b->step[d] : 0;
        layout_address(b->dst.whole, x, &far[d]);
        for (; i > 0 && far[b->order[i - 1]] < far[d]; i--)
            b->order[i] = b->order[i - 1];
        b->order[i] = d;
    }
}

/* Halve the blocks until they fit and, if they can be as small as that, their proof takes no
 * longer than it may.  False, with *least: they do not fit, or are not right. */
static bool
fit(Blocks *b, const BlockLimits *most, i64 *least)
{
    Block one;
    for (int d = 0; d < b->p->dst->rank; d++)
        b->step[d] = b->n[d];
    for (int d = 0; d < b->p->dst->rank; d++)
        b->unit[d] = least_cut(b, d);
    blocks_make(b, b->n, &one);
    i64 need = memory_of(b, &one, most->proven);
    while ((need > most->memory || takes_long(b, &one, most)) && halve(b, &one))
        need = memory_of(b, &one, most->proven);
    set_order(b);
    bool right = blocks_are_right(b);
    *least = right && need < *least ? need : *least;
    return right && need <= most->memory;
}

/* A part of a tensor has a shape of its own, and no slabs.  The text of a box in place is one of the
 * layout as it is written; a slab of dims that the plan has as one, HW, is that of a request with
 * the extents 1 and HW. */
static bool
can_be(const BlockSide *s, const Layout *planned)
{
    return s->in_place ? !planned->written : !s->whole->view;
}

/* Choose the sides that have their blocks in place, the fewest that do. */
static bool
set_sides(Blocks *b, const BlockLimits *most, i64 *least)
{
    for (int sides = 0; sides < (most->in_place && b->threads == 1 ? 4 : 1); sides++) {
        b->src.in_place = sides & 1;
        b->dst.in_place = sides & 2;
        if (can_be(&b->src, b->p->src) && can_be(&b->dst, b->p->dst) && fit(b, most, least))
            return true;
    }
    return false;
}

Blocks *
blocks_new(Cli *c, const Plan *p, const ravel_request *rq, const BlockLimits *most,
           i64 *least)
{
    Blocks *b = arena_new(c->arena, Blocks);
    *b = (Blocks){.arena = c->arena, .e = ex_new(c->arena), .known = c->known, .p = p,
                  .threads = most->threads};
    for (int d = 0; d < p->dst->rank; d++)
        b->n[d] = p->dst->dim[d].n;
    blocks_side(b, p->src, rq->from, p->map, &b->src);
    blocks_side(b, p->dst, rq->to, NULL, &b->dst);
    if (b->threads > 1 && set_sides(b, most, least))
        return b;
    b->threads = 1;
    return set_sides(b, most, least) ? b : NULL;
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
    for (int d = 0; d < b->p->dst->rank; d++) {
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
    for (int d = 0; d < b->p->dst->rank; d++) {
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
    for (int i = b->p->dst->rank - 1; i >= 0; i--) {
        int d = b->order[i];
        x[d] += b->step[d];
        if (x[d] < b->n[d])
            return true;
        x[d] = 0;
    }
    return false;
}

int
blocks_joined(const Blocks *b, i64 bytes, i64 most)
{
    int i = b->p->dst->rank - 1;
    for (; i > 0; i--) {
        int d = b->order[i];
        if (!int_mul(bytes, int_ceil_div(b->n[d], b->step[d]), &bytes) || bytes > most)
            break;
    }
    return i;
}
