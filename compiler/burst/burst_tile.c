/* Computes the transfers of the sides of a tile, and chooses the extents that move the
 * fewest bytes. */
#include <stdlib.h>

#include "burst.h"

i64
burst_stride(const BurstBox *b, int i, int side)
{
    const GridLoop *l = &b->box.loop[i];
    return b->item * (side == SOURCE ? l->ss : l->ds);
}

BurstPart
burst_part(i64 n, i64 extent, bool tail)
{
    i64 tiles = n / extent, rest = n % extent;
    return tail ? (BurstPart){rest, 0, 1, n - rest}
                : (BurstPart){extent, extent, tiles, 0};
}

static i64
round_up(i64 v, i64 to)
{
    return int_ceil_div(v, to) * to;
}

/* The lowest address of a side is `rem` modulo `mod`, a divisor of the burst. */
typedef struct {
    i64 mod, rem;
} BurstPhase;

static BurstPhase
phase_of(const BurstBox *b, const BurstPart *part, int side)
{
    const Ex *x = side == SOURCE ? b->box.src : b->box.dst;
    BurstPhase p = {b->m->burst, 0};
    if (b->inside) {
        p.rem = b->least[side];
    } else {
        p.mod = int_gcd(p.mod, b->item * x->f.mod);
        p.rem = b->item * x->f.rem;
    }
    for (int i = 0; i < b->box.nloops; i++) {
        i64 s = burst_stride(b, i, side);
        if (part[i].tiles > 1)
            p.mod = int_gcd(p.mod, int_abs(part[i].step * s));
        if (!(b->inside && b->box.loop[i].residual))
            p.rem += part[i].first * s + (s < 0 ? (part[i].n - 1) * s : 0);
    }
    p.rem = int_mod(p.rem, p.mod);
    return p;
}

/* The loops of the tile with a stride on this side, by ascending stride; returns their
 * number. */
static int
ascending(const BurstBox *b, const BurstPart *part, int side, int *loop)
{
    int n = 0;
    for (int i = 0; i < b->box.nloops; i++) {
        i64 s = int_abs(burst_stride(b, i, side));
        int at = n;
        if (part[i].n == 1 || s == 0 || (b->inside && b->box.loop[i].residual))
            continue;
        for (; at > 0 && int_abs(burst_stride(b, loop[at - 1], side)) > s; at--)
            loop[at] = loop[at - 1];
        loop[at] = i;
        n++;
    }
    return n;
}

/* A transfer of a range of addresses, and the loops over transfers. */
typedef struct {
    i64 hull, slots;      /* bytes, elements */
    i64 span;             /* bytes of all transfers */
    int first;            /* loops over transfers: from loop[first] on */
} Transfer;

static i64
transfer(const BurstBox *b, const BurstPhase *p, const Transfer *r)
{
    return round_up(b->m->burst - p->mod + p->rem + r->hull, b->m->burst);
}

/* Adds loop k, in the order of `ascending`: to the range of a transfer, or as a loop over
 * transfers if these do not overlap; else all loops up to it become one transfer. */
static void
add(const BurstBox *b, const BurstPart *part, int side, const BurstPhase *p, const int *loop,
    int k, Transfer *r)
{
    i64 s = int_abs(burst_stride(b, loop[k], side)), n = part[loop[k]].n;
    i64 span = r->first == k ? transfer(b, p, r) : r->span;
    if (!(r->first == k && s <= r->hull) && s % b->m->burst == 0 && s >= span) {
        r->span = span + (n - 1) * s;
        return;
    }
    for (; r->first <= k; r->first++) {
        int i = loop[r->first];
        r->hull += (part[i].n - 1) * int_abs(burst_stride(b, i, side));
        r->slots *= part[i].n;
    }
}

