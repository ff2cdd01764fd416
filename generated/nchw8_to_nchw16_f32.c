/* ravel emit --from NCHW8 --to NCHW16 --shape 8,20,56,56 --dtype f32 --name nchw8_to_nchw16_f32
 * src NCHW8: 75264*N + 25088*(C//8) + 448*H + 8*W + C%8
 *     f32, N=8 C=20 H=56 W=56 in 602112 elements, 2408448 bytes
 * dst NCHW16: 100352*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f32, N=8 C=20 H=56 W=56 in 802816 elements, 3211264 bytes */
#include <stdint.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Runs of so many bytes or more are copied one by one; so many bytes may be written in any
 * order, the longer loop inside. */
enum { RAVEL_LONG_BYTES = 256, RAVEL_NEAR_BYTES = 16384 };

/* Non-temporal stores, of RAVEL_STREAM bytes or of a cache line, to aligned addresses.
 * RAVEL_FRAME: not inlined, so that calls that need no buffers do not allocate them. */
#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#define RAVEL_FRAME __attribute__((noinline))
#else
#define RAVEL_PREFETCH(p) (void)(p)
#define RAVEL_FRAME
#endif
#if defined(__AVX2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <immintrin.h>
enum { RAVEL_STREAM = 32 };
static inline void
ravel_stream(unsigned char *d, const unsigned char *s)
{
    _mm256_stream_si256((__m256i *)(void *)d,
                        _mm256_loadu_si256((const __m256i *)(const void *)s));
}
#elif defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>
enum { RAVEL_STREAM = 16 };
static inline void
ravel_stream(unsigned char *d, const unsigned char *s)
{
    _mm_stream_si128((__m128i *)(void *)d,
                     _mm_loadu_si128((const __m128i *)(const void *)s));
}
#else
enum { RAVEL_STREAM = 32 };
static inline void
ravel_stream(unsigned char *d, const unsigned char *s)
{
    memcpy(d, s, 32);
}
#endif

static inline void
ravel_stream_line(unsigned char *d, const unsigned char *s)
{
    for (int i = 0; i < 64; i += RAVEL_STREAM)
        ravel_stream(d + i, s + i);
}

/* RAVEL_CONSTANT: part of every caller, as one that passes constants is faster. */
#ifdef __GNUC__
#define RAVEL_CONSTANT __attribute__((always_inline, unused)) static inline
#else
#define RAVEL_CONSTANT static inline
#endif

/* A run of `bytes` by one or two moves of k bytes, which may overlap: 2 * k >= bytes >= k,
 * and k is a constant. */
RAVEL_CONSTANT void
ravel_move_twice(unsigned char *d, const unsigned char *s, size_t k, int64_t bytes)
{
    memcpy(d, s, k);
    if (bytes > (int64_t)k)
        memcpy(d + bytes - k, s + bytes - k, k);
}

/* Runs of any bytes. */
RAVEL_CONSTANT void
ravel_each_run(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows, size_t k,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    for (int64_t b = 0; b < n; b++)
        for (int64_t r = 0; r < rows; r++)
            ravel_move_twice(d + b * dn + r * dp, s + b * sn + r * sp, k, bytes);
}

/* Runs whose length is no power of two, or is above 64. */
static void
ravel_copy_odd(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    if (bytes < 4)
        ravel_each_run(d, s, n, rows, 2, bytes, dn, sn, dp, sp);
    else if (bytes < 8)
        ravel_each_run(d, s, n, rows, 4, bytes, dn, sn, dp, sp);
    else if (bytes < 16)
        ravel_each_run(d, s, n, rows, 8, bytes, dn, sn, dp, sp);
    else if (bytes < 32)
        ravel_each_run(d, s, n, rows, 16, bytes, dn, sn, dp, sp);
    else if (bytes < 64)
        ravel_each_run(d, s, n, rows, 32, bytes, dn, sn, dp, sp);
    else if (bytes <= 128)
        ravel_each_run(d, s, n, rows, 64, bytes, dn, sn, dp, sp);
    else
        ravel_each_run(d, s, n, rows, (size_t)bytes, bytes, dn, sn, dp, sp);
}

static void
ravel_copy_planes(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_each_run(d, s, n, rows, 1, 1, dn, sn, dp, sp); break;
    case 2: ravel_each_run(d, s, n, rows, 2, 2, dn, sn, dp, sp); break;
    case 4: ravel_each_run(d, s, n, rows, 4, 4, dn, sn, dp, sp); break;
    case 8: ravel_each_run(d, s, n, rows, 8, 8, dn, sn, dp, sp); break;
    case 16: ravel_each_run(d, s, n, rows, 16, 16, dn, sn, dp, sp); break;
    case 32: ravel_each_run(d, s, n, rows, 32, 32, dn, sn, dp, sp); break;
    case 64: ravel_each_run(d, s, n, rows, 64, 64, dn, sn, dp, sp); break;
    default: ravel_copy_odd(d, s, n, rows, bytes, dn, sn, dp, sp);
    }
}

