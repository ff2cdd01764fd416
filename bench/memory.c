/* What memory gives one thread: the rows of compiler/plan/cost.def, measured here.
 *
 * Runs of so many bytes are read, or written past the caches, one after another, each a
 * stride from the last; a row is the median over strides of the three kinds that the
 * model tells apart. */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../runtime/measure.h"

enum { BYTES = 200 << 20, WORK = 48 << 20, STRIDES = 5 };

/* Multiples of 512 bytes, of 256, of 64. */
static const int64_t strides[3][STRIDES] = {
    {1536, 29184, 29696, 32768, 345600},
    {4864, 29440, 29952, 345856, 545536},
    {9280, 29056, 345664, 545344, 2160000},
};

static double
gigabytes(unsigned char *p, int64_t stride, int64_t run, int write)
{
    __m128i sum = _mm_setzero_si128();
    int64_t rows = BYTES / stride, done = 0;
    int64_t begin = measure_now();
    for (int64_t x = 0; x + run <= stride && done < WORK; x += run)
        for (int64_t r = 0; r < rows; r++, done += run)
            for (int64_t i = 0; i < run; i += 16) {
                __m128i *at = (__m128i *)(void *)(p + r * stride + x + i);
                if (write)
                    _mm_stream_si128(at, sum);
                else
                    sum = _mm_xor_si128(sum, _mm_load_si128(at));
            }
    _mm_sfence();
    double spent = (double)(measure_now() - begin);
    volatile int keep = _mm_cvtsi128_si32(sum);
    (void)keep;
    return (double)done / spent;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double
median(unsigned char *p, int kind, int64_t run, int write)
{
    double got[STRIDES];
    for (int i = 0; i < STRIDES; i++)
        got[i] = gigabytes(p, strides[kind][i], run, write);
    qsort(got, STRIDES, sizeof *got, by_value);
    return got[STRIDES / 2];
}

int
main(void)
{
    size_t huge = 2 << 20;
    unsigned char *p = aligned_alloc(huge, BYTES + huge);
    if (!p)
        return 1;
    madvise(p, BYTES + huge, MADV_HUGEPAGE);
    for (size_t i = 0; i < BYTES + huge; i += 4096)
        p[i] = 1;
    for (int64_t run = 64; run <= 1024; run *= 2) {
        double read = median(p, 2, run, 0), wrote[3];
        for (int kind = 0; kind < 3; kind++)
            wrote[kind] = median(p, kind, run, 1);
        printf("M(%lld, %.1f, %.1f, %.1f, %.1f)\n", (long long)run, read, wrote[0],
               wrote[1], wrote[2]);
    }
    free(p);
    return 0;
}
