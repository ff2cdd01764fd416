/* ravel emit --from NHWC --to NCHW --shape 1,3,224,224 --dtype u8 --name nhwc_to_nchw_rgb_u8
 * src NHWC: 672*H + 3*W + C
 *     u8, N=1 C=3 H=224 W=224 in 150528 elements, 150528 bytes
 * dst NCHW: 50176*C + 224*H + W
 *     u8, N=1 C=3 H=224 W=224 in 150528 elements, 150528 bytes */
#include <stdint.h>
#include <string.h>

/* d[p * dp + q * size] = s[p * size + q * sq] for p < rows, q < cols, in tiles
 * that stay in the first-level cache. */
static void
ravel_transpose(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                int64_t dp, int64_t sq, int64_t size)
{
#define RAVEL_TILES(n)                                                    \
    for (int64_t p0 = 0; p0 < rows; p0 += 16)                             \
        for (int64_t q0 = 0; q0 < cols; q0 += 32)                         \
            for (int64_t p = p0; p < p0 + 16 && p < rows; p++)            \
                for (int64_t q = q0; q < q0 + 32 && q < cols; q++)        \
                    memcpy(d + p * dp + q * (n), s + p * (n) + q * sq, n)
    switch (size) {
    case 1: RAVEL_TILES(1); break;
    case 2: RAVEL_TILES(2); break;
    case 4: RAVEL_TILES(4); break;
    case 8: RAVEL_TILES(8); break;
    default: RAVEL_TILES(16); break;
    }
#undef RAVEL_TILES
}

/* src: 150528 bytes, dst: 150528 bytes; they do not overlap */
void
nhwc_to_nchw_rgb_u8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0 C=0..2 H=0..223 W=0..223: transpose */
    ravel_transpose(dst, src, 3, 50176, 50176, 3, 1);
}
