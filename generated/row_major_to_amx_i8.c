/* ravel emit --from ROW_MAJOR --to AMX_B8 --shape 1024,768 --dtype i8 --name row_major_to_amx_i8
 * src ROW_MAJOR: 768*b0 + b1
 *     i8, b0=1024 b1=768 in 786432 elements, 786432 bytes
 * dst AMX_B8: 65536*(N//64) + 256*(K//4) + 4*(N%64) + K%4
 *     i8, K=1024 N=768 in 786432 elements, 786432 bytes
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

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };

/* The most bytes of a row of interleaved columns. */
enum { RAVEL_WOVEN_BYTES = 120 };

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
typedef uint64_t ravel_8x1 __attribute__((vector_size(16)));
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

/* Writes the `held` bytes of a buffer to *d and advances *d.  `stream`: only whole cache
 * lines, with non-temporal stores, unless this is the `last` call.  Moves the remaining
 * bytes to the start of the buffer and returns their number. */
RAVEL_INLINE int64_t
ravel_pour(unsigned char **d, unsigned char *stage, int64_t held, int64_t stream,
            int64_t last)
{
    int64_t i = stream ? (int64_t)(-(uintptr_t)*d & 63) : held;
    i = i < held ? i : held;
    memcpy(*d, stage, (size_t)i);
    for (; i + 64 <= held; i += 64)
        RAVEL_UNROLL for (int j = 0; j < 64; j += 16)
            ravel_store1(*d + i + j, ravel_load1(stage + i + j), 1);
    if (last)
        memcpy(*d + i, stage + i, (size_t)(held - i));
    else
        memmove(stage, stage + i, (size_t)(held - i));
    *d += i;
    return held - i;
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

/* Transposes n planes with few columns:
 * d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for b < n, p < rows, q < cols, with
 * elements of `size` bytes.  A row of the destination has `width` elements, at most
 * RAVEL_WOVEN_BYTES bytes; those from `cols` on get the value `value`.
 *
 * `stream`: contiguous rows are written with non-temporal stores: directly if a row is a
 * cache line, or has 2, 4 or 8 bytes without padding in planes of whole lines; else through
 * a buffer.  A store may write beyond a row; the next row is written after it.  The buffer
 * prevents this at the end of the destination. */
#ifndef RAVEL_PLAIN
enum { RAVEL_STAGE = 3968 };

/* A plane; strides in bytes. */
typedef struct {
    int64_t cols, sq, width, dp, stream, ahead;
    int64_t n, dn, sn;             /* planes, and their strides */
    int64_t exact;                 /* rows are contiguous and have no padding */
    int64_t lines;                 /* rows are cache lines, for non-temporal stores */
    const unsigned char *value;    /* the value, repeated to 16 bytes */
    ravel_1x1 by;                  /* byte indices that drop padding: ravel_apart */
} ravel_Woven;

RAVEL_INLINE ravel_1x1
ravel_column(const unsigned char *s, int64_t q, ravel_Woven w)
{
    return ravel_load1(q < w.cols ? s + q * w.sq : w.value);
}

/* Stores the first `kept` bytes of each `of` bytes of v, contiguously. */
RAVEL_INLINE void
ravel_keep(unsigned char *d, ravel_1x1 v, int64_t of, int64_t kept, ravel_1x1 by)
{
    if (of == kept || of == 16) {
        ravel_store1(d, v, 0);
        return;
    }
#ifdef RAVEL_SHUFFLE
    ravel_store1(d, RAVEL_SHUFFLE(v, by), 0);
#else
    (void)by;
    for (int i = 0; i < 2; i++) {
        const uint64_t low = ((ravel_8x1)v)[i], high = low >> 32;
        memcpy(d + 8 * i / of * kept, &low, 8);
        if (of == 4)
            memcpy(d + (2 * i + 1) * kept, &high, 8);
    }
#endif
}
#endif

/* The kernel interleave for elements of 1 bytes. */
#ifndef RAVEL_PLAIN
/* Transposes at most k columns to 16 contiguous rows. */
RAVEL_INLINE void
ravel_weave1(unsigned char *d, const unsigned char *s, ravel_Woven w, int k,
             int rounds)
{
    const int64_t bytes = w.width * 1;
    ravel_1x1 v[16];
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        v[i] = (ravel_1x1)ravel_column(s, i, w);
    ravel_zip1(v, k, rounds);
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        ravel_keep(d + i * (16 / k) * bytes, (ravel_1x1)v[i], k * 1, bytes,
                   w.by);
}

/* Transposes 16 or more columns to 16 rows, in groups of 16 columns; the
 * last group may overlap the one before.  Rows that are cache lines are written one after
 * another. */
RAVEL_INLINE void
ravel_group1(ravel_1x1 *v, const unsigned char *s, int64_t q, ravel_Woven w,
             int rounds)
{
    RAVEL_UNROLL for (int i = 0; i < 16; i++)
        v[i] = (ravel_1x1)ravel_column(s, q + i, w);
    if (q < w.cols)
        ravel_zip1(v, 16, rounds);
}

RAVEL_INLINE void
ravel_wide1(unsigned char *d, const unsigned char *s, ravel_Woven w, int rounds)
{
    ravel_1x1 v[4][16];
    if (w.lines) {
        for (int g = 0; g < 4 && 1 == 1; g++)
            ravel_group1(v[g], s, g * 16, w, rounds);
        RAVEL_UNROLL for (int g = 0; g < 4 && 1 > 1; g++)
            ravel_group1(v[g], s, g * 16, w, rounds);
        RAVEL_UNROLL for (int i = 0; i < 16; i++)
            RAVEL_UNROLL for (int g = 0; g < 4; g++)
                ravel_store1(d + i * 64 + g * 16, (ravel_1x1)v[g][i], 1);
        return;
    }
    for (int64_t q = 0; q < w.width; q += 16) {
        q = q + 16 > w.width ? w.width - 16 : q;
        ravel_group1(v[0], s, q, w, rounds);
        RAVEL_UNROLL for (int i = 0; i < 16; i++)
            ravel_store1(d + (i * w.width + q) * 1, (ravel_1x1)v[0][i], 0);
    }
}

/* Transposes 16 or more rows of at most k columns; k = 0: of 16 or more columns.
 * May write up to 15 bytes after them. */
RAVEL_INLINE void
ravel_weave_all1(unsigned char *d, const unsigned char *s, int64_t rows,
                 const ravel_Woven *of, int k, int rounds)
{
    const ravel_Woven w = *of;
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)
        for (int64_t p = 0; p < rows; p += 16) {
            p = p + 16 > rows ? rows - 16 : p;
            if (w.ahead && p * 1 % RAVEL_LINE == 0)
                for (int64_t q = 0; q < w.cols; q++)
                    __builtin_prefetch(s + p * 1 + q * w.sq + w.ahead);
            if (k)
                ravel_weave1(d + p * w.width * 1, s + p * 1, w, k,
                             rounds);
            else
                ravel_wide1(d + p * w.width * 1, s + p * 1, w, rounds);
        }
}

