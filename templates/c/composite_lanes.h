/* Blocks for the kernels composite: as many lanes of rows at once as a vector has. */
#ifndef RAVEL_PLAIN
enum { RAVEL_ROUNDS1 = 4, RAVEL_ROUNDS2 = 3, RAVEL_ROUNDS4 = 2, RAVEL_ROUNDS8 = 1 };
#if RAVEL_LANES == 4
#define RAVEL_ALL(n) ravel_##n##x4
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 4, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 4, a, b)
#elif RAVEL_LANES == 2
#define RAVEL_ALL(n) ravel_##n##x2
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 2, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 2, a, b)
#else
#define RAVEL_ALL(n) ravel_##n##x1
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
#endif

/* Lanes, each where it belongs: lane i to d + to[i * apart]. */
RAVEL_INLINE void
ravel_put_lanes(unsigned char *d, const int32_t *to, int apart, RAVEL_ALL(1) v)
{
#if RAVEL_LANES == 4
    const __m512i w = (__m512i)v;
    _mm_storeu_si128((__m128i *)(void *)(d + to[0]), _mm512_castsi512_si128(w));
    _mm_storeu_si128((__m128i *)(void *)(d + to[apart]), _mm512_extracti32x4_epi32(w, 1));
    _mm_storeu_si128((__m128i *)(void *)(d + to[2 * apart]),
                     _mm512_extracti32x4_epi32(w, 2));
    _mm_storeu_si128((__m128i *)(void *)(d + to[3 * apart]),
                     _mm512_extracti32x4_epi32(w, 3));
#elif RAVEL_LANES == 2
    ravel_lanes2(d + to[0], d + to[apart], v);
#else
    (void)apart;
    ravel_store1(d + to[0], v, 0);
#endif
}

/* The first `bytes` of 16, at most 16; no byte from `end` on is read, or from d + bytes on
 * written. */
#if RAVEL_LANES == 4
RAVEL_INLINE __mmask16
ravel_part_mask(int64_t bytes)
{
    return (__mmask16)((1u << bytes) - 1);
}

RAVEL_INLINE ravel_1x1
ravel_load_part(const unsigned char *s, int64_t bytes, const unsigned char *end)
{
    (void)end;
    return (ravel_1x1)_mm_maskz_loadu_epi8(ravel_part_mask(bytes), s);
}

RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    _mm_mask_storeu_epi8(d, ravel_part_mask(bytes), (__m128i)v);
}
#else
RAVEL_INLINE ravel_1x1
ravel_load_part(const unsigned char *s, int64_t bytes, const unsigned char *end)
{
    unsigned char part[16] = {0};
    if (end - s >= 16)
        return ravel_load1(s);
    ravel_move(part, s, bytes);
    return ravel_load1(part);
}

/* By pieces that lie within a register's halves: others wait for the store to `part`. */
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    unsigned char part[16];
    ravel_store1(part, v, 0);
    ravel_move(d, part, bytes);
}
#endif
#endif
