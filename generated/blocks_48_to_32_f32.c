/* ravel emit --from '(O, I, H, W){O//48, I, H, W, O%48}' --to '(O, I, H, W){O//32, I, H, W, O%32}' --shape 192,64,3,3 --dtype f32 --name blocks_48_to_32_f32
 * src inline: 27648*(O//48) + 432*I + 144*H + 48*W + O%48
 *     f32, O=192 I=64 H=3 W=3 in 110592 elements, 442368 bytes
 * dst inline: 18432*(O//32) + 288*I + 96*H + 32*W + O%32
 *     f32, O=192 I=64 H=3 W=3 in 110592 elements, 442368 bytes */
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

/* src: 442368 bytes, dst: 442368 bytes; they do not overlap */
void
blocks_48_to_32_f32(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* O=0..127 (32 of every 96) I=0..63 H=0..2 W=0..2: copy */
    for (int64_t o1 = 0; o1 < 2; o1++) {
        ravel_copy(dst + 221184*o1, src + 221184*o1, 576, 128, 128, 192);
    }
    /* O=32..143 (16 of every 96) I=0..63 H=0..2 W=0..2: copy */
    for (int64_t o1 = 0; o1 < 2; o1++) {
        ravel_copy(dst + 221184*o1 + 73728, src + 221184*o1 + 128, 576, 64, 128, 192);
    }
    /* O=48..159 (16 of every 96) I=0..63 H=0..2 W=0..2: copy */
    for (int64_t o1 = 0; o1 < 2; o1++) {
        ravel_copy(dst + 221184*o1 + 73792, src + 221184*o1 + 110592, 576, 64, 128, 192);
    }
    /* O=64..191 (32 of every 96) I=0..63 H=0..2 W=0..2: copy */
    for (int64_t o1 = 0; o1 < 2; o1++) {
        ravel_copy(dst + 221184*o1 + 147456, src + 221184*o1 + 110656, 576, 128, 128, 192);
    }
}
