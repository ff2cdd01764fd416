/* ravel emit --from ROW_MAJOR --to 'BLOCKED_RR{BM = 32, BN = 32}' --shape 1024,768 --dtype f32 --name row_major_to_blocked_f32
 * src ROW_MAJOR: 768*b0 + b1
 *     f32, b0=1024 b1=768 in 786432 elements, 3145728 bytes
 * dst BLOCKED_RR: 24576*(M//32) + 1024*(N//32) + 32*(M%32) + N%32
 *     f32, M=1024 N=768 in 786432 elements, 3145728 bytes
 * made by ravel 0.1.0, whose licence does not cover this file */
#include <stdint.h>
#include <string.h>
#ifndef UINT8_MAX
#error "this code is for machines with bytes of 8 bits"
#endif
#ifdef __cplusplus
#define RAVEL_RESTRICT __restrict
#else
#define RAVEL_RESTRICT restrict
#endif

#ifdef _OPENMP
#include <omp.h>
#endif

/* RAVEL_CONSTANT: inlined, because callers pass constants. */
#ifdef __GNUC__
#define RAVEL_CONSTANT __attribute__((always_inline, unused)) static inline
#else
#define RAVEL_CONSTANT static inline
#endif

/* Copies a run of `bytes` bytes by one or two moves of k bytes, which may overlap.
 * Requires k <= bytes <= 2 * k; k is a constant. */
RAVEL_CONSTANT void
ravel_move_twice(unsigned char *d, const unsigned char *s, size_t k, int64_t bytes)
{
    memcpy(d, s, k);
    if (bytes > (int64_t)k)
        memcpy(d + bytes - k, s + bytes - k, k);
}

/* In a loop of moves: some compilers make one copy of unknown length of it, which takes longer for a
 * few lines. */
#ifdef __GNUC__
#define RAVEL_LOOP(i) __asm__("" : "+r"(i))
#else
#define RAVEL_LOOP(i) (void)(i)
#endif

/* Copies a run of more than 64 bytes by moves of 64 and one of what is left, which may
 * overlap the one before; a long run by the C library. */
RAVEL_CONSTANT void
ravel_move_many(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    enum { CALLED = 512 };
    if (bytes > CALLED) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i + 64 <= bytes; i += 64) {
        memcpy(d + i, s + i, 64);
        RAVEL_LOOP(i);
    }
    if (bytes % 64 > 32)
        memcpy(d + bytes - 64, s + bytes - 64, 64);
    else if (bytes % 64 > 16)
        memcpy(d + bytes - 32, s + bytes - 32, 32);
    else if (bytes % 64)
        memcpy(d + bytes - 16, s + bytes - 16, 16);
}

/* Copies `rows` rows of runs of `bytes` bytes.  Run i is copied from s + table[2*i + 1] to
 * d + table[2*i]; rows are dp (sp) bytes apart.  The offsets of four runs are read before one of these
 * is written: else the reads may wait for one another (composite_lanes.h). */
RAVEL_CONSTANT void
ravel_gather_each(unsigned char *d, const unsigned char *s, const int32_t *table,
                  int64_t entries, int64_t rows, size_t k, int64_t bytes, int64_t dp,
                  int64_t sp)
{
    const int32_t *const end = table + 2 * entries;
    for (int64_t r = 0; r < rows; r++, d += dp, s += sp) {
        const int32_t *t = table;
        for (; end - t >= 8; t += 8) {
            const int64_t to[4] = {t[0], t[2], t[4], t[6]}, from[4] = {t[1], t[3], t[5], t[7]};
            ravel_move_twice(d + to[0], s + from[0], k, bytes);
            ravel_move_twice(d + to[1], s + from[1], k, bytes);
            ravel_move_twice(d + to[2], s + from[2], k, bytes);
            ravel_move_twice(d + to[3], s + from[3], k, bytes);
        }
        for (; t < end; t += 2)
            ravel_move_twice(d + t[0], s + t[1], k, bytes);
    }
}

/* The same for runs whose length is not a power of two up to 64. */
static void
ravel_gather_odd(unsigned char *d, const unsigned char *s, const int32_t *table,
                 int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
    if (bytes < 4)
        ravel_gather_each(d, s, table, entries, rows, 2, bytes, dp, sp);
    else if (bytes < 8)
        ravel_gather_each(d, s, table, entries, rows, 4, bytes, dp, sp);
    else if (bytes < 16)
        ravel_gather_each(d, s, table, entries, rows, 8, bytes, dp, sp);
    else if (bytes < 32)
        ravel_gather_each(d, s, table, entries, rows, 16, bytes, dp, sp);
    else if (bytes < 64)
        ravel_gather_each(d, s, table, entries, rows, 32, bytes, dp, sp);
    else if (bytes <= 128)
        ravel_gather_each(d, s, table, entries, rows, 64, bytes, dp, sp);
    else
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < entries; i++)
                ravel_move_many(d + r * dp + table[2 * i], s + r * sp + table[2 * i + 1],
                                bytes);
}

static void
ravel_gather(unsigned char *d, const unsigned char *s, const int32_t *table,
             int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_gather_each(d, s, table, entries, rows, 1, 1, dp, sp); break;
    case 2: ravel_gather_each(d, s, table, entries, rows, 2, 2, dp, sp); break;
    case 4: ravel_gather_each(d, s, table, entries, rows, 4, 4, dp, sp); break;
    case 8: ravel_gather_each(d, s, table, entries, rows, 8, 8, dp, sp); break;
    case 16: ravel_gather_each(d, s, table, entries, rows, 16, 16, dp, sp); break;
    case 32: ravel_gather_each(d, s, table, entries, rows, 32, 32, dp, sp); break;
    case 64: ravel_gather_each(d, s, table, entries, rows, 64, 64, dp, sp); break;
    default: ravel_gather_odd(d, s, table, entries, rows, bytes, dp, sp);
    }
}

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_blocked_f32_part(void *dst, const void *src, int64_t part, int64_t parts);
void row_major_to_blocked_f32(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_blocked_f32_table0[64] = {
    0, 0, 128, 3072, 256, 6144, 384, 9216, 512, 12288, 640, 15360, 768, 18432, 896, 21504,
    1024, 24576, 1152, 27648, 1280, 30720, 1408, 33792, 1536, 36864, 1664, 39936, 1792, 43008, 1920, 46080,
    2048, 49152, 2176, 52224, 2304, 55296, 2432, 58368, 2560, 61440, 2688, 64512, 2816, 67584, 2944, 70656,
    3072, 73728, 3200, 76800, 3328, 79872, 3456, 82944, 3584, 86016, 3712, 89088, 3840, 92160, 3968, 95232
};
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
row_major_to_blocked_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* M=0..1023 N=0..767: gather */
    for (int64_t m1 = 32*part/parts; m1 < 32*(part + 1)/parts; m1++) {
        ravel_gather(dst + 98304*m1, src + 98304*m1, row_major_to_blocked_f32_table0, 32, 24, 128, 4096, 128);
    }
}

/* src: 3145728 bytes, dst: 3145728 bytes; they do not overlap */
void
row_major_to_blocked_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    row_major_to_blocked_f32_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    row_major_to_blocked_f32_part(dst_, src_, 0, 1);
#endif
}
