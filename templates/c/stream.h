/* Past the caches: RAVEL_STREAM bytes, a line or more of them, aligned in the destination;
 * and a run of any bytes. */
#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
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
