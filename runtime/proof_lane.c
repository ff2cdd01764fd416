/* Prepare a lane before a run and check it afterwards.
 *
 * The first lane is compared with the layouts, by a walk over all coordinates.  The
 * other lanes are compared with it: copied elements differ by the lanes' keys, fill
 * values are equal, and holes have the poison of their own lane. */
#include "proof_stamp.h"

#include <errno.h>
#include <string.h>

#include "element.h"

enum { BLOCK = 64 };               /* slots: a word of the sets of kinds */

/* Whether all slots of a block have one stamp: those after the first passes. */
static inline bool
one_a_block(int shift)
{
    return shift > 5;
}

/* Write the stamps of n slots of a block: of whole bytes, so that they are one or there is
 * no shift.  `bits` is constant in each call, so each width is a simple loop. */
static inline void
stamps(int bits, int shift, uint64_t key, i64 slot, int n, unsigned char *out)
{
    uint64_t mask = mask_of(bits);
    Value all = stamp(bits, shift, key, mask, slot);
    for (i64 i = 0; i < n && one_a_block(shift); i++)
        element_set(out, i, bits, all.low, all.high);
    for (i64 i = 0; i < n && !one_a_block(shift); i++) {
        Value v = stamp(bits, 0, key, mask, slot + i);
        element_set(out, i, bits, v.low, v.high);
    }
}

/* The same of slots smaller than a byte, a byte at once.  Where stamps change less often than
 * bytes do, all of a byte are one. */
static inline void
small_stamps(int bits, int shift, unsigned char key, i64 slot, int n, unsigned char *out)
{
    const int per = 8 / bits;
    const unsigned mask = (1u << bits) - 1, all = 0xff / mask;
    bool one = (shift > 2 || 1 << shift >= per) && slot % per == 0;
    if (one_a_block(shift)) {
        memset(out, (int)(key ^ ((unsigned)(slot >> shift) & mask) * all), (size_t)(n / per));
        return;
    }
    for (int i = 0; i < n / per && one; i++)
        out[i] = (unsigned char)(key ^ ((unsigned)((slot + i * per) >> shift) & mask) * all);
    for (int i = 0; i < n / per && !one; i++) {
        unsigned byte = key;
        for (int k = 0; k < per; k++)
            byte ^= ((unsigned)((slot + i * per + k) >> shift) & mask) << k * bits;
        out[i] = (unsigned char)byte;
    }
}

/* Write the stamps of a block, which begins and ends at a whole byte. */
static void
stamp_block(const Proof *q, const Shot *s, i64 slot, int n, unsigned char *out)
{
    uint64_t key = everywhere(s->key);
    int shift = shift_of(q, s);
    switch (q->bits) {
    case 1: small_stamps(1, shift, s->key, slot, n, out); return;
    case 2: small_stamps(2, shift, s->key, slot, n, out); return;
    case 4: small_stamps(4, shift, s->key, slot, n, out); return;
    case 8: stamps(8, shift, key, slot, n, out); return;
    case 16: stamps(16, shift, key, slot, n, out); return;
    case 32: stamps(32, shift, key, slot, n, out); return;
    case 64: stamps(64, shift, key, slot, n, out); return;
    default: stamps(128, shift, key, slot, n, out); return;
    }
}

static unsigned char *
at_slot(const Proof *q, const Fence *f, i64 slot)
{
    return f->p + slot / 8 * q->bits + slot % 8 * q->bits / 8;
}

static int
block_of(i64 slots, i64 slot)
{
    return slots - slot < BLOCK ? (int)(slots - slot) : BLOCK;
}

ravel_status
lane_lock(Lane *l, bool locked, ravel_error *err)
{
    if (fence_lock(&l->src, locked))
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_MEMORY, "the source's pages cannot be %s: %s",
                     locked ? "locked" : "unlocked", strerror(errno));
}

FencePlace
place_at_end(const Proof *q, size_t bytes)
{
    size_t align = (size_t)q->align;
    return (FencePlace){AGAINST_END, (int)((align - bytes % align) % align)};
}

