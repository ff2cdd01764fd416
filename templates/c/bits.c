/* rows x cols elements of 1, 2 or 4 bits, the first in a byte lowest; offsets and
 * strides count elements from the start of the buffers. */
static void
ravel_bits(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
           int64_t rows, int64_t cols, int64_t dr, int64_t dc, int64_t sr, int64_t sc,
           int64_t bits)
{
    const int64_t per = 8 / bits;
    const unsigned mask = (1u << bits) - 1;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            const int64_t x = d + r * dr + c * dc, y = s + r * sr + c * sc;
            const int to = (int)(x % per * bits), from = (int)(y % per * bits);
            const unsigned v = (unsigned)src[y / per] >> from & mask;
            unsigned char *p = dst + x / per;
            *p = (unsigned char)((*p & ~(mask << to)) | v << to);
        }
}
