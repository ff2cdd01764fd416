/* ravel emit --from ROW_MAJOR --to AWQ --shape 1024,768 --dtype u4 --name row_major_to_awq_u4
 * src ROW_MAJOR: 768*b0 + b1
 *     u4, b0=1024 b1=768 in 786432 elements, 393216 bytes
 * dst AWQ: 768*K + 8*(N//8) + 4*(N%2) + N//2%4
 *     u4, K=1024 N=768 in 786432 elements, 393216 bytes */
#include <stdint.h>
#include <string.h>

/* Vectors of 1, 2 or 4 lanes of 16 bytes; only loads and stores cross lanes.
 * RAVEL_LANES: the widest that the compiler was told of (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors; RAVEL_PORTABLE: the compiler's own, no intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && \
    !(defined(__GNUC__) && __GNUC__ >= 12)
#define RAVEL_PLAIN
#endif
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
/* The large header takes a compiler longer than all of ours. */
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

#ifndef RAVEL_PLAIN
#define RAVEL_INLINE __attribute__((always_inline, unused)) static inline
/* clang would unroll a loop by 16 before the function that it is in, whose argument bounds
 * it, is inlined; in full it cannot before.  gcc warns of it where it does not optimise. */
#ifndef __OPTIMIZE__
#define RAVEL_UNROLL
#elif defined __clang__
#define RAVEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAVEL_UNROLL _Pragma("GCC unroll 16")
#endif

/* ravel_2x4: elements of 2 bytes, 4 lanes; ravel_anyx4: of bytes, at any address. */
#define RAVEL_TYPES(w)                                                           \
    typedef uint8_t ravel_1x##w __attribute__((vector_size(16 * w)));            \
    typedef uint16_t ravel_2x##w __attribute__((vector_size(16 * w)));           \
    typedef uint32_t ravel_4x##w __attribute__((vector_size(16 * w)));           \
    typedef uint64_t ravel_8x##w __attribute__((vector_size(16 * w)));           \
    typedef uint8_t ravel_anyx##w                                                \
        __attribute__((vector_size(16 * w), aligned(1), may_alias));

/* An element of a, one of b, and so on, from the low (high) half of every lane;
 * elements of n bytes, m of them a lane, w lanes. */
