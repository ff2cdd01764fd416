/* rows x cols elements of 1, 2 or 4 bits, the first in a byte lowest; offsets and
 * strides count elements from the start of the buffers.  Bytes are put together in a
 * register: the bits `mask` of what is held are those of byte `at` of the destination. */
static void
ravel_bits_put(unsigned char *dst, int64_t at, unsigned held, unsigned mask)
{
    volatile unsigned char *byte = dst + at;
    if (mask == 255)
        dst[at] = (unsigned char)held;
    else if (mask)
        *byte = (unsigned char)((*byte & ~mask) | held);
}

static void
ravel_bits(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
           int64_t rows, int64_t cols, int64_t dr, int64_t dc, int64_t sr, int64_t sc,
           int64_t bits)
{
    const unsigned ones = (1u << bits) - 1;
    int64_t at = 0;
    unsigned held = 0, mask = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const int64_t x = (d + r * dr + c * dc) * bits;
            const int64_t y = (s + r * sr + c * sc) * bits;
            const unsigned v = (unsigned)src[y / 8] >> y % 8 & ones;
            if (x / 8 != at) {
                ravel_bits_put(dst, at, held, mask);
                at = x / 8;
                held = mask = 0;
            }
            held |= v << x % 8;
            mask |= ones << x % 8;
        }
    ravel_bits_put(dst, at, held, mask);
}
