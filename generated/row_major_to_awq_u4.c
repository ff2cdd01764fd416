/* ravel emit --from ROW_MAJOR --to AWQ --shape 1024,768 --dtype u4 --name row_major_to_awq_u4
 * src ROW_MAJOR: 768*b0 + b1
 *     u4, b0=1024 b1=768 in 786432 elements, 393216 bytes
 * dst AWQ: 768*K + 8*(N//8) + 4*(N%2) + N//2%4
 *     u4, K=1024 N=768 in 786432 elements, 393216 bytes
 * made by ravel 0.1.0, whose licence does not cover this file */
#include <stdint.h>
#include <string.h>
#ifndef UINT8_MAX
#error "this code is for machines with bytes of 8 bits"
#endif
#ifdef __cplusplus
#define RAVEL_RESTRICT __restrict
#else
#define RAVEL_RESTRICT restrict
#endif

/* The code splits values into bytes, the lowest byte first. */
#if defined(__BIG_ENDIAN__) || \
    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "this relayout is for little-endian machines: the bytes of its values would be wrong"
#endif

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

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
typedef uint8_t ravel_1x1 __attribute__((vector_size(16)));
typedef uint16_t ravel_2x1 __attribute__((vector_size(16)));
typedef uint8_t ravel_anyx1 __attribute__((vector_size(16), aligned(1), may_alias));

/* ravel_rows: loads 16 bytes from each of w rows.  ravel_store: stores 16 * w bytes; with
 * `stream` by a non-temporal store, to an aligned address. */
RAVEL_INLINE ravel_1x1
ravel_load1(const unsigned char *s)
{
    return (ravel_1x1)*(const ravel_anyx1 *)s;
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
typedef uint8_t ravel_anyx2 __attribute__((vector_size(32), aligned(1), may_alias));

RAVEL_INLINE ravel_1x2
ravel_rows2(const unsigned char *const *s, int64_t at)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s[0] + at));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s[1] + at));
    return (ravel_1x2)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
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

/* The most bytes of a tile; those that a pass before the last one writes in a call. */
enum { RAVEL_SHUFFLE_BYTES = 2048, RAVEL_TILES_BYTES = 8192 };

/* Words of its table (shuffle_row.c): before a pass and before a group; of the constants of a term
 * of whole bytes, of one with a mask, of a pair of windows, and of one for halves of bytes. */
enum { RAVEL_PASS_HEAD = 5, RAVEL_GROUP_HEAD = 6, RAVEL_WHOLE = 17, RAVEL_MASKED = 34,
       RAVEL_PAIRED = 18, RAVEL_HALVED = 66 };

/* What the words before a pass and before a group are; where in a term the indices of its bytes
 * begin, its mask, and the shift is; where in a pair its indices begin, those of upper halves, and
 * which halves come from upper ones. */
enum { RAVEL_PASS_ROWS, RAVEL_PASS_LINES, RAVEL_PASS_FILLS, RAVEL_PASS_NEXT, RAVEL_PASS_TURNS };
enum { RAVEL_GROUP_WHOLE, RAVEL_GROUP_MASKED, RAVEL_GROUP_READS, RAVEL_GROUP_PAIRS,
       RAVEL_GROUP_PARTS, RAVEL_GROUP_ROWS };
enum { RAVEL_TERM_AT = 1, RAVEL_TERM_MASK = 17, RAVEL_TERM_SHIFT = 33, RAVEL_PAIR_AT = 2,
       RAVEL_PAIR_HIGH = 18, RAVEL_PAIR_UPPER = 34 };

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

