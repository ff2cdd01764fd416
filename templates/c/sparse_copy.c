/* Whole arrays are copied: large ones past the caches, which saves reading their old contents. */
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>

enum { RAVEL_STREAMS = 1 };

/* A line to an aligned address. */
RAVEL_PART void
ravel_copy_line(unsigned char *out, const unsigned char *in)
{
    for (int i = 0; i < RAVEL_LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(out + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(in + i)));
}
#else
enum { RAVEL_STREAMS = 0 };

RAVEL_PART void
ravel_copy_line(unsigned char *out, const unsigned char *in)
{
    memcpy(out, in, RAVEL_LINE);
}
#endif

typedef struct {
    unsigned char *out;
    const unsigned char *in;
    int64_t bytes;
} ravel_copied;

/* A fence must follow. */
RAVEL_PART void
ravel_copy_past(unsigned char *out, const unsigned char *in, int64_t n)
{
    int64_t head = (int64_t)(-(uintptr_t)out & (RAVEL_LINE - 1)), i = head < n ? head : n;
    memcpy(out, in, (size_t)i);
    for (; i + RAVEL_LINE <= n; i += RAVEL_LINE)
        ravel_copy_line(out + i, in + i);
    memcpy(out + i, in + i, (size_t)(n - i));
}

static void
ravel_copy_part(void *arg, int part, int parts)
{
    const ravel_copied *c = (const ravel_copied *)arg;
    int64_t from = ravel_part_of(c->bytes, part, parts);
    int64_t to = ravel_part_of(c->bytes, part + 1, parts);
    if (c->bytes < RAVEL_STREAMED) {
        memcpy(c->out + from, c->in + from, (size_t)(to - from));
        return;
    }
    ravel_copy_past(c->out + from, c->in + from, to - from);
    ravel_fence();
}

/* Copy a whole array of n elements. */
RAVEL_STEP
ravel_stream_copy(ravel_stream *s, void *out, const void *in, int64_t n, int64_t es)
{
    ravel_copied c = {(unsigned char *)out, (const unsigned char *)in, n * es};
    if (!s->flaw && n > 0)
        RAVEL_SHARE(s, ravel_copy_part, &c);
}
