/* Pieces of blocks for the kernels composite. */
#ifndef RAVEL_PLAIN
/* The first `bytes` of 16, at most 16; no byte from `end` on is read, or from d + bytes on
 * written. */
#if RAVEL_LANES == 4 && defined(__AVX512VL__)
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
    ravel_move_part(part, s, bytes);
    return ravel_load1(part);
}

/* By pieces that lie within a register's halves: others wait for the store to `part`. */
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    unsigned char part[16];
    if (bytes == 16) {
        ravel_store1(d, v, 0);
        return;
    }
    ravel_store1(part, v, 0);
    ravel_move_part(d, part, bytes);
}
#endif

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
