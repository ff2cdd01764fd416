/* ravel emit --from ROW_MAJOR --to SW128 --shape 128,64 --dtype f16 --name row_major_to_sw128_f16
 * src ROW_MAJOR: 64*b0 + b1
 *     f16, b0=128 b1=64 in 8192 elements, 16384 bytes
 * dst SW128: 64*M + 8*((M%8) ~ (K//8)) + K%8
 *     f16, M=128 K=64 in 8192 elements, 16384 bytes
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
void row_major_to_sw128_f16(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_sw128_f16_table0[128] = {
    0, 0, 16, 16, 32, 32, 48, 48, 64, 64, 80, 80, 96, 96, 112, 112,
    128, 144, 144, 128, 160, 176, 176, 160, 192, 208, 208, 192, 224, 240, 240, 224,
    256, 288, 272, 304, 288, 256, 304, 272, 320, 352, 336, 368, 352, 320, 368, 336,
    384, 432, 400, 416, 416, 400, 432, 384, 448, 496, 464, 480, 480, 464, 496, 448,
    512, 576, 528, 592, 544, 608, 560, 624, 576, 512, 592, 528, 608, 544, 624, 560,
    640, 720, 656, 704, 672, 752, 688, 736, 704, 656, 720, 640, 736, 688, 752, 672,
    768, 864, 784, 880, 800, 832, 816, 848, 832, 800, 848, 816, 864, 768, 880, 784,
    896, 1008, 912, 992, 928, 976, 944, 960, 960, 944, 976, 928, 992, 912, 1008, 896
};
/* src: 16384 bytes, dst: 16384 bytes; they do not overlap */
void
row_major_to_sw128_f16(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* M=0..127 K=0..63: gather */
    ravel_gather(dst, src, row_major_to_sw128_f16_table0, 64, 16, 16, 1024, 1024);
}
