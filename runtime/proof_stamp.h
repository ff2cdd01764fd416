/* proof_stamp.h: what the slots of a lane's buffers hold before a run: a stamp in the source, a poison in
 * the destination. */
#ifndef RAVEL_PROOF_STAMP_H
#define RAVEL_PROOF_STAMP_H

#include "proof_lane.h"

static inline uint64_t
everywhere(unsigned char byte)
{
    return byte * (UINT64_MAX / 0xff);
}

static inline uint64_t
mask_of(int bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* The value of a slot if every byte of the buffer is this byte. */
static inline Value
byte_in_slot(const Proof *q, unsigned char byte, i64 slot)
{
    uint64_t all = everywhere(byte);
    if (q->bits < 8)
        all >>= slot * q->bits % 8;
    return (Value){all & mask_of(q->bits), q->bits > 64 ? all : 0};
}

/* `key` is a byte repeated. */
static inline Value
stamp(int bits, int shift, uint64_t key, uint64_t mask, i64 slot)
{
    if (bits < 8)
        key >>= slot * bits % 8;
    uint64_t v = (((uint64_t)slot >> shift) ^ key) & mask;
    return (Value){v, bits > 64 ? ~v : 0};
}

static inline int
shift_of(const Proof *q, const Shot *s)
{
    return q->bits >= 64 ? 0 : s->pass * q->bits;
}

/* The value of a slot of the source, of the destination. */
static inline Value
lane_stamp(const Proof *q, const Shot *s, i64 slot)
{
    return stamp(q->bits, shift_of(q, s), everywhere(s->key), mask_of(q->bits), slot);
}

static inline Value
lane_poison(const Proof *q, const Shot *s, i64 slot)
{
    return byte_in_slot(q, s->poison, slot);
}

#endif
