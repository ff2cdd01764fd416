/* Rows of a buffer of bits_tile.h to the destination, at any bit. */
#ifdef RAVEL_BITS_TILES
/* Copies bytes that begin at bit `by` of s, by < 8.  `stream`: d and bytes are of whole
 * vectors. */
RAVEL_INLINE void
ravel_bits_bytes_out(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t by,
                     int64_t stream)
{
    enum { WIDE = RAVEL_BITS_WIDE };
    int64_t i = 0;
    for (; i + WIDE <= bytes; i += WIDE)
        RAVEL_ALL_STORE(d + i, ravel_bits_shift_all(s + i, by), stream);
#if RAVEL_LANES == 4
    const __mmask64 some = ((__mmask64)1 << (bytes - i)) - 1;
    _mm512_mask_storeu_epi8(d + i, some, (__m512i)ravel_bits_shift_all(s + i, by));
#else
    if (i < bytes && bytes >= WIDE)
        RAVEL_ALL_STORE(d + bytes - WIDE, ravel_bits_shift_all(s + bytes - WIDE, by), 0);
    else if (i < bytes)
        ravel_bits_shifted(d, s, bytes, by);
#endif
}

/* Copies n bits of a row to bit x of the destination.  `first`: what is before them in their
 * byte stays; else the byte before the row has it.  `last`: also what does not fill a byte; else
 * the byte before the row keeps it for the next tile.  Bytes of which bits stay are read before
 * others are written: what is next to a masked store waits for it. */
RAVEL_INLINE void
ravel_bits_out(unsigned char *dst, int64_t x, unsigned char *row, int64_t n, int first,
               int last, int64_t stream)
{
    unsigned char *const d = dst + (x >> 3);
    const int64_t at = x & 7, bytes = (at + n) >> 3, left = (at + n) & 7;
    const unsigned head = (*d & ((1u << at) - 1)) | (unsigned)row[0] << at;
    if (last && left && bytes)
        ravel_bits_into(d + bytes, 0, ravel_bits_at(row, n - left, left), left);
    ravel_bits_bytes_out(d, row - (at > 0), bytes, -at & 7, stream && bytes % RAVEL_LINE == 0);
    if (first && at && bytes)
        *d = (unsigned char)head;
    if (!last)
        row[-1] = row[(n >> 3) - 1];
    else if (left && !bytes && first)
        ravel_bits_into(d, at, ravel_bits_at(row, 0, n), n);
    else if (left && !bytes)
        ravel_bits_into(d, 0, ravel_bits_at(row - 1, 8 - at, left), left);
}

/* Copies r rows of n bits, at least 8, that touch in the destination, by whole vectors.  A row is
 * written with what is after it in the buffer, which the next row replaces. */
__attribute__((noinline)) static void
ravel_bits_touch(unsigned char *dst, int64_t x, unsigned char *row, int64_t pitch, int64_t r,
                 int64_t n)
{
    enum { WIDE = RAVEL_BITS_WIDE };
    const int64_t end = (x + r * n) >> 3;
#ifdef RAVEL_BITS_NARROW
    if (n <= RAVEL_JOINED_BITS) {
        const int64_t done = ravel_joined_any(dst, x, row, pitch, r, n, end);
        x += done * n;
        row += done * pitch;
        r -= done;
    }
#endif
    row[-1] = (unsigned char)(dst[x >> 3] << (-x & 7));
    for (int64_t i = 1; i < r; i++)
        row[i * pitch - 1] = (unsigned char)ravel_bits_at(row + (i - 1) * pitch, n - 8, 8);
    for (; r > 0 && ((x + n) >> 3) + WIDE <= end; r--, x += n, row += pitch) {
        const int64_t at = x & 7;
        for (int64_t i = 0; 8 * i < at + n; i += WIDE)
            RAVEL_ALL_STORE(dst + (x >> 3) + i, ravel_bits_shift_all(row - (at > 0) + i, -at & 7),
                            0);
    }
    for (; r > 0; r--, x += n, row += pitch)
        ravel_bits_out(dst, x, row, n, 1, 1, 0);
}
#endif
