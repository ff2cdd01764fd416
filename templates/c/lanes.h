/* RAVEL_ALL: vectors of RAVEL_LANES lanes.  RAVEL_TWO: of two lanes if there are two: x86
 * processors shuffle those twice as often as wider ones, and extract lanes of them faster. */
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

#if RAVEL_LANES > 1
enum { RAVEL_PAIR = 2 };
#define RAVEL_TWO(n) ravel_##n##x2
#define RAVEL_TWO_LOW(n, m, a, b) RAVEL_LOW(n, m, 2, a, b)
#define RAVEL_TWO_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 2, a, b)
#define RAVEL_TWO_ROWS ravel_rows2
#else
enum { RAVEL_PAIR = 1 };
#define RAVEL_TWO(n) ravel_##n##x1
#define RAVEL_TWO_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_TWO_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
#define RAVEL_TWO_ROWS ravel_rows1
#endif

/* Lane i of a vector.  Stores take one lane of all vectors before the other, because
 * consecutive stores to one line are combined. */
RAVEL_INLINE ravel_1x1
ravel_lane(RAVEL_TWO(1) v, int i)
{
#if RAVEL_LANES > 1
    return (ravel_1x1)(i ? _mm256_extracti128_si256((__m256i)v, 1)
                         : _mm256_castsi256_si128((__m256i)v));
#else
    (void)i;
    return v;
#endif
}
#endif