/* Permutes the bytes and parts of bytes of tiles by a table.  The tiles are rows times
 * columns, in chunks; there is at least one chunk each way, and the last chunk may overlap
 * the one before.  d and s are elements of `bits` bits from the start of the buffers; di
 * (sk) is the stride of rows, dj (sl) that of columns.  All chunks begin at whole bytes.
 *
 * The table has words of 4 bytes: rows of a chunk, columns of a chunk; then the passes.  All
 * but the last write to a buffer.  A pass:
 *      rows of four lanes of 16 bytes; whether the four lanes are 64 contiguous bytes in the
 *      destination; whether some bytes are fill, whose bits are in v; words to the next
 *      pass, 0 if it is the last; whether it ends with a turn, which transposes the bits of
 *      each 8 bytes that it wrote;
 *      groups of rows that differ in their offsets only.
 * A group:
 *      terms w of whole bytes; terms m with a mask; 1 if each term reads 64 contiguous bytes,
 *      plus 2 if all terms read the same ones; pairs of registers of windows, 0 to 4; windows of
 *      a register, 1 of 64 bytes or 4 of 16; rows;
 *      a mask of the bytes that are fill, 16, if the pass has any;
 *      for each w whether it reads 64 contiguous bytes, and the indices of its bytes, 16; for
 *      each m the same, a mask, 16, and the bits to shift to the left;
 *      for each pair what the terms together read, for processors that permute 128 bytes: the
 *      bytes in each register, at most 64, 2; for each byte of the row its index in the 128
 *      bytes, or 128, 16; with terms that have a mask, those are the bytes of its lower half, and
 *      follow those of its upper half, 16, and masks of the bytes whose lower half, 16, and whose
 *      upper half, 16, is an upper one there;
 *      for each row the offsets of its lanes in the destination, 4; those that each w and m
 *      reads, 4; those of the windows of each pair, 2 or 8. */

/* A group of rows of a pass over tiles that are dp (sp) bytes apart.  `stream`: non-temporal
 * stores.  `term`: the constants of its terms; `row`: its first row, each of `words`. */
typedef struct {
    unsigned char *d;
    const unsigned char *s;
    int64_t n, dp, sp, stream;
    const unsigned char *fill;
    int32_t lines, words;
    const int32_t *group, *term, *row;
} ravel_shuffled;

#ifdef RAVEL_SHUFFLES
/* Whether the lines of a row go past the caches. */
RAVEL_INLINE int64_t
ravel_shuffle_past(const ravel_shuffled *a, const int32_t *row)
{
    return a->stream && ((uintptr_t)a->d + (uintptr_t)row[0]) % 64 == 0;
}

/* At most 8 terms, w of whole bytes or m with a mask: their constants are in registers. */
RAVEL_INLINE void
ravel_shuffle_few(const ravel_shuffled *a, int w, int m, int even, int same, int lane)
{
    ravel_lanes at[8], mask[8];
    ravel_shifts by[8];
    const int32_t *const t = a->term, *row = a->row;
    const int each = m ? RAVEL_MASKED : RAVEL_WHOLE;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int i = 0; i < w + m; i++)
        at[i] = ravel_constant(t + i * each + RAVEL_TERM_AT + 4 * lane);
    RAVEL_UNROLL for (int i = 0; i < m; i++) {
        mask[i] = ravel_constant(t + i * each + RAVEL_TERM_MASK + 4 * lane);
        by[i] = ravel_shifts_by(t[i * each + RAVEL_TERM_SHIFT]);
    }
    for (int32_t r = 0; r < rows; r++, row += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        int32_t to[4], of[8][4];
        RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
            to[k] = row[lane + k];
        RAVEL_UNROLL for (int i = 0; i < w + m; i++)
            RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
                of[i][k] = row[4 + 4 * i + lane + k];
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            ravel_lanes v = {0}, from = ravel_windows(s, of[0], even);
            RAVEL_UNROLL for (int i = 0; i < w + m; i++) {
                if (i > 0 && !same)
                    from = ravel_windows(s, of[i], even);
                const ravel_lanes x = ravel_pick(from, at[i]);
                v |= m ? ravel_shifted(x, by[i]) & mask[i] : x;
            }
            ravel_put(d, to, v, lines, past);
        }
    }
}

/* Of three terms with a mask, whose shifts gcc makes eight loops of, only what reads the same contiguous
 * bytes has a loop of its own where vectors have a shift each way. */
