/* memcpy and a copy by non-temporal stores, by one thread or two. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "cli_measure.h"

enum { LINE = 64, TWO = 2 };

typedef void Copy(unsigned char *dst, const unsigned char *src, size_t bytes);

static void
copy_plain(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

#ifdef __x86_64__

/* One way to move a line; LOAD and STORE of vectors that are WIDE bytes. */
#define LINES(name, isa, V, LOAD, STORE)                                               \
    __attribute__((target(isa))) static size_t                                         \
    name(unsigned char *dst, const unsigned char *src, size_t lines)                   \
    {                                                                                  \
        for (size_t i = 0; i < lines; i++, dst += LINE, src += LINE)                   \
            for (size_t k = 0; k < LINE; k += sizeof(V))                               \
                STORE((V *)(void *)(dst + k), LOAD((const V *)(const void *)(src + k))); \
        return lines * LINE;                                                           \
    }

LINES(lines_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128)
LINES(lines_avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256)
LINES(lines_avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static void
copy_stream(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    size_t head = (LINE - (uintptr_t)dst % LINE) % LINE;
    head = head < bytes ? head : bytes;
    memcpy(dst, src, head);
    dst += head, src += head, bytes -= head;
    size_t done = (__builtin_cpu_supports("avx512f") ? lines_avx512 :
                   __builtin_cpu_supports("avx") ? lines_avx : lines_sse2)
                  (dst, src, bytes / LINE);
    memcpy(dst + done, src + done, bytes - done);
    _mm_sfence();
}

const char *
copy_absent(CopyKind k)
{
    (void)k;
    return NULL;
}

#else

static Copy *const copy_stream = NULL;

const char *
copy_absent(CopyKind k)
{
    return k == COPY_STREAM ? "its stores are written for x86-64 only" : NULL;
}

#endif

/* The second thread waits for `turn` to change, does its half and counts `done`. */
struct Copier {
    Copy *copy;
    unsigned char *dst;
    const unsigned char *src;
    size_t bytes, first;          /* first: the bytes of the calling thread */
    pthread_t other;
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t turn, done;
    bool end;
};

static void *
second_half(void *arg)
{
    Copier *c = arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->turn == seen && !c->end)
            pthread_cond_wait(&c->change, &c->lock);
        if (c->end)
            break;
        seen = c->turn;
        pthread_mutex_unlock(&c->lock);
        c->copy(c->dst + c->first, c->src + c->first, c->bytes - c->first);
        pthread_mutex_lock(&c->lock);
        c->done = seen;
        pthread_cond_broadcast(&c->change);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

Copier *
copier_new(CopyKind k, void *dst, const void *src, size_t bytes, int threads)
{
    Copier *c = copy_absent(k) ? NULL : calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->copy = k == COPY_STREAM ? copy_stream : copy_plain;
    c->dst = dst;
    c->src = src;
    c->bytes = c->first = bytes;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->change, NULL);
    if (threads < TWO || bytes < TWO * LINE)
        return c;
    c->first = bytes / TWO / LINE * LINE;
    if (pthread_create(&c->other, NULL, second_half, c)) {
        c->first = bytes;
        copier_free(c);
        return NULL;
    }
    return c;
}

void
copier_free(Copier *c)
{
    if (!c)
        return;
    if (c->first < c->bytes) {
        pthread_mutex_lock(&c->lock);
        c->end = true;
        pthread_cond_broadcast(&c->change);
        pthread_mutex_unlock(&c->lock);
        pthread_join(c->other, NULL);
    }
    pthread_cond_destroy(&c->change);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void
copy_once(Copier *c)
{
    if (c->first == c->bytes) {
        c->copy(c->dst, c->src, c->bytes);
        return;
    }
    pthread_mutex_lock(&c->lock);
    uint64_t turn = ++c->turn;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
    c->copy(c->dst, c->src, c->first);
    pthread_mutex_lock(&c->lock);
    while (c->done != turn)
        pthread_cond_wait(&c->change, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

int64_t
copier_time(void *copier, int64_t calls)
{
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        copy_once(copier);
    return measure_now() - start;
}
