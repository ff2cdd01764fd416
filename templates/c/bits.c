/* Copies rows x cols elements of 1, 2 or 4 bits.  The first element of a byte is in its
 * lowest bits.  Offsets and strides count elements from the start of the buffers.  If the
 * columns are adjacent in the destination, each byte is assembled and stored once. */

/* Returns n elements in the lowest bits; the first is at bit y of src, the others `step`
 * bits apart. */
static inline unsigned
ravel_bits_some(const unsigned char *src, uint64_t y, uint64_t step, int64_t n,
                int64_t bits)
{
    unsigned v = 0;
    for (int64_t i = 0; i < n; i++, y += step)
        v |= ((unsigned)src[y / 8] >> y % 8 & ((1u << bits) - 1)) << i * bits;
    return v;
}

/* Stores `bytes` bytes of such elements. */
static inline void
ravel_bits_bytes(unsigned char *d, const unsigned char *src, uint64_t y, uint64_t step,
                 int64_t bytes, int64_t bits)
{
    for (int64_t b = 0; b < bytes; b++) {
        unsigned v = 0;
        for (int64_t i = 0; i < 8; i += bits, y += step)
            v |= ((unsigned)src[y / 8] >> y % 8 & ((1u << bits) - 1)) << i;
        d[b] = (unsigned char)v;
    }
}

/* Stores n such elements from bit x of dst on.  The other bits of a byte stay. */
static void
ravel_bits_touching(unsigned char *dst, int64_t x, const unsigned char *src, uint64_t y,
                    uint64_t step, int64_t n, int64_t bits)
{
    const int64_t per = 8 / bits;
    int64_t part = (-x & 7) / bits;
    part = part < n ? part : n;
    if (part)
        ravel_bits_into(dst + x / 8, x % 8, ravel_bits_some(src, y, step, part, bits),
                        part * bits);
    dst += (x + 7) / 8;
    y += (uint64_t)part * step;
    n -= part;
    ravel_bits_bytes(dst, src, y, step, n / per, bits);
    y += (uint64_t)(n / per * per) * step;
    if (n % per)
        ravel_bits_into(dst + n / per, 0, ravel_bits_some(src, y, step, n % per, bits),
                        n % per * bits);
}

static void
ravel_bits(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
           int64_t rows, int64_t cols, int64_t dr, int64_t dc, int64_t sr, int64_t sc,
           int64_t bits)
{
    const int64_t per = 8 / bits;
    const uint64_t step = (uint64_t)(sc * bits);
    const int whole = dc == 1 && (d | dr | cols) % per == 0;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t x = (d + r * dr) * bits;
        const uint64_t y = (uint64_t)((s + r * sr) * bits);
        if (whole)
            ravel_bits_bytes(dst + x / 8, src, y, step, cols / per, bits);
        else if (dc == 1)
            ravel_bits_touching(dst, x, src, y, step, cols, bits);
        else
            for (int64_t c = 0; c < cols; c++)
                ravel_bits_into(dst + (x + c * dc * bits) / 8, (x + c * dc * bits) % 8,
                                ravel_bits_some(src, y + (uint64_t)c * step, 0, 1, bits),
                                bits);
    }
}