RAVEL_INLINE void
ravel_shuffle_terms(const ravel_shuffled *a, int w, int m, int lane)
{
    const int32_t reads = a->group[RAVEL_GROUP_READS];
    switch (RAVEL_LANES < 4 && m == 3 && reads < 3 ? 0 : reads) {
    case 3: ravel_shuffle_few(a, w, m, 1, m > 0, lane); break;
    case 2: ravel_shuffle_few(a, w, m, 0, m > 0, lane); break;
    case 1: ravel_shuffle_few(a, w, m, 1, 0, lane); break;
    default: ravel_shuffle_few(a, w, m, 0, 0, lane); break;
    }
}

/* Any number of terms: a row of one tile. */
RAVEL_INLINE void
ravel_shuffle_one(const ravel_shuffled *a, unsigned char *d, const unsigned char *s,
                  const int32_t *row, int64_t past, int lane)
{
    const int32_t *t = a->term, *of = row + 4 + lane;
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    ravel_lanes v = {0};
    if (a->fill)
        v = ravel_constant(a->fill) & ravel_constant(t - 16 + 4 * lane);
    for (int32_t i = 0; i < w; i++, t += RAVEL_WHOLE, of += 4)
        v |= ravel_pick(ravel_windows(s, of, t[0]), ravel_constant(t + RAVEL_TERM_AT + 4 * lane));
    for (int32_t i = 0; i < m; i++, t += RAVEL_MASKED, of += 4) {
        const ravel_lanes x = ravel_pick(ravel_windows(s, of, t[0]),
                                         ravel_constant(t + RAVEL_TERM_AT + 4 * lane));
        v |= ravel_shifted(x, ravel_shifts_by(t[RAVEL_TERM_SHIFT])) &
             ravel_constant(t + RAVEL_TERM_MASK + 4 * lane);
    }
    ravel_put(d, row + lane, v, a->lines, past);
}
#endif

/* The rows of a group that has so many terms. */
#ifdef RAVEL_SHUFFLES
static void
ravel_shuffle_any(const ravel_shuffled *a, int lane)
{
    const int32_t *row = a->row;
    for (int32_t r = 0; r < a->group[RAVEL_GROUP_ROWS]; r++, row += a->words) {
        const int64_t past = ravel_shuffle_past(a, row);
        for (int64_t k = 0; k < a->n; k++)
            ravel_shuffle_one(a, a->d + k * a->dp, a->s + k * a->sp, row, past, lane);
    }
}

/* Frequent numbers of terms are constants; one function each, as registers are few. */
static void
ravel_shuffle_1(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 1, 0, lane);
}

static void
ravel_shuffle_2(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 2, 0, lane);
}

static void
ravel_shuffle_3(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 3, 0, lane);
}

static void
ravel_shuffle_4(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 4, 0, lane);
}

static void
ravel_shuffle_2_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 2, lane);
}

static void
ravel_shuffle_3_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 3, lane);
}

static void
ravel_shuffle_4_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 4, lane);
}

/* 5 to 8 terms that read the same contiguous bytes, as orders of single bits have. */
static void
ravel_shuffle_more(const ravel_shuffled *a, int lane)
{
    switch (a->group[RAVEL_GROUP_MASKED]) {
    case 5: ravel_shuffle_few(a, 0, 5, 1, 1, lane); break;
    case 6: ravel_shuffle_few(a, 0, 6, 1, 1, lane); break;
    case 7: ravel_shuffle_few(a, 0, 7, 1, 1, lane); break;
    default: ravel_shuffle_few(a, 0, 8, 1, 1, lane); break;
    }
}
#endif

/* Groups of rows. */
#ifdef RAVEL_SHUFFLES
#if RAVEL_LANES == 4 && defined(__AVX512VBMI__)
#define RAVEL_PAIRS
/* A window: the bytes from `at` on, of which `some` are read. */
typedef struct {
    int32_t at;
    __mmask64 some;
} ravel_window;

RAVEL_INLINE ravel_window
ravel_window_of(int32_t at, int32_t some)
{
    const ravel_window w = {at, some < 64 ? ((__mmask64)1 << some) - 1 : ~(__mmask64)0};
    return w;
}

