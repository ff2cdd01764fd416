/* ravel emit --from ROW_MAJOR --to SF128x4 --shape 1000,90 --dtype u8 --name row_major_to_sf128x4_u8
 * src ROW_MAJOR: 90*b0 + b1
 *     u8, b0=1000 b1=90 in 90000 elements, 90000 bytes
 * dst SF128x4: 11776*(R//128) + 512*(C//4) + 16*(R%32) + 4*(R//32%4) + C%4
 *     u8, R=1000 C=90 in 94208 elements, 94208 bytes
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

/* The most bytes of padding after a run. */
enum { RAVEL_PAD_BYTES = 2048 };

/* Runs of up to RAVEL_MOVED_BYTES have loops of their own. */
enum { RAVEL_MOVED_BYTES = 128 };

/* So many bytes stay in the first cache: they are written in any order, with the longer loop
 * inside. */
enum { RAVEL_NEAR_BYTES = 16384 };

/* The buffer through which short runs become whole cache lines. */
enum { RAVEL_COPY_BUFFER = 4096 };

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

/* RAVEL_CONSTANT: inlined, because callers pass constants. */
#ifdef __GNUC__
#define RAVEL_CONSTANT __attribute__((always_inline, unused)) static inline
#else
#define RAVEL_CONSTANT static inline
#endif

/* Copies a run of `bytes` bytes by one or two moves of k bytes, which may overlap.
 * Requires k <= bytes <= 2 * k; k is a constant. */
RAVEL_CONSTANT void
ravel_move_twice(unsigned char *d, const unsigned char *s, size_t k, int64_t bytes)
{
    memcpy(d, s, k);
    if (bytes > (int64_t)k)
        memcpy(d + bytes - k, s + bytes - k, k);
}

/* In a loop of moves: some compilers make one copy of unknown length of it, which takes longer for a
 * few lines. */
#ifdef __GNUC__
#define RAVEL_LOOP(i) __asm__("" : "+r"(i))
#else
#define RAVEL_LOOP(i) (void)(i)
#endif

/* Copies a run of at most 64 bytes. */
static inline void
ravel_move_few(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes >= 32)
        ravel_move_twice(d, s, 32, bytes);
    else if (bytes >= 16)
        ravel_move_twice(d, s, 16, bytes);
    else if (bytes >= 8)
        ravel_move_twice(d, s, 8, bytes);
    else if (bytes >= 4)
        ravel_move_twice(d, s, 4, bytes);
    else if (bytes >= 2)
        ravel_move_twice(d, s, 2, bytes);
    else if (bytes > 0)
        *d = *s;
}

/* Copies a run of more than 64 bytes by moves of 64 and one of what is left, which may
 * overlap the one before; a long run by the C library. */
RAVEL_CONSTANT void
ravel_move_many(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    enum { CALLED = 512 };
    if (bytes > CALLED) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i + 64 <= bytes; i += 64) {
        memcpy(d + i, s + i, 64);
        RAVEL_LOOP(i);
    }
    if (bytes % 64 > 32)
        memcpy(d + bytes - 64, s + bytes - 64, 64);
    else if (bytes % 64 > 16)
        memcpy(d + bytes - 32, s + bytes - 32, 32);
    else if (bytes % 64)
        memcpy(d + bytes - 16, s + bytes - 16, 16);
}

/* Copies n planes of `rows` runs with ordinary stores; k is as for ravel_move_twice. */
RAVEL_CONSTANT void
ravel_each_run(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows, size_t k,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    for (int64_t b = 0; b < n; b++)
        for (int64_t r = 0; r < rows; r++)
            ravel_move_twice(d + b * dn + r * dp, s + b * sn + r * sp, k, bytes);
}

/* The same for runs whose length is not a power of two up to 64. */
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
    else if (bytes <= RAVEL_MOVED_BYTES)
        ravel_each_run(d, s, n, rows, 64, bytes, dn, sn, dp, sp);
    else
        for (int64_t b = 0; b < n; b++)
            for (int64_t r = 0; r < rows; r++)
                ravel_move_many(d + b * dn + r * dp, s + b * sn + r * sp, bytes);
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

/* Helpers for short rows and columns: padding in vectors, and a buffer for output. */
#ifndef RAVEL_PLAIN
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
    for (; r < most && at + width <= RAVEL_COPY_BUFFER; r++, at += width)
        ravel_store1(stage + at, (ravel_load1(s + r * sp) & mask) | fill, 0);
    *held = at;
    return r;
}

/* Rows that are whole cache lines: the padding stays in the buffer. */
static void
ravel_copy_fill_lines(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t sp, const unsigned char *pad)
{
    unsigned char stage[RAVEL_COPY_BUFFER] __attribute__((aligned(RAVEL_LINE)));
    const int64_t most = RAVEL_COPY_BUFFER / width;
    ravel_copy_runs(stage + bytes, pad, most, width - bytes, width, 0);
    for (int64_t r = 0; r < rows; r += most) {
        const int64_t k = rows - r < most ? rows - r : most;
        ravel_copy_runs(stage, s + r * sp, k, bytes, width, sp);
        ravel_pour(&d, stage, k * width, 1, 0);
    }
}

/* Rows of other sizes. */
static void
ravel_copy_fill_staged(unsigned char *d, const unsigned char *s, int64_t rows,
                       int64_t bytes, int64_t width, int64_t sp, const unsigned char *pad)
{
    unsigned char stage[RAVEL_LINE + RAVEL_COPY_BUFFER] __attribute__((aligned(RAVEL_LINE)));
    int64_t held = 0;
    /* rows from whose start 16 bytes can be read */
    const int64_t most = width <= 16 && sp > 0 ? rows - 1 - (15 + sp - bytes) / sp : 0;
    for (int64_t r = 0; r < rows;) {
        r = ravel_short_rows(stage, &held, s, r, most, bytes, width, sp, pad);
        const int64_t room = (RAVEL_COPY_BUFFER - held) / width;
        const int64_t k = rows - r < room ? rows - r : room;
        ravel_copy_runs(stage + held, s + r * sp, k, bytes, width, sp);
        ravel_copy_runs(stage + held + bytes, pad, k, width - bytes, width, 0);
        r += k;
        held = ravel_pour(&d, stage, held + k * width, 1, r == rows);
    }
}
#endif

static void
ravel_copy_fill_plane(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t dp, int64_t sp,
                      int64_t stream, const unsigned char *pad)
{
#ifndef RAVEL_PLAIN
    if (stream && dp == width && width <= 2048) {
        if (((uintptr_t)d | (uintptr_t)width) % RAVEL_LINE == 0)
            ravel_copy_fill_lines(d, s, rows, bytes, width, sp, pad);
        else
            ravel_copy_fill_staged(d, s, rows, bytes, width, sp, pad);
        return;
    }
#endif
    /* of each piece the runs, then what follows each */
    const int64_t piece = 1 + RAVEL_NEAR_BYTES / width;
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

/* Copies `rows` rows of runs of `bytes` bytes.  Run i is copied from s + table[2*i + 1] to
 * d + table[2*i]; rows are dp (sp) bytes apart.  The offsets of four runs are read before one of these
 * is written: else the reads may wait for one another (composite_lanes.h). */
RAVEL_CONSTANT void
ravel_gather_each(unsigned char *d, const unsigned char *s, const int32_t *table,
                  int64_t entries, int64_t rows, size_t k, int64_t bytes, int64_t dp,
                  int64_t sp)
{
    const int32_t *const end = table + 2 * entries;
    for (int64_t r = 0; r < rows; r++, d += dp, s += sp) {
        const int32_t *t = table;
        for (; end - t >= 8; t += 8) {
            const int64_t to[4] = {t[0], t[2], t[4], t[6]}, from[4] = {t[1], t[3], t[5], t[7]};
            ravel_move_twice(d + to[0], s + from[0], k, bytes);
            ravel_move_twice(d + to[1], s + from[1], k, bytes);
            ravel_move_twice(d + to[2], s + from[2], k, bytes);
            ravel_move_twice(d + to[3], s + from[3], k, bytes);
        }
        for (; t < end; t += 2)
            ravel_move_twice(d + t[0], s + t[1], k, bytes);
    }
}

/* The same for runs whose length is not a power of two up to 64. */
static void
ravel_gather_odd(unsigned char *d, const unsigned char *s, const int32_t *table,
                 int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
    if (bytes < 4)
        ravel_gather_each(d, s, table, entries, rows, 2, bytes, dp, sp);
    else if (bytes < 8)
        ravel_gather_each(d, s, table, entries, rows, 4, bytes, dp, sp);
    else if (bytes < 16)
        ravel_gather_each(d, s, table, entries, rows, 8, bytes, dp, sp);
    else if (bytes < 32)
        ravel_gather_each(d, s, table, entries, rows, 16, bytes, dp, sp);
    else if (bytes < 64)
        ravel_gather_each(d, s, table, entries, rows, 32, bytes, dp, sp);
    else if (bytes <= 128)
        ravel_gather_each(d, s, table, entries, rows, 64, bytes, dp, sp);
    else
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < entries; i++)
                ravel_move_many(d + r * dp + table[2 * i], s + r * sp + table[2 * i + 1],
                                bytes);
}

