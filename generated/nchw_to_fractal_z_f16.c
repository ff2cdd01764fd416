/* ravel emit --from NCHW --to FRACTAL_Z --shape 128,64,3,3 --dtype f16 --name nchw_to_fractal_z_f16
 * src NCHW: 576*N + 9*C + 3*H + W
 *     f16, N=128 C=64 H=3 W=3 in 73728 elements, 147456 bytes
 * dst FRACTAL_Z: 18432*(C//16) + 6144*H + 2048*W + 16*N + C%16
 *     f16, N=128 C=64 H=3 W=3 in 73728 elements, 147456 bytes */
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

/* src: 147456 bytes, dst: 147456 bytes; they do not overlap */
void
nchw_to_fractal_z_f16(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..127 C=0..63 H=0..2 W=0..2: transpose */
    for (int64_t c1 = 0; c1 < 4; c1++) {
        for (int64_t n = 0; n < 128; n++) {
            ravel_transpose(dst + 36864*c1 + 32*n, src + 1152*n + 288*c1, 9, 16, 4096, 18, 2);
        }
    }
}