RAVEL_INLINE __m512i
ravel_window_load(const unsigned char *s, ravel_window w, int whole)
{
    return whole ? _mm512_loadu_si512(s + w.at) : _mm512_maskz_loadu_epi8(w.some, s + w.at);
}

/* The rows by so many windows; `whole`: all of their bytes are read. */
RAVEL_INLINE void
ravel_shuffle_windows(const ravel_shuffled *a, int many, int whole, const int32_t *t,
                      __m512i filled)
{
    __m512i at[4];
    __mmask64 has[4];
    const int pairs = (many + 1) / 2;
    const int32_t *row = a->row, *of = row + a->words - 2 * pairs;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
        at[i] = (__m512i)ravel_constant(t + i * RAVEL_PAIRED + RAVEL_PAIR_AT);
        has[i] = ~_mm512_movepi8_mask(at[i]);
    }
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        const int32_t to[4] = {row[0], row[1], row[2], row[3]};
        ravel_window w[8];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < many; i++)
            w[i] = ravel_window_of(of[i], t[i / 2 * RAVEL_PAIRED + i % 2]);
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            __m512i v = filled;
            RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
                const __m512i x = ravel_window_load(s, w[2 * i], whole);
                v |= 2 * i + 1 < many
                         ? _mm512_maskz_permutex2var_epi8(has[i], x, at[i],
                                                          ravel_window_load(s, w[2 * i + 1], whole))
                         : _mm512_maskz_permutexvar_epi8(has[i], at[i], x);
            }
            ravel_put(d, to, (ravel_lanes)v, lines, past);
        }
    }
}

/* Four windows of 16 bytes. */
RAVEL_INLINE __m512i
ravel_four_windows(const unsigned char *s, const int64_t at[4])
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(s + at[0])));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(s + at[1])), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(s + at[2])), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(s + at[3])), 3);
}

/* The bytes of a row from eight such windows or, if `both` is 0, from four. */
RAVEL_INLINE ravel_lanes
ravel_shuffle_eight(const unsigned char *s, int both, const int64_t *from, __m512i at,
                    __mmask64 has, __m512i filled)
{
    const __m512i x = ravel_four_windows(s, from);
    if (both)
        filled |= _mm512_maskz_permutex2var_epi8(has, x, at, ravel_four_windows(s, from + 4));
    else
        filled |= _mm512_maskz_permutexvar_epi8(has, at, x);
    return (ravel_lanes)filled;
}

/* The rows by such windows.  The loop for lines in the caches has all its numbers in registers. */
RAVEL_INLINE void
ravel_shuffle_small(const ravel_shuffled *a, int both, const int32_t *t, __m512i filled)
{
    const __m512i at = (__m512i)ravel_constant(t + RAVEL_PAIR_AT);
    const __mmask64 has = ~_mm512_movepi8_mask(at);
    const int32_t *row = a->row, *of = row + a->words - 8;
    const int64_t dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        const int32_t to[4] = {row[0], row[1], row[2], row[3]};
        int64_t from[8];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            from[i] = of[i];
        if (lines && !past) {
            d += to[0];
            for (int64_t k = a->n; k > 0; k--, d += dp, s += sp)
                _mm512_storeu_si512(d, (__m512i)ravel_shuffle_eight(s, both, from, at, has, filled));
            continue;
        }
        for (int64_t k = 0; k < a->n; k++, d += dp, s += sp)
            ravel_put(d, to, ravel_shuffle_eight(s, both, from, at, has, filled), lines, past);
    }
}

/* Rows of halves of bytes by so many pairs of windows, all of 64 bytes: both halves of a byte are
 * looked up, then shifted where they change places. */
