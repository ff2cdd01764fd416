/* ravel emit --from ROW_MAJOR --to INT4_HIGH --shape 1024,768 --dtype u4 --name row_major_to_int4_high_u4
 * src ROW_MAJOR: 768*b0 + b1
 *     u4, b0=1024 b1=768 in 786432 elements, 393216 bytes
 * dst INT4_HIGH: 768*R + 2*(C//2) - (C%2) + 1
 *     u4, R=1024 C=768 in 786432 elements, 393216 bytes
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

/* Copies bytes and reverses the order of the elements of 1, 2 or 4 bits within each.  d
 * and s count elements from the start of the buffers. */
static uint64_t
ravel_bits_swapped(uint64_t v, int64_t bits)
{
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    if (bits < 4)
        v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    if (bits < 2)
        v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    return v;
}

static void
ravel_bits_swap(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                int64_t bytes, int64_t bits)
{
    int64_t i = 0;
    dst += d * bits / 8;
    src += s * bits / 8;
    for (; i + 8 <= bytes; i += 8) {
        uint64_t v;
        memcpy(&v, src + i, 8);
        v = ravel_bits_swapped(v, bits);
        memcpy(dst + i, &v, 8);
    }
    for (; i < bytes; i++)
        dst[i] = (unsigned char)ravel_bits_swapped(src[i], bits);
}

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_int4_high_u4(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* src: 393216 bytes, dst: 393216 bytes; they do not overlap */
void
row_major_to_int4_high_u4(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* R=0..1023 C=0..767: bits_swap */
    ravel_bits_swap(dst, 0, src, 1, 393216, 4);
}
