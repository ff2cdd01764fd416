/* ravel emit --from ROW_MAJOR --to AMX_B8 --shape 1024,768 --dtype i8 --name row_major_to_amx_i8
 * src ROW_MAJOR: 768*b0 + b1
 *     i8, b0=1024 b1=768 in 786432 elements, 786432 bytes
 * dst AMX_B8: 65536*(N//64) + 256*(K//4) + 4*(N%64) + K%4
 *     i8, K=1024 N=768 in 786432 elements, 786432 bytes */
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

/* src: 786432 bytes, dst: 786432 bytes; they do not overlap */
void
row_major_to_amx_i8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* K=0..1023 N=0..767: transpose */
    for (int64_t n1 = 0; n1 < 12; n1++) {
        for (int64_t k1 = 0; k1 < 256; k1++) {
            ravel_transpose(dst + 65536*n1 + 256*k1, src + 3072*k1 + 64*n1, 64, 4, 4, 768, 1);
        }
    }
}