ravel_status
lane_prepare(Proof *q, Lane *l, const Shot *s, ravel_error *err)
{
    l->shot = *s;
    q->now = l;
    if (q->begun)
        atomic_fetch_add(q->begun, 1);
    fence_place(&l->src, s->src);
    fence_place(&l->dst, s->dst);
    for (i64 i = 0; i < q->slots; i += BLOCK)
        stamp_block(q, s, i, block_of(q->slots, i), at_slot(q, &l->src, i));
    memset(l->dst.p, s->poison, l->dst.n);
    return lane_lock(l, true, err);
}

/* Check that both fences and the source are unchanged. */
static ravel_status
check_around(const Proof *q, Lane *l, ravel_error *err)
{
    unsigned char want[BLOCK * 16];
    int64_t byte;
    if (lane_lock(l, false, err))
        return RAVEL_ERR_MEMORY;
    if (!fence_stands(&l->src, &byte))
        return wrong_fence(l, true, byte, err);
    if (!fence_stands(&l->dst, &byte))
        return wrong_fence(l, false, byte, err);
    for (i64 i = 0; i < q->slots; i += BLOCK) {
        int n = block_of(q->slots, i);
        stamp_block(q, &l->shot, i, n, want);
        if (memcmp(want, at_slot(q, &l->src, i), (size_t)(n * q->bits / 8)))
            return wrong_source(q, l, i, err);
    }
    return RAVEL_OK;
}

static Value
held(const Proof *q, const Lane *l, i64 slot)
{
    Value v;
    v.low = element_get(l->dst.p, slot, q->bits, &v.high);
    return v;
}

/* A walk that finds the lowest wrong slot. */
typedef struct {
    const Proof *q;
    const Lane *l;
    uint64_t key, mask;
    i64 wrong;                     /* INF: none */
} Check;

/* `bits` is constant in the calls for whole bytes, so each width is a simple loop. */
static inline void
check_slots(Check *c, const ReferenceRow *r, int bits, int shift)
{
    for (int i = 0; i < r->n; i++) {
        Value want = {c->q->p->dst->fill[0], c->q->p->dst->fill[1]}, got;
        if (r->from[i] == FROM_HOLE)
            continue;
        if (r->from[i] >= 0)
            want = stamp(bits, shift, c->key, c->mask, r->from[i]);
        got.low = element_get(c->l->dst.p, r->to[i], bits, &got.high);
        if (!same_value(got, want) && r->to[i] < c->wrong)
            c->wrong = r->to[i];
    }
}

static bool
check_row(void *arg, const ReferenceRow *r)
{
    Check *c = arg;
    int shift = shift_of(c->q, &c->l->shot);
    switch (c->q->bits) {
    case 8: check_slots(c, r, 8, shift); break;
    case 16: check_slots(c, r, 16, shift); break;
    case 32: check_slots(c, r, 32, shift); break;
    case 64: check_slots(c, r, 64, shift); break;
    case 128: check_slots(c, r, 128, shift); break;
    default: check_slots(c, r, c->q->bits, shift); break;
    }
    return true;
}

/* The lowest hole below `end` that was written, or end. */
static i64
hole_written(const Proof *q, const Lane *l, i64 end)
{
    for (i64 i = 0; i < q->kinds.n && i < end; i++) {
        if (q->kinds.written[i / 64] == UINT64_MAX)
            i |= 63;
        else if (!slot_in(q->kinds.written, i) &&
                 !same_value(held(q, l, i), lane_poison(q, &l->shot, i)))
            return i;
    }
    return end;
}

ravel_status
no_walk(const Proof *q, ravel_error *err)
{
    return error_set(err, RAVEL_ERR_MEMORY, "no memory for %lld bytes of a proof",
                     (long long)reference_bytes(q->p));
}

ravel_status
lane_check(const Proof *q, Lane *l, ravel_error *err)
{
    Check c = {q, l, everywhere(l->shot.key), mask_of(q->bits), INF};
    ravel_status s = check_around(q, l, err);
    if (s)
        return s;
    if (!reference_walk(q->p, check_row, &c))
        return no_walk(q, err);
    i64 wrong = hole_written(q, l, c.wrong);
    return wrong == INF ? RAVEL_OK : wrong_slot(q, l, wrong, err);
}