static void
ravel_gather(unsigned char *d, const unsigned char *s, const int32_t *table,
             int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_gather_each(d, s, table, entries, rows, 1, 1, dp, sp); break;
    case 2: ravel_gather_each(d, s, table, entries, rows, 2, 2, dp, sp); break;
    case 4: ravel_gather_each(d, s, table, entries, rows, 4, 4, dp, sp); break;
    case 8: ravel_gather_each(d, s, table, entries, rows, 8, 8, dp, sp); break;
    case 16: ravel_gather_each(d, s, table, entries, rows, 16, 16, dp, sp); break;
    case 32: ravel_gather_each(d, s, table, entries, rows, 32, 32, dp, sp); break;
    case 64: ravel_gather_each(d, s, table, entries, rows, 64, 64, dp, sp); break;
    default: ravel_gather_odd(d, s, table, entries, rows, bytes, dp, sp);
    }
}

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

#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Non-temporal stores, of RAVEL_STREAM bytes or of a cache line, to aligned addresses.
 * RAVEL_FRAME: not inlined, so that calls that need no buffers do not allocate them. */
#ifdef __GNUC__
#define RAVEL_FRAME __attribute__((noinline))
#else
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
    for (int i = 0; i < RAVEL_LINE; i += RAVEL_STREAM)
        ravel_stream(d + i, s + i);
}

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

