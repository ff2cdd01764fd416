/* Copies `rows` runs of `cols` contiguous elements of 1, 2 or 4 bits, which may begin
 * inside a byte.  The first element of a byte is in its lowest bits.  Offsets and strides
 * count elements from the start of the buffers.  The other bits of the first and the last
 * byte of a run stay. */

/* Returns n <= 8 bits from bit y on. */
static unsigned
ravel_bits_at(const unsigned char *s, int64_t y, int64_t n)
{
    const unsigned low = (unsigned)s[y / 8] >> y % 8;
    const unsigned high = y % 8 + n > 8 ? (unsigned)s[y / 8 + 1] << (8 - y % 8) : 0;
    return (low | high) & ((1u << n) - 1);
}

/* Returns the 8 bytes that begin at bit `by` of s, 0 < by < 8; reads 9.  The mask keeps bits
 * in their byte, whatever the byte order. */
static inline uint64_t
ravel_bits_word(const unsigned char *s, int64_t by)
{
    const uint64_t low = (uint64_t)(0xff >> by) * 0x0101010101010101;
    uint64_t a, b;
    memcpy(&a, s, 8);
    memcpy(&b, s + 1, 8);
    return (a >> by & low) | (b << (8 - by) & ~low);
}

/* Copies bytes that begin at bit `by` of the source, 0 < by < 8.  The last vector (word)
 * may overlap the one before. */
static void
ravel_bits_shifted(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t by)
{
    int64_t i = 0;
#ifndef RAVEL_PLAIN
    for (; bytes >= 16 && i < bytes; i += 16) {
        i = i + 16 > bytes ? bytes - 16 : i;
        ravel_store1(d + i, ravel_bits_vector(s + i, by), 0);
    }
#endif
    for (; bytes >= 8 && i < bytes; i += 8) {
        i = i + 8 > bytes ? bytes - 8 : i;
        const uint64_t v = ravel_bits_word(s + i, by);
        memcpy(d + i, &v, 8);
    }
    for (; i < bytes; i++)
        d[i] = (unsigned char)((s[i] >> by | s[i + 1] << (8 - by)) & 255);
}

/* Copies bytes.  Short runs not by memcpy: with -march=native gcc makes a string instruction
 * of it, which takes long to start.  The last vector may overlap the one before. */
static inline void
ravel_bits_moved(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    enum { LONG = 512 };
    int64_t i = 0;
    if (bytes >= LONG) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
#ifndef RAVEL_PLAIN
    for (; bytes >= 16 && i < bytes; i += 16) {
        i = i + 16 > bytes ? bytes - 16 : i;
        ravel_store1(d + i, ravel_load1(s + i), 0);
    }
#endif
    for (; i < bytes; i++)
        d[i] = s[i];
}

static void
ravel_bits_run(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
               int64_t rows, int64_t cols, int64_t dr, int64_t sr, int64_t bits)
{
    for (int64_t r = 0; r < rows; r++) {
        int64_t x = (d + r * dr) * bits, y = (s + r * sr) * bits, n = cols * bits;
        int64_t part = -x & 7;
        part = part < n ? part : n;
        if (part) {
            ravel_bits_into(dst + x / 8, x % 8, ravel_bits_at(src, y, part), part);
            x += part;
            y += part;
            n -= part;
        }
        if (n >= 8 && y % 8)
            ravel_bits_shifted(dst + x / 8, src + y / 8, n / 8, y % 8);
        else
            ravel_bits_moved(dst + x / 8, src + y / 8, n / 8);
        if (n % 8)
            ravel_bits_into(dst + (x + n) / 8, 0,
                            ravel_bits_at(src, y + n / 8 * 8, n % 8), n % 8);
    }
}
