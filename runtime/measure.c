/* Rounds of measurement, pages of 2 MiB, and statistics of samples. */
#define _GNU_SOURCE
#include "measure.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 2 << 20, THIRD = 3, HOPELESS = 5 };

int64_t
measure_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The mapping is a page longer than asked for, to find an aligned start in it; what
 * is beside it goes back at once, so that its length is known from `bytes` alone. */
static size_t
whole_pages(size_t bytes)
{
    return bytes ? (bytes + PAGE - 1) / PAGE * PAGE : PAGE;
}

void *
measure_map(size_t bytes)
{
    size_t n = whole_pages(bytes);
    if (n < bytes)
        return NULL;
    unsigned char *p = mmap(NULL, n + PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = (PAGE - (uintptr_t)p % PAGE) % PAGE;
    if (before)
        munmap(p, before);
    if (PAGE - before)
        munmap(p + before + n, PAGE - before);
    p += before;
    madvise(p, n, MADV_HUGEPAGE);          /* a system without them still measures */
    memset(p, 0, n);
    return p;
}

void
measure_unmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, whole_pages(bytes));
}

static int64_t
time_of(const Measured *m, int64_t calls)
{
    if (m->time)
        return m->time(m->arg, calls);
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        m->call(m->arg);
    return measure_now() - start;
}

void
measure_calls(Measured *m, int64_t sample, double base, double slow)
{
    int64_t calls = 1, t = 0;
    time_of(m, 1);
    for (; calls < 1 << 24; calls *= 4) {
        t = time_of(m, calls);
        if (t * 4 >= sample)
            break;
    }
    double one = (double)(t > 0 ? t : 1) / (double)calls;
    double want = (double)sample / one;
    m->calls = want > 1 ? (int64_t)want : 1;
    bool is_slow = slow > 0 && base > 0 && one > slow * base;
    bool is_hopeless = is_slow && one > HOPELESS * slow * base;
    m->every = is_hopeless ? INT_MAX : is_slow ? THIRD : 1;
}

static void
get_ready(const Measured *m, Ready ready)
{
    struct timespec t = {ready.rest / 1000000000, ready.rest % 1000000000};
    if (ready.rest > 0)
        nanosleep(&t, NULL);
    if (ready.settle > 0)
        time_of(m, ready.settle);
}

void
measure_round(Measured *m, int n, int r, Ready ready)
{
    for (int k = 0; k < n; k++) {
        Measured *one = &m[(r + k) % n];
        one->ns[r] = -1;
        if (r % one->every)
            continue;
        get_ready(one, ready);
        int64_t t = time_of(one, one->calls);
        one->ns[r] = t < 0 ? -1 : (double)t / (double)one->calls;
    }
}

void
measure_rounds(Measured *m, int n, int rounds, Ready ready)
{
    for (int r = 0; r < rounds; r++)
        measure_round(m, n, r, ready);
}

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

Spread
measure_spread(const double *v, int n)
{
    Spread s = {-1, -1, -1, 0};
    double *sorted = malloc((size_t)(n > 0 ? n : 1) * sizeof *sorted);
    for (int i = 0; sorted && i < n; i++)
        if (v[i] >= 0)
            sorted[s.n++] = v[i];
    if (s.n) {
        qsort(sorted, (size_t)s.n, sizeof *sorted, ascending);
        s.median = (sorted[(s.n - 1) / 2] + sorted[s.n / 2]) / 2;
        s.low = sorted[s.n / 10];
        s.high = sorted[s.n - 1 - s.n / 10];
    }
    free(sorted);
    return s;
}

Spread
measure_ratio(const double *v, const double *base, int n)
{
    Spread s = {-1, -1, -1, 0};
    double *ratio = malloc((size_t)(n > 0 ? n : 1) * sizeof *ratio);
    for (int i = 0; ratio && i < n; i++)
        ratio[i] = v[i] >= 0 && base[i] > 0 ? v[i] / base[i] : -1;
    if (ratio)
        s = measure_spread(ratio, n);
    free(ratio);
    return s;
}