#define RAVEL_LOW(n, m, w, a, b)                                                 \
    __builtin_shufflevector(a, b, RAVEL_EACH##w(RAVEL_ZIP##n, 0, m))
#define RAVEL_HIGH(n, m, w, a, b)                                                \
    __builtin_shufflevector(a, b, RAVEL_EACH##w(RAVEL_ZIP##n, (m) / 2, m))
#define RAVEL_EACH1(zip, i, m) zip(i, m)
#define RAVEL_EACH2(zip, i, m) zip(i, 2 * (m)), zip((i) + (m), 2 * (m))
#define RAVEL_EACH4(zip, i, m) zip(i, 4 * (m)), zip((i) + (m), 4 * (m)), \
    zip((i) + 2 * (m), 4 * (m)), zip((i) + 3 * (m), 4 * (m))
#define RAVEL_ZIP8(i, b) (i), (i) + (b)
#define RAVEL_ZIP4(i, b) RAVEL_ZIP8(i, b), RAVEL_ZIP8((i) + 1, b)
#define RAVEL_ZIP2(i, b) RAVEL_ZIP4(i, b), RAVEL_ZIP4((i) + 2, b)
#define RAVEL_ZIP1(i, b) RAVEL_ZIP2(i, b), RAVEL_ZIP2((i) + 4, b)

/* Keeps an address in a register: compilers would take one for each row of a block, more
 * than there are. */
#define RAVEL_KEEP(x) __asm__("" : "+r"(x))

/* 16 bytes from each of w rows; and 16 * w bytes back, past the caches where `stream`
 * says so and the address is aligned. */
RAVEL_TYPES(1)
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
/* Intrinsics: gcc 12 does not find the instruction that loads an upper lane. */
RAVEL_TYPES(2)
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
RAVEL_TYPES(4)
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

/* A network over k vectors of 16 elements of 1 bytes.  A round zips the first
 * half of the vectors with the second half: over all their elements a perfect shuffle,
 * which turns the bits of an element's place round by one.  log2(k) rounds make k columns
 * rows of k elements; log2(16) rounds make the rows columns again. */
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

/* n of the bits of a byte, from bit `at` on; the others stay.  Only for bytes that are
 * shared: volatile, as the vectorisers of clang 14 and 15 move the load of a byte above a
 * store to it. */
static void
ravel_bits_into(unsigned char *d, int64_t at, unsigned v, int64_t n)
{
    const unsigned mask = ((1u << n) - 1) << at;
    volatile unsigned char *byte = d;
    *byte = (unsigned char)((*byte & ~mask) | v << at);
}

/* rows runs of `cols` elements of 1, 2 or 4 bits, the first in a byte lowest, at any
 * element of a byte; offsets and strides count elements from the start of the buffers.
 * What else is in a run's first and last byte stays. */

/* n < 9 bits from bit y on. */
static unsigned
ravel_bits_at(const unsigned char *s, int64_t y, int64_t n)
{
    const unsigned low = (unsigned)s[y / 8] >> y % 8;
    const unsigned high = y % 8 + n > 8 ? (unsigned)s[y / 8 + 1] << (8 - y % 8) : 0;
    return (low | high) & ((1u << n) - 1);
}

/* Bytes made of two each, `by` > 0 bits apart. */
static void
ravel_bits_shifted(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t by)
{
    const uint64_t low = (uint64_t)(0xff >> by) * 0x0101010101010101;
    int64_t i = 0;
#ifndef RAVEL_PLAIN
    for (; i + 16 <= bytes; i += 16) {
        const ravel_8x1 a = (ravel_8x1)ravel_load1(s + i);
        const ravel_8x1 b = (ravel_8x1)ravel_load1(s + i + 1);
        ravel_store1(d + i, (ravel_1x1)((a >> (uint64_t)by & low) |
                                        (b << (uint64_t)(8 - by) & ~low)), 0);
    }
#endif
    for (; i + 8 <= bytes; i += 8) {
        uint64_t a, b;
        memcpy(&a, s + i, 8);
        memcpy(&b, s + i + 1, 8);
        a = (a >> by & low) | (b << (8 - by) & ~low);
        memcpy(d + i, &a, 8);
    }
    for (; i < bytes; i++)
        d[i] = (unsigned char)((s[i] >> by | s[i + 1] << (8 - by)) & 255);
}

static void
ravel_bits_run(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
               int64_t rows, int64_t cols, int64_t dr, int64_t sr, int64_t bits)
{
    for (int64_t r = 0; r < rows; r++) {
        int64_t x = (d + r * dr) * bits, y = (s + r * sr) * bits, n = cols * bits;
        int64_t part = -x & 7;
        part = part < n ? part : n;
        if (part) {
            ravel_bits_into(dst + x / 8, x % 8, ravel_bits_at(src, y, part), part);
            x += part;
            y += part;
            n -= part;
        }
        if (n >= 8 && y % 8)
            ravel_bits_shifted(dst + x / 8, src + y / 8, n / 8, y % 8);
        else
            memcpy(dst + x / 8, src + y / 8, (size_t)(n / 8));
        if (n % 8)
            ravel_bits_into(dst + (x + n) / 8, 0,
                            ravel_bits_at(src, y + n / 8 * 8, n % 8), n % 8);
    }
}

/* rows x cols elements of 1, 2 or 4 bits, the first in a byte lowest; offsets and
 * strides count elements from the start of the buffers.  Of columns that touch bytes are
 * put together in a register, and stored once. */

/* n elements that lie `step` bits apart from bit y on, in the lowest bits. */
static inline unsigned
ravel_bits_some(const unsigned char *src, uint64_t y, uint64_t step, int64_t n,
                int64_t bits)
{
    unsigned v = 0;
    for (int64_t i = 0; i < n; i++, y += step)
        v |= ((unsigned)src[y / 8] >> y % 8 & ((1u << bits) - 1)) << i * bits;
    return v;
}

/* So many bytes of them. */
static inline void
ravel_bits_bytes(unsigned char *d, const unsigned char *src, uint64_t y, uint64_t step,
                 int64_t bytes, int64_t bits)
{
    for (int64_t b = 0; b < bytes; b++) {
        unsigned v = 0;
        for (int64_t i = 0; i < 8; i += bits, y += step)
            v |= ((unsigned)src[y / 8] >> y % 8 & ((1u << bits) - 1)) << i;
        d[b] = (unsigned char)v;
    }
}

/* n of them, one after the other from bit x on. */
static void
ravel_bits_touching(unsigned char *dst, int64_t x, const unsigned char *src, uint64_t y,
                    uint64_t step, int64_t n, int64_t bits)
{
    const int64_t per = 8 / bits;
    int64_t part = (-x & 7) / bits;
    part = part < n ? part : n;
    if (part)
        ravel_bits_into(dst + x / 8, x % 8, ravel_bits_some(src, y, step, part, bits),
                        part * bits);
    dst += (x + 7) / 8;
    y += (uint64_t)part * step;
    n -= part;
    ravel_bits_bytes(dst, src, y, step, n / per, bits);
    y += (uint64_t)(n / per * per) * step;
    if (n % per)
        ravel_bits_into(dst + n / per, 0, ravel_bits_some(src, y, step, n % per, bits),
                        n % per * bits);
}

static void
ravel_bits(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
           int64_t rows, int64_t cols, int64_t dr, int64_t dc, int64_t sr, int64_t sc,
           int64_t bits)
{
    const int64_t per = 8 / bits;
    const uint64_t step = (uint64_t)(sc * bits);
    const int whole = dc == 1 && (d | dr | cols) % per == 0;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t x = (d + r * dr) * bits;
        const uint64_t y = (uint64_t)((s + r * sr) * bits);
        if (whole)
            ravel_bits_bytes(dst + x / 8, src, y, step, cols / per, bits);
        else if (dc == 1)
            ravel_bits_touching(dst, x, src, y, step, cols, bits);
        else
            for (int64_t c = 0; c < cols; c++)
                ravel_bits_into(dst + (x + c * dc * bits) / 8, (x + c * dc * bits) % 8,
                                ravel_bits_some(src, y + (uint64_t)c * step, 0, 1, bits),
                                bits);
    }
}

/* A plane of elements of 1, 2 or 4 bits, the first in a byte lowest:
 * d + p*dp + q  <-  s + p + q*sq  for p < rows, q < cols, in elements from the start of
 * the buffers.  Blocks of 16 bytes either way: `per` columns of bytes are transposed
 * within their bytes, 16 of those as bytes; they go by way of a buffer.  Where rows do
 * not start at whole bytes the runs are shifted into blocks and out of the buffer. */
#ifndef RAVEL_PLAIN
/* Within each byte of `per` vectors: bit-matrix transposes, by halves. */
#define RAVEL_BITS_BLOCK(bits, per)                                              \
RAVEL_INLINE void                                                                \
ravel_bits_mix##bits(ravel_2x1 *a)                                               \
{                                                                                \
    RAVEL_UNROLL for (int turn = 0; turn < 3; turn++) {                          \
        const int by = 4 >> turn;                                                \
        if (by < bits)                                                           \
            continue;                                                            \
        const uint16_t low = (uint16_t)(by == 4 ? 0x0f0f : by == 2 ? 0x3333      \
                                               : 0x5555);                        \
        RAVEL_UNROLL for (int i = 0; i < per; i++) {                             \
            const int j = i + by / bits;                                         \
            if (i & by / bits)                                                   \
                continue;                                                        \
            const ravel_2x1 high = (a[i] >> (uint16_t)by & low) |                \
                                   (a[j] & (uint16_t)~low);                      \
            a[i] = (a[i] & low) | (a[j] & low) << (uint16_t)by;                  \
            a[j] = high;                                                         \
        }                                                                        \
    }                                                                            \
}                                                                                \
/* 16 * per elements either way; sq and dp in bytes. */                          \
static void                                                                      \
ravel_bits_block##bits(unsigned char *d, const unsigned char *s, int64_t dp,     \
                       int64_t sq)                                               \
{                                                                                \
    unsigned char mixed[per * 256];                                              \
    for (int j = 0; j < 16; j++) {                                               \
        ravel_2x1 a[per];                                                        \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            a[i] = (ravel_2x1)ravel_load1(s + (j * per + i) * sq);               \
        ravel_bits_mix##bits(a);                                                 \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            ravel_store1(mixed + i * 256 + j * 16, (ravel_1x1)a[i], 0);          \
    }                                                                            \
    for (int i = 0; i < per; i++) {                                              \
        ravel_1x1 v[16];                                                         \
        RAVEL_UNROLL for (int j = 0; j < 16; j++)                                \
            v[j] = ravel_load1(mixed + i * 256 + j * 16);                        \
        ravel_zip1(v, 16, 4);                                                    \
        RAVEL_UNROLL for (int j = 0; j < 16; j++)                                \
            ravel_store1(d + (j * per + i) * dp, v[j], 0);                       \
    }                                                                            \
}
RAVEL_BITS_BLOCK(4, 2)
RAVEL_BITS_BLOCK(2, 4)
RAVEL_BITS_BLOCK(1, 8)

