/* ravel emit --from ROW_MAJOR --to AWQ --shape 1024,768 --dtype u4 --name row_major_to_awq_u4
 * src ROW_MAJOR: 768*b0 + b1
 *     u4, b0=1024 b1=768 in 786432 elements, 393216 bytes
 * dst AWQ: 768*K + 8*(N//8) + 4*(N%2) + N//2%4
 *     u4, K=1024 N=768 in 786432 elements, 393216 bytes */
#include <stdint.h>
#include <string.h>

/* rows x cols elements of 1, 2 or 4 bits, the first in a byte lowest; offsets and
 * strides count elements from the start of the buffers. */
static void
ravel_bits(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
           int64_t rows, int64_t cols, int64_t dr, int64_t dc, int64_t sr, int64_t sc,
           int64_t bits)
{
    const int64_t per = 8 / bits;
    const unsigned mask = (1u << bits) - 1;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const int64_t x = d + r * dr + c * dc, y = s + r * sr + c * sc;
            const int to = (int)(x % per * bits), from = (int)(y % per * bits);
            const unsigned v = (unsigned)src[y / per] >> from & mask;
            unsigned char *p = dst + x / per;
            *p = (unsigned char)((*p & ~(mask << to)) | v << to);
        }
}

/* src: 393216 bytes, dst: 393216 bytes; they do not overlap */
void
row_major_to_awq_u4(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* K=0..1023 N=0..767: bits */
    for (int64_t kn2_ = 0; kn2_ < 98304; kn2_++) {
        ravel_bits(dst, 8*kn2_, src, 8*kn2_, 2, 4, 4, 1, 1, 2, 4);
    }
}