static inline void
ravel_copy_runs(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp)
{
    ravel_copy_planes(d, s, 1, rows, bytes, 0, 0, dp, sp);
}

/* Whole lines; `next` is what will be read after them: fetched meanwhile. */
static inline void
ravel_stream_lines(unsigned char *d, const unsigned char *s, int64_t bytes,
                   const unsigned char *next)
{
    for (int64_t i = 0; i < bytes; i += 64) {
        RAVEL_PREFETCH(next + i);
        ravel_stream_line(d + i, s + i);
    }
}

static inline void
ravel_stream_next(unsigned char *d, const unsigned char *s, int64_t bytes,
                  const unsigned char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & 63);
    head = head < bytes ? head : bytes;
    const int64_t lines = (bytes - head) / 64 * 64, end = head + lines;
    if (head)
        memcpy(d, s, (size_t)head);
    ravel_stream_lines(d + head, s + head, lines, next + head);
    if (bytes > end)
        memcpy(d + end, s + end, (size_t)(bytes - end));
}

static inline void
ravel_stream_run(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    ravel_stream_next(d, s, bytes, s + 512);
}

/* rows runs of `bytes` bytes in each of n planes; dp and sp bytes from one run to the
 * next, dn and sn from one plane to the next.  `stream`: past the caches, where runs are
 * whole lines, or long, or touch in the destination; the source is fetched 2 KB ahead. */
static inline void
ravel_copy_long(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp, int64_t sn, int lines)
{
    const int64_t on = 1 + 2048 / bytes, planes = on / rows * sn, more = on % rows;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t next = r + more < rows ? planes + (r + more) * sp
                                             : planes + sn + (r + more - rows) * sp;
        if (lines)
            ravel_stream_lines(d + r * dp, s + r * sp, bytes, s + next);
        else
            ravel_stream_next(d + r * dp, s + r * sp, bytes, s + next);
    }
}

static void
ravel_copy_streamed(unsigned char *d, const unsigned char *s, int64_t rows,
                    int64_t bytes, int64_t dp, int64_t sp, int64_t sn, int lines)
{
    switch (lines ? bytes : 0) {
    case 0: ravel_copy_long(d, s, rows, bytes, dp, sp, sn, 0); break;
    case 64: ravel_copy_long(d, s, rows, 64, dp, sp, sn, 1); break;
    case 128: ravel_copy_long(d, s, rows, 128, dp, sp, sn, 1); break;
    default: ravel_copy_long(d, s, rows, bytes, dp, sp, sn, 1);
    }
}

/* Planes whose runs touch in the destination and make whole lines there, as many bytes a
 * run as go at once or a multiple. */
static void
ravel_copy_abreast(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                   int64_t bytes, int64_t dn, int64_t sn, int64_t sp)
{
    const int64_t ahead = (1 + 1024 / bytes) * sn;
    for (int64_t b = 0; b < n; b++)
        for (int64_t r = 0; r < rows; r++) {
            RAVEL_PREFETCH(s + b * sn + r * sp + ahead);
            for (int64_t i = 0; i < bytes; i += RAVEL_STREAM)
                ravel_stream(d + b * dn + r * bytes + i, s + b * sn + r * sp + i);
        }
}

static inline void
ravel_fetch_runs(const unsigned char *s, int64_t rows, int64_t sp)
{
    const int64_t on = sp > 0 && sp < 64 ? 64 / sp : 1;
    for (int64_t r = 0; r < rows; r += on)
        RAVEL_PREFETCH(s + r * sp);
}

/* Short runs that touch, rows of them in each of n planes: by way of a buffer, a piece of
 * every plane before the next. */
static void
ravel_copy_gathered(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                    int64_t bytes, int64_t dn, int64_t sn, int64_t sp)
{
    unsigned char buffer[4096];
    const int64_t most = 4096 / bytes;
    for (int64_t r = 0, k; r < rows; r += k) {
        k = rows - r < most ? rows - r : most;
        for (int64_t b = 0; b < n; b++) {
            const unsigned char *from = s + b * sn + r * sp;
            ravel_fetch_runs(from + k * sp, k, sp);
            ravel_copy_runs(buffer, from, k, bytes, bytes, sp);
            ravel_stream_run(d + b * dn + r * bytes, buffer, k * bytes);
        }
    }
}

