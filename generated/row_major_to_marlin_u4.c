/* ravel emit --from ROW_MAJOR --to MARLIN --shape 1024,768 --dtype u4 --name row_major_to_marlin_u4
 * src ROW_MAJOR: 768*b0 + b1
 *     u4, b0=1024 b1=768 in 786432 elements, 393216 bytes
 * dst MARLIN: 12288*(K//16) + 1024*(N//64) + 128*(N%8) + 32*(K//2%4) + 8*(N//16%4) + 4*(K%2) + 2*(N//8%2) + K//8%2
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
row_major_to_marlin_u4(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* K=0..1023 N=0..767: bits */
    for (int64_t k3 = 0; k3 < 64; k3++) {
        for (int64_t n3 = 0; n3 < 12; n3++) {
            for (int64_t n0 = 0; n0 < 8; n0++) {
                for (int64_t k1 = 0; k1 < 4; k1++) {
                    for (int64_t n2 = 0; n2 < 4; n2++) {
                        for (int64_t k0 = 0; k0 < 2; k0++) {
                            ravel_bits(dst, 12288*k3 + 1024*n3 + 128*n0 + 32*k1 + 8*n2 + 4*k0, src, 12288*k3 + 1536*k1 + 768*k0 + 64*n3 + 16*n2 + n0, 2, 2, 2, 1, 8, 6144, 4);
                        }
                    }
                }
            }
        }
    }
}
