/* Elements of 1, 2 or 4 bits in registers.  RAVEL_BITS_TILES: transposes by tiles
 * (bits_tile.h), which need the first byte of a word in its lowest bits. */
#ifndef RAVEL_PLAIN
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RAVEL_BITS_TILES
#endif
enum { RAVEL_BITS_WIDE = 16 * RAVEL_LANES };
/* The buffer of a tile has a row for each element of a vector, at most so many bytes long, and
 * room for what the tile before left of it and for vectors that begin in the last row. */
enum { RAVEL_BITS_LEFT = 64,
       RAVEL_BITS_ROOM = 8 * RAVEL_BITS_WIDE * (RAVEL_BITS_ALONG + RAVEL_BITS_LEFT) + 256 };

RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_load(const unsigned char *s)
{
    RAVEL_ALL(1) v;
    memcpy(&v, s, sizeof v);
    return v;
}

/* As ravel_zip1, in each lane. */
RAVEL_INLINE void
ravel_bits_zip(RAVEL_ALL(1) *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        RAVEL_ALL(1) t[16];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_ALL_LOW(1, 16, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_ALL_HIGH(1, 16, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}

/* The bits of a where `low` has ones, else those of b. */
RAVEL_INLINE RAVEL_ALL(2)
ravel_bits_choose(RAVEL_ALL(2) low, RAVEL_ALL(2) a, RAVEL_ALL(2) b)
{
#if RAVEL_LANES == 4
    return (RAVEL_ALL(2))_mm512_ternarylogic_epi32((__m512i)low, (__m512i)a, (__m512i)b, 0xca);
#else
    return (a & low) | (b & ~low);
#endif
}

/* Transposes the elements within the bytes of 8 / bits vectors at each byte position, by
 * recursive halving. */
RAVEL_INLINE void
ravel_bits_mix(RAVEL_ALL(1) *v, int bits)
{
    RAVEL_UNROLL for (int turn = 0; turn < 3; turn++) {
        const int by = 4 >> turn;
        if (by < bits)
            continue;
        const uint16_t half = by == 4 ? 0x0f0f : by == 2 ? 0x3333 : 0x5555;
        const RAVEL_ALL(2) zero = {0}, low = zero + half;
        RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++) {
            const int j = i + by / bits;
            if (i & by / bits)
                continue;
            const RAVEL_ALL(2) a = (RAVEL_ALL(2))v[i], b = (RAVEL_ALL(2))v[j];
            v[i] = (RAVEL_ALL(1))ravel_bits_choose(low, a, b << (uint16_t)by);
            v[j] = (RAVEL_ALL(1))ravel_bits_choose(low, a >> (uint16_t)by, b);
        }
    }
}

/* Bytes from bit `by` of them on; `next`: those a byte further on.  A bit that is in words of both
 * has the same place in both. */
RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_joined_bytes(RAVEL_ALL(1) bytes, RAVEL_ALL(1) next, int64_t by)
{
    const RAVEL_ALL(8) a = (RAVEL_ALL(8))bytes, b = (RAVEL_ALL(8))next;
#if RAVEL_LANES == 4
    const __m512i down = _mm512_srlv_epi64((__m512i)a, _mm512_set1_epi64(by));
    const __m512i up = _mm512_sllv_epi64((__m512i)b, _mm512_set1_epi64(8 - by));
    return (RAVEL_ALL(1))_mm512_or_si512(down, up);
#else
    return (RAVEL_ALL(1))(a >> (uint64_t)by | b << (uint64_t)(8 - by));
#endif
}

/* A vector of the bytes that begin at bit `by` of s. */
RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_shift_all(const unsigned char *s, int64_t by)
{
    return ravel_bits_joined_bytes(ravel_bits_load(s), ravel_bits_load(s + 1), by);
}
#endif