static void
ravel_bits_block(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq,
                 int64_t bits)
{
    switch (bits) {
    case 4: ravel_bits_block4(d, s, dp, sq); break;
    case 2: ravel_bits_block2(d, s, dp, sq); break;
    default: ravel_bits_block1(d, s, dp, sq); break;
    }
}

/* Blocks straight from the source to the destination; dp and sq in bytes. */
static void
ravel_bits_whole(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                 int64_t dp, int64_t sq, int64_t bits)
{
    const int64_t m = 128 / bits;
    for (int64_t q = 0; q < cols; q += m)
        for (int64_t p = 0; p < rows; p += m)
            ravel_bits_block(d + p * dp + q / m * 16, s + q * sq + p / m * 16, dp, sq,
                             bits);
}

/* RAVEL_BITS_ROW bytes of rows, as a block by way of the buffer has of each column. */
enum { RAVEL_BITS_ROW = 128, RAVEL_BITS_COLS = 512 };

/* r rows of as many columns as a block has, or c of them, into a buffer. */
static void
ravel_bits_fill(unsigned char *to, const unsigned char *src, int64_t s, int64_t r,
                int64_t c, int64_t pitch, int64_t sq, int64_t bits)
{
    unsigned char in[128 * RAVEL_BITS_ROW];
    const int64_t m = 128 / bits, per = 8 / bits;
    const int whole = s % per == 0 && sq % per == 0 && r % m == 0 && c == m;
    const unsigned char *from = whole ? src + s / per : in;
    if (!whole)
        ravel_bits_run(in, 0, src, s, c, r, 8 / bits * RAVEL_BITS_ROW, sq, bits);
    for (int64_t i = 0; i < r; i += m)
        ravel_bits_block(to + i * pitch, from + i / per, pitch,
                         whole ? sq / per : RAVEL_BITS_ROW, bits);
}

