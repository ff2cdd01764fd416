/* A block of a conversion: what it has of the storage of both sides, and whether that is
 * right. */
#include <string.h>

#include "cli_blocks.h"

void
blocks_side(const Blocks *b, const Layout *l, const char *text, const int *map, BlockSide *out)
{
    i64 shape[MAX_RANK];
    *out = (BlockSide){.text = text};
    for (int d = 0; d < l->rank; d++) {
        out->dim[d] = map ? map[d] : d;
        shape[out->dim[d]] = b->n[d];
    }
    out->whole = layout_make(b->e, l->ref, l->dtype, l->rank, shape);
}

/* The text of the box of a tensor, or of a part of one, that begins at 0. */
static const char *
box_text(const Blocks *b, const BlockSide *s, const i64 *shape)
{
    Buf t = buf_new(b->arena);
    buf_add(&t, s->text);
    for (int d = 0; d < s->whole->rank; d++)
        buf_printf(&t, "%s%lld", d ? "," : "(", (long long)s->whole->dim[d].n);
    for (int d = 0; d < s->whole->rank; d++)
        buf_printf(&t, "%s0:%lld", d ? "," : ")[", (long long)shape[d]);
    buf_add(&t, "]");
    return t.s;
}

/* The elements that follow the first of a part without a gap.  Dims are taken from the least
 * stride on; a dim of several digits counts by its lowest. */
static i64
run_in_place(const Layout *part)
{
    i64 zero[MAX_RANK] = {0}, first, run = 1;
    layout_address(part, zero, &first);
    for (bool more = true; more;) {
        more = false;
        for (int d = 0; d < part->rank; d++) {
            i64 x[MAX_RANK] = {0}, at;
            x[d] = 1;
            if (part->dim[d].n < 2 || !layout_address(part, x, &at) || at - first != run)
                continue;
            x[d] = part->dim[d].n - 1;
            more = layout_address(part, x, &at) && at - first == run * x[d];
            run *= more ? part->dim[d].n : 1;
        }
    }
    return run;
}

static i64
bytes_of(const Layout *l, i64 elements)
{
    i64 bits;
    return int_mul(elements, l->dtype->bits, &bits) ? (bits + 7) / 8 : INF;
}

static bool
make_part(const Blocks *b, const BlockSide *s, const i64 *extent, BlockPart *out)
{
    const Layout *w = s->whole;
    const LayoutRef *ref = w->ref;
    i64 shape[MAX_RANK];
    for (int d = 0; d < w->rank; d++)
        shape[s->dim[d]] = extent[d];
    *out = (BlockPart){.text = s->text};
    if (s->in_place) {
        out->text = box_text(b, s, shape);
        ref = spec_ref(b->arena, out->text, b->known);
    }
    out->part = layout_make(b->e, ref, w->dtype, w->rank, shape);
    if (s->in_place) {
        out->bytes = bytes_of(w, layout_points(out->part, false));
        out->run = bytes_of(w, run_in_place(out->part));
        return true;
    }
    bool ok = layout_slab(w, out->part, &out->runs);
    out->bytes = layout_bytes(out->part);
    out->run = out->runs.run;
    return ok;
}

bool
blocks_make(const Blocks *b, const i64 *extent, Block *out)
{
    bool from = make_part(b, &b->src, extent, &out->from);
    return make_part(b, &b->dst, extent, &out->to) && from;
}

i64
blocks_start(const BlockSide *s, const BlockPart *k, const i64 *x)
{
    i64 y[MAX_RANK], zero[MAX_RANK] = {0}, at = 0, first = 0;
    for (int d = 0; d < s->whole->rank; d++)
        y[s->dim[d]] = x[d];
    if (!s->in_place)
        return layout_slab_start(s->whole, k->part, y);
    layout_address(s->whole, y, &at);
    layout_address(k->part, zero, &first);
    return (at - first) * s->whole->dtype->bits / 8;
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

/* In place, no padding is written, and a byte has elements of one block only. */
static bool
can_be_written(const BlockSide *s, const BlockPart *k)
{
    return s->in_place ? s->whole->dtype->bits >= 8 &&
                         layout_points(s->whole, true) == layout_points(s->whole, false)
                       : is_onto(k->part);
}

static bool
side_is_right(const BlockSide *s, const BlockPart *k, const Starts *starts)
{
    Starts at[MAX_RANK];
    for (int d = 0; d < s->whole->rank; d++)
        at[s->dim[d]] = starts[d];
    if (s->in_place)
        return layout_is_shifted(s->whole, k->part, at);
    for (int d = 0; d < s->whole->rank; d++)
        if (!covers(&s->whole->dim[d], &k->part->dim[d], &at[d]))
            return false;
    return layout_is_slab(s->whole, k->part, at);
}

/* `rest`: of which dims the shorter block is meant, as bits. */
static bool
kind_is_right(const Blocks *b, unsigned rest)
{
    Starts at[MAX_RANK];
    i64 extent[MAX_RANK];
    Block one;
    for (int d = 0; d < b->p->dst->rank; d++) {
        bool short_one = rest >> d & 1;
        extent[d] = short_one ? b->n[d] % b->step[d] : b->step[d];
        at[d] = starts_of(b, d, short_one);
        if (extent[d] == 0)
            return true;                   /* there is no such block */
    }
    return blocks_make(b, extent, &one) && can_be_written(&b->dst, &one.to) &&
           side_is_right(&b->dst, &one.to, at) && side_is_right(&b->src, &one.from, at);
}

bool
blocks_are_right(const Blocks *b)
{
    for (unsigned rest = 0; rest < 1u << b->p->dst->rank; rest++) {
        bool cut = true;
        for (int d = 0; d < b->p->dst->rank; d++)
            cut &= !(rest >> d & 1) || b->step[d] < b->n[d];
        if (cut && !kind_is_right(b, rest))
            return false;
    }
    return true;
}