/* Permutes the elements of k vectors of 4 elements of 4 bytes.  A round
 * interleaves the first half of the vectors with the second half.  This is a perfect
 * shuffle: it rotates the bits of an element's index by one.  log2(k) rounds transpose k
 * vectors to rows of k elements; log2(4) rounds do the reverse. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip4(ravel_4x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_4x1 t[4];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(4, 4, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(4, 4, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif

#ifndef RAVEL_PLAIN
/* Transposes blocks of 4 rows in each lane: log2(4) rounds of interleaving. */
RAVEL_INLINE void
ravel_turn4(RAVEL_ALL(4) *v)
{
    RAVEL_ALL(4) w[4];
    RAVEL_UNROLL for (int round = 1; round < 4; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 4 / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(4, 4, v[i], v[i + 4 / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(4, 4, v[i], v[i + 4 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 4; i++)
            v[i] = w[i];
    }
}

RAVEL_INLINE void
ravel_turn_two4(RAVEL_TWO(4) *v)
{
    RAVEL_TWO(4) w[4];
    RAVEL_UNROLL for (int round = 1; round < 4; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 4 / 2; i++) {
            w[2 * i] = RAVEL_TWO_LOW(4, 4, v[i], v[i + 4 / 2]);
            w[2 * i + 1] = RAVEL_TWO_HIGH(4, 4, v[i], v[i + 4 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 4; i++)
            v[i] = w[i];
    }
}
#endif

/* Words before a tile's tables; bytes of its buffer; columns of rows that are written one
 * after another; rows of which the first cache holds a line of each;
 * bytes of a block that it does not hold with what is read. */
enum { RAVEL_TILE_HEAD = 16, RAVEL_TILE_BYTES = 256 * 1024, RAVEL_TILE_ALONG = 128,
       RAVEL_TILE_NEAR = 256, RAVEL_TILE_SOON = 24 * 1024 };

/* A call takes tiles: batches, columns and rows, in chunks.  The last chunk may overlap the
 * one before.  The table has words of 4 bytes; offsets are in bytes:
 *      rows, columns, batches of a tile; bytes that stay together; rows and columns of a
 *      block; blocks; runs of the destination, 0 if there is no buffer; bytes of a run; its
 *      pitch in the buffer; runs of the source; bytes of a run; its pitch in a buffer, 0 if
 *      there is none; words to the next part of the tile, 0 if there is none; the end of the
 *      source; the largest offset of a column;
 *      the destination's offset of each row; the source's of each column; both of each
 *      block; the destination's of each of its runs; the source's of each of its runs.
 * A tile of several parts has no runs. */
enum { RAVEL_T_ROW, RAVEL_T_COL, RAVEL_T_BATCH, RAVEL_T_KEPT, RAVEL_T_ROWS, RAVEL_T_COLS,
       RAVEL_T_BLOCKS, RAVEL_T_RUNS, RAVEL_T_BYTES, RAVEL_T_PITCH, RAVEL_T_FROM,
       RAVEL_T_FROM_BYTES, RAVEL_T_FROM_PITCH, RAVEL_T_NEXT, RAVEL_T_END, RAVEL_T_LAST };

/* A loop of the call: its iterations, those of one tile, its strides in bytes. */
typedef struct {
    int64_t n, chunk, dp, sp, at;
} ravel_tile_loop;
/* `d`, `s`: where the tile begins in the destination and the source. */
typedef struct {
    ravel_tile_loop loop[3];
    int64_t d, s;
} ravel_tiles;

/* Moves to the next tile, rows first; 0 if there is none. */
static inline int
ravel_tiles_next(ravel_tiles *t)
{
    for (int i = 0; i < 3; i++) {
        ravel_tile_loop *const l = &t->loop[i];
        const int64_t was = l->at, last = l->n - l->chunk;
        l->at = was == last ? 0 : was + l->chunk < last ? was + l->chunk : last;
        t->d += (l->at - was) * l->dp;
        t->s += (l->at - was) * l->sp;
        if (l->at)
            return 1;
    }
    return 0;
}

/* The lines of the source of a tile, to be prefetched. */
typedef struct {
    const unsigned char *s;
    const int32_t *run;
    int64_t runs, bytes, at;
} ravel_soon;

static inline void
ravel_soon_fetch(ravel_soon *a, int64_t lines)
{
    for (; lines > 0 && a->runs > 0; lines--) {
        RAVEL_PREFETCH(a->s + a->run[0] + a->at);
        a->at += RAVEL_LINE;
        if (a->at >= a->bytes) {
            RAVEL_PREFETCH(a->s + a->run[0] + a->bytes - 1);
            a->at = 0;
            a->run++;
            a->runs--;
        }
    }
}

/* Prefetches half of the lines over so many steps. */
static inline int64_t
ravel_soon_share(const ravel_soon *a, int64_t steps)
{
    return (a->runs * (a->bytes / RAVEL_LINE + 1) / 2 + steps - 1) / steps;
}

typedef void ravel_tile_function(unsigned char *d, const unsigned char *s,
                                 const int32_t *t, ravel_soon *soon);

/* Runs the tiles of a call on elements of whole bytes. */

static inline void
ravel_move(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes > 64)
        ravel_move_many(d, s, bytes);
    else
        ravel_move_few(d, s, bytes);
}

/* Writes a run from the buffer, with non-temporal stores if `stream`. */
static inline void
ravel_tile_run(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t stream,
               ravel_soon *soon)
{
    int64_t head = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    head = head < bytes ? head : bytes;
    if (!stream || bytes < RAVEL_LINE) {
        ravel_move(d, s, bytes);
        ravel_soon_fetch(soon, (bytes + 2 * RAVEL_LINE - 1) / (2 * RAVEL_LINE));
        return;
    }
    const int64_t end = head + (bytes - head) / RAVEL_LINE * RAVEL_LINE;
    ravel_move(d, s, head);
    for (int64_t i = head; i < end; i += RAVEL_LINE) {
        ravel_stream_line(d + i, s + i);
        if (i & RAVEL_LINE)
            ravel_soon_fetch(soon, 1);
    }
    ravel_move(d + end, s + end, bytes - end);
}

static inline void
ravel_tile_flush(unsigned char *d, const unsigned char *buffer, const int32_t *t,
                 const int32_t *run, int64_t stream, ravel_soon *soon)
{
    for (int64_t i = 0; i < t[RAVEL_T_RUNS]; i++)
        ravel_tile_run(d + run[i], buffer + i * t[RAVEL_T_PITCH], t[RAVEL_T_BYTES],
                       stream, soon);
}

/* Sets the buffer to elements of `size` bytes, at most 8: where a run is longer than what a tile
 * writes of it they are its padding. */
static inline void
ravel_tile_pad(unsigned char *buffer, const int32_t *t, uint64_t fill, int64_t size)
{
    unsigned char line[RAVEL_LINE];
    for (int64_t i = 0; i < RAVEL_LINE; i++)
        line[i] = (unsigned char)(fill >> 8 * (i % size) & 255);
    for (int64_t i = 0; i < (int64_t)t[RAVEL_T_RUNS] * t[RAVEL_T_PITCH];
         i += RAVEL_LINE)
        memcpy(buffer + i, line, RAVEL_LINE);
}

/* Permutes tiles through a buffer and prefetches the next tile. */
RAVEL_FRAME static void
ravel_tiles_staged(unsigned char *d, const unsigned char *s, ravel_tiles *at,
                   const int32_t *t, int64_t stream, uint64_t fill, int64_t size,
                   ravel_tile_function *tile)
{
    unsigned char room[RAVEL_TILE_BYTES + 2 * RAVEL_LINE];
    unsigned char *const buffer = room + (-(uintptr_t)room & (RAVEL_LINE - 1));
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    const int64_t written = (int64_t)t[RAVEL_T_ROWS] * t[RAVEL_T_COLS] * t[RAVEL_T_BLOCKS] *
                            t[RAVEL_T_KEPT];
    if (written != (int64_t)t[RAVEL_T_RUNS] * t[RAVEL_T_BYTES])
        ravel_tile_pad(buffer, t, fill, size);
    for (int more = 1; more;) {
        unsigned char *const to = d + at->d;
        const unsigned char *const of = s + at->s;
        more = ravel_tiles_next(at);
        ravel_soon soon = {s + at->s, from, more ? t[RAVEL_T_FROM] : 0,
                           t[RAVEL_T_FROM_BYTES], 0};
        tile(buffer, of, t, &soon);
        ravel_tile_flush(to, buffer, t, run, stream, &soon);
    }
}

static void
ravel_tiles_run(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t batches,
                int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t sp,
                int64_t dq, int64_t sq, int64_t stream, uint64_t fill, int64_t size,
                ravel_tile_function *tile)
{
    ravel_tiles at = {{{rows, t[RAVEL_T_ROW], dp, sp, 0}, {cols, t[RAVEL_T_COL], dq, sq, 0},
                       {batches, t[RAVEL_T_BATCH], dn, sn, 0}}, 0, 0};
    ravel_soon soon = {s, t, 0, 0, 0};
    if (rows < 1 || cols < 1 || batches < 1)
        return;
    if (t[RAVEL_T_RUNS]) {
        ravel_tiles_staged(d, s, &at, t, stream, fill, size, tile);
        return;
    }
    do {
        const int32_t *part = t;
        for (tile(d + at.d, s + at.s, part, &soon); part[RAVEL_T_NEXT];) {
            part += part[RAVEL_T_NEXT];
            tile(d + at.d, s + at.s, part, &soon);
        }
    } while (ravel_tiles_next(&at));
}

/* Pieces of blocks for the kernels composite. */
#ifndef RAVEL_PLAIN
/* The end of the source of a tile; the largest offset of its columns. */
typedef struct {
    const unsigned char *end;
    int64_t last;
} ravel_end;
/* How the blocks of a tile are transposed: one of slim, touching, parts, along, or a vector of
 * `wide` columns after another.  `lanes`: blocks at once; `steps`: in each.  `next`: short rows or
 * columns follow one another, and `picks` moves their bytes (ravel_regroup). */
typedef struct {
    int slim, next, touching, parts, along, near;
    int64_t wide, lanes, steps;
    ravel_1x1 picks;
} ravel_way;

/* The offsets of n rows, at most 8, which are read before one of the rows is written.  A processor that
 * once took a read for one of what was just written, as addresses agree in their lower 12 bits, lets it
 * wait until the addresses of all writes before it are known: an offset that is read between writes then
 * waits for the one before, and a tile takes up to 5 times as long (Emerald Rapids, one process of
 * ten). */
RAVEL_INLINE void
ravel_rows_at(int64_t *to, const int32_t *row, int n)
{
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        to[i] = row[i];
}

RAVEL_CALLED int
ravel_is_past(int64_t most, const int32_t *col, int64_t n)
{
    int past = 0;
    for (int64_t i = 0; i < n; i++)
        past |= col[i] > most;
    return past;
}

/* Whether 16 bytes of one of n columns reach beyond the end. */
RAVEL_INLINE int
ravel_is_near(const ravel_end *e, const unsigned char *s, const int32_t *col, int64_t n)
{
    const int64_t most = e->end - s - 16;
    return most < e->last && ravel_is_past(most, col, n);
}

/* Whether the next line of a row has bytes of the next row. */
RAVEL_CALLED int
ravel_rows_share_lines(const int32_t *row, int64_t rows)
{
    const int32_t step = rows > 1 ? row[1] - row[0] : 0;
    return step % 64 != 0 && step < 128 && step > -128;
}

static const int32_t ravel_part_at[16] = {0,   16,  32,  48,  64,  80,  96,  112,
                                          128, 144, 160, 176, 192, 208, 224, 240};

/* Copies `bytes`, at most 16, of each column to `part`, where columns are at ravel_part_at; what
 * follows these bytes is in no result. */
RAVEL_CALLED void
ravel_load_parts(unsigned char *part, const unsigned char *s, const int32_t *col, int64_t bytes,
                 int64_t cols)
{
    for (int64_t i = 0; i < cols; i++)
        memcpy(part + ravel_part_at[i], s + col[i], (size_t)bytes);
}

/* Stores the first `bytes` of 16, at most 16. */
#if RAVEL_LANES == 4 && defined(__AVX512VL__)
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    _mm_mask_storeu_epi8(d, (__mmask16)((1u << bytes) - 1), (__m128i)v);
}
#elif defined(RAVEL_SSE2) && defined(__SSSE3__)
/* The register with byte `first` first. */
RAVEL_INLINE ravel_1x1
ravel_bytes_from(ravel_1x1 v, int64_t first)
{
    static const unsigned char byte[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (ravel_1x1)_mm_shuffle_epi8((__m128i)v, (__m128i)ravel_load1(byte + first));
}

/* By two pieces, which may overlap. */
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    if (bytes == 16)
        ravel_store1(d, v, 0);
    else if (bytes >= 8) {
        const ravel_1x1 last = ravel_bytes_from(v, bytes - 8);
        memcpy(d, &v, 8);
        memcpy(d + bytes - 8, &last, 8);
    } else if (bytes >= 4) {
        const ravel_1x1 last = ravel_bytes_from(v, bytes - 4);
        memcpy(d, &v, 4);
        memcpy(d + bytes - 4, &last, 4);
    } else if (bytes >= 2) {
        const ravel_1x1 last = ravel_bytes_from(v, bytes - 2);
        memcpy(d, &v, 2);
        memcpy(d + bytes - 2, &last, 2);
    } else
        *d = v[0];
}
#else
/* By pieces that lie within a register's halves: others wait for the store to `part`. */
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    unsigned char part[16];
    const unsigned char *s = part;
    if (bytes == 16) {
        ravel_store1(d, v, 0);
        return;
    }
    ravel_store1(part, v, 0);
    if (bytes & 8) {
        memcpy(d, s, 8);
        d += 8;
        s += 8;
    }
    if (bytes & 4) {
        memcpy(d, s, 4);
        d += 4;
        s += 4;
    }
    if (bytes & 2) {
        memcpy(d, s, 2);
        d += 2;
        s += 2;
    }
    if (bytes & 1)
        *d = *s;
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

/* Rows of at most so many bytes are loaded alone: vectors of four lanes transpose longer ones as
 * fast. */
enum { RAVEL_LOW_BYTES = RAVEL_LANES == 4 ? 4 : 8 };

/* Whether n offsets are `step` from each other. */
RAVEL_CALLED int
ravel_are_apart(const int32_t *at, int64_t n, int32_t step)
{
    int32_t odd = 0;
    if (n > 1 && at[1] - at[0] != step)
        return 0;
    for (int64_t i = 1; i < n; i++)
        odd |= (at[i] - at[i - 1]) ^ step;
    return !odd;
}

#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_PICKS 1
/* Byte i is byte at[i] of v, or 0 if at[i] is 128 or more. */
RAVEL_INLINE ravel_1x1
ravel_picked(ravel_1x1 v, ravel_1x1 at)
{
    return (ravel_1x1)_mm_shuffle_epi8((__m128i)v, (__m128i)at);
}
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <arm_neon.h>
#define RAVEL_PICKS 1
RAVEL_INLINE ravel_1x1
ravel_picked(ravel_1x1 v, ravel_1x1 at)
{
    return (ravel_1x1)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)at);
}
#else
#define RAVEL_PICKS 0
RAVEL_INLINE ravel_1x1
ravel_picked(ravel_1x1 v, ravel_1x1 at)
{
    (void)at;
    return v;
}
#endif