/* Transposes planes of k columns to contiguous rows without padding, 16 rows at a
 * time. */
RAVEL_INLINE void
ravel_exact1(unsigned char *d, const unsigned char *s, int64_t rows,
             const ravel_Woven *of, int k, int rounds)
{
    const ravel_Woven w = *of;
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)
        for (int64_t p = 0; p < rows; p += 16) {
            ravel_1x1 v[16];
            p = p + 16 > rows ? rows - 16 : p;
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                v[i] = (ravel_1x1)ravel_load1(s + p * 1 + i * w.sq);
            ravel_zip1(v, k, rounds);
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                if (w.stream)
                    ravel_store1(d + p * k * 1 + 16 * i, (ravel_1x1)v[i], 1);
                else
                    ravel_store1(d + p * k * 1 + 16 * i, (ravel_1x1)v[i], 0);
        }
}

/* Transposes 16 or more rows by the functions above: interleave1.c. */
static void ravel_woven1(unsigned char *d, const unsigned char *s, int64_t rows,
                         const ravel_Woven *w);

/* Transposes 16 or more rows of one plane through a buffer. */
static void
ravel_gathered1(unsigned char *d, const unsigned char *s, int64_t rows,
                const ravel_Woven *w)
{
    unsigned char stage[RAVEL_LINE + RAVEL_STAGE + 16] __attribute__((aligned(RAVEL_LINE)));
    const int64_t bytes = w->width * 1;
    const int64_t step = RAVEL_STAGE / bytes / 16 * 16;
    int64_t held = 0, take;
    for (int64_t p = 0; p < rows; p += take) {
        take = rows - p;
        take = take <= step ? take : take < step + 16 ? step - 16 : step;
        ravel_woven1(stage + held, s + p * 1, take, w);
        held += take * bytes;
        if (w->dp == bytes)
            held = ravel_pour(&d, stage, held, w->stream, p + take == rows);
        else
            for (held = 0; held < take; held++)
                ravel_few_bytes(d + (p + held) * w->dp, stage + held * bytes, bytes);
        held = w->dp == bytes ? held : 0;
    }
}

