/* Vectors of 1, 2 or 4 lanes of 16 bytes; only loads and stores move data across lanes.
 * RAVEL_LANES: the most lanes that the compiler's options allow (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors.  RAVEL_PORTABLE: vector extensions of the compiler, no intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && !(defined(__GNUC__) && __GNUC__ >= 12)
#define RAVEL_PLAIN
#endif
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
/* immintrin.h takes longer to compile than the rest, so it is included only if needed. */
#ifdef __SSSE3__
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif
#define RAVEL_SSE2
#endif
#if defined(RAVEL_SSE2) && defined(__AVX512BW__)
#define RAVEL_LANES 4
#elif defined(RAVEL_SSE2) && defined(__AVX2__)
#define RAVEL_LANES 2
#else
#define RAVEL_LANES 1
#endif

/* clang applies unroll(16) before it inlines the function whose argument is the loop's
 * bound; unroll(full) has to wait for that.  gcc warns about the pragma at -O0. */
#if !defined(__OPTIMIZE__) || defined(RAVEL_PLAIN)
#define RAVEL_UNROLL
#elif defined(__clang__)
#define RAVEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAVEL_UNROLL _Pragma("GCC unroll 16")
#endif

#ifndef RAVEL_PLAIN
#define RAVEL_INLINE __attribute__((always_inline, unused)) static inline
/* Never inlined: a call moves much, and there are many. */
#define RAVEL_CALLED __attribute__((noinline, unused)) static

/* Interleaves the elements of the low (high) halves of the lanes of a and b; elements of n
 * bytes, m elements in a lane, w lanes. */
#define RAVEL_LOW(n, m, w, a, b) __builtin_shufflevector(a, b, RAVEL_PICK(n, w, 0, m))
#define RAVEL_HIGH(n, m, w, a, b) __builtin_shufflevector(a, b, RAVEL_PICK(n, w, (m) / 2, m))
#define RAVEL_PICK(n, w, i, m) RAVEL_EACH##w(RAVEL_ZIP##n, i, m)
#define RAVEL_EACH1(zip, i, m) zip(i, m)
#define RAVEL_EACH2(zip, i, m) RAVEL_BOTH(zip, i, m, 2 * (m))
#define RAVEL_EACH4(zip, i, m) RAVEL_BOTH(zip, i, m, 4 * (m)), RAVEL_UPPER(zip, i, m, 4 * (m))
#define RAVEL_BOTH(zip, i, m, all) zip(i, all), zip((i) + (m), all)
#define RAVEL_UPPER(zip, i, m, all) zip((i) + 2 * (m), all), zip((i) + 3 * (m), all)
#define RAVEL_ZIP8(i, b) (i), (i) + (b)
#define RAVEL_ZIP4(i, b) RAVEL_ZIP8(i, b), RAVEL_ZIP8((i) + 1, b)
#define RAVEL_ZIP2(i, b) RAVEL_ZIP4(i, b), RAVEL_ZIP4((i) + 2, b)
#define RAVEL_ZIP1(i, b) RAVEL_ZIP2(i, b), RAVEL_ZIP2((i) + 4, b)

/* Forces an address into a register: compilers would keep one for each row of a block. */
#define RAVEL_KEEP(x) __asm__("" : "+r"(x))

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
typedef uint8_t ravel_1x1 __attribute__((vector_size(16)));
typedef uint16_t ravel_2x1 __attribute__((vector_size(16)));
typedef uint32_t ravel_4x1 __attribute__((vector_size(16)));
typedef uint64_t ravel_8x1 __attribute__((vector_size(16)));
typedef uint8_t ravel_anyx1 __attribute__((vector_size(16), aligned(1), may_alias));

/* ravel_rows: loads 16 bytes from each of w rows.  ravel_store: stores 16 * w bytes; with
 * `stream` by a non-temporal store, to an aligned address. */
RAVEL_INLINE ravel_1x1
ravel_load1(const unsigned char *s)
{
    return (ravel_1x1)*(const ravel_anyx1 *)s;
}

RAVEL_INLINE ravel_1x1
ravel_rows1(const unsigned char *const *s, int64_t at)
{
    return ravel_load1(s[0] + at);
}

RAVEL_INLINE void
ravel_store1(unsigned char *d, ravel_1x1 v, int64_t stream)
{
#ifdef RAVEL_SSE2
    if (stream)
        _mm_stream_si128((__m128i *)(void *)d, (__m128i)v);
    else
#endif
        *(ravel_anyx1 *)d = v;
    (void)stream;
}

#if RAVEL_LANES > 1
/* Intrinsics, because gcc 12 does not use the instruction that loads an upper lane. */
typedef uint8_t ravel_1x2 __attribute__((vector_size(32)));
typedef uint16_t ravel_2x2 __attribute__((vector_size(32)));
typedef uint32_t ravel_4x2 __attribute__((vector_size(32)));
typedef uint64_t ravel_8x2 __attribute__((vector_size(32)));
typedef uint8_t ravel_anyx2 __attribute__((vector_size(32), aligned(1), may_alias));

RAVEL_INLINE ravel_1x2
ravel_rows2(const unsigned char *const *s, int64_t at)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s[0] + at));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s[1] + at));
    return (ravel_1x2)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

RAVEL_INLINE ravel_1x2
ravel_load2(const unsigned char *s)
{
    return (ravel_1x2)*(const ravel_anyx2 *)s;
}

RAVEL_INLINE void
ravel_lanes2(unsigned char *low, unsigned char *high, ravel_1x2 v)
{
    _mm_storeu_si128((__m128i *)(void *)low, _mm256_castsi256_si128((__m256i)v));
    _mm_storeu_si128((__m128i *)(void *)high, _mm256_extracti128_si256((__m256i)v, 1));
}

RAVEL_INLINE void
ravel_store2(unsigned char *d, ravel_1x2 v, int64_t stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)d, (__m256i)v);
    else
        *(ravel_anyx2 *)d = v;
}
#endif

#if RAVEL_LANES > 2
typedef uint8_t ravel_1x4 __attribute__((vector_size(64)));
typedef uint16_t ravel_2x4 __attribute__((vector_size(64)));
typedef uint32_t ravel_4x4 __attribute__((vector_size(64)));
typedef uint64_t ravel_8x4 __attribute__((vector_size(64)));
typedef uint8_t ravel_anyx4 __attribute__((vector_size(64), aligned(1), may_alias));

RAVEL_INLINE ravel_1x4
ravel_rows4(const unsigned char *const *s, int64_t at)
{
    const __m256i a = (__m256i)ravel_rows2(s, at);
    const __m256i b = (__m256i)ravel_rows2(s + 2, at);
    return (ravel_1x4)_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

RAVEL_INLINE void
ravel_store4(unsigned char *d, ravel_1x4 v, int64_t stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)(void *)d, (__m512i)v);
    else
        *(ravel_anyx4 *)d = v;
}
#endif
#endif