/* What picks, of groups of `from` bytes, the first bytes of each, to groups of `to` bytes. */
RAVEL_CALLED ravel_1x1
ravel_regroup(int from, int to)
{
    unsigned char at[16];
    int group = 0, k = 0;
    for (int i = 0; i < 16; i++) {
        at[i] = k < from && group + k < 16 ? (unsigned char)(group + k) : 128;
        k++;
        if (k == to) {
            k = 0;
            group += from;
        }
    }
    return ravel_load1(at);
}

/* The same register where groups have all their `n`. */
RAVEL_INLINE ravel_1x1
ravel_regrouped(ravel_1x1 v, ravel_1x1 picks, int64_t few, int n)
{
    return few == n ? v : ravel_picked(v, picks);
}

/* 16 bytes: `bytes`, 2, 4 or 8, at each of the offsets. */
RAVEL_INLINE ravel_1x1
ravel_load_pieces(const unsigned char *s, const int32_t *at, int bytes)
{
    uint16_t two[8] = {0};
    uint32_t four[4] = {0};
    uint64_t eight[2] = {0};
    RAVEL_UNROLL for (int i = 0; i < 16 / bytes; i++)
        if (bytes == 2)
            memcpy(&two[i & 7], s + at[i], 2);
        else if (bytes == 4)
            memcpy(&four[i & 3], s + at[i], 4);
        else
            memcpy(&eight[i & 1], s + at[i], 8);
    const ravel_2x1 twos = {two[0], two[1], two[2], two[3], two[4], two[5], two[6], two[7]};
    const ravel_4x1 fours = {four[0], four[1], four[2], four[3]};
    const ravel_8x1 eights = {eight[0], eight[1]};
    return bytes == 2 ? (ravel_1x1)twos : bytes == 4 ? (ravel_1x1)fours : (ravel_1x1)eights;
}

/* Of a number of `bytes` in memory stores `some`, 1, 2, 4 or 8, from `first` on. */
RAVEL_INLINE void
ravel_store_some(unsigned char *d, uint64_t x, int64_t first, int some, int bytes)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    first = bytes - some - first;
#endif
    (void)bytes;
    x >>= 8 * first;
    const uint32_t four = (uint32_t)x;
    const uint16_t two = (uint16_t)x;
    if (some == 8)
        memcpy(d, &x, 8);
    else if (some == 4)
        memcpy(d, &four, 4);
    else if (some == 2)
        memcpy(d, &two, 2);
    else
        *d = (unsigned char)x;
}

/* Stores the first `part` of each `bytes`, 2, 4 or 8, at its offset, `n` of them at most; part is
 * bytes or more than half of them, and then two halves overlap. */
RAVEL_INLINE void
ravel_store_pieces(unsigned char *d, const int64_t *at, ravel_1x1 v, int bytes, int64_t part,
                   int64_t n)
{
    const int half = bytes / 2;
    RAVEL_UNROLL for (int i = 0; i < 16 / bytes; i++) {
        const uint64_t x = bytes == 2 ? ((ravel_2x1)v)[i & 7]
                     : bytes == 4 ? ((ravel_4x1)v)[i & 3] : ((ravel_8x1)v)[i & 1];
        if (i >= n)
            break;
        if (part == bytes) {
            ravel_store_some(d + at[i], x, 0, bytes, bytes);
        } else {
            ravel_store_some(d + at[i], x, 0, half, bytes);
            ravel_store_some(d + at[i] + part - half, x, part - half, half, bytes);
        }
    }
}
#endif

/* Blocks with few rows or few columns, of elements of 4 bytes: they are padded to n, a power of
 * two, and n registers hold all 4 of the other kind. */
#ifndef RAVEL_PLAIN
/* Transposes at most n rows of 4 columns.  `next`: the columns follow one another, and `picks`
 * gives each the bytes of n rows. */
RAVEL_INLINE void
ravel_turn_low4(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 4 / n * rows * 4;
    ravel_4x1 v[4];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        v[i] = (ravel_4x1)(
            next ? ravel_regrouped(ravel_load1(s + col[0] + step * i), picks, rows, n)
                 : ravel_load_pieces(s, col + i * (4 / n), n * 4));
    ravel_zip4(v, n, RAVEL_ROUNDS4);
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < rows)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* All columns; the last block overlaps the one before.  A register of columns that follow one another
 * may not read past the last of them. */
RAVEL_INLINE void
ravel_turn_all_low4(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                          const ravel_end *end, int n)
{
    for (int64_t c = 0; c < cols; c += 4) {
        unsigned char part[16 * 4];
        c = c + 4 > cols ? cols - 4 : c;
        if (w->next && (n == rows || (cols - c - 4) * rows * 4 >= 16))
            ravel_turn_low4(d + c * 4, s, row, col + c, rows, n, 1, w->picks);
        else if (ravel_is_near(end, s, col + c, 4)) {
            ravel_load_parts(part, s, col + c, rows * 4, 4);
            ravel_turn_low4(d + c * 4, part, row, ravel_part_at, rows, n, 0, w->picks);
        } else
            ravel_turn_low4(d + c * 4, s, row, col + c, rows, n, 0, w->picks);
    }
}

/* Transposes at most 4 rows of at most n columns.  `next`: the rows follow one another, and `picks`
 * leaves each the bytes of its columns. */
RAVEL_INLINE void
ravel_turn_thin4(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 4 / n * cols * 4;
    ravel_4x1 v[4] = {{0}};
    int64_t to[4];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < cols)
            v[i] = (ravel_4x1)ravel_load1(s + col[i]);
    ravel_zip4(v, n, n > 4 ? 3 : n / 2);
    if (!next)
        RAVEL_UNROLL for (int i = 0; i < 4; i++)
            to[i] = row[i < rows ? i : 0];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (next)
            ravel_store1(d + row[0] + step * i, ravel_regrouped((ravel_1x1)v[i], picks, cols, n), 0);
        else
            ravel_store_pieces(d, to + i * (4 / n), (ravel_1x1)v[i], n * 4,
                               cols * 4, rows - i * (4 / n));
}