static void
ravel_plane_woven1(unsigned char *d, const unsigned char *s, int64_t rows,
                   const ravel_Woven *w)
{
    const int64_t bytes = w->width * 1;
    if (w->dp == bytes && !w->stream && rows >= 2 * 16) {
        ravel_woven1(d, s, rows - 16, w);
        d += (rows - 16) * bytes;
        s += (rows - 16) * 1;
        rows = 16;
    }
    ravel_gathered1(d, s, rows, w);
}

/* Transposes n planes of 16 or more rows.  Rows that are as wide as a store need no
 * buffer at the end of a plane. */
RAVEL_INLINE void
ravel_planes_woven1(unsigned char *d, const unsigned char *s, int64_t n,
                    int64_t rows, int64_t dn, int64_t sn, ravel_Woven w)
{
    const int64_t bytes = w.width * 1, stream = w.stream;
    if (bytes < ravel_slot(bytes))
        w.by = ravel_apart(bytes, ravel_slot(bytes));
    w.stream = stream && w.dp == bytes && rows * bytes % RAVEL_LINE == 0 &&
               ((uintptr_t)d | (n > 1 ? (uintptr_t)dn : 0)) % RAVEL_LINE == 0;
    w.lines = w.stream && bytes % RAVEL_LINE == 0;
    if (w.lines || (w.dp == bytes && bytes == ravel_slot(bytes))) {
        w.exact = !w.lines && w.cols == w.width;
        w.n = n;
        w.dn = dn;
        w.sn = sn;
        ravel_woven1(d, s, rows, &w);
    } else {
        w.stream = stream;
        for (int64_t b = 0; b < n; b++, d += dn, s += sn)
            ravel_plane_woven1(d, s, rows, &w);
    }
}
#endif

/* The kernel: uses vectors if there are enough rows for one. */
static void
ravel_interleave1(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t cols, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                  int64_t sq, int64_t stream, int64_t ahead, uint64_t value)
{
    unsigned char v[16];
    for (int i = 0; i < 16; i += 1)
        memcpy(v + i, &value, 1);
#ifndef RAVEL_PLAIN
    if (rows >= 16 && width > 1 && dp >= width * 1 &&
        width * 1 <= RAVEL_WOVEN_BYTES) {
        const ravel_Woven w = {cols, sq, width, dp, stream, ahead, 1, 0, 0, 0, 0, v, {0}};
        ravel_planes_woven1(d, s, n, rows, dn, sn, w);
        return;
    }
#endif
    (void)stream;
    (void)ahead;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        for (int64_t p = 0; p < rows; p++)
            for (int64_t q = 0; q < width; q++)
                memcpy(d + p * dp + q * 1, q < cols ? s + p * 1 + q * sq : v,
                       1);
}

#ifndef RAVEL_PLAIN
static void
ravel_woven1(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact1(d, s, rows, w, 2, 1);
    else if (w->exact && w->width == 4)
        ravel_exact1(d, s, rows, w, 4, 2);
    else if (w->exact && w->width == 8)
        ravel_exact1(d, s, rows, w, 8, 3);
    else if (w->width <= 2)
        ravel_weave_all1(d, s, rows, w, 2, 1);
    else if (w->width <= 4)
        ravel_weave_all1(d, s, rows, w, 4, 2);
    else if (w->width <= 8)
        ravel_weave_all1(d, s, rows, w, 8, 3);
    else if (w->width < 16)
        ravel_weave_all1(d, s, rows, w, 16, 4);
    else
        ravel_weave_all1(d, s, rows, w, 0, 4);
}
#endif

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_amx_i8(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* src: 786432 bytes, dst: 786432 bytes; they do not overlap */
void
row_major_to_amx_i8(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* K=0..1023 N=0..767: interleave1 */
    for (int64_t n1 = 0; n1 < 12; n1++) {
        for (int64_t k1 = 0; k1 < 256; k1 += 64) {
            ravel_interleave1(dst + 65536*n1 + 256*k1, src + 3072*k1 + 64*n1, 64, 64, 4, 4, 256, 3072, 4, 768, 0, 0, 0x0u);
        }
    }
}