/* The same where runs of one row of every plane touch, and then those of the next. */
static void
ravel_copy_woven(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                 int64_t bytes, int64_t sn, int64_t sp)
{
    unsigned char buffer[4096];
    const int64_t most = 4096 / (n * bytes);
    for (int64_t r = 0, k; r < rows; r += k) {
        k = rows - r < most ? rows - r : most;
        for (int64_t b = 0; b < n; b++) {
            const unsigned char *from = s + b * sn + r * sp;
            ravel_fetch_runs(from + k * sp, k, sp);
            ravel_copy_runs(buffer + b * bytes, from, k, bytes, n * bytes, sp);
        }
        ravel_stream_run(d + r * n * bytes, buffer, k * n * bytes);
    }
}

/* Short runs that touch in the destination: rows of a plane, or one row of every plane. */
static int
ravel_copy_short(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                 int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    enum { FEW = 1024 };
    const int whole = bytes % RAVEL_STREAM == 0;
    if (dp == bytes && rows > 1) {
        const uintptr_t at = (uintptr_t)d | (uintptr_t)(rows * bytes) | (uintptr_t)dn;
        if (whole && rows * bytes <= FEW && n > 1 && at % 64 == 0)
            ravel_copy_abreast(d, s, n, rows, bytes, dn, sn, sp);
        else
            ravel_copy_gathered(d, s, n, rows, bytes, dn, sn, sp);
    } else if (dn == bytes && n > 1) {
        const uintptr_t at = (uintptr_t)d | (uintptr_t)(n * bytes) | (uintptr_t)dp;
        if (whole && n * bytes <= FEW && at % 64 == 0)
            ravel_copy_abreast(d, s, rows, n, bytes, dp, sp, sn);
        else if (dp != n * bytes)
            ravel_copy_gathered(d, s, rows, n, bytes, dp, sp, sn);
        else if (dp <= 4096)
            ravel_copy_woven(d, s, n, rows, bytes, sn, sp);
        else
            return 0;
    } else {
        return 0;
    }
    return 1;
}

static void
ravel_copy(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
           int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t stream)
{
    const uintptr_t at = (uintptr_t)d | (uintptr_t)dp | (n > 1 ? (uintptr_t)dn : 0);
    const int lines = (at | (uintptr_t)bytes) % 64 == 0;
    if (bytes == 0 || rows == 0)
        return;
    if (stream && !lines && bytes < RAVEL_LONG_BYTES &&
        ravel_copy_short(d, s, n, rows, bytes, dn, sn, dp, sp))
        return;
    if (!stream || (!lines && bytes < RAVEL_LONG_BYTES)) {
        const int across = !stream && rows < n && n * rows * bytes <= RAVEL_NEAR_BYTES;
        ravel_copy_planes(d, s, across ? rows : n, across ? n : rows, bytes,
                          across ? dp : dn, across ? sp : sn, across ? dn : dp,
                          across ? sn : sp);
        return;
    }
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_streamed(d, s, rows, bytes, dp, sp, sn, lines);
}

/* The most bytes of padding after a run. */
enum { RAVEL_PAD_BYTES = 2048 };

/* The code splits values into bytes, the lowest byte first. */
#if defined(__BIG_ENDIAN__) || \
    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "this relayout is for little-endian machines: the bytes of its values would be wrong"
#endif

/* Vectors of 1, 2 or 4 lanes of 16 bytes; only loads and stores move data across lanes.
 * RAVEL_LANES: the most lanes that the compiler's options allow (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors.  RAVEL_PORTABLE: vector extensions of the compiler, and no
 * intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && \
    !(defined(__GNUC__) && __GNUC__ >= 12)
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

#ifndef RAVEL_PLAIN
#define RAVEL_INLINE __attribute__((always_inline, unused)) static inline
/* clang applies unroll(16) before it inlines the function whose argument is the loop's
 * bound; unroll(full) has to wait for that.  gcc warns about the pragma at -O0. */
#ifndef __OPTIMIZE__
#define RAVEL_UNROLL
#elif defined __clang__
#define RAVEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAVEL_UNROLL _Pragma("GCC unroll 16")
#endif

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
#define RAVEL_TYPES(w)                                                           \
    typedef uint8_t ravel_1x##w __attribute__((vector_size(16 * w)));            \
    typedef uint16_t ravel_2x##w __attribute__((vector_size(16 * w)));           \
    typedef uint32_t ravel_4x##w __attribute__((vector_size(16 * w)));           \
    typedef uint64_t ravel_8x##w __attribute__((vector_size(16 * w)));           \
    typedef uint8_t ravel_anyx##w                                                \
        __attribute__((vector_size(16 * w), aligned(1), may_alias));

/* Interleaves the elements of the low (high) halves of the lanes of a and b; elements of n
 * bytes, m elements in a lane, w lanes. */
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

/* Forces an address into a register.  Compilers would otherwise use a register for each
 * row of a block, more than there are. */
#define RAVEL_KEEP(x) __asm__("" : "+r"(x))