/* All rows.  A register of rows that follow one another writes what rows after it replace. */
RAVEL_INLINE void
ravel_turn_all_thin4(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                           const ravel_end *end, int n)
{
    for (int64_t r = 0; r < rows; r += 4) {
        const unsigned char *from = s + r * 4;
        const int32_t *at = col;
        const int64_t some = rows - r < 4 ? rows - r : (int64_t)4;
        unsigned char part[16 * 4];
        if (ravel_is_near(end, from, col, cols)) {
            ravel_load_parts(part, from, col, some * 4, cols);
            from = part;
            at = ravel_part_at;
        }
        if (w->next && some == 4 && (n == cols || (rows - r - 4) * cols * 4 >= 16))
            ravel_turn_thin4(d, from, row + r, at, some, cols, n, 1, w->picks);
        else
            ravel_turn_thin4(d, from, row + r, at, some, cols, n, 0, w->picks);
    }
}

/* Whether ravel_turn_slim takes such blocks. */
RAVEL_INLINE int
ravel_is_slim4(int64_t rows, int64_t cols)
{
    return 4 > 2 && (cols * 4 <= 8 || (rows * 4 <= RAVEL_LOW_BYTES && cols >= 4));
}

/* Whether the columns of a register, or its rows, follow one another. */
RAVEL_INLINE int
ravel_next4(const int32_t *row, const int32_t *col, int64_t rows, int64_t cols)
{
    const int low = cols * 4 > 8;
    const int64_t few = low ? rows : cols;
    return few > 1 && (RAVEL_PICKS || (few & (few - 1)) == 0) &&
           ravel_are_apart(low ? col : row, low ? cols : rows, (int32_t)few * 4);
}

/* What moves the bytes of rows or columns that follow one another, n of them as in ravel_turn_slim; none
 * where they are as many. */
RAVEL_INLINE ravel_1x1
ravel_picks4(int64_t rows, int64_t cols)
{
    const int few = (int)(cols * 4 > 8 ? rows : cols) * 4;
    const int all = few <= 2 * 4 ? 2 * 4 : few <= 4 * 4 ? 4 * 4 : 8 * 4;
    const ravel_1x1 none = {0};
    if (few == all)
        return none;
    return cols * 4 > 8 ? ravel_regroup(few, all) : ravel_regroup(all, few);
}

static void
ravel_turn_slim4(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                       const ravel_end *end)
{
    const int low = cols * 4 > 8;
    const int64_t few = low ? rows : cols;
    if (low && few <= 2)
        ravel_turn_all_low4(d, s, row, col, rows, cols, w, end, 2);
    else if (low && 4 >= 8 && few <= 4)
        ravel_turn_all_low4(d, s, row, col, rows, cols, w, end, 4);
    else if (low && 4 >= 16)
        ravel_turn_all_low4(d, s, row, col, rows, cols, w, end, 8);
    else if (few <= 2)
        ravel_turn_all_thin4(d, s, row, col, rows, cols, w, end, 2);
    else if (4 >= 8 && few <= 4)
        ravel_turn_all_thin4(d, s, row, col, rows, cols, w, end, 4);
    else if (4 >= 16)
        ravel_turn_all_thin4(d, s, row, col, rows, cols, w, end, 8);
}
#endif

/* Blocks of elements of 4 bytes: rows are contiguous in the source, columns in the
 * destination. */
#ifndef RAVEL_PLAIN
/* Transposes 4 columns, with 4 rows of each in a lane. */
RAVEL_INLINE void
ravel_turn_wide4(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col)
{
    enum { M = 4, SOME = M < 8 ? M : 8 };
    RAVEL_TWO(4) v[M];
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        memcpy(&v[i], s + col[i], sizeof v[i]);
    ravel_turn_two4(v);
    RAVEL_UNROLL for (int k = 0; k < M * RAVEL_PAIR; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], ravel_lane((RAVEL_TWO(1))v[k % M + i], k / M), 0);
    }
}

/* Transposes at most 4 rows, with 4 columns of each in a lane.  near: it fetches
 * the next line of each row. */
RAVEL_INLINE void
ravel_turn_line4(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int near)
{
    for (int64_t i = 0; i < 4 && i < rows && near; i++)
        RAVEL_PREFETCH(d + row[i] + 127);
    RAVEL_KEEP(col);
    enum { SOME = 4 < 8 ? 4 : 8 };
    RAVEL_ALL(4) v[4];
    RAVEL_UNROLL for (int i = 0; i < 4; i++) {
        const unsigned char *at[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++)
            at[lane] = s + col[lane * 4 + i];
        v[i] = (RAVEL_ALL(4))RAVEL_ALL_ROWS(at, 0);
    }
    ravel_turn4(v);
    RAVEL_UNROLL for (int k = 0; k < 4; k += SOME)
        if (k + SOME <= rows) {
            int64_t to[SOME];
            ravel_rows_at(to, row + k, SOME);
            RAVEL_UNROLL for (int i = 0; i < SOME; i++)
                RAVEL_ALL_STORE(d + to[i], (RAVEL_ALL(1))v[k + i], 0);
        } else
            RAVEL_UNROLL for (int i = 0; i < SOME; i++)
                if (k + i < rows)
                    RAVEL_ALL_STORE(d + row[k + i], (RAVEL_ALL(1))v[k + i], 0);
}

/* Transposes blocks of at most 4 rows and columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_blocks4(unsigned char *d, const unsigned char *s, const int32_t *block,
                         const int32_t *row, const int32_t *col, int64_t rows,
                         int64_t cols)
{
    enum { M = 4 };
    RAVEL_TWO(4) v[M] = {{0}};
    const unsigned char *const from[2] = {s + block[1], s + block[2 * RAVEL_PAIR - 1]};
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        if (i < cols)
            v[i] = (RAVEL_TWO(4))RAVEL_TWO_ROWS(from, col[i]);
    ravel_turn_two4(v);
    RAVEL_UNROLL for (int lane = 0; lane < RAVEL_PAIR; lane++, block += 2)
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            if (i < rows)
                ravel_store_part(d + row[i] + block[0], ravel_lane((RAVEL_TWO(1))v[i], lane),
                                 cols * 4);
}

RAVEL_INLINE void
ravel_turn_narrow4(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col)
{
    RAVEL_KEEP(col);
    ravel_4x1 v[4];
    RAVEL_UNROLL for (int i = 0; i < 4; i++)
        v[i] = (ravel_4x1)ravel_load1(s + col[i]);
    ravel_zip4(v, 4, RAVEL_ROUNDS4);
    enum { SOME = 4 < 8 ? 4 : 8 };
    RAVEL_UNROLL for (int k = 0; k < 4; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], (ravel_1x1)v[k + i], 0);
    }
}

/* The same for one block, which may have fewer rows or columns. */
RAVEL_INLINE void
ravel_turn_few4(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int64_t cols,
                      const ravel_end *end)
{
    unsigned char part[16 * 4];
    if (ravel_is_near(end, s, col, cols)) {
        ravel_load_parts(part, s, col, rows * 4, cols);
        s = part;
        col = ravel_part_at;
    }
    RAVEL_KEEP(col);
    ravel_4x1 v[4] = {{0}};
    RAVEL_UNROLL for (int i = 0; i < 4; i++)
        if (i < cols)
            v[i] = (ravel_4x1)ravel_load1(s + col[i]);
    ravel_zip4(v, 4, RAVEL_ROUNDS4);
    RAVEL_UNROLL for (int i = 0; i < 4; i++)
        if (i < rows)
            ravel_store_part(d + row[i], (ravel_1x1)v[i], cols * 4);
}