/* What is filled next, a block's columns of it. */
static void
ravel_bits_fetch(const unsigned char *src, int64_t s, int64_t sq, int64_t bits)
{
    for (int64_t k = 0; k < 128 / bits; k++) {
        const int64_t at = (s + k * sq) * bits / 8;
        for (int64_t x = at - at % 64; x < at + RAVEL_BITS_ROW; x += 64)
            __builtin_prefetch(src + x);
    }
}

/* r rows of c columns from a buffer; past the caches where `stream` says that rows start
 * at lines, else what is written to is fetched. */
static void
ravel_bits_out(unsigned char *dst, int64_t d, const unsigned char *from, int64_t r,
               int64_t c, int64_t dp, int64_t pitch, int64_t stream, int64_t bits)
{
    enum { AHEAD = 8 };
    const int64_t per = 8 / bits, bytes = c / per;
    for (int64_t i = 0; i < r; i++) {
        for (int64_t j = 0; j <= bytes && !stream && i + AHEAD < r; j += 64)
            __builtin_prefetch(dst + (d + (i + AHEAD) * dp) / per + j, 1);
        if (stream && bytes % 64 == 0 && c % per == 0)
            for (int64_t j = 0; j < bytes; j += 16)
                ravel_store1(dst + (d + i * dp) / per + j,
                             ravel_load1(from + i * pitch + j), 1);
        else
            ravel_bits_run(dst, d + i * dp, from, i * pitch * per, 1, c, 0, 0, bits);
    }
}

