/* ravel emit --from ROW_MAJOR --to COL_INTERLEAVED --shape 1024,768 --dtype i8 --name row_major_to_interleaved_i8
 * src ROW_MAJOR: 768*b0 + b1
 *     i8, b0=1024 b1=768 in 786432 elements, 786432 bytes
 * dst COL_INTERLEAVED: 32768*(C//32) + 32*R + C%32
 *     i8, R=1024 C=768 in 786432 elements, 786432 bytes */
#include <stdint.h>
#include <string.h>

/* Runs of at least this many bytes are copied one by one. */
enum { RAVEL_LONG_BYTES = 256 };

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

/* Copies a short run inline; a constant size becomes one load and one store. */
static inline void
ravel_move(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes > 128) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (; bytes >= 16; bytes -= 16, d += 16, s += 16)
        memcpy(d, s, 16);
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
    for (bytes &= 3; bytes > 0; bytes--)
        *d++ = *s++;
}

/* Copies of runs: with ordinary stores, and with non-temporal stores. */
#define RAVEL_RUNS(k)                                      \
    for (int64_t r = 0; r < rows; r++)                     \
        memcpy(d + r * dp, s + r * sp, k)
static void
ravel_copy_runs(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 1: RAVEL_RUNS(1); break;
    case 2: RAVEL_RUNS(2); break;
    case 4: RAVEL_RUNS(4); break;
    case 8: RAVEL_RUNS(8); break;
    case 16: RAVEL_RUNS(16); break;
    case 32: RAVEL_RUNS(32); break;
    case 64: RAVEL_RUNS(64); break;
    default:
        for (int64_t r = 0; r < rows; r++)
            ravel_move(d + r * dp, s + r * sp, bytes);
    }
}
#undef RAVEL_RUNS

/* Copies whole cache lines with non-temporal stores and prefetches from `next`. */
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
    case 64: ravel_copy_long(d, s, rows, 64, dp, sp, sn, 1); break;
    case 128: ravel_copy_long(d, s, rows, 128, dp, sp, sn, 1); break;
    default: ravel_copy_long(d, s, rows, bytes, dp, sp, sn, 1);
    }
}

/* Copies planes whose runs are contiguous in the destination and form whole cache lines
 * there; a run is a multiple of RAVEL_STREAM bytes. */
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

/* Copies short runs that are contiguous in the destination within each of n planes, through
 * a buffer: a part of every plane, then the next part. */
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

/* The same for a destination in which row r of all planes precedes row r + 1. */
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

/* Copies short runs that are contiguous in the destination: the rows of a plane, or one row
 * of every plane.  Returns 0, and copies nothing, if neither are. */
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
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        if (stream && (lines || bytes >= RAVEL_LONG_BYTES))
            ravel_copy_streamed(d, s, rows, bytes, dp, sp, sn, lines);
        else
            ravel_copy_runs(d, s, rows, bytes, dp, sp);
}

/* src: 786432 bytes, dst: 786432 bytes; they do not overlap */
void
row_major_to_interleaved_i8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* R=0..1023 C=0..767: copy */
    ravel_copy(dst, src, 24, 1024, 32, 32768, 32, 32, 768, 0);
}