RAVEL_INLINE void
ravel_shuffle_halves(const ravel_shuffled *a, int pairs, const int32_t *t)
{
    __m512i at[2][4], upper[2];
    __mmask64 has[2][4];
    const int32_t *row = a->row, *of = row + a->words - 2 * pairs;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int h = 0; h < 2; h++) {
        upper[h] = (__m512i)ravel_constant(t + RAVEL_PAIR_UPPER + 16 * h);
        RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
            at[h][i] = (__m512i)ravel_constant(t + i * RAVEL_HALVED + RAVEL_PAIR_AT + 16 * h);
            has[h][i] = ~_mm512_movepi8_mask(at[h][i]);
        }
    }
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        const int32_t to[4] = {row[0], row[1], row[2], row[3]};
        int64_t from[8];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < 2 * pairs; i++)
            from[i] = of[i];
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            __m512i v[2];
            RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
                const __m512i x = _mm512_loadu_si512(s + from[2 * i]);
                const __m512i y = _mm512_loadu_si512(s + from[2 * i + 1]);
                RAVEL_UNROLL for (int h = 0; h < 2; h++) {
                    const __m512i z = _mm512_permutex2var_epi8(x, at[h][i], y);
                    v[h] = i ? _mm512_mask_blend_epi8(has[h][i], v[h], z) : z;
                }
            }
            v[0] = _mm512_ternarylogic_epi32(upper[0], _mm512_srli_epi16(v[0], 4), v[0], 0xca);
            v[1] = _mm512_ternarylogic_epi32(upper[1], v[1], _mm512_slli_epi16(v[1], 4), 0xca);
            v[0] = _mm512_ternarylogic_epi32(_mm512_set1_epi8(15), v[0], v[1], 0xca);
            ravel_put(d, to, (ravel_lanes)v[0], lines, past);
        }
    }
}

/* A group that has windows. */
static void
ravel_shuffle_wide(const ravel_shuffled *a)
{
    if (a->group[RAVEL_GROUP_MASKED]) {
        const int32_t *const half = a->row - a->group[RAVEL_GROUP_PAIRS] * RAVEL_HALVED;
        switch (a->group[RAVEL_GROUP_PAIRS]) {
        case 1: ravel_shuffle_halves(a, 1, half); break;
        case 2: ravel_shuffle_halves(a, 2, half); break;
        default: ravel_shuffle_halves(a, 4, half); break;
        }
        return;
    }
    const int32_t *const t = a->term + a->group[RAVEL_GROUP_WHOLE] * RAVEL_WHOLE;
    const __m512i none = {0};
    const __m512i filled = a->fill ? (__m512i)(ravel_constant(a->fill) &
                                               ravel_constant(a->term - 16))
                                   : none;
    if (a->group[RAVEL_GROUP_PARTS] > 1) {
        if (t[1])
            ravel_shuffle_small(a, 1, t, filled);
        else
            ravel_shuffle_small(a, 0, t, filled);
        return;
    }
    const int pairs = a->group[RAVEL_GROUP_PAIRS], many = 2 * pairs - !t[(pairs - 1) * RAVEL_PAIRED + 1];
    int whole = 1;
    for (int i = 0; i < many; i++)
        whole &= t[i / 2 * RAVEL_PAIRED + i % 2] == 64;
    switch (whole && many != 5 && many != 7 ? many : many + many % 2 + 8) {
    case 1: ravel_shuffle_windows(a, 1, 1, t, filled); break;
    case 2: ravel_shuffle_windows(a, 2, 1, t, filled); break;
    case 3: ravel_shuffle_windows(a, 3, 1, t, filled); break;
    case 4: ravel_shuffle_windows(a, 4, 1, t, filled); break;
    case 6: ravel_shuffle_windows(a, 6, 1, t, filled); break;
    case 8: ravel_shuffle_windows(a, 8, 1, t, filled); break;
    case 10: ravel_shuffle_windows(a, 2, 0, t, filled); break;
    case 12: ravel_shuffle_windows(a, 4, 0, t, filled); break;
    case 14: ravel_shuffle_windows(a, 6, 0, t, filled); break;
    default: ravel_shuffle_windows(a, 8, 0, t, filled);
    }
}
#endif

