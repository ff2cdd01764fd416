/* ravel emit --from '(O, I, H, W){O//48, I, H, W, O%48}' --to '(O, I, H, W){O//32, I, H, W, O%32}' --shape 192,64,3,3 --dtype f32 --name blocks_48_to_32_f32
 * src inline: 27648*(O//48) + 432*I + 144*H + 48*W + O%48
 *     f32, O=192 I=64 H=3 W=3 in 110592 elements, 442368 bytes
 * dst inline: 18432*(O//32) + 288*I + 96*H + 32*W + O%32
 *     f32, O=192 I=64 H=3 W=3 in 110592 elements, 442368 bytes
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

/* Runs of up to RAVEL_MOVED_BYTES have loops of their own. */
enum { RAVEL_MOVED_BYTES = 128 };

/* Runs of at least so many bytes are copied one by one. */
enum { RAVEL_LONG_BYTES = 256 };

/* So many bytes stay in the first cache: they are written in any order, with the longer loop
 * inside. */
enum { RAVEL_NEAR_BYTES = 16384 };

/* The buffer through which short runs become whole cache lines. */
enum { RAVEL_COPY_BUFFER = 4096 };

#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };
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

/* Copies whole cache lines with non-temporal stores and prefetches from `next`. */
static inline void
ravel_stream_lines(unsigned char *d, const unsigned char *s, int64_t bytes,
                   const unsigned char *next)
{
    for (int64_t i = 0; i < bytes; i += RAVEL_LINE) {
        RAVEL_PREFETCH(next + i);
        ravel_stream_line(d + i, s + i);
    }
}

static inline void
ravel_stream_next(unsigned char *d, const unsigned char *s, int64_t bytes,
                  const unsigned char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    head = head < bytes ? head : bytes;
    const int64_t lines = (bytes - head) / RAVEL_LINE * RAVEL_LINE, end = head + lines;
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

/* Copies n planes of `rows` runs of `bytes` bytes.  Runs are dp (sp) bytes apart, planes
 * dn (sn) bytes.  `stream`: uses non-temporal stores for runs that are whole cache lines,
 * long, or contiguous in the destination, and prefetches the source 2 KB ahead. */
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
    case RAVEL_LINE: ravel_copy_long(d, s, rows, RAVEL_LINE, dp, sp, sn, 1); break;
    case 2 * RAVEL_LINE: ravel_copy_long(d, s, rows, 2 * RAVEL_LINE, dp, sp, sn, 1); break;
    default: ravel_copy_long(d, s, rows, bytes, dp, sp, sn, 1);
    }
}

/* Copies planes whose runs are contiguous in the destination and fill whole cache lines
 * there.  A run is one vector or several. */
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
    const int64_t on = sp > 0 && sp < RAVEL_LINE ? RAVEL_LINE / sp : 1;
    for (int64_t r = 0; r < rows; r += on)
        RAVEL_PREFETCH(s + r * sp);
}

/* Copies short runs that are contiguous in the destination, through a buffer: a piece of
 * each plane, then the next piece of each. */
static void
ravel_copy_gathered(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                    int64_t bytes, int64_t dn, int64_t sn, int64_t sp)
{
    unsigned char buffer[RAVEL_COPY_BUFFER];
    const int64_t most = RAVEL_COPY_BUFFER / bytes;
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

/* The same if the runs of one row of all planes are contiguous, then those of the next. */
static void
ravel_copy_woven(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                 int64_t bytes, int64_t sn, int64_t sp)
{
    unsigned char buffer[RAVEL_COPY_BUFFER];
    const int64_t most = RAVEL_COPY_BUFFER / (n * bytes);
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

/* Copies short runs that are contiguous in the destination: the rows of a plane, or one
 * row of all planes. */
static int
ravel_copy_short(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                 int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    enum { FEW = 1024 };
    const int whole = bytes % RAVEL_STREAM == 0;
    if (dp == bytes && rows > 1) {
        const uintptr_t at = (uintptr_t)d | (uintptr_t)(rows * bytes) | (uintptr_t)dn;
        if (whole && rows * bytes <= FEW && n > 1 && at % RAVEL_LINE == 0)
            ravel_copy_abreast(d, s, n, rows, bytes, dn, sn, sp);
        else
            ravel_copy_gathered(d, s, n, rows, bytes, dn, sn, sp);
    } else if (dn == bytes && n > 1) {
        const uintptr_t at = (uintptr_t)d | (uintptr_t)(n * bytes) | (uintptr_t)dp;
        if (whole && n * bytes <= FEW && at % RAVEL_LINE == 0)
            ravel_copy_abreast(d, s, rows, n, bytes, dp, sp, sn);
        else if (dp != n * bytes)
            ravel_copy_gathered(d, s, rows, n, bytes, dp, sp, sn);
        else if (dp <= RAVEL_COPY_BUFFER)
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
    const int lines = (at | (uintptr_t)bytes) % RAVEL_LINE == 0;
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

#ifdef __cplusplus
extern "C" {
#endif
void blocks_48_to_32_f32(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* src: 442368 bytes, dst: 442368 bytes; they do not overlap */
void
blocks_48_to_32_f32(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* O=0..127 (32 of every 96) I=0..63 H=0..2 W=0..2: copy */
    ravel_copy(dst, src, 2, 576, 128, 221184, 221184, 128, 192, 0);
    /* O=32..143 (16 of every 96) I=0..63 H=0..2 W=0..2: copy */
    ravel_copy(dst + 73728, src + 128, 2, 576, 64, 221184, 221184, 128, 192, 0);
    /* O=48..159 (16 of every 96) I=0..63 H=0..2 W=0..2: copy */
    ravel_copy(dst + 73792, src + 110592, 2, 576, 64, 221184, 221184, 128, 192, 0);
    /* O=64..191 (32 of every 96) I=0..63 H=0..2 W=0..2: copy */
    ravel_copy(dst + 147456, src + 110656, 2, 576, 128, 221184, 221184, 128, 192, 0);
}
