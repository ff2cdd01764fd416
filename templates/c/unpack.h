/* Elements of 1, 2 or 4 bits to a byte each, and back: lines of 64, words of eight, single ones.
 * The first element of a byte is in its lowest bits.  `bits` is a constant. */
#if defined(RAVEL_UNPACK_LINES) && !defined(RAVEL_UNPACK_SOME)
/* The lines of n elements; the last one may overlap the one before.  Returns the elements
 * that are done: n, or 0 if it is less than a line. */
RAVEL_CONSTANT int64_t
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    const unsigned char *of = s + (at >> 3);
    int64_t i = 0;
    for (; !(at & 7) && i + RAVEL_LINE <= n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_line(d + i, of, 0, bits);
    for (; i + RAVEL_LINE <= n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_line(d + i, of, (int)(at & 7), bits);
    if (i == n || n < RAVEL_LINE)
        return i;
    at += (n - RAVEL_LINE) * bits;
    if (at & 7)
        ravel_unpack_line(d + n - RAVEL_LINE, s + (at >> 3), (int)(at & 7), bits);
    else
        ravel_unpack_line(d + n - RAVEL_LINE, s + (at >> 3), 0, bits);
    return n;
}
#endif

/* n elements from bit `at` of s on, and up to 63 bytes after them; or the last word may overlap the
 * one before. */
RAVEL_CONSTANT void
ravel_unpack_bits(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_SOME
    for (const unsigned char *of = s + (at >> 3); i < n; i += RAVEL_LINE, of += 8 * bits)
        ravel_unpack_some(d + i, of, (int)(at & 7), n - i < RAVEL_LINE ? (int)(n - i) : RAVEL_LINE,
                          bits);
#elif defined(RAVEL_UNPACK_LINES)
    i = ravel_unpack_lines(d, s, at, n, bits);
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_unpack_word(d + i, s, at + i * bits, bits);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)(s[(at + i * bits) >> 3] >> ((at + i * bits) & 7) &
                               ((1 << bits) - 1));
}

/* n elements, fewer than 8, from bit `at` of a byte on; other bits stay.  Reads 8 bytes. */
RAVEL_CONSTANT void
ravel_pack_few(unsigned char *d, int at, const unsigned char *s, int n, int bits)
{
    if (bits == 4 && n == 1) {
        ravel_bits_into(d, at, *s, 4);
        return;
    }
    uint64_t x = ravel_unspread(ravel_word_load(s, 8), bits);
    for (n *= bits; n > 0; at = 0) {
        const int part = n < 8 - at ? n : 8 - at;
        ravel_bits_into(d++, at, (unsigned)x & ((1u << part) - 1), part);
        x >>= part;
        n -= part;
    }
}

/* n elements to whole bytes, the last of which may keep bits: it is read first, as to read next to
 * what was just written takes longer.  The last line or word of whole bytes may overlap the one
 * before; up to 63 bytes after the elements are read. */
RAVEL_CONSTANT void
ravel_pack_bytes(unsigned char *d, const unsigned char *s, int64_t n, int bits)
{
#ifdef RAVEL_UNPACK_SOME
    const int64_t whole = n - n % (8 / bits);
#else
    const int64_t whole = n < 8 ? 0 : n - n % (8 / bits);
#endif
    int64_t i = 0;
    if (whole < n)
        ravel_pack_few(d + whole * bits / 8, 0, s + whole, (int)(n - whole), bits);
#ifdef RAVEL_UNPACK_LINES
    for (; i + RAVEL_LINE <= whole; i += RAVEL_LINE)
        ravel_pack_line(d + i / 8 * bits, s + i, bits);
#ifdef RAVEL_UNPACK_SOME
    if (i < whole)
        ravel_pack_some(d + i / 8 * bits, s + i, (int)((whole - i) * bits / 8), bits);
    i = whole;
#endif
    if (i < whole && whole >= RAVEL_LINE) {
        i = whole - RAVEL_LINE;
        ravel_pack_line(d + i * bits / 8, s + i, bits);
        i = whole;
    }
#endif
    for (; i < whole; i += 8) {
        i = i + 8 > whole ? whole - 8 : i;
        ravel_pack_word(d + i * bits / 8, s + i, bits);
    }
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

/* n elements to bit `at` of d and what follows. */
RAVEL_CONSTANT void
ravel_pack_bits(unsigned char *d, int64_t at, const unsigned char *s, int64_t n, int64_t stream,
                int bits)
{
    const int64_t first = (-at & 7) / bits, head = first < n ? first : n;
    d += at >> 3;
    if (head) {
        ravel_pack_few(d++, (int)(at & 7), s, (int)head, bits);
        s += head;
        n -= head;
    }
    if (stream)
        ravel_pack_past(d, s, n, bits);
    else
        ravel_pack_bytes(d, s, n, bits);
}
