/* ravel emit --from NHWC --to NCHW --shape 1,3,224,224 --dtype u8 --name nhwc_to_nchw_rgb_u8
 * src NHWC: 672*H + 3*W + C
 *     u8, N=1 C=3 H=224 W=224 in 150528 elements, 150528 bytes
 * dst NCHW: 50176*C + 224*H + W
 *     u8, N=1 C=3 H=224 W=224 in 150528 elements, 150528 bytes
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

static int64_t
ravel_min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };

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

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
typedef uint8_t ravel_1x1 __attribute__((vector_size(16)));
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
#endif

/* Helpers for short rows and columns: padding in vectors, and a buffer for output. */
#ifndef RAVEL_PLAIN
#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_SHUFFLE(v, by) ((ravel_1x1)_mm_shuffle_epi8((__m128i)(v), (__m128i)(by)))
#elif defined(__aarch64__) && !defined(__clang__)
#define RAVEL_SHUFFLE(v, by) __builtin_shuffle(v, by)
#endif

/* Byte indices for RAVEL_SHUFFLE: byte i comes from byte i / in * out + i % in.  This moves
 * pieces that are `out` bytes apart to a distance of `in` bytes. */
RAVEL_INLINE ravel_1x1
ravel_apart(int64_t in, int64_t out)
{
    ravel_1x1 by = {0};
    for (int i = 0; i < 16; i++)
        by[i] = (uint8_t)((i / in * out + i % in) & 15);
    return by;
}

/* The power of two to which a row of at most 16 bytes is padded. */
RAVEL_INLINE int64_t
ravel_slot(int64_t bytes)
{
    return bytes <= 2 ? 2 : bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* Copies a few bytes. */
RAVEL_INLINE void
ravel_few_bytes(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    int64_t i = 0;
    for (; i + 16 <= bytes; i += 16)
        memcpy(d + i, s + i, 16);
    for (; i + 4 <= bytes; i += 4)
        memcpy(d + i, s + i, 4);
    for (; i < bytes; i++)
        d[i] = s[i];
}
#endif

/* Permutes the elements of k vectors of 16 elements of 1 bytes.  A round
 * interleaves the first half of the vectors with the second half.  This is a perfect
 * shuffle: it rotates the bits of an element's index by one.  log2(k) rounds transpose k
 * vectors to rows of k elements; log2(16) rounds do the reverse. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip1(ravel_1x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_1x1 t[16];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(1, 16, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(1, 16, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif

/* Parts of the kernels deinterleave that are the same for all sizes of elements. */
#ifndef RAVEL_PLAIN
/* A plane; strides in bytes. */
typedef struct {
    int64_t rows, sq, dp, stream, ahead;
    ravel_1x1 by;                  /* byte indices that pad short columns: ravel_apart */
} ravel_Parted;

/* n planes whose columns are contiguous in the source; strides in bytes. */
typedef struct {
    int64_t n, cols, dn, sn, dp, stream;
} ravel_Split;

/* Loads 16 / `of` columns of `bytes` bytes into one vector, each padded to `of` bytes. */
RAVEL_INLINE ravel_1x1
ravel_apart_load(const unsigned char *s, int64_t of, int64_t bytes, int64_t sq,
                 ravel_1x1 by)
{
    unsigned char slot[16];
    if (of == 16 || (of == bytes && sq == bytes))
        return ravel_load1(s);
#ifdef RAVEL_SHUFFLE
    if (sq == bytes)
        return RAVEL_SHUFFLE(ravel_load1(s), by);
#endif
    (void)by;
    RAVEL_UNROLL for (int i = 0; i < 16 / of; i++)
        memcpy(slot + i * of, s + i * sq, (size_t)of);
    return ravel_load1(slot);
}

/* Copies n columns of `bytes` bytes, sq bytes apart, one after another. */
RAVEL_CALLED void
ravel_apart_copy(unsigned char *to, const unsigned char *s, int64_t n, int64_t sq, int64_t bytes)
{
    for (int64_t i = 0; i < n; i++)
        ravel_few_bytes(to + i * bytes, s + i * sq, bytes);
}

/* Whether non-temporal stores write whole cache lines: of the rows of a plane, or of the
 * rows of all planes, which follow one another. */
RAVEL_INLINE int64_t
ravel_split_lines(const unsigned char *d, int64_t n, int64_t bytes, int64_t dn,
                  int64_t dp)
{
    const int64_t run = dn == bytes || n == 1 ? n * bytes : bytes | dn;
    return ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)run) % RAVEL_LINE == 0 && bytes % 16 == 0;
}
#endif

