/* Elements of 1, 2 or 4 bits to a byte each, and back: lines of 64, words of eight, single ones.
 * The first element of a byte is in its lowest bits.  `bits` is a constant. */
#ifdef RAVEL_UNPACK_LINES
/* The lines of n elements; the last one may overlap the one before.  Returns the elements
 * that are done: n, or 0 if it is less than a line. */
RAVEL_CONSTANT int64_t
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    const unsigned char *of = s + at / 8;
    int64_t i = 0;
    for (; !(at & 7) && i + RAVEL_LINE <= n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_line(d + i, of, 0, bits);
    for (; i + RAVEL_LINE <= n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_line(d + i, of, (int)(at & 7), bits);
    if (i == n || n < RAVEL_LINE)
        return i;
    at += (n - RAVEL_LINE) * bits;
    if (at & 7)
        ravel_unpack_line(d + n - RAVEL_LINE, s + at / 8, (int)(at & 7), bits);
    else
        ravel_unpack_line(d + n - RAVEL_LINE, s + at / 8, 0, bits);
    return n;
}
#endif

/* n elements from bit `at` of s on.  The last word may overlap the one before. */
RAVEL_CONSTANT void
ravel_unpack_bits(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_LINES
    i = ravel_unpack_lines(d, s, at, n, bits);
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_unpack_word(d + i, s, at + i * bits, bits);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)(s[(at + i * bits) / 8] >> (at + i * bits) % 8 &
                               ((1 << bits) - 1));
}

/* n elements, fewer than 8, from bit `at` of a byte on; other bits stay.  Reads 8 bytes. */
RAVEL_CONSTANT void
ravel_pack_few(unsigned char *d, int at, const unsigned char *s, int n, int bits)
{
    uint64_t x = ravel_unspread(ravel_word_load(s, 8), bits);
    for (n *= bits; n > 0; at = 0) {
        const int part = n < 8 - at ? n : 8 - at;
        ravel_bits_into(d++, at, (unsigned)x & ((1u << part) - 1), part);
        x >>= part;
        n -= part;
    }
}

/* n elements to whole bytes, the last of which may keep bits.  The last line or word of
 * whole bytes may overlap the one before. */
RAVEL_CONSTANT void
ravel_pack_bytes(unsigned char *d, const unsigned char *s, int64_t n, int bits)
{
    const int64_t whole = n - n % (8 / bits);
    int64_t i = 0;
#ifdef RAVEL_UNPACK_LINES
    for (; i + RAVEL_LINE <= whole; i += RAVEL_LINE)
        ravel_pack_line(d + i / 8 * bits, s + i, bits);
    if (i < whole && whole >= RAVEL_LINE) {
        i = whole - RAVEL_LINE;
        ravel_pack_line(d + i * bits / 8, s + i, bits);
        i = whole;
    }
#endif
    for (; whole >= 8 && i < whole; i += 8) {
        i = i + 8 > whole ? whole - 8 : i;
        ravel_pack_word(d + i * bits / 8, s + i, bits);
    }
    if (i < n)
        ravel_pack_few(d + i * bits / 8, 0, s + i, (int)(n - i), bits);
}

/* The same; lines of a cache by non-temporal stores. */
RAVEL_CONSTANT void
ravel_pack_past(unsigned char *d, const unsigned char *s, int64_t n, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t head = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1)) * 8 / bits;
    unsigned char line[RAVEL_LINE];
    int64_t i = head < n ? head : n;
    ravel_pack_bytes(d, s, i, bits);
    for (d += i * bits / 8; i + each <= n; i += each, d += RAVEL_LINE) {
        ravel_pack_bytes(line, s + i, each, bits);
        ravel_stream_line(d, line);
    }
    ravel_pack_bytes(d, s + i, n - i, bits);
}

/* n elements to bit `at` of d and what follows.  The elements before them in the first byte
 * stay: they take the place of those before s. */
RAVEL_CONSTANT void
ravel_pack_bits(unsigned char *d, int64_t at, unsigned char *s, int64_t n, int64_t stream,
                int bits)
{
    const int part = (int)(at & 7) / bits;
    d += at / 8;
    if (n < 8) {
        ravel_pack_few(d, (int)(at & 7), s, (int)n, bits);
        return;
    }
    for (int i = 0; i < part; i++)
        s[i - part] = (unsigned char)(*d >> i * bits & ((1 << bits) - 1));
    if (stream)
        ravel_pack_past(d, s - part, n + part, bits);
    else
        ravel_pack_bytes(d, s - part, n + part, bits);
}