static inline void
ravel_shuffle_group(const ravel_shuffled *a)
{
    static void (*const whole[5])(const ravel_shuffled *, int) = {
        NULL, ravel_shuffle_1, ravel_shuffle_2, ravel_shuffle_3, ravel_shuffle_4};
    static void (*const masked[5])(const ravel_shuffled *, int) = {
        NULL, NULL, ravel_shuffle_2_masked, ravel_shuffle_3_masked, ravel_shuffle_4_masked};
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    void (*one)(const ravel_shuffled *, int) = ravel_shuffle_any;
    if (!a->fill && m == 0 && w > 0 && w < 5)
        one = whole[w];
    else if (!a->fill && w == 0 && m > 1 && m < 5)
        one = masked[m];
    else if (!a->fill && w == 0 && m > 4 && m < 9 && a->group[RAVEL_GROUP_READS] == 3)
        one = ravel_shuffle_more;
#ifdef RAVEL_PAIRS
    if (a->group[RAVEL_GROUP_PAIRS]) {
        ravel_shuffle_wide(a);
        return;
    }
#endif
    for (int lane = 0; lane < 4; lane += RAVEL_LANES)
        one(a, lane);
}
#else
static void
ravel_shuffle_lane(const ravel_shuffled *a, unsigned char *d, const unsigned char *s,
                   const int32_t *row, int lane)
{
    unsigned char v[16] = {0};
    const int32_t *t = a->term;
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    for (int k = 0; k < 16 && a->fill; k++)
        v[k] = (unsigned char)(a->fill[k] & ((const unsigned char *)(t - 16 + 4 * lane))[k]);
    for (int32_t i = 0; i < w + m; i++) {
        const unsigned char *const from = s + row[4 + 4 * i + lane];
        const unsigned char *const at = (const unsigned char *)(t + RAVEL_TERM_AT + 4 * lane);
        const unsigned char *const mask = at + 64;
        RAVEL_UNROLL for (int k = 0; k < 16; k++) {
            if (at[k] > 15)
                continue;
            if (i < w) {
                v[k] = from[at[k]];
                continue;
            }
            const int left = t[RAVEL_TERM_SHIFT];
            const unsigned x = from[at[k]];
            v[k] = (unsigned char)(v[k] | ((left < 0 ? x >> -left : x << left) & mask[k]));
        }
        t += i < w ? RAVEL_WHOLE : RAVEL_MASKED;
    }
    memcpy(d + row[lane], v, 16);
}

static void
ravel_shuffle_group(const ravel_shuffled *a)
{
    const int32_t *row = a->row;
    for (int32_t r = 0; r < a->group[RAVEL_GROUP_ROWS]; r++, row += a->words)
        for (int64_t k = 0; k < a->n; k++)
            for (int lane = 0; lane < 4; lane++)
                ravel_shuffle_lane(a, a->d + k * a->dp, a->s + k * a->sp, row, lane);
}
#endif

/* One pass over n tiles, group by group.  Arguments are scalars: copies of a structure whose
 * fields were just written would wait for these. */
static inline void
ravel_shuffle_pass(unsigned char *d, const unsigned char *s, const int32_t *pass, int64_t n,
                   int64_t dp, int64_t sp, int64_t stream, const unsigned char *fill)
{
    ravel_shuffled a;
    a.d = d;
    a.s = s;
    a.n = n;
    a.dp = dp;
    a.sp = sp;
    a.stream = stream && pass[RAVEL_PASS_LINES] && dp % 64 == 0;
    a.fill = pass[RAVEL_PASS_FILLS] ? fill : NULL;
    a.lines = pass[RAVEL_PASS_LINES];
    const int32_t *group = pass + RAVEL_PASS_HEAD;
    for (int32_t i = 0; i < pass[RAVEL_PASS_ROWS]; i += a.group[RAVEL_GROUP_ROWS]) {
        const int32_t w = group[RAVEL_GROUP_WHOLE], m = group[RAVEL_GROUP_MASKED];
        const int32_t pairs = group[RAVEL_GROUP_PAIRS], paired = m ? RAVEL_HALVED : RAVEL_PAIRED;
        a.group = group;
        a.term = group + RAVEL_GROUP_HEAD + (pass[RAVEL_PASS_FILLS] ? 16 : 0);
        a.row = a.term + w * RAVEL_WHOLE + m * RAVEL_MASKED + pairs * paired;
        a.words = 4 + 4 * (w + m) + 2 * pairs * group[RAVEL_GROUP_PARTS];
        ravel_shuffle_group(&a);
        group = a.row + group[RAVEL_GROUP_ROWS] * a.words;
    }
}

