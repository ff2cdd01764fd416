/* ravel emit --from NCHW --to NCHW4 --shape 8,64,56,56 --dtype i8 --name nchw_to_nchw4_i8
 * src NCHW: 200704*N + 3136*C + 56*H + W
 *     i8, N=8 C=64 H=56 W=56 in 1605632 elements, 1605632 bytes
 * dst NCHW4: 200704*N + 12544*(C//4) + 224*H + 4*W + C%4
 *     i8, N=8 C=64 H=56 W=56 in 1605632 elements, 1605632 bytes */
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

/* src: 1605632 bytes, dst: 1605632 bytes; they do not overlap */
void
nchw_to_nchw4_i8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose */
    for (int64_t nc1_ = 0; nc1_ < 128; nc1_++) {
        ravel_transpose(dst + 12544*nc1_, src + 12544*nc1_, 3136, 4, 4, 3136, 1);
    }
}
