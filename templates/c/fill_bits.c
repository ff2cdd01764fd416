/* Sets rows x cols elements of 1, 2 or 4 bits to `value`.  The first element of a byte is
 * in its lowest bits.  Offset and strides count elements from the start of the buffer. */

/* Sets contiguous elements; `byte` is the value repeated over a byte. */
static void
ravel_fill_bits_run(unsigned char *dst, int64_t d, int64_t cols, unsigned byte,
                    int64_t bits)
{
    int64_t x = d * bits, n = cols * bits, part = -x & 7;
    part = part < n ? part : n;
    if (part) {
        ravel_bits_into(dst + x / 8, x % 8, byte & ((1u << part) - 1), part);
        x += part;
        n -= part;
    }
    memset(dst + x / 8, (int)byte, (size_t)(n / 8));
    if (n % 8)
        ravel_bits_into(dst + (x + n) / 8, 0, byte & ((1u << n % 8) - 1), n % 8);
}

static void
ravel_fill_bits(unsigned char *dst, int64_t d, int64_t rows, int64_t cols, int64_t dr,
                int64_t dc, uint64_t value, int64_t bits)
{
    const unsigned ones = (1u << bits) - 1, v = (unsigned)value & ones;
    for (int64_t r = 0; r < rows; r++) {
        if (dc == 1) {
            ravel_fill_bits_run(dst, d + r * dr, cols, v * (255 / ones), bits);
            continue;
        }
        for (int64_t c = 0; c < cols; c++) {
            const int64_t x = (d + r * dr + c * dc) * bits;
            ravel_bits_into(dst + x / 8, x % 8, v, bits);
        }
    }
}