/* ravel_rows: loads 16 bytes from each of w rows.  ravel_store: stores 16 * w bytes; with
 * `stream` by a non-temporal store, to an aligned address. */
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
/* Intrinsics, because gcc 12 does not use the instruction that loads an upper lane. */
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

/* Copies n planes of `rows` runs of `bytes` bytes and fills each up to `width` bytes with
 * elements of `size` bytes that have the value `value`.  Runs are dp (sp) bytes apart,
 * planes dn (sn) bytes.  `stream`: short rows that are contiguous in the destination go
 * through a buffer, in whole cache lines with non-temporal stores. */
#ifndef RAVEL_PLAIN
/* Puts rows of at most 16 bytes into the buffer, one vector for each, from row r on until
 * row `most` or until the buffer is full.  Adds their bytes to *held; returns the next
 * row. */
RAVEL_INLINE int64_t
ravel_short_rows(unsigned char *stage, int64_t *held, const unsigned char *s, int64_t r,
                 int64_t most, int64_t bytes, int64_t width, int64_t sp,
                 const unsigned char *pad)
{
    unsigned char keep[16], rest[16];
    for (int64_t i = 0; i < 16; i++) {
        keep[i] = i < bytes ? 255 : 0;
        rest[i] = (unsigned char)(i < bytes || i >= width ? 0 : pad[i - bytes]);
    }
    const ravel_1x1 mask = ravel_load1(keep), fill = ravel_load1(rest);
    int64_t at = *held;
    for (; r < most && at + width <= 4096; r++, at += width)
        ravel_store1(stage + at, (ravel_load1(s + r * sp) & mask) | fill, 0);
    *held = at;
    return r;
}
#endif

static void
ravel_copy_fill_plane(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t dp, int64_t sp,
                      int64_t stream, const unsigned char *pad)
{
#ifndef RAVEL_PLAIN
    unsigned char stage[64 + 4096] __attribute__((aligned(64)));
    int64_t held = 0;
    if (stream && dp == width && width <= 2048) {
        /* rows from whose start 16 bytes can be read */
        const int64_t most = width <= 16 && sp > 0 ? rows - 1 - (15 + sp - bytes) / sp : 0;
        for (int64_t r = 0; r < rows; r++) {
            r = ravel_short_rows(stage, &held, s, r, most, bytes, width, sp, pad);
            if (held + width > 4096)
                held = ravel_pour(&d, stage, held, 1, 0);
            ravel_few_bytes(stage + held, s + r * sp, bytes);
            ravel_few_bytes(stage + held + bytes, pad, width - bytes);
            held += width;
            if (held + width > 4096 || r + 1 == rows)
                held = ravel_pour(&d, stage, held, 1, r + 1 == rows);
        }
        return;
    }
#endif
    /* pieces that stay in the first cache: runs, then what follows each */
    const int64_t piece = 1 + 16384 / width;
    (void)stream;
    for (int64_t r = 0; r < rows; r += piece) {
        const int64_t k = rows - r < piece ? rows - r : piece;
        ravel_copy_runs(d + r * dp, s + r * sp, k, bytes, dp, sp);
        ravel_copy_runs(d + r * dp + bytes, pad, k, width - bytes, dp, 0);
    }
}

/* So many bytes of elements of `size` bytes, by doubling what is there. */
static inline void
ravel_repeat(unsigned char *d, int64_t bytes, uint64_t value, int64_t size)
{
    int64_t done = size < bytes ? size : bytes;
    for (int64_t i = 0; i < done; i++)
        d[i] = (unsigned char)(i < 8 ? value >> i * 8 & 255 : 0);
    for (int64_t more; done < bytes; done += more) {
        more = bytes - done < done ? bytes - done : done;
        memcpy(d + done, d, (size_t)more);
    }
}

static void
ravel_copy_fill(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                int64_t bytes, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                int64_t sp, int64_t stream, uint64_t value, int64_t size)
{
    unsigned char pad[RAVEL_PAD_BYTES];
    ravel_repeat(pad, width - bytes, value, size);
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_fill_plane(d, s, rows, bytes, width, dp, sp, stream, pad);
}

/* src: 2408448 bytes, dst: 3211264 bytes; they do not overlap */
void
nchw8_to_nchw16_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..7 C=0..15 H=0..55 W=0..55: copy */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_copy(dst + 401408*n, src + 301056*n, 3136, 2, 32, 64, 32, 32, 100352, 0);
    }
    /* N=0..7 C=16..19 H=0..55 W=0..55: copy_fill */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_copy_fill(dst + 401408*n + 200704, src + 301056*n + 200704, 1, 3136, 16, 64, 401408, 301056, 64, 32, 0, 0x0u, 4);
    }
}

void
nchw8_to_nchw16_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    nchw8_to_nchw16_f32_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    nchw8_to_nchw16_f32_part(dst_, src_, 0, 1);
#endif
}