/* Transposes all rows of 4 columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_rows4(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows)
{
    enum { WIDE = 4 * RAVEL_PAIR };
    int64_t r = 0;
    for (; r + WIDE <= rows; r += WIDE)
        ravel_turn_wide4(d, s + r * 4, row + r, col);
    if (rows >= WIDE && r + 4 < rows) {
        r = rows - WIDE;
        ravel_turn_wide4(d, s + r * 4, row + r, col);
        return;
    }
    for (; r < rows; r += 4) {
        r = r + 4 > rows ? rows - 4 : r;
        ravel_turn_narrow4(d, s + r * 4, row + r, col);
    }
}

/* Transposes a block with fewer rows or columns than a register has elements. */
RAVEL_CALLED void
ravel_turn_short4(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end)
{
    const int64_t m = rows < 4 ? rows : 4, k = cols < 4 ? cols : 4;
    for (int64_t c = 0; c < cols; c += k) {
        c = c + k > cols ? cols - k : c;
        for (int64_t r = 0; r < rows; r += m) {
            r = r + m > rows ? rows - m : r;
            ravel_turn_few4(d + c * 4, s + r * 4, row + r, col + c, m, k,
                                  end);
        }
    }
}

/* The same of rows that follow one another, each of more than half a register: whole registers
 * are stored, and the next row replaces what is beyond one's end. */
static void
ravel_turn_touching4(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols,
                           const ravel_end *end)
{
    enum { WIDE = 4 * RAVEL_PAIR };
    int32_t all[4];
    int64_t r = 0;
    for (int64_t i = 0; i < 4; i++)
        all[i] = col[i < cols ? i : 0];
    for (; r + WIDE < rows; r += WIDE)
        ravel_turn_wide4(d, s + r * 4, row + r, all);
    ravel_turn_short4(d, s + r * 4, row + r, col, rows - r, cols, end);
}

/* Transposes all rows of a vector of columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_lines4(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, const ravel_end *end, int near)
{
    enum { WIDE = 4 * RAVEL_LANES };
    if (rows < 4 && ravel_is_near(end, s, col, WIDE)) {
        ravel_turn_short4(d, s, row, col, rows, WIDE, end);
        return;
    }
    for (int64_t r = 0; r < rows; r += 4) {
        r = r + 4 > rows && r ? rows - 4 : r;
        ravel_turn_line4(d, s + r * 4, row + r, col, rows, near);
    }
}

/* Transposes all rows of at most 4 columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_together4(unsigned char *d, const unsigned char *s, const int32_t *block,
                           const int32_t *row, const int32_t *col, int64_t rows,
                           int64_t cols)
{
    const int64_t m = rows < 4 ? rows : 4;
    for (int64_t r = 0; r < rows; r += m) {
        r = r + m > rows ? rows - m : r;
        ravel_turn_blocks4(d, s + r * 4, block, row + r, col, m, cols);
    }
}

/* Transposes all rows of some columns of a block. */
RAVEL_INLINE void
ravel_turn_columns4(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_end *end, int near)
{
    if (cols == 4 * RAVEL_LANES)
        ravel_turn_lines4(d, s, row, col, rows, end, near);
    else if (rows >= 4 && cols == 4)
        ravel_turn_rows4(d, s, row, col, rows);
    else
        ravel_turn_short4(d, s, row, col, rows, cols, end);
}

/* Transposes rows of a few lines and less, a line of the source at a time: the first cache
 * still holds the line of which a store writes the first part when the next store writes the
 * rest.  near: it fetches the next line of each row. */
static void
ravel_turn_along4(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end, int near, ravel_soon *soon, int64_t fetch)
{
    enum { WIDE = 4 * RAVEL_LANES, TALL = RAVEL_LINE / 4 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += WIDE) {
            c = c + WIDE > cols ? cols - WIDE : c;
            ravel_turn_lines4(d + c * 4, s + r * 4, row + r, col + c, TALL,
                                    end, near);
        }
        ravel_soon_fetch(soon, fetch);
    }
}

/* The same of rows of less than a vector. */
static void
ravel_turn_parts4(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols)
{
    enum { TALL = RAVEL_LINE / 4 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += 4) {
            c = c + 4 > cols ? cols - 4 : c;
            ravel_turn_rows4(d + c * 4, s + r * 4, row + r, col + c, TALL);
        }
    }
}

/* How the blocks of tile t are transposed. */
RAVEL_INLINE ravel_way
ravel_tile_way4(const int32_t *t, const int32_t *row, const int32_t *col)
{
    enum { WIDE = 4 * RAVEL_LANES };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    ravel_way w;
    w.wide = cols >= WIDE ? (int64_t)WIDE : cols >= 4 ? (int64_t)4 : cols;
    w.slim = ravel_is_slim4(rows, cols);
    w.next = w.slim && ravel_next4(row, col, rows, cols);
    if (w.next)
        w.picks = ravel_picks4(rows, cols);
    w.touching = !w.slim && cols < 4 && rows > 4 * RAVEL_PAIR &&
                 ravel_are_apart(row, rows, (int32_t)cols * 4);
    w.parts = w.wide == 4 && cols > w.wide && rows >= 256 / 4 &&
              rows * cols * 4 >= RAVEL_TILE_SOON;
    w.lanes = !w.slim && !w.touching && cols < WIDE && rows < 2 * 4 &&
              t[RAVEL_T_BLOCKS] >= RAVEL_PAIR ? RAVEL_PAIR : 1;
    w.along = w.wide == WIDE && cols <= RAVEL_TILE_ALONG && rows >= RAVEL_LINE / 4 &&
              (cols % WIDE == 0 || cols % WIDE * 4 >= WIDE);
    w.near = !t[RAVEL_T_RUNS] &&
             (w.along ? !ravel_rows_share_lines(row, rows) : rows <= RAVEL_TILE_NEAR);
    w.steps = w.slim || w.touching || w.parts ? 1
              : w.along ? (rows * 4 + RAVEL_LINE - 1) / RAVEL_LINE : (cols - 1) / w.wide + 1;
    return w;
}

/* A vector of columns after another, of w->lanes blocks.  `apart`: one block after another. */
RAVEL_INLINE void
ravel_tile_columns4(unsigned char *d, const unsigned char *s, const int32_t *at,
                          const int32_t *row, const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_way *w, const ravel_end *end, int apart,
                          ravel_soon *soon, int64_t fetch)
{
    for (int64_t c = 0; c < cols; c += w->wide) {
        c = c + w->wide > cols ? cols - w->wide : c;
        for (int64_t l = 0; l < w->lanes && apart; l++)
            ravel_turn_columns4(d + c * 4 + at[2 * l], s + at[2 * l + 1],
                                      row, col + c, rows, w->wide, end, w->near);
        if (!apart)
            ravel_turn_together4(d + c * 4, s, at, row, col + c, rows, w->wide);
        ravel_soon_fetch(soon, fetch);
    }
}

static void
ravel_tile4(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], n = t[RAVEL_T_BLOCKS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int64_t most = t[RAVEL_T_END] - t[RAVEL_T_LAST] - 16;
    const ravel_end end = {s + t[RAVEL_T_END], t[RAVEL_T_LAST]};
    const ravel_way w = ravel_tile_way4(t, row, col);
    const int64_t fetch = ravel_soon_share(soon, (n + w.lanes - 1) / w.lanes * w.steps);
    for (int64_t i = 0; i < n; i += w.lanes) {
        i = i + w.lanes > n ? n - w.lanes : i;
        const int32_t *const at = col + cols + 2 * i;
        const int apart = w.lanes == 1 ||
                          (rows < 4 && ravel_any_above(at + 1, RAVEL_PAIR, 2, most));
        if (w.slim)
            ravel_turn_slim4(d + at[0], s + at[1], row, col, rows, cols, &w, &end);
        if (w.touching)
            ravel_turn_touching4(d + at[0], s + at[1], row, col, rows, cols, &end);
        if (w.parts)
            ravel_turn_parts4(d + at[0], s + at[1], row, col, rows, cols);
        if (w.slim || w.touching || w.parts)
            ravel_soon_fetch(soon, fetch);
        else if (w.along)
            ravel_turn_along4(d + at[0], s + at[1], row, col, rows, cols, &end, w.near,
                                    soon, fetch);
        else
            ravel_tile_columns4(d, s, at, row, col, rows, cols, &w, &end, apart, soon,
                                      fetch);
    }
}
#else
static void
ravel_tile4(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int32_t *const block = col + cols;
    (void)soon;
    for (int64_t i = 0; i < t[RAVEL_T_BLOCKS]; i++) {
        unsigned char *const to = d + block[2 * i];
        const unsigned char *const from = s + block[2 * i + 1];
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                memcpy(to + row[r] + c * 4, from + col[c] + r * 4, 4);
    }
}
#endif

