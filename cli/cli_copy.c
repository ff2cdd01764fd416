/* memcpy and a copy by non-temporal stores, by one thread or several. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "../runtime/for_command.h"
#include "cli_copy.h"

enum { LINE = 64 };

typedef void Copy(unsigned char *dst, const unsigned char *src, size_t bytes);

static void
copy_plain(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

#ifdef __x86_64__

/* Each copies lines by vectors of one width, past the caches; the result is the bytes. */
__attribute__((target("sse2"))) static size_t
lines_sse2(unsigned char *dst, const unsigned char *src, size_t lines)
{
    __m128i *to = (__m128i *)(void *)dst;
    const __m128i *from = (const __m128i *)(const void *)src;
    for (size_t i = 0; i < lines * LINE / sizeof *to; i++)
        _mm_stream_si128(to + i, _mm_loadu_si128(from + i));
    return lines * LINE;
}

__attribute__((target("avx"))) static size_t
lines_avx(unsigned char *dst, const unsigned char *src, size_t lines)
{
    __m256i *to = (__m256i *)(void *)dst;
    const __m256i *from = (const __m256i *)(const void *)src;
    for (size_t i = 0; i < lines * LINE / sizeof *to; i++)
        _mm256_stream_si256(to + i, _mm256_loadu_si256(from + i));
    return lines * LINE;
}

__attribute__((target("avx512f"))) static size_t
lines_avx512(unsigned char *dst, const unsigned char *src, size_t lines)
{
    __m512i *to = (__m512i *)(void *)dst;
    const __m512i *from = (const __m512i *)(const void *)src;
    for (size_t i = 0; i < lines * LINE / sizeof *to; i++)
        _mm512_stream_si512(to + i, _mm512_loadu_si512(from + i));
    return lines * LINE;
}

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

/* Each thread except the caller waits until `turn` changes, copies its part and
 * decrements `busy`. */
typedef struct {
    Copier *copier;
    pthread_t thread;
    size_t from, to;
} CopyPart;

struct Copier {
    Copy *copy;
    unsigned char *dst;
    const unsigned char *src;
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t turn;
    int busy, started;            /* threads */
    bool end;
    int nparts;
    CopyPart part[];              /* the last one is the caller's */
};

static void
copy_part(const CopyPart *p)
{
    const Copier *c = p->copier;
    c->copy(c->dst + p->from, c->src + p->from, p->to - p->from);
}

static void *
work(void *part)
{
    CopyPart *p = part;
    Copier *c = p->copier;
    uint64_t seen = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->turn == seen && !c->end)
            pthread_cond_wait(&c->change, &c->lock);
        if (c->end)
            break;
        seen = c->turn;
        pthread_mutex_unlock(&c->lock);
        copy_part(p);
        pthread_mutex_lock(&c->lock);
        if (--c->busy == 0)
            pthread_cond_broadcast(&c->change);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

Copier *
copier_new(CopyKind k, void *dst, const void *src, size_t bytes, int threads)
{
    size_t n = threads > 1 && bytes / LINE >= (size_t)threads ? (size_t)threads : 1;
    Copier *c = copy_absent(k) ? NULL : calloc(1, sizeof *c + n * sizeof *c->part);
    if (!c)
        return NULL;
    c->copy = k == COPY_STREAM ? copy_stream : copy_plain;
    c->dst = dst;
    c->src = src;
    c->nparts = (int)n;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->change, NULL);
    for (size_t i = 0; i < n; i++)
        c->part[i] = (CopyPart){.copier = c, .from = bytes / LINE * i / n * LINE,
                                .to = i + 1 < n ? bytes / LINE * (i + 1) / n * LINE : bytes};
    for (; c->started < c->nparts - 1; c->started++) {
        CopyPart *p = &c->part[c->started];
        if (pthread_create(&p->thread, NULL, work, p)) {
            copier_free(c);
            return NULL;
        }
    }
    return c;
}

void
copier_free(Copier *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->end = true;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->started; i++)
        pthread_join(c->part[i].thread, NULL);
    pthread_cond_destroy(&c->change);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void
copy_once(Copier *c)
{
    const CopyPart *mine = &c->part[c->nparts - 1];
    if (c->nparts == 1) {
        copy_part(mine);
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->busy = c->started;
    c->turn++;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
    copy_part(mine);
    pthread_mutex_lock(&c->lock);
    while (c->busy)
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
