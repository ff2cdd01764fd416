/* Runs of elements of 1, 2 or 4 bits to a byte each, and back: by registers, words of eight, single
 * ones.  The first element of a byte is in its lowest bits.  `bits` is a constant. */
#ifndef RAVEL_UNPACK_VBMI
#ifdef RAVEL_UNPACK_LINES
/* The registers of n elements; the last one may overlap the one before.  Returns the elements
 * that are done: n, or 0 if it is less than one. */
RAVEL_CONSTANT int64_t
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    enum { LINE = RAVEL_UNPACKED };
    const unsigned char *of = s + (at >> 3);
    int64_t i = 0;
    for (; !(at & 7) && i + LINE <= n; i += LINE, of += LINE / 8 * bits)
        ravel_unpack_line(d + i, of, 0, bits);
    for (; i + LINE <= n; i += LINE, of += LINE / 8 * bits)
        ravel_unpack_line(d + i, of, (int)(at & 7), bits);
    if (i == n || n < LINE)
        return i;
    at += (n - LINE) * bits;
    if (at & 7)
        ravel_unpack_line(d + n - LINE, s + (at >> 3), (int)(at & 7), bits);
    else
        ravel_unpack_line(d + n - LINE, s + (at >> 3), 0, bits);
    return n;
}
#endif

/* n elements from bit `at` of s on; the last word may overlap the one before. */
RAVEL_CONSTANT void
ravel_unpack_bits(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_LINES
    i = ravel_unpack_lines(d, s, at, n, bits);
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_word_store(d + i, ravel_unpacked_word(s, at + i * bits, bits), 8);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)(s[(at + i * bits) >> 3] >> ((at + i * bits) & 7) &
                               ((1 << bits) - 1));
}

/* Each run of n elements to `pitch` bytes after the one before.  Fetches what is `ahead` bytes from
 * them; 0: nothing. */
RAVEL_CONSTANT void
ravel_unpack_runs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                  const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int bits)
{
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = (s + from[i]) * bits, end = (at + n * bits) >> 3;
        for (int64_t k = at >> 3; ahead && k < end; k += 64)
            RAVEL_PREFETCH(src + ahead + k);
        ravel_unpack_bits(to, src, at, n, bits);
    }
}

/* n elements of four bits from element `at` of s on, each with that from element `on` on in the upper half
 * of its byte. */
static void
ravel_unpack_pair(unsigned char *d, const unsigned char *s, int64_t at, int64_t on, int64_t n)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_PAIRS
    enum { FEW = 32, SOME = 64 };
    for (; i + SOME <= n; i += SOME)
        ravel_unpack_both(d + i, s, at + i, on + i, 0);
    for (; i < n && n >= FEW; i += FEW) {
        i = i + FEW > n ? n - FEW : i;
        ravel_unpack_both(d + i, s, at + i, on + i, 1);
    }
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_word_store(d + i, ravel_unpacked_word(s, 4 * (at + i), 4) |
                                    ravel_unpacked_word(s, 4 * (on + i), 4) << 4, 8);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)((s[(at + i) >> 1] >> ((at + i) & 1) * 4 & 15) |
                               (s[(on + i) >> 1] >> ((on + i) & 1) * 4 & 15) << 4);
}

/* As ravel_unpack_runs, of elements of four bits, each with the one that is `pair` elements on;
 * RAVEL_PAIR_TABLE: from[] has both offsets of each. */
static void
ravel_unpack_pairs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                   const int32_t *from, int64_t runs, int64_t n, int64_t pair, int64_t ahead)
{
    const int two = pair == RAVEL_PAIR_TABLE;
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = s + from[two ? 2 * i : i], on = two ? s + from[2 * i + 1] : at + pair;
        for (int64_t k = 0; ahead && k < n; k += 2 * RAVEL_LINE) {
            RAVEL_PREFETCH(src + ahead + (at + k) / 2);
            RAVEL_PREFETCH(src + ahead + (on + k) / 2);
        }
        ravel_unpack_pair(to, src, at, on, n);
    }
}

/* n elements to whole bytes, the last of which may keep bits: it is read first, as to read next to
 * what was just written takes longer.  The last register or word of whole bytes may overlap the
 * one before. */
RAVEL_CONSTANT void
ravel_pack_bytes(unsigned char *d, const unsigned char *s, int64_t n, int up, int bits)
{
    const int64_t whole = n < 8 ? 0 : n - n % (8 / bits);
    int64_t i = 0;
    if (whole < n)
        ravel_pack_few(d + whole * bits / 8, 0, s + whole, (int)(n - whole), up, bits);
#ifdef RAVEL_UNPACK_LINES
    for (; i + RAVEL_UNPACKED <= whole; i += RAVEL_UNPACKED)
        ravel_pack_line(d + i / 8 * bits, s + i, up, bits);
    if (i < whole && whole >= RAVEL_UNPACKED) {
        i = whole - RAVEL_UNPACKED;
        ravel_pack_line(d + i * bits / 8, s + i, up, bits);
        i = whole;
    }
#endif
    for (; i < whole; i += 8) {
        i = i + 8 > whole ? whole - 8 : i;
        ravel_pack_word(d + i * bits / 8, s + i, up, bits);
    }
}

/* The same; lines of a cache by non-temporal stores. */
RAVEL_CONSTANT void
ravel_pack_past(unsigned char *d, const unsigned char *s, int64_t n, int up, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t most = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1)) * 8 / bits;
    const int64_t head = most < n ? most : n, tail = (n - head) % each;
    const int64_t part[] = {head, tail};
    unsigned char line[RAVEL_LINE];
    for (int k = 0; k < 2; k++) {
        ravel_pack_bytes(d, s, part[k], up, bits);
        s += part[k];
        d += part[k] * bits / 8;
        for (int64_t i = head; i + each <= n && !k; i += each, s += each, d += RAVEL_LINE) {
            ravel_pack_bytes(line, s, each, up, bits);
            ravel_stream_line(d, line);
        }
    }
}

/* n elements to bit `at` of d and what follows. */
RAVEL_CONSTANT void
ravel_pack_bits(unsigned char *d, int64_t at, const unsigned char *s, int64_t n, int64_t stream,
                int up, int bits)
{
    const int64_t first = (-at & 7) / bits, head = first < n ? first : n;
    d += at >> 3;
    if (head) {
        ravel_pack_few(d++, (int)(at & 7), s, (int)head, up, bits);
        s += head;
        n -= head;
    }
    if (stream)
        ravel_pack_past(d, s, n, up, bits);
    else
        ravel_pack_bytes(d, s, n, up, bits);
}

/* The inverse of ravel_unpack_runs; elements begin at bit `up` of their bytes.  Up to
 * 63 bytes after a run are read. */
RAVEL_CONSTANT void
ravel_pack_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
                const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int up,
                int bits)
{
    for (int64_t i = 0; i < runs; i++, from += pitch)
        ravel_pack_bits(dst, (d + to[i]) * bits, from, n, stream, up, bits);
}
#endif