/* Blocks that a buffer gathers, a piece of each row of the destination. */
static void
ravel_bits_blocks(unsigned char *buffer, int64_t pitch, unsigned char *dst, int64_t d,
                  const unsigned char *src, int64_t s, int64_t rows, int64_t cols,
                  int64_t dp, int64_t sq, int64_t stream, int64_t bits)
{
    enum { COLS = RAVEL_BITS_COLS };
    const int64_t m = 128 / bits, per = 8 / bits, most = per * RAVEL_BITS_ROW;
    for (int64_t q = 0; q < cols; q += COLS) {
        const int64_t c = cols - q < COLS ? cols - q : COLS;
        for (int64_t p = 0; p < rows; p += most) {
            const int64_t r = rows - p < most ? rows - p : most;
            const int64_t then = p + r < rows ? s + p + r + q * sq : s + (q + c) * sq;
            for (int64_t k = 0; k < c; k += m) {
                const int64_t at = s + p + (q + k) * sq, left = c - k;
                ravel_bits_fetch(src, left > m ? at + m * sq : then, sq, bits);
                ravel_bits_fill(buffer + k / per, src, at, r, left < m ? left : m,
                                pitch, sq, bits);
            }
            ravel_bits_out(dst, d + p * dp + q, buffer, r, c, dp, pitch, stream, bits);
        }
    }
}

/* Frames of their own, as small planes have no need of the large buffer. */
#define RAVEL_BITS_STAGED(name, bytes)                                           \
__attribute__((noinline)) static void                                            \
ravel_bits_##name(int64_t pitch, unsigned char *dst, int64_t d,                  \
                  const unsigned char *src, int64_t s, int64_t rows,             \
                  int64_t cols, int64_t dp, int64_t sq, int64_t stream,          \
                  int64_t bits)                                                  \
{                                                                                \
    unsigned char buffer[bytes] __attribute__((aligned(64)));                    \
    ravel_bits_blocks(buffer, pitch, dst, d, src, s, rows, cols, dp, sq, stream, \
                      bits);                                                     \
}
RAVEL_BITS_STAGED(small, 16384)
RAVEL_BITS_STAGED(large, 131072)

static void
ravel_bits_staged(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                  int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                  int64_t bits)
{
    const int64_t m = 128 / bits, most = 8 / bits * RAVEL_BITS_ROW;
    const int64_t wide = cols < RAVEL_BITS_COLS ? cols : RAVEL_BITS_COLS;
    const int64_t tall = rows < most ? rows : most;
    const int64_t pitch = (wide + m - 1) / m * 16 + 64;
    if (rows == 0 || cols == 0)
        return;
    if ((tall + m - 1) / m * m * pitch <= 16384)
        ravel_bits_small(pitch, dst, d, src, s, rows, cols, dp, sq, stream, bits);
    else
        ravel_bits_large(pitch, dst, d, src, s, rows, cols, dp, sq, stream, bits);
}

/* As many columns (`weave`) or rows as a byte has elements, and all of them touch: 16
 * bytes of each at a time.  The elements of each that are done. */
