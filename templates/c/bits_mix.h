/* Elements of 1, 2 or 4 bits in registers.  RAVEL_BITS_TILES: transposes by tiles
 * (bits_tile.h), which need the first byte of a word in its lowest bits. */
#ifndef RAVEL_PLAIN
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RAVEL_BITS_TILES
/* The buffer of a tile has room for a byte before each row, and for vectors that begin in the
 * last row. */
enum { RAVEL_BITS_PITCH = RAVEL_BITS_ALONG + 16,
       RAVEL_BITS_ROOM = RAVEL_BITS_TALL * RAVEL_BITS_PITCH + 256 };
#endif
enum { RAVEL_BITS_WIDE = 16 * RAVEL_PAIR };

RAVEL_INLINE RAVEL_TWO(1)
ravel_bits_load(const unsigned char *s)
{
    RAVEL_TWO(1) v;
    memcpy(&v, s, sizeof v);
    return v;
}

/* As ravel_zip1, in each lane. */
RAVEL_INLINE void
ravel_bits_zip(RAVEL_TWO(1) *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        RAVEL_TWO(1) t[16];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_TWO_LOW(1, 16, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_TWO_HIGH(1, 16, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}

/* Transposes the elements within the bytes of 8 / bits vectors at each byte position, by
 * recursive halving. */
RAVEL_INLINE void
ravel_bits_mix(RAVEL_TWO(1) *v, int bits)
{
    RAVEL_UNROLL for (int turn = 0; turn < 3; turn++) {
        const int by = 4 >> turn;
        if (by < bits)
            continue;
        const uint16_t low = (uint16_t)(by == 4 ? 0x0f0f : by == 2 ? 0x3333 : 0x5555);
        RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++) {
            const int j = i + by / bits;
            if (i & by / bits)
                continue;
            const RAVEL_TWO(2) a = (RAVEL_TWO(2))v[i], b = (RAVEL_TWO(2))v[j];
            v[i] = (RAVEL_TWO(1))((a & low) | (b & low) << (uint16_t)by);
            v[j] = (RAVEL_TWO(1))((a >> (uint16_t)by & low) | (b & (uint16_t)~low));
        }
    }
}
#endif
