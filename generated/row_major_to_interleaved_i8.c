/* ravel emit --from ROW_MAJOR --to COL_INTERLEAVED --shape 1024,768 --dtype i8 --name row_major_to_interleaved_i8
 * src ROW_MAJOR: 768*b0 + b1
 *     i8, b0=1024 b1=768 in 786432 elements, 786432 bytes
 * dst COL_INTERLEAVED: 32768*(C//32) + 32*R + C%32
 *     i8, R=1024 C=768 in 786432 elements, 786432 bytes */
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

/* src: 786432 bytes, dst: 786432 bytes; they do not overlap */
void
row_major_to_interleaved_i8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* R=0..1023 C=0..767: copy */
    for (int64_t c1 = 0; c1 < 24; c1++) {
        ravel_copy(dst + 32768*c1, src + 32*c1, 1024, 32, 32, 768);
    }
}
