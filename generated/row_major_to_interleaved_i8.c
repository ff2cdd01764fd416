/* ravel emit --from ROW_MAJOR --to COL_INTERLEAVED --shape 1024,768 --dtype i8 --name row_major_to_interleaved_i8
 * src ROW_MAJOR: 768*b0 + b1
 *     i8, b0=1024 b1=768 in 786432 elements, 786432 bytes
 * dst COL_INTERLEAVED: 32768*(C//32) + 32*R + C%32
 *     i8, R=1024 C=768 in 786432 elements, 786432 bytes */
#include <stdint.h>
#include <string.h>

/* Whole lines, aligned in the destination, past the caches; and a run of any bytes. */
#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#define RAVEL_PREFETCH_L2(p) __builtin_prefetch(p, 0, 2)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#define RAVEL_PREFETCH_L2(p) (void)(p)
#endif
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>
static inline void
ravel_stream_line(unsigned char *d, const unsigned char *s)
{
    for (int i = 0; i < 64; i += 16)
        _mm_stream_si128((__m128i *)(void *)(d + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(s + i)));
}
#else
static inline void
ravel_stream_line(unsigned char *d, const unsigned char *s)
{
    memcpy(d, s, 64);
}
#endif

/* `next` is what will be read after it: fetched meanwhile. */
static inline void
ravel_stream_next(unsigned char *d, const unsigned char *s, int64_t bytes,
                  const unsigned char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & 63);
    head = head < bytes ? head : bytes;
    memcpy(d, s, (size_t)head);
    for (; bytes - head >= 64; head += 64) {
        RAVEL_PREFETCH(next + head);
        ravel_stream_line(d + head, s + head);
    }
    memcpy(d + head, s + head, (size_t)(bytes - head));
}

static inline void
ravel_stream_run(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    ravel_stream_next(d, s, bytes, s + 512);
}

/* A short run without a call; runs of constant size are one load and one store. */
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


/* rows runs of `bytes` bytes in each of n planes; dp and sp bytes from one run to the
 * next, dn and sn from one plane to the next.  `stream`: past the caches, where runs are
 * whole lines, or long, or touch in the destination; the source is fetched 2 KB ahead. */
static void
ravel_copy_streamed(unsigned char *d, const unsigned char *s, int64_t rows,
                    int64_t bytes, int64_t dp, int64_t sp, const unsigned char *then)
{
    const int64_t on = 1 + 2048 / bytes;
    for (int64_t r = 0; r < rows; r++)
        ravel_stream_next(d + r * dp, s + r * sp, bytes,
                          r + on < rows ? s + (r + on) * sp
                                        : then + (r + on - rows) * sp);
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
    unsigned char buffer[4096 + 512];
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

static void
ravel_copy(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
           int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t stream)
{
    const uintptr_t at = (uintptr_t)d | (uintptr_t)dp | (n > 1 ? (uintptr_t)dn : 0);
    const int lines = (at | (uintptr_t)bytes) % 64 == 0;
    if (bytes == 0)
        return;
    if (stream && !lines && bytes < 256) {
        if (dp == bytes && rows > 1) {
            ravel_copy_gathered(d, s, n, rows, bytes, dn, sn, sp);
            return;
        }
        if (dn == bytes && n > 1 && dp != n * bytes) {
            ravel_copy_gathered(d, s, rows, n, bytes, dp, sp, sn);
            return;
        }
        if (dn == bytes && n > 1 && dp <= 4096) {
            ravel_copy_woven(d, s, n, rows, bytes, sn, sp);
            return;
        }
    }
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        if (stream && (lines || bytes >= 256))
            ravel_copy_streamed(d, s, rows, bytes, dp, sp, s + sn);
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
