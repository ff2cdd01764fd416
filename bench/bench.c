/* bench.c: what bench.py cannot do itself, as a shared library: ravel's plans as
 * timed calls, the bytes that a conversion must give, and the latency of a plan.
 * Pages, rounds and copies are those of `ravel bench`: runtime/measure.h. */
#include <stdio.h>
#include <string.h>

#include "../cli/cli_copy.h"
#include "../runtime/measure.h"
#include "../runtime/ravel.h"

/* A request as bench.py writes it: this does not change when ravel_request does. */
typedef struct {
    const char *from, *to, *dtype;
    int rank, threads;
    const int64_t *shape;
} BenchRequest;

static ravel_request
request(const BenchRequest *b)
{
    return (ravel_request){.from = b->from, .to = b->to, .dtype = b->dtype,
                           .rank = b->rank, .shape = b->shape, .threads = b->threads};
}

/* A plan, or NULL and why not, in `text` of `n` bytes. */
ravel_plan *
bench_plan(ravel_context *cx, const BenchRequest *b, char *text, size_t n)
{
    ravel_error err;
    ravel_request rq = request(b);
    ravel_plan *plan = NULL;
    if (ravel_compile(cx, &rq, &plan, &err))
        snprintf(text, n, "%s", err.text);
    return plan;
}

/* A plan or a function of emitted C, on its buffers. */
typedef struct {
    const ravel_plan *plan;
    void (*function)(void *dst, const void *src);
    void *dst;
    const void *src;
} Subject;

int64_t
bench_time_plan(void *subject, int64_t calls)
{
    const Subject *s = subject;
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        if (ravel_run(s->plan, s->dst, s->src))
            return -1;
    return measure_now() - start;
}

int64_t
bench_time_function(void *subject, int64_t calls)
{
    const Subject *s = subject;
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        s->function(s->dst, s->src);
    return measure_now() - start;
}

/* Meant for tests: a candidate that gets one bit wrong. */
int64_t
bench_time_wrong(void *subject, int64_t calls)
{
    const Subject *s = subject;
    int64_t t = bench_time_plan(subject, calls);
    ((unsigned char *)s->dst)[ravel_plan_dst_bytes(s->plan) / 2] ^= 1;
    return t;
}

/* --- plan latency */

/* Nanoseconds of one ravel_compile in `cx`; negative when it fails.  What it made is
 * freed after the clock has stopped, or kept in *keep. */
int64_t
bench_compile(ravel_context *cx, const BenchRequest *b, ravel_plan **keep)
{
    ravel_request rq = request(b);
    ravel_plan *plan = NULL;
    int64_t start = measure_now();
    ravel_status s = ravel_compile(cx, &rq, &plan, NULL);
    int64_t t = measure_now() - start;
    if (keep)
        *keep = plan;
    else
        ravel_plan_free(plan);
    return s ? -1 : t;
}

/* --- contents */

/* Numbers that tell places apart.  As floats of 16 or 32 bits all are normal, no NaN, no
 * infinity, no subnormal, for peers that convert on the way: the upper two bits of the
 * exponent are 01. */
void
bench_fill(unsigned char *p, size_t n, int floats)
{
    uint64_t keep = floats ? 0xbfffbfffbfffbfff : UINT64_MAX;
    uint64_t set = floats ? 0x2000200020002000 : 0;
    for (size_t i = 0; i < n; i += sizeof keep) {
        uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
        x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
        x = ((x ^ x >> 32) & keep) | set;
        memcpy(p + i, &x, n - i < sizeof x ? n - i : sizeof x);
    }
}

/* What a conversion must give, by the two tables of ravel_table: element i from slot
 * from[i] of src to slot to[i] of dst; all other slots keep the zeros they have. */
typedef struct {
    unsigned char *dst;
    const unsigned char *src;
    const int64_t *to, *from, *shape;
    int rank, bits;
} Expected;

static void
move_run(const Expected *e, int64_t i, int64_t end)
{
    size_t bytes = (size_t)e->bits / 8;
    int per = 8 / e->bits, mask = (1 << e->bits % 8) - 1;      /* below a byte */
    for (; i < end; i++) {
        int64_t f = e->from[i], t = e->to[i];
        if (bytes) {
            memcpy(e->dst + (size_t)t * bytes, e->src + (size_t)f * bytes, bytes);
        } else {
            int v = e->src[f / per] >> f % per * e->bits & mask;
            e->dst[t / per] |= (unsigned char)(v << t % per * e->bits);
        }
    }
}

static void
move_box(const Expected *e, const int64_t *lo, const int64_t *hi, int dim, int64_t at)
{
    if (dim == e->rank) {
        move_run(e, at, at + 1);
        return;
    }
    if (dim == e->rank - 1) {
        move_run(e, at * e->shape[dim] + lo[dim], at * e->shape[dim] + hi[dim]);
        return;
    }
    for (int64_t k = lo[dim]; k < hi[dim]; k++)
        move_box(e, lo, hi, dim + 1, at * e->shape[dim] + k);
}

/* The box in halves of its longest side, down to ones whose two sides lie in a cache:
 * transposes then take seconds, not minutes. */
static void
expect_box(const Expected *e, int64_t *lo, int64_t *hi)
{
    enum { SMALL = 1 << 12 };
    int64_t n = 1;
    int longest = 0;
    for (int d = 0; d < e->rank; d++) {
        n *= hi[d] - lo[d];
        if (hi[d] - lo[d] > hi[longest] - lo[longest])
            longest = d;
    }
    if (n <= SMALL) {
        move_box(e, lo, hi, 0, 0);
        return;
    }
    int64_t from = lo[longest], to = hi[longest], middle = from + (to - from) / 2;
    hi[longest] = middle;
    expect_box(e, lo, hi);
    lo[longest] = middle;
    hi[longest] = to;
    expect_box(e, lo, hi);
    lo[longest] = from;
}

void
bench_expect(unsigned char *dst, const unsigned char *src, const int64_t *to,
             const int64_t *from, int rank, const int64_t *shape, int bits)
{
    Expected e = {dst, src, to, from, shape, rank, bits};
    int64_t lo[RAVEL_MAX_RANK] = {0}, hi[RAVEL_MAX_RANK];
    for (int d = 0; d < rank; d++)
        hi[d] = shape[d];
    expect_box(&e, lo, hi);
}

/* The first byte that differs; negative: none. */
int64_t
bench_differ(const unsigned char *a, const unsigned char *b, size_t n)
{
    enum { PIECE = 1 << 16 };
    for (size_t at = 0; at < n; at += PIECE) {
        size_t k = n - at < PIECE ? n - at : PIECE;
        if (!memcmp(a + at, b + at, k))
            continue;
        while (a[at] == b[at])
            at++;
        return (int64_t)at;
    }
    return -1;
}