/* The kernel composite4. */
static void
ravel_composite4(unsigned char *d, const unsigned char *s, const int32_t *t,
                       int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream,
                       uint64_t fill, int64_t size)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream, fill, size,
                    ravel_tile4);
}

/* Sets `rows` rows of runs of `bytes` bytes to elements of `bits` bits of `value`.  Run i is at
 * d + table[2*i], and table[2*i + 1] is 0; rows are dp bytes apart. */
static void
ravel_fill_at(unsigned char *d, const int32_t *table, int64_t entries, int64_t rows,
              int64_t bytes, int64_t dp, uint64_t value, int64_t bits)
{
    enum { RUN = 128 };
    const int64_t size = bits < 8 ? 1 : bits / 8;
    unsigned char v[RUN] = {0};
    if (bits < 8)
        value = (value & ((1u << bits) - 1)) * (255 / ((1u << bits) - 1));
    for (int64_t i = 0; i < RUN && value; i++)
        v[i] = (unsigned char)(i % size < 8 ? value >> 8 * (i % size) & 255 : 0);
    if (bytes <= RUN) {
        ravel_gather(d, v, table, entries, rows, bytes, dp, 0);
        return;
    }
    for (int64_t r = 0; r < rows; r++, d += dp)
        for (int64_t i = 0; i < entries; i++) {
            unsigned char *const run = d + table[2 * i];
            for (int64_t at = 0; at + RUN < bytes; at += RUN)
                memcpy(run + at, v, RUN);
            memcpy(run + bytes - RUN, v, RUN);
        }
}

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_sf128x4_u8(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_sf128x4_u8_table8[192] = {
    0, 0, 4, 0, 8, 0, 16, 0, 20, 0, 24, 0, 32, 0, 36, 0,
    40, 0, 48, 0, 52, 0, 56, 0, 64, 0, 68, 0, 72, 0, 80, 0,
    84, 0, 88, 0, 96, 0, 100, 0, 104, 0, 112, 0, 116, 0, 120, 0,
    128, 0, 132, 0, 136, 0, 144, 0, 148, 0, 152, 0, 160, 0, 164, 0,
    168, 0, 176, 0, 180, 0, 184, 0, 192, 0, 196, 0, 200, 0, 208, 0,
    212, 0, 216, 0, 224, 0, 228, 0, 232, 0, 240, 0, 244, 0, 248, 0,
    256, 0, 260, 0, 264, 0, 272, 0, 276, 0, 280, 0, 288, 0, 292, 0,
    296, 0, 304, 0, 308, 0, 312, 0, 320, 0, 324, 0, 328, 0, 336, 0,
    340, 0, 344, 0, 352, 0, 356, 0, 360, 0, 368, 0, 372, 0, 376, 0,
    384, 0, 388, 0, 392, 0, 400, 0, 404, 0, 408, 0, 416, 0, 420, 0,
    424, 0, 432, 0, 436, 0, 440, 0, 448, 0, 452, 0, 456, 0, 464, 0,
    468, 0, 472, 0, 480, 0, 484, 0, 488, 0, 496, 0, 500, 0, 504, 0
};
static const int32_t row_major_to_sf128x4_u8_table6[48] = {
    0, 0, 16, 0, 32, 0, 48, 0, 64, 0, 80, 0, 96, 0, 112, 0,
    128, 0, 144, 0, 160, 0, 176, 0, 192, 0, 208, 0, 224, 0, 240, 0,
    256, 0, 272, 0, 288, 0, 304, 0, 320, 0, 336, 0, 352, 0, 368, 0
};
static const int32_t row_major_to_sf128x4_u8_table4[352] = {
    0, 0, 16, 90, 32, 180, 48, 270, 64, 360, 80, 450, 96, 540, 112, 630,
    512, 4, 528, 94, 544, 184, 560, 274, 576, 364, 592, 454, 608, 544, 624, 634,
    1024, 8, 1040, 98, 1056, 188, 1072, 278, 1088, 368, 1104, 458, 1120, 548, 1136, 638,
    1536, 12, 1552, 102, 1568, 192, 1584, 282, 1600, 372, 1616, 462, 1632, 552, 1648, 642,
    2048, 16, 2064, 106, 2080, 196, 2096, 286, 2112, 376, 2128, 466, 2144, 556, 2160, 646,
    2560, 20, 2576, 110, 2592, 200, 2608, 290, 2624, 380, 2640, 470, 2656, 560, 2672, 650,
    3072, 24, 3088, 114, 3104, 204, 3120, 294, 3136, 384, 3152, 474, 3168, 564, 3184, 654,
    3584, 28, 3600, 118, 3616, 208, 3632, 298, 3648, 388, 3664, 478, 3680, 568, 3696, 658,
    4096, 32, 4112, 122, 4128, 212, 4144, 302, 4160, 392, 4176, 482, 4192, 572, 4208, 662,
    4608, 36, 4624, 126, 4640, 216, 4656, 306, 4672, 396, 4688, 486, 4704, 576, 4720, 666,
    5120, 40, 5136, 130, 5152, 220, 5168, 310, 5184, 400, 5200, 490, 5216, 580, 5232, 670,
    5632, 44, 5648, 134, 5664, 224, 5680, 314, 5696, 404, 5712, 494, 5728, 584, 5744, 674,
    6144, 48, 6160, 138, 6176, 228, 6192, 318, 6208, 408, 6224, 498, 6240, 588, 6256, 678,
    6656, 52, 6672, 142, 6688, 232, 6704, 322, 6720, 412, 6736, 502, 6752, 592, 6768, 682,
    7168, 56, 7184, 146, 7200, 236, 7216, 326, 7232, 416, 7248, 506, 7264, 596, 7280, 686,
    7680, 60, 7696, 150, 7712, 240, 7728, 330, 7744, 420, 7760, 510, 7776, 600, 7792, 690,
    8192, 64, 8208, 154, 8224, 244, 8240, 334, 8256, 424, 8272, 514, 8288, 604, 8304, 694,
    8704, 68, 8720, 158, 8736, 248, 8752, 338, 8768, 428, 8784, 518, 8800, 608, 8816, 698,
    9216, 72, 9232, 162, 9248, 252, 9264, 342, 9280, 432, 9296, 522, 9312, 612, 9328, 702,
    9728, 76, 9744, 166, 9760, 256, 9776, 346, 9792, 436, 9808, 526, 9824, 616, 9840, 706,
    10240, 80, 10256, 170, 10272, 260, 10288, 350, 10304, 440, 10320, 530, 10336, 620, 10352, 710,
    10752, 84, 10768, 174, 10784, 264, 10800, 354, 10816, 444, 10832, 534, 10848, 624, 10864, 714
};
static const int32_t row_major_to_sf128x4_u8_table2[192] = {
    0, 0, 4, 2880, 8, 5760, 16, 90, 20, 2970, 24, 5850, 32, 180, 36, 3060,
    40, 5940, 48, 270, 52, 3150, 56, 6030, 64, 360, 68, 3240, 72, 6120, 80, 450,
    84, 3330, 88, 6210, 96, 540, 100, 3420, 104, 6300, 112, 630, 116, 3510, 120, 6390,
    128, 720, 132, 3600, 136, 6480, 144, 810, 148, 3690, 152, 6570, 160, 900, 164, 3780,
    168, 6660, 176, 990, 180, 3870, 184, 6750, 192, 1080, 196, 3960, 200, 6840, 208, 1170,
    212, 4050, 216, 6930, 224, 1260, 228, 4140, 232, 7020, 240, 1350, 244, 4230, 248, 7110,
    256, 1440, 260, 4320, 264, 7200, 272, 1530, 276, 4410, 280, 7290, 288, 1620, 292, 4500,
    296, 7380, 304, 1710, 308, 4590, 312, 7470, 320, 1800, 324, 4680, 328, 7560, 336, 1890,
    340, 4770, 344, 7650, 352, 1980, 356, 4860, 360, 7740, 368, 2070, 372, 4950, 376, 7830,
    384, 2160, 388, 5040, 392, 7920, 400, 2250, 404, 5130, 408, 8010, 416, 2340, 420, 5220,
    424, 8100, 432, 2430, 436, 5310, 440, 8190, 448, 2520, 452, 5400, 456, 8280, 464, 2610,
    468, 5490, 472, 8370, 480, 2700, 484, 5580, 488, 8460, 496, 2790, 500, 5670, 504, 8550
};
static const int32_t row_major_to_sf128x4_u8_table1[257] = {
    1, 1, 8, 1, 1, 0, 0, 4, 0, 0, 0, 1, 8, -65536, -65536, -65536,
    -65536, -65536, -65536, -65536, -65536, -65536, -65536, -65536, -65536, -65536, -65536, -65536, -65536, 0, -2139094784, -2139062144,
    -2139062144, -2139062144, -2139092214, -2139062144, -2139062144, -2139062144, -2139093756, -2139062144, -2139062144, -2139062144, -2139091186, -2139062144, -2139062144, -2139062144, 0, -2139062144,
    -2139094784, -2139062144, -2139062144, -2139062144, -2139092214, -2139062144, -2139062144, -2139062144, -2139093756, -2139062144, -2139062144, -2139062144, -2139091186, -2139062144, -2139062144, 0,
    -2139062144, -2139062144, -2139094784, -2139062144, -2139062144, -2139062144, -2139092214, -2139062144, -2139062144, -2139062144, -2139093756, -2139062144, -2139062144, -2139062144, -2139091186, -2139062144,
    0, -2139062144, -2139062144, -2139062144, -2139094784, -2139062144, -2139062144, -2139062144, -2139092214, -2139062144, -2139062144, -2139062144, -2139093756, -2139062144, -2139062144, -2139062144,
    -2139091186, 0, 16, 32, 48, 0, 80, 176, 256, 2880, 2960, 3056, 3136, 5760, 5840, 5936,
    6016, 8640, 8720, 8816, 8896, 64, 80, 96, 112, 360, 440, 536, 616, 3240, 3320, 3416,
    3496, 6120, 6200, 6296, 6376, 9000, 9080, 9176, 9256, 128, 144, 160, 176, 720, 800, 896,
    976, 3600, 3680, 3776, 3856, 6480, 6560, 6656, 6736, 9360, 9440, 9536, 9616, 192, 208, 224,
    240, 1080, 1160, 1256, 1336, 3960, 4040, 4136, 4216, 6840, 6920, 7016, 7096, 9720, 9800, 9896,
    9976, 256, 272, 288, 304, 1440, 1520, 1616, 1696, 4320, 4400, 4496, 4576, 7200, 7280, 7376,
    7456, 10080, 10160, 10256, 10336, 320, 336, 352, 368, 1800, 1880, 1976, 2056, 4680, 4760, 4856,
    4936, 7560, 7640, 7736, 7816, 10440, 10520, 10616, 10696, 384, 400, 416, 432, 2160, 2240, 2336,
    2416, 5040, 5120, 5216, 5296, 7920, 8000, 8096, 8176, 10800, 10880, 10976, 11056, 448, 464, 480,
    496, 2520, 2600, 2696, 2776, 5400, 5480, 5576, 5656, 8280, 8360, 8456, 8536, 11160, 11240, 11336,
    11416
};
static const int32_t row_major_to_sf128x4_u8_table0[296] = {
    1, 1, 1, 4, 22, 128, 1, 0, 11264, 0, 128, 88, 0, 0, 11518, 11430,
    0, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680,
    8192, 8704, 9216, 9728, 10240, 10752, 0, 2880, 5760, 8640, 90, 2970, 5850, 8730, 180, 3060,
    5940, 8820, 270, 3150, 6030, 8910, 360, 3240, 6120, 9000, 450, 3330, 6210, 9090, 540, 3420,
    6300, 9180, 630, 3510, 6390, 9270, 720, 3600, 6480, 9360, 810, 3690, 6570, 9450, 900, 3780,
    6660, 9540, 990, 3870, 6750, 9630, 1080, 3960, 6840, 9720, 1170, 4050, 6930, 9810, 1260, 4140,
    7020, 9900, 1350, 4230, 7110, 9990, 1440, 4320, 7200, 10080, 1530, 4410, 7290, 10170, 1620, 4500,
    7380, 10260, 1710, 4590, 7470, 10350, 1800, 4680, 7560, 10440, 1890, 4770, 7650, 10530, 1980, 4860,
    7740, 10620, 2070, 4950, 7830, 10710, 2160, 5040, 7920, 10800, 2250, 5130, 8010, 10890, 2340, 5220,
    8100, 10980, 2430, 5310, 8190, 11070, 2520, 5400, 8280, 11160, 2610, 5490, 8370, 11250, 2700, 5580,
    8460, 11340, 2790, 5670, 8550, 11430, 0, 0, 0, 2880, 5760, 8640, 90, 2970, 5850, 8730,
    180, 3060, 5940, 8820, 270, 3150, 6030, 8910, 360, 3240, 6120, 9000, 450, 3330, 6210, 9090,
    540, 3420, 6300, 9180, 630, 3510, 6390, 9270, 720, 3600, 6480, 9360, 810, 3690, 6570, 9450,
    900, 3780, 6660, 9540, 990, 3870, 6750, 9630, 1080, 3960, 6840, 9720, 1170, 4050, 6930, 9810,
    1260, 4140, 7020, 9900, 1350, 4230, 7110, 9990, 1440, 4320, 7200, 10080, 1530, 4410, 7290, 10170,
    1620, 4500, 7380, 10260, 1710, 4590, 7470, 10350, 1800, 4680, 7560, 10440, 1890, 4770, 7650, 10530,
    1980, 4860, 7740, 10620, 2070, 4950, 7830, 10710, 2160, 5040, 7920, 10800, 2250, 5130, 8010, 10890,
    2340, 5220, 8100, 10980, 2430, 5310, 8190, 11070, 2520, 5400, 8280, 11160, 2610, 5490, 8370, 11250,
    2700, 5580, 8460, 11340, 2790, 5670, 8550, 11430
};
/* src: 90000 bytes, dst: 94208 bytes; they do not overlap */
void
row_major_to_sf128x4_u8(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* R=0..895 C=0..87: composite4 */
    ravel_composite4(dst, src, row_major_to_sf128x4_u8_table0, 1, 7, 1, 0, 0, 11776, 11520, 0, 0, 0, 0x0u, 1);
    /* R=0..895 C=88..89: shuffle */
    ravel_shuffle(dst, 11264, src, 88, row_major_to_sf128x4_u8_table1, 7, 1, 11776, 11520, 0, 0, 0, 8, 0x0u);
    /* R=896..991 C=0..87: gather */
    ravel_gather(dst + 82432, src + 80640, row_major_to_sf128x4_u8_table2, 96, 22, 4, 512, 4);
    /* R=896..991 C=88..89: gather */
    ravel_gather(dst + 93696, src + 80728, row_major_to_sf128x4_u8_table2, 96, 1, 2, 0, 0);
    /* R=992..999 C=0..87: gather */
    ravel_gather(dst + 82444, src + 89280, row_major_to_sf128x4_u8_table4, 176, 1, 4, 0, 0);
    /* R=992..999 C=88..89: copy_fill */
    ravel_copy_fill(dst + 93708, src + 89368, 1, 8, 2, 4, 0, 0, 16, 90, 0, 0x0u, 1);
    /* padding R=1000..1023 C=0..91: fill_at */
    ravel_fill_at(dst + 82572, row_major_to_sf128x4_u8_table6, 24, 23, 4, 512, 0x0u, 8);
    /* padding R=896..991 C=90..91: fill_at */
    ravel_fill_at(dst + 93698, row_major_to_sf128x4_u8_table8, 96, 1, 2, 0, 0x0u, 8);
}
