/* `value` into rows x cols elements of 1, 2 or 4 bits, the first in a byte lowest;
 * offset and strides count elements from the start of the buffer. */
static void
ravel_fill_bits(unsigned char *dst, int64_t d, int64_t rows, int64_t cols, int64_t dr,
                int64_t dc, uint64_t value, int64_t bits)
{
    const int64_t per = 8 / bits;
    const unsigned mask = (1u << bits) - 1, v = (unsigned)value & mask;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const int64_t x = d + r * dr + c * dc;
            const int to = (int)(x % per * bits);
            unsigned char *p = dst + x / per;
            *p = (unsigned char)((*p & ~(mask << to)) | v << to);
        }
}
