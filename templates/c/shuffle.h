/* Vectors of RAVEL_LANES lanes of 16 bytes for ravel_shuffle.  ravel_pick: byte i is the
 * byte at[i] of its lane, or 0 if at[i] is 128 or more. */
#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_SHUFFLES
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(RAVEL_PLAIN) && \
    !defined(RAVEL_PORTABLE)
#include <arm_neon.h>
#define RAVEL_SHUFFLES
#endif

#ifdef RAVEL_SHUFFLES
#if RAVEL_LANES == 4
typedef ravel_1x4 ravel_lanes;
#elif RAVEL_LANES == 2
typedef ravel_1x2 ravel_lanes;
typedef ravel_2x2 ravel_lanes_of_2;
#else
typedef ravel_1x1 ravel_lanes;
typedef ravel_2x1 ravel_lanes_of_2;
#endif

RAVEL_INLINE ravel_lanes
ravel_constant(const void *table)
{
    ravel_lanes v;
    memcpy(&v, table, sizeof v);
    return v;
}

/* Loads 16 bytes at each of the offsets, which may be contiguous. */
RAVEL_INLINE ravel_lanes
ravel_windows(const unsigned char *s, const int32_t *at, int32_t even)
{
    if (even) {
        ravel_lanes v;
        memcpy(&v, s + at[0], sizeof v);
        return v;
    }
#if RAVEL_LANES == 4
    const unsigned char *const from[] = {s + at[0], s + at[1], s + at[2], s + at[3]};
    return ravel_rows4(from, 0);
#elif RAVEL_LANES == 2
    const unsigned char *const from[] = {s + at[0], s + at[1]};
    return ravel_rows2(from, 0);
#else
    return ravel_load1(s + at[0]);
#endif
}

RAVEL_INLINE ravel_lanes
ravel_pick(ravel_lanes v, ravel_lanes at)
{
#if RAVEL_LANES == 4
    return (ravel_lanes)_mm512_shuffle_epi8((__m512i)v, (__m512i)at);
#elif RAVEL_LANES == 2
    return (ravel_lanes)_mm256_shuffle_epi8((__m256i)v, (__m256i)at);
#elif defined(RAVEL_SSE2)
    return (ravel_lanes)_mm_shuffle_epi8((__m128i)v, (__m128i)at);
#else
    return (ravel_lanes)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)at);
#endif
}

/* Shifts left by k bits, right if k is negative.  A mask later removes the bits that cross
 * a border of bytes. */
#if RAVEL_LANES == 4
typedef __m512i ravel_shifts;
RAVEL_INLINE ravel_shifts
ravel_shifts_by(int32_t k)
{
    return _mm512_set1_epi32(k);
}

RAVEL_INLINE ravel_lanes
ravel_shifted(ravel_lanes v, ravel_shifts k)
{
    return (ravel_lanes)_mm512_rolv_epi32((__m512i)v, k);
}
#else
typedef int32_t ravel_shifts;
RAVEL_INLINE ravel_shifts
ravel_shifts_by(int32_t k)
{
    return k;
}

RAVEL_INLINE ravel_lanes
ravel_shifted(ravel_lanes v, ravel_shifts k)
{
    const ravel_lanes_of_2 w = (ravel_lanes_of_2)v;
    return k < 0 ? (ravel_lanes)(w >> -k) : (ravel_lanes)(w << k);
}
#endif

/* Stores each lane at its offset.  `lines`: the lanes are contiguous and are stored as one
 * vector, which may be a non-temporal store. */
RAVEL_INLINE void
ravel_put(unsigned char *d, const int32_t *at, ravel_lanes v, int32_t lines, int64_t stream)
{
#if RAVEL_LANES == 4
    if (lines) {
        ravel_store4(d + at[0], v, stream);
        return;
    }
    for (int i = 0; i < 4; i++)
        memcpy(d + at[i], (const unsigned char *)&v + 16 * i, 16);
#elif RAVEL_LANES == 2
    if (lines)
        ravel_store2(d + at[0], v, stream);
    else
        ravel_lanes2(d + at[0], d + at[1], v);
#else
    (void)lines;
    ravel_store1(d + at[0], v, stream);
#endif
}
#endif
