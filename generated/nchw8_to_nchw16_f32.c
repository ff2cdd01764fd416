/* ravel emit --from NCHW8 --to NCHW16 --shape 8,20,56,56 --dtype f32 --name nchw8_to_nchw16_f32
 * src NCHW8: 75264*N + 25088*(C//8) + 448*H + 8*W + C%8
 *     f32, N=8 C=20 H=56 W=56 in 602112 elements, 2408448 bytes
 * dst NCHW16: 100352*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f32, N=8 C=20 H=56 W=56 in 802816 elements, 3211264 bytes */
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

/* `value` into rows x cols elements of `size` bytes; dr, dc bytes from one row,
 * column to the next. */
static void
ravel_fill(unsigned char *d, int64_t rows, int64_t cols, int64_t dr, int64_t dc,
           uint64_t value, int64_t size)
{
    unsigned char v[16] = {0};
    for (int i = 0; i < 8; i++)
        v[i] = (unsigned char)(value >> 8 * i & 255);
    for (int64_t r = 0; r < rows; r++) {
        if (value == 0 && dc == size) {
            memset(d + r * dr, 0, (size_t)(cols * size));
            continue;
        }
        for (int64_t c = 0; c < cols; c++)
            memcpy(d + r * dr + c * dc, v, (size_t)size);
    }
}

/* src: 2408448 bytes, dst: 3211264 bytes; they do not overlap */
void
nchw8_to_nchw16_f32(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..7 C=0..15 H=0..55 W=0..55: copy */
    for (int64_t n = 0; n < 8; n++) {
        for (int64_t c1 = 0; c1 < 2; c1++) {
            ravel_copy(dst + 401408*n + 32*c1, src + 301056*n + 100352*c1, 3136, 32, 64, 32);
        }
    }
    /* N=0..7 C=16..19 H=0..55 W=0..55: copy */
    for (int64_t n = 0; n < 8; n++) {
        ravel_copy(dst + 401408*n + 200704, src + 301056*n + 200704, 3136, 16, 64, 32);
    }
    /* padding N=0..7 C=20..31 H=0..55 W=0..55: fill */
    for (int64_t n = 0; n < 8; n++) {
        ravel_fill(dst + 401408*n + 200720, 3136, 12, 64, 4, 0x0u, 4);
    }
}
