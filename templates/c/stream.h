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