bool
burst_side(const BurstBox *b, const BurstPart *part, int side, BurstSide *out, i64 *moves)
{
    int loop[MAX_LOOPS], n = ascending(b, part, side, loop);
    BurstPhase p = phase_of(b, part, side);
    Transfer r = {.hull = b->item + (b->inside ? b->most[side] - b->least[side] : 0),
                  .slots = b->inside ? b->nstarts : 1};
    for (int k = 0; k < n; k++)
        add(b, part, side, &p, loop, k, &r);
    *out = (BurstSide){.most = transfer(b, &p, &r), .transfers = 1, .nsteps = n - r.first,
                       .hull = r.hull};
    out->whole = p.mod == b->m->burst && p.rem == 0 && r.hull % b->m->burst == 0 &&
                 r.slots * b->item == r.hull;
    for (int i = 0; i < b->box.nloops; i++)
        moves[i] = burst_stride(b, i, side);
    out->room = out->most;
    for (int k = r.first; k < n; k++) {
        i64 s = burst_stride(b, loop[k], side), count = part[loop[k]].n;
        out->step[n - 1 - k] = (BurstStep){count, int_abs(s), out->room};
        moves[loop[k]] = s < 0 ? -out->room : out->room;
        out->transfers *= count;
        if (count > b->m->counts || int_ceil_div(b->m->memory, count) < out->room)
            return false;
        out->room *= count;
    }
    return true;
}

/* Computes both sides of a tile; false if they do not fit. */
static bool
sides_of(const BurstBox *b, const BurstPart *part, BurstSide *out)
{
    i64 moves[MAX_LOOPS], room = 0;
    for (int side = b->box.nest->kind == NEST_FILL; side <= DESTINATION; side++) {
        if (!burst_side(b, part, side, &out[side], moves) ||
            out[side].room > b->m->memory - room)
            return false;
        room += out[side].room;
    }
    return true;
}

/* True if all tiles over loop i and the loops after it fit.  Tails are checked too: a tail
 * begins elsewhere in a burst and may need more memory than a full tile. */
static bool
all_fit(const BurstBox *b, const i64 *extent, BurstPart *part, int i)
{
    BurstSide side[2];
    if (i == b->box.nloops)
        return sides_of(b, part, side);
    for (int last = 0; last <= (b->box.loop[i].n % extent[i] != 0); last++) {
        part[i] = burst_part(b->box.loop[i].n, extent[i], last);
        if (!all_fit(b, extent, part, i + 1))
            return false;
    }
    return true;
}

/* The cost of a tile for each element, in bytes moved and equivalents; negative: it does
 * not fit. */
static double
cost(const BurstBox *b, const i64 *extent)
{
    enum { TILE = 1000, CALL = 500, TRANSFER = 64 };
    BurstPart part[MAX_LOOPS];
    BurstSide sides[2] = {{0}};
    double sum = TILE, elements = (double)b->nstarts;
    for (int i = 0; i < b->box.nloops; i++) {
        part[i] = burst_part(b->box.loop[i].n, extent[i], false);
        elements *= b->inside && b->box.loop[i].residual ? 1 : (double)extent[i];
    }
    if (!sides_of(b, part, sides))
        return -1;
    for (int side = SOURCE; side <= DESTINATION; side++) {
        const BurstSide *s = &sides[side];
        i64 calls = s->nsteps ? s->transfers / s->step[s->nsteps - 1].n : s->transfers;
        double once = (double)(s->transfers * (s->most + TRANSFER) + calls * CALL);
        sum += side == SOURCE || s->whole ? once : 2 * once;
    }
    return sum / elements;
}

/* Starts with the smallest tile and repeats the best step while it lowers the cost for an
 * element; a step doubles the extent of one loop or extends it to the whole loop. */
bool
burst_choose(const BurstBox *b, i64 *extent)
{
    for (int i = 0; i < b->box.nloops; i++)
        extent[i] = b->inside && b->box.loop[i].residual ? b->box.loop[i].n : 1;
    BurstPart part[MAX_LOOPS];
    double now = cost(b, extent);
    if (now < 0)
        return false;
    for (int best = 0; best >= 0;) {
        i64 grown = 0;
        best = -1;
        for (int k = 0; k < 2 * b->box.nloops; k++) {
            int i = k / 2;
            i64 n = b->box.loop[i].n, was = extent[i];
            if (was == n || b->box.loop[i].residual)
                continue;
            extent[i] = k % 2 || 2 * was > n ? n : 2 * was;
            double c = cost(b, extent);
            if (c >= 0 && c < now && all_fit(b, extent, part, 0)) {
                now = c;
                best = i;
                grown = extent[i];
            }
            extent[i] = was;
        }
        if (best >= 0)
            extent[best] = grown;
    }
    return true;
}