/* Planes of few rows of 1 bytes by transposes of 16 columns in registers. */
#ifndef RAVEL_PLAIN
/* Transposes 16 columns of at most k rows. */
RAVEL_INLINE void
ravel_part1(unsigned char *d, const unsigned char *s, int64_t dp, ravel_Parted w,
                  int k, int rounds)
{
    ravel_1x1 v[16];
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        v[i] = (ravel_1x1)ravel_apart_load(s + i * (16 / k) * w.sq, k * 1,
                                                 w.rows * 1, w.sq, w.by);
    ravel_zip1(v, k, rounds);
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        if (i < w.rows)
            ravel_store1(d + i * dp, (ravel_1x1)v[i], 0);
}

/* Writes whole cache lines from column q on, as long as 16 columns follow; returns the
 * next column. */
RAVEL_INLINE int64_t
ravel_part_lines1(unsigned char *d, const unsigned char *s, int64_t q, int64_t cols,
                        ravel_Parted w, int k, int rounds)
{
    unsigned char line[16 * RAVEL_LINE] __attribute__((aligned(RAVEL_LINE)));
    for (; q + 5 * 16 <= cols; q += 4 * 16) {
        for (int i = 0; i < 4; i++)
            ravel_part1(line + 16 * i, s + (q + i * 16) * w.sq, RAVEL_LINE, w, k, rounds);
        for (int64_t p = 0; p < w.rows; p++)
            RAVEL_UNROLL for (int i = 0; i < RAVEL_LINE; i += 16)
                ravel_store1(d + p * w.dp + q * 1 + i,
                             ravel_load1(line + p * RAVEL_LINE + i), 1);
    }
    return q;
}

/* Transposes a plane of 16 or more columns: those before whole lines, the lines, those after
 * them; the last ones from a copy. */
RAVEL_INLINE void
ravel_part_all1(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w,
                      int k, int rounds)
{
    unsigned char last[2 * 16 * 16 + 16];
    const int64_t bytes = w.rows * 1, head = (int64_t)(-(uintptr_t)d & 63) / 1;
    int64_t q = 0;
    for (int i = !(w.stream && cols >= head + 8 * 16); i < 2; i++) {
        const int64_t end = i ? cols - 2 * 16 + 1 : head;
        for (; q < end; q += 16)
            ravel_part1(d + q * 1, s + q * w.sq, w.dp, w, k, rounds);
        q = i ? q : ravel_part_lines1(d, s, head, cols, w, k, rounds);
    }
    q = q + 16 > cols ? cols - 16 : q;
    ravel_apart_copy(last, s + q * w.sq, cols - q, w.sq, bytes);
    w.sq = bytes;
    const int64_t at[] = {q, cols - 16};
    for (int i = 0; i < 2; i++)
        ravel_part1(d + at[i] * 1, last + (at[i] - q) * bytes, w.dp, w, k, rounds);
}

/* Transposes planes of k short rows whose columns are contiguous in the source. */
RAVEL_INLINE void
ravel_split_rows1(unsigned char *d, const unsigned char *s, ravel_Split x, int k,
                        int rounds)
{
    for (int64_t b = 0; b < x.n; b++, d += x.dn, s += x.sn)
        for (int64_t q = 0; q < x.cols; q += 16) {
            ravel_1x1 v[16];
            q = q + 16 > x.cols ? x.cols - 16 : q;
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                v[i] = (ravel_1x1)ravel_load1(s + q * k * 1 + 16 * i);
            ravel_zip1(v, k, rounds);
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                if (x.stream)
                    ravel_store1(d + i * x.dp + q * 1, (ravel_1x1)v[i], 1);
                else
                    ravel_store1(d + i * x.dp + q * 1, (ravel_1x1)v[i], 0);
        }
}
#endif

