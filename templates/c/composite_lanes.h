/* Blocks for the kernels composite: as many lanes of rows at once as a vector has. */
#ifndef RAVEL_PLAIN
enum { RAVEL_ROUNDS1 = 4, RAVEL_ROUNDS2 = 3, RAVEL_ROUNDS4 = 2, RAVEL_ROUNDS8 = 1 };
#if RAVEL_LANES == 4
#define RAVEL_ALL(n) ravel_##n##x4
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 4, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 4, a, b)
#define RAVEL_ALL_ROWS ravel_rows4
#define RAVEL_ALL_STORE ravel_store4
#elif RAVEL_LANES == 2
#define RAVEL_ALL(n) ravel_##n##x2
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 2, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 2, a, b)
#define RAVEL_ALL_ROWS ravel_rows2
#define RAVEL_ALL_STORE ravel_store2
#else
#define RAVEL_ALL(n) ravel_##n##x1
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
#define RAVEL_ALL_ROWS ravel_rows1
#define RAVEL_ALL_STORE ravel_store1
#endif

RAVEL_INLINE void
ravel_split(RAVEL_ALL(1) v, ravel_1x1 *lane)
{
#if RAVEL_LANES == 4
    lane[0] = (ravel_1x1)_mm512_castsi512_si128((__m512i)v);
    lane[1] = (ravel_1x1)_mm512_extracti32x4_epi32((__m512i)v, 1);
    lane[2] = (ravel_1x1)_mm512_extracti32x4_epi32((__m512i)v, 2);
    lane[3] = (ravel_1x1)_mm512_extracti32x4_epi32((__m512i)v, 3);
#elif RAVEL_LANES == 2
    lane[0] = (ravel_1x1)_mm256_castsi256_si128((__m256i)v);
    lane[1] = (ravel_1x1)_mm256_extracti128_si256((__m256i)v, 1);
#else
    lane[0] = v;
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

/* So many bytes of every lane, 16 or fewer: lane i to d + to[i * apart]. */
RAVEL_INLINE void
ravel_put_lanes(unsigned char *d, const int32_t *to, int apart, RAVEL_ALL(1) v, int64_t bytes)
{
    ravel_1x1 lane[RAVEL_LANES];
    ravel_split(v, lane);
    RAVEL_UNROLL for (int i = 0; i < RAVEL_LANES; i++)
        if (bytes == 16)
            ravel_store1(d + to[i * apart], lane[i], 0);
        else
            ravel_store_part(d + to[i * apart], lane[i], bytes);
}

/* One of some offsets, `apart` words from each other, is above `most`. */
RAVEL_INLINE int
ravel_any_above(const int32_t *at, int n, int apart, int64_t most)
{
    int any = 0;
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        any |= at[i * apart] > most;
    return any;
}
#endif
