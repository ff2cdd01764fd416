/* ravel emit --from ROW_MAJOR --to FRACTAL_ZZ --shape 1024,768 --dtype f16 --name row_major_to_fractal_zz_f16
 * src ROW_MAJOR: 768*b0 + b1
 *     f16, b0=1024 b1=768 in 786432 elements, 1572864 bytes
 * dst FRACTAL_ZZ: 12288*(H//16) + 256*(W//16) + 16*(H%16) + W%16
 *     f16, H=1024 W=768 in 786432 elements, 1572864 bytes */
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

/* src: 1572864 bytes, dst: 1572864 bytes; they do not overlap */
void
row_major_to_fractal_zz_f16(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* H=0..1023 W=0..767: copy */
    for (int64_t w1 = 0; w1 < 48; w1++) {
        for (int64_t h0 = 0; h0 < 16; h0++) {
            ravel_copy(dst + 512*w1 + 32*h0, src + 1536*h0 + 32*w1, 64, 32, 24576, 24576);
        }
    }
}