/* Transposes the bits of each 8 bytes: bit i of byte k becomes bit k of byte i.  There are
 * a multiple of 64 bytes. */
#if defined(RAVEL_PAIRS) && defined(__GFNI__)
/* The product of a matrix with the unit vectors, in the order of its rows reversed. */
static inline void
ravel_turn_bits(unsigned char *d, int64_t bytes)
{
    const __m512i units = _mm512_set1_epi64((int64_t)0x8040201008040201);
    const __m512i back = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    for (int64_t i = 0; i < bytes; i += 64) {
        const __m512i x = _mm512_shuffle_epi8(_mm512_loadu_si512(d + i), back);
        _mm512_storeu_si512(d + i, _mm512_gf2p8affine_epi64_epi8(units, x, 0));
    }
}
#else
static inline void
ravel_turn_bits(unsigned char *d, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 8) {
        uint64_t x, y;
        memcpy(&x, d + i, 8);
        y = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
        x ^= y ^ y << 7;
        y = (x ^ x >> 14) & 0x0000cccc0000cccc;
        x ^= y ^ y << 14;
        y = (x ^ x >> 28) & 0x00000000f0f0f0f0;
        x ^= y ^ y << 28;
        memcpy(d + i, &x, 8);
    }
}
#endif

/* The passes before the last one, each from one of two buffers at `made` to the other.
 * Returns the last pass; *s is what it reads, *sp the bytes from a tile to the next. */
static inline const int32_t *
ravel_shuffle_before(unsigned char *made, const int32_t *pass, int64_t n,
                     const unsigned char **s, int64_t *sp)
{
    for (int k = 0; pass[RAVEL_PASS_NEXT]; k ^= 1, pass += pass[RAVEL_PASS_NEXT]) {
        const int64_t pitch = 64 * (int64_t)pass[RAVEL_PASS_ROWS];
        unsigned char *const to = made + k * RAVEL_TILES_BYTES;
        ravel_shuffle_pass(to, *s, pass, n, pitch, *sp, 0, NULL);
        if (pass[RAVEL_PASS_TURNS])
            ravel_turn_bits(to, n * pitch);
        *s = to;
        *sp = pitch;
    }
    return pass;
}

/* The bytes of a tile in the pass that has most. */
static inline int64_t
ravel_shuffle_most(const int32_t *pass)
{
    int64_t rows = pass[RAVEL_PASS_ROWS];
    while (pass[RAVEL_PASS_NEXT]) {
        pass += pass[RAVEL_PASS_NEXT];
        rows = pass[RAVEL_PASS_ROWS] > rows ? pass[RAVEL_PASS_ROWS] : rows;
    }
    return 64 * rows;
}

/* Permutes n tiles, as many at a time as the first cache holds.  Stores past the caches
 * have few lines between those that are contiguous. */
static inline void
ravel_shuffle_tiles(unsigned char *d, const unsigned char *s, const int32_t *table, int64_t n,
                    int64_t dp, int64_t sp, int64_t stream, const unsigned char *fill)
{
    enum { FEW = 8 };
    unsigned char room[64 + 2 * RAVEL_TILES_BYTES];
    unsigned char *const made = room + 64 - (uintptr_t)room % 64;
    const int64_t tile = ravel_shuffle_most(table + 2);
    const int64_t most = n * tile > RAVEL_TILES_BYTES ? RAVEL_TILES_BYTES / tile : n;
    const int64_t some = stream && dp != 64 && most > FEW ? (int64_t)FEW : most;
    for (int64_t k = 0; k < n; k += some, d += some * dp, s += some * sp) {
        const int64_t m = n - k < some ? n - k : some;
        const unsigned char *from = s;
        int64_t step = sp;
        const int32_t *const last = ravel_shuffle_before(made, table + 2, m, &from, &step);
        ravel_shuffle_pass(d, from, last, m, dp, step, stream, fill);
    }
}

