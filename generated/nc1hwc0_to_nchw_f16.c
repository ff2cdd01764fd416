/* ravel emit --from NC1HWC0 --to NCHW --shape 8,71,56,56 --dtype f16 --name nc1hwc0_to_nchw_f16
 * src NC1HWC0: 250880*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f16, N=8 C=71 H=56 W=56 in 2007040 elements, 4014080 bytes
 * dst NCHW: 222656*N + 3136*C + 56*H + W
 *     f16, N=8 C=71 H=56 W=56 in 1781248 elements, 3562496 bytes */
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

/* src: 4014080 bytes, dst: 3562496 bytes; they do not overlap */
void
nc1hwc0_to_nchw_f16(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose */
    for (int64_t n = 0; n < 8; n++) {
        for (int64_t c1 = 0; c1 < 4; c1++) {
            ravel_transpose(dst + 445312*n + 100352*c1, src + 501760*n + 100352*c1, 16, 3136, 6272, 32, 2);
        }
    }
    /* N=0..7 C=64..70 H=0..55 W=0..55: transpose */
    for (int64_t n = 0; n < 8; n++) {
        ravel_transpose(dst + 445312*n + 401408, src + 501760*n + 401408, 7, 3136, 6272, 32, 2);
    }
}
