/* ravel emit --from ROW_MAJOR --to 'BLOCKED_RR{BM = 32, BN = 32}' --shape 1024,768 --dtype f32 --name row_major_to_blocked_f32
 * src ROW_MAJOR: 768*b0 + b1
 *     f32, b0=1024 b1=768 in 786432 elements, 3145728 bytes
 * dst BLOCKED_RR: 24576*(M//32) + 1024*(N//32) + 32*(M%32) + N%32
 *     f32, M=1024 N=768 in 786432 elements, 3145728 bytes */
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

/* src: 3145728 bytes, dst: 3145728 bytes; they do not overlap */
void
row_major_to_blocked_f32(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* M=0..1023 N=0..767: copy */
    for (int64_t m1 = 0; m1 < 32; m1++) {
        for (int64_t n1 = 0; n1 < 24; n1++) {
            ravel_copy(dst + 98304*m1 + 4096*n1, src + 98304*m1 + 128*n1, 32, 128, 128, 3072);
        }
    }
}