ravel_status
lane_check_rest(const Proof *q, Lane *l, ravel_error *err)
{
    ravel_status s = check_around(q, l, err);
    i64 wrong = s ? INF : hole_written(q, l, INF);
    return wrong == INF ? s : wrong_slot(q, l, wrong, err);
}

/* Check one slot by comparison with the right lane. */
static bool
slot_right(const Proof *q, const Lane *l, const Lane *right, i64 slot)
{
    Value want = held(q, right, slot);
    Value key = byte_in_slot(q, l->shot.key ^ right->shot.key, slot);
    if (!slot_in(q->kinds.written, slot))
        want = lane_poison(q, &l->shot, slot);
    else if (slot_in(q->kinds.copied, slot))
        want = (Value){want.low ^ key.low, want.high ^ key.high};
    return same_value(held(q, l, slot), want);
}

/* A block of copies. */
static bool
copies_right(const unsigned char *a, const unsigned char *b, int words, uint64_t key)
{
    uint64_t wrong = 0;
    for (int i = 0; i < words; i++) {
        uint64_t v, w;
        memcpy(&v, a + i * 8, 8);
        memcpy(&w, b + i * 8, 8);
        wrong |= v ^ w ^ key;
    }
    return !wrong;
}

/* The same of any slots of a block, whose kinds are bits of `copied` and `written`. */
static inline bool
slots_right(int bits, const unsigned char *a, const unsigned char *b, int n,
            uint64_t copied, uint64_t written, uint64_t key, uint64_t poison)
{
    uint64_t wrong = 0, mask = mask_of(bits);
    for (int i = 0; i < n; i++) {
        Value got, want;
        got.low = element_get(a, i, bits, &got.high);
        want.low = element_get(b, i, bits, &want.high);
        uint64_t flipped = copied >> i & 1 ? key : 0;
        bool hole = !(written >> i & 1);
        wrong |= (got.low ^ (hole ? poison : want.low ^ flipped)) & mask;
        wrong |= bits > 64 ? got.high ^ (hole ? poison : want.high ^ flipped) : 0;
    }
    return !wrong;
}

static bool
each_slot_right(const Proof *q, const Lane *l, const Lane *right, i64 slot, int n)
{
    for (i64 i = slot; i < slot + n; i++)
        if (!slot_right(q, l, right, i))
            return false;
    return true;
}

static bool
block_right(const Proof *q, const Lane *l, const Lane *right, i64 slot)
{
    const unsigned char *a = at_slot(q, &l->dst, slot), *b = at_slot(q, &right->dst, slot);
    uint64_t key = everywhere(l->shot.key ^ right->shot.key), poison = everywhere(l->shot.poison);
    uint64_t copied = q->kinds.copied[slot / 64], written = q->kinds.written[slot / 64];
    int n = block_of(q->kinds.n, slot);
    if (n == BLOCK && copied == UINT64_MAX)
        return copies_right(a, b, q->bits, key);
    switch (q->bits) {
    case 8: return slots_right(8, a, b, n, copied, written, key, poison);
    case 16: return slots_right(16, a, b, n, copied, written, key, poison);
    case 32: return slots_right(32, a, b, n, copied, written, key, poison);
    case 64: return slots_right(64, a, b, n, copied, written, key, poison);
    case 128: return slots_right(128, a, b, n, copied, written, key, poison);
    default: return each_slot_right(q, l, right, slot, n);
    }
}

ravel_status
lane_check_by(const Proof *q, Lane *l, const Lane *right, ravel_error *err)
{
    ravel_status s = check_around(q, l, err);
    if (s)
        return s;
    for (i64 i = 0; i < q->kinds.n; i += BLOCK) {
        if (block_right(q, l, right, i))
            continue;
        while (slot_right(q, l, right, i))
            i++;
        return wrong_slot(q, l, i, err);
    }
    return RAVEL_OK;
}