#define RAVEL_BITS_FEW(bits, per, rounds)                                        \
static int64_t                                                                   \
ravel_bits_few##bits(unsigned char *d, const unsigned char *s, int64_t bytes,    \
                     int64_t apart, int64_t weave, int64_t stream)               \
{                                                                                \
    int64_t t = 0;                                                               \
    for (; t + 16 <= bytes; t += 16) {                                           \
        ravel_1x1 v[per];                                                        \
        ravel_2x1 a[per];                                                        \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            v[i] = ravel_load1(weave ? s + i * apart + t : s + t * per + 16 * i); \
        if (!weave)                                                              \
            ravel_zip1(v, per, 4);                                               \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            a[i] = (ravel_2x1)v[i];                                              \
        ravel_bits_mix##bits(a);                                                 \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            v[i] = (ravel_1x1)a[i];                                              \
        if (weave)                                                               \
            ravel_zip1(v, per, rounds);                                          \
        RAVEL_UNROLL for (int i = 0; i < per; i++)                               \
            ravel_store1(weave ? d + t * per + 16 * i : d + i * apart + t, v[i], \
                         stream);                                                \
    }                                                                            \
    return t * per;                                                              \
}
RAVEL_BITS_FEW(4, 2, 1)
RAVEL_BITS_FEW(2, 4, 2)
RAVEL_BITS_FEW(1, 8, 3)

static int64_t
ravel_bits_few(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t apart,
               int64_t weave, int64_t stream, int64_t bits)
{
    switch (bits) {
    case 4: return ravel_bits_few4(d, s, bytes, apart, weave, stream);
    case 2: return ravel_bits_few2(d, s, bytes, apart, weave, stream);
    default: return ravel_bits_few1(d, s, bytes, apart, weave, stream);
    }
}
#endif

static void
ravel_bits_transpose(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                     int64_t rows, int64_t cols, int64_t dp, int64_t sq, int64_t stream,
                     int64_t bits)
{
#ifndef RAVEL_PLAIN
    const int64_t per = 8 / bits;
    if (d % per == 0 && s % per == 0 && cols == per && dp == per && sq % per == 0) {
        const int64_t lines = ((uintptr_t)dst + (uintptr_t)(d / per)) % 64 == 0;
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, rows / per,
                                            sq / per, 1, stream && lines, bits);
        ravel_bits(dst, d + done * dp, src, s + done, rows - done, cols, dp, 1, 1, sq,
                   bits);
        return;
    }
    if (d % per == 0 && s % per == 0 && rows == per && sq == per && dp % per == 0) {
        const int64_t done = ravel_bits_few(dst + d / per, src + s / per, cols / per,
                                            dp / per, 0, 0, bits);
        ravel_bits(dst, d + done, src, s + done * sq, rows, cols - done, dp, 1, 1, sq,
                   bits);
        return;
    }
    if (rows >= 4 && cols >= 4) {
        const int whole = d % per == 0 && s % per == 0 && dp % per == 0 && sq % per == 0;
        const int64_t m = 128 / bits, p = !stream && whole ? rows / m * m : 0;
        const int64_t q = p ? cols / m * m : 0;
        ravel_bits_whole(dst + d / per, src + s / per, p, q, dp / per, sq / per, bits);
        stream = stream && (uintptr_t)dst % 64 == 0 && d * bits % 512 == 0 &&
                 dp * bits % 512 == 0;
        ravel_bits_staged(dst, d + q, src, s + q * sq, p, cols - q, dp, sq, stream, bits);
        ravel_bits_staged(dst, d + p * dp, src, s + p, rows - p, cols, dp, sq, stream,
                          bits);
        return;
    }
#endif
    (void)stream;
    ravel_bits(dst, d, src, s, rows, cols, dp, 1, 1, sq, bits);
}

/* src: 393216 bytes, dst: 393216 bytes; they do not overlap */
void
row_major_to_awq_u4(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* K=0..1023 N=0..767: bits_transpose */
    for (int64_t kn2_ = 0; kn2_ < 98304; kn2_++) {
        ravel_bits_transpose(dst, 8*kn2_, src, 8*kn2_, 2, 4, 4, 2, 0, 4);
    }
}
