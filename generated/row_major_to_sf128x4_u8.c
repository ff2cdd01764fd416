/* ravel emit --from ROW_MAJOR --to SF128x4 --shape 1000,90 --dtype u8 --name row_major_to_sf128x4_u8
 * src ROW_MAJOR: 90*b0 + b1
 *     u8, b0=1000 b1=90 in 90000 elements, 90000 bytes
 * dst SF128x4: 11776*(R//128) + 512*(C//4) + 16*(R%32) + 4*(R//32%4) + C%4
 *     u8, R=1000 C=90 in 94208 elements, 94208 bytes */
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

/* src: 90000 bytes, dst: 94208 bytes; they do not overlap */
void
row_major_to_sf128x4_u8(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* R=0..895 C=0..87: copy */
    for (int64_t r2 = 0; r2 < 7; r2++) {
        for (int64_t c1 = 0; c1 < 22; c1++) {
            for (int64_t r1 = 0; r1 < 4; r1++) {
                ravel_copy(dst + 11776*r2 + 512*c1 + 4*r1, src + 11520*r2 + 2880*r1 + 4*c1, 32, 4, 16, 90);
            }
        }
    }
    /* R=0..895 C=88..89: copy */
    for (int64_t r2 = 0; r2 < 7; r2++) {
        for (int64_t r1 = 0; r1 < 4; r1++) {
            ravel_copy(dst + 11776*r2 + 4*r1 + 11264, src + 11520*r2 + 2880*r1 + 88, 32, 2, 16, 90);
        }
    }
    /* R=896..991 C=0..87: copy */
    for (int64_t c1 = 0; c1 < 22; c1++) {
        for (int64_t r1 = 0; r1 < 3; r1++) {
            ravel_copy(dst + 512*c1 + 4*r1 + 82432, src + 2880*r1 + 4*c1 + 80640, 32, 4, 16, 90);
        }
    }
    /* R=896..991 C=88..89: copy */
    for (int64_t r1 = 0; r1 < 3; r1++) {
        ravel_copy(dst + 4*r1 + 93696, src + 2880*r1 + 80728, 32, 2, 16, 90);
    }
    /* R=992..999 C=0..87: copy */
    for (int64_t r = 0; r < 8; r++) {
        ravel_copy(dst + 16*r + 82444, src + 90*r + 89280, 22, 4, 512, 4);
    }
    /* R=992..999 C=88..89: copy */
    ravel_copy(dst + 93708, src + 89368, 8, 2, 16, 90);
    /* padding R=1000..1023 C=0..91: fill */
    for (int64_t c1 = 0; c1 < 23; c1++) {
        ravel_fill(dst + 512*c1 + 82572, 24, 4, 16, 1, 0x0u, 1);
    }
    /* padding R=0..895 C=90..91: fill */
    for (int64_t r2 = 0; r2 < 7; r2++) {
        ravel_fill(dst + 11776*r2 + 11266, 128, 2, 4, 1, 0x0u, 1);
    }
    /* padding R=896..991 C=90..91: fill */
    for (int64_t r0 = 0; r0 < 32; r0++) {
        ravel_fill(dst + 16*r0 + 93698, 3, 2, 4, 1, 0x0u, 1);
    }
    /* padding R=992..999 C=90..91: fill */
    ravel_fill(dst + 93710, 8, 2, 16, 1, 0x0u, 1);
}
