/* ravel emit --from ROW_MAJOR --to SW128 --shape 128,64 --dtype f16 --name row_major_to_sw128_f16
 * src ROW_MAJOR: 64*b0 + b1
 *     f16, b0=128 b1=64 in 8192 elements, 16384 bytes
 * dst SW128: 64*M + 8*((M%8) ~ (K//8)) + K%8
 *     f16, M=128 K=64 in 8192 elements, 16384 bytes */
#include <stdint.h>
#include <string.h>

/* rows runs of `bytes` bytes, dp and sp bytes from one to the next. */
static void
ravel_copy(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
           int64_t dp, int64_t sp)
{
#define RAVEL_ROWS(n)                              \
    for (int64_t r = 0; r < rows; r++)             \
        memcpy(d + r * dp, s + r * sp, (size_t)(n))
    switch (bytes) {
    case 2: RAVEL_ROWS(2); break;
    case 4: RAVEL_ROWS(4); break;
    case 8: RAVEL_ROWS(8); break;
    case 16: RAVEL_ROWS(16); break;
    case 32: RAVEL_ROWS(32); break;
    case 64: RAVEL_ROWS(64); break;
    default: RAVEL_ROWS(bytes); break;
    }
#undef RAVEL_ROWS
}

/* src: 16384 bytes, dst: 16384 bytes; they do not overlap */
void
row_major_to_sw128_f16(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* M=0..127 K=0..63: copy */
    for (int64_t m0 = 0; m0 < 8; m0++) {
        for (int64_t k1 = 0; k1 < 8; k1++) {
            ravel_copy(dst + 128*m0 + 16*(m0 ^ k1), src + 128*m0 + 16*k1, 16, 16, 1024, 1024);
        }
    }
}