#ifndef RAVEL_PLAIN
/* Transposes a plane of 16 or more columns and up to 16 rows. */
static void
ravel_parted1(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 3)          /* constants for images */
        ravel_part_all1(d, s, cols, w, 4, 4);
    else if (w.rows <= 2)
        ravel_part_all1(d, s, cols, w, 2, 4);
    else if (w.rows <= 4)
        ravel_part_all1(d, s, cols, w, 4, 4);
    else if (w.rows <= 8)
        ravel_part_all1(d, s, cols, w, 8, 4);
    else
        ravel_part_all1(d, s, cols, w, 16, 4);
}

/* Transposes the planes without a buffer; returns 0, and does nothing, if it cannot. */
static int
ravel_split1(unsigned char *d, const unsigned char *s, int64_t rows, ravel_Split x)
{
    const int64_t lines = ravel_split_lines(d, x.n, x.cols * 1, x.dn, x.dp);
    if (x.stream && !lines && x.cols * 1 >= 2 * RAVEL_LINE)
        return 0;
    x.stream = x.stream && lines;
    if (rows == 2)
        ravel_split_rows1(d, s, x, 2, 4);
    else if (rows == 4)
        ravel_split_rows1(d, s, x, 4, 4);
    else if (rows == 8)
        ravel_split_rows1(d, s, x, 8, 4);
    else
        return 0;
    return 1;
}
#endif

/* Transposes a plane element by element. */
static void
ravel_parted_few1(unsigned char *d, const unsigned char *s, int64_t rows,
                        int64_t cols, int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * 1, s + p * 1 + q * sq, 1);
}

/* Transposes n planes with few rows, less than a vector has elements of 1 bytes:
 * d[b*dn + p*dp + q*1] = s[b*sn + p*1 + q*sq]  for b < n, p < rows, q < cols.
 *
 * Short planes of 2, 4 or 8 rows whose columns are contiguous in the source are split
 * without a buffer, with non-temporal stores if `stream` and rows are whole cache lines.
 * For other planes four vectors of a row form a line of 64 bytes, which is written with
 * non-temporal stores if `stream` and all rows of the destination are aligned alike.  A
 * load may read beyond a column; therefore the last columns are read from a buffer. */
static void
ravel_deinterleave1(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                    int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t sq,
                    int64_t stream, int64_t ahead)
{
#ifndef RAVEL_PLAIN
    const int64_t row = rows * 1;
    const ravel_Split few = {n, cols, dn, sn, dp, stream};
    if (cols >= 16 && cols * 1 < 256 && sq == row && ravel_split1(d, s, rows, few))
        return;
    if (cols >= 16 && rows > 1 && row <= 16 && sq >= row) {
        const ravel_1x1 by = ravel_apart(ravel_slot(row), row);
        stream = stream && dp % 64 == 0;
        for (int64_t b = 0; b < n; b++, d += dn, s += sn) {
            const int64_t past = stream && (uintptr_t)d % 1 == 0;
            const ravel_Parted plane = {rows, sq, dp, past, ahead, by};
            ravel_parted1(d, s, cols, plane);
        }
        return;
    }
#endif
    (void)stream;
    (void)ahead;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_parted_few1(d, s, rows, cols, dp, sq);
}

#ifdef __cplusplus
extern "C" {
#endif
void nhwc_to_nchw_rgb_u8(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* src: 150528 bytes, dst: 150528 bytes; they do not overlap */
void
nhwc_to_nchw_rgb_u8(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0 C=0..2 H=0..223 W=0..223: deinterleave1 */
    for (int64_t hw_ = 0; hw_ < 50176; hw_ += 4096) {
        ravel_deinterleave1(dst + hw_, src + 3*hw_, 1, 3, ravel_min(-hw_ + 50176, 4096), 0, 0, 50176, 3, 0, 0);
    }
}