/* The byte of a bit.  A start may be negative; the tile itself lies above 0. */
static inline int64_t
ravel_shuffle_byte(int64_t bit)
{
    return (bit - (bit & 7)) / 8;
}

/* A loop of the call: its iterations, those of one tile; its strides in bits. */
typedef struct {
    int64_t n, chunk, di, sk;
} ravel_shuffle_loop;

/* The tiles along a loop.  The last one may overlap the one before. */
static inline void
ravel_shuffle_along(unsigned char *d, const unsigned char *s, const int32_t *table,
                    const ravel_shuffle_loop *l, int64_t stream, const unsigned char *fill)
{
    const int64_t left = l->n - l->chunk;
    const int64_t n = l->chunk == 1 ? l->n : left ? l->n / l->chunk : 1;
    ravel_shuffle_tiles(d, s, table, n, l->chunk * l->di / 8, l->chunk * l->sk / 8, stream,
                        fill);
    if (n * l->chunk < l->n)
        ravel_shuffle_tiles(d + left * l->di / 8, s + left * l->sk / 8, table, 1, 0, 0, 0,
                            fill);
}

static void
ravel_shuffle(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
              const int32_t *table, int64_t rows, int64_t cols, int64_t di, int64_t sk,
              int64_t dj, int64_t sl, int64_t stream, int64_t bits, uint64_t v)
{
    unsigned char fill[64] = {0};
    const ravel_shuffle_loop row = {rows, table[0], di * bits, sk * bits};
    const ravel_shuffle_loop col = {cols, table[1], dj * bits, sl * bits};
    const int tall = rows * table[1] >= cols * table[0];
    const ravel_shuffle_loop *const in = tall ? &row : &col, *const out = tall ? &col : &row;
    dst += ravel_shuffle_byte(d * bits);
    src += ravel_shuffle_byte(s * bits);
    for (int64_t i = 0; i < 64 && table[4]; i += bits / 8)
        memcpy(fill + i, &v, (size_t)(bits / 8));
    for (int64_t j = 0; j < out->n; j += out->chunk) {
        const int64_t at = j + out->chunk > out->n ? out->n - out->chunk : j;
        ravel_shuffle_along(dst + at * out->di / 8, src + at * out->sk / 8, table, in, stream,
                            fill);
    }
}

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_awq_u4(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_awq_u4_table0[131] = {
    16, 1, 1, 1, 0, 0, 0, 0, 3, 3, 0, 1, 1, 1, 33587328, 100958336,
    168329344, 235700352, 33587328, 100958336, 168329344, 235700352, 33587328, 100958336, 168329344, 235700352, 33587328, 100958336, 168329344, 235700352, 252641280, 252641280,
    252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, 252641280, -4, 1,
    50397696, 117769732, 185141768, 252513804, 50397696, 117769732, 185141768, 252513804, 50397696, 117769732, 185141768, 252513804, 50397696, 117769732, 185141768, 252513804,
    -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961, -252702961,
    0, 1, -2139094271, -2139093243, -2139092215, -2139091187, -2139094271, -2139093243, -2139092215, -2139091187, -2139094271, -2139093243, -2139092215, -2139091187, -2139094271, -2139093243,
    -2139092215, -2139091187, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680, 61680,
    61680, 61680, 4, 0, 16, 32, 48, 0, 16, 32, 48, 0, 16, 32, 48, 0,
    16, 32, 48
};
/* src: 393216 bytes, dst: 393216 bytes; they do not overlap */
void
row_major_to_awq_u4(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* K=0..1023 N=0..767: shuffle */
    ravel_shuffle(dst, 0, src, 0, row_major_to_awq_u4_table0, 98304, 1, 8, 8, 0, 0, 0, 4, 0x0u);
}
