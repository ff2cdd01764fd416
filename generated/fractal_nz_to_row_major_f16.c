/* ravel emit --from FRACTAL_NZ --to ROW_MAJOR --shape 1024,768 --dtype f16 --name fractal_nz_to_row_major_f16
 * src FRACTAL_NZ: 16384*(W//16) + 16*H + W%16
 *     f16, H=1024 W=768 in 786432 elements, 1572864 bytes
 * dst ROW_MAJOR: 768*b0 + b1
 *     f16, b0=1024 b1=768 in 786432 elements, 1572864 bytes */
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
fractal_nz_to_row_major_f16(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* b0=0..1023 b1=0..767: copy */
    for (int64_t b11 = 0; b11 < 48; b11++) {
        ravel_copy(dst + 32*b11, src + 32768*b11, 1024, 32, 1536, 32);
    }
}
