/* Sets rows x cols elements of 1, 2 or 4 bits to `value`.  The first element of a byte is
 * in its lowest bits.  Offset and strides count elements from the start of the buffer. */

/* Sets n bits of each row, from bit x on; rows are `step` bytes apart.  The whole bytes of a few
 * rows are set at once; `byte` is the value repeated over a byte. */
static void
ravel_fill_bits_rows(unsigned char *dst, int64_t x, int64_t rows, int64_t n, int64_t step,
                     unsigned byte)
{
    enum { FEW = 64 };
    const int64_t most = -x & 7, part = most < n ? most : n;
    const int64_t whole = (n - part) / 8, rest = (n - part) % 8;
    unsigned char *d = dst + x / 8;
    for (int64_t k; rows > 0; rows -= k, d += k * step) {
        k = rows < FEW ? rows : (int64_t)FEW;
        for (int64_t r = 0; r < k && part; r++)
            ravel_bits_into(d + r * step, x % 8, byte & ((1u << part) - 1), part);
        if (whole)
            ravel_fill(d + (x % 8 + part) / 8, k, whole, step, 1, byte, 1);
        for (int64_t r = 0; r < k && rest; r++)
            ravel_bits_into(d + (x % 8 + part) / 8 + whole + r * step, 0,
                            byte & ((1u << rest) - 1), rest);
    }
}

static void
ravel_fill_bits(unsigned char *dst, int64_t d, int64_t rows, int64_t cols, int64_t dr,
                int64_t dc, uint64_t value, int64_t bits)
{
    const unsigned ones = (1u << bits) - 1, v = (unsigned)value & ones;
    const int64_t each = dc == 1 && dr * bits % 8 == 0 ? rows : 1;
    for (int64_t r = 0; r < rows; r += each) {
        if (dc == 1) {
            ravel_fill_bits_rows(dst, (d + r * dr) * bits, each, cols * bits, dr * bits / 8,
                                 v * (255 / ones));
            continue;
        }
        for (int64_t c = 0; c < cols; c++) {
            const int64_t x = (d + r * dr + c * dc) * bits;
            ravel_bits_into(dst + x / 8, x % 8, v, bits);
        }
    }
}
