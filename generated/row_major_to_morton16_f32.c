/* ravel emit --from ROW_MAJOR --to MORTON16 --shape 1024,768 --dtype f32 --name row_major_to_morton16_f32
 * src ROW_MAJOR: 768*b0 + b1
 *     f32, b0=1024 b1=768 in 786432 elements, 3145728 bytes
 * dst MORTON16: 12288*(Y//16) + 256*(X//16) + 128*(Y//8%2) + 64*(X//8%2) + 32*(Y//4%2) + 16*(X//4%2) + 8*(Y//2%2) + 4*(X//2%2) + 2*(Y%2) + X%2
 *     f32, Y=1024 X=768 in 786432 elements, 3145728 bytes */
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
row_major_to_morton16_f32(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* Y=0..1023 X=0..767: copy */
    for (int64_t x4 = 0; x4 < 48; x4++) {
        for (int64_t y3 = 0; y3 < 2; y3++) {
            for (int64_t x3 = 0; x3 < 2; x3++) {
                for (int64_t y2 = 0; y2 < 2; y2++) {
                    for (int64_t x2 = 0; x2 < 2; x2++) {
                        for (int64_t y1 = 0; y1 < 2; y1++) {
                            for (int64_t x1 = 0; x1 < 2; x1++) {
                                for (int64_t y0 = 0; y0 < 2; y0++) {
                                    ravel_copy(dst + 1024*x4 + 512*y3 + 256*x3 + 128*y2 + 64*x2 + 32*y1 + 16*x1 + 8*y0, src + 24576*y3 + 12288*y2 + 6144*y1 + 3072*y0 + 64*x4 + 32*x3 + 16*x2 + 8*x1, 64, 8, 49152, 49152);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
