/* Rows of a buffer of bits_tile.h to the destination, at any bit. */
#ifdef RAVEL_BITS_TILES
RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_shift_all(const unsigned char *s, int64_t by)
{
    RAVEL_ALL(8) a, b;
    memcpy(&a, s, sizeof a);
    memcpy(&b, s + 1, sizeof b);
    return (RAVEL_ALL(1))(a >> (uint64_t)by | b << (uint64_t)(8 - by));
}

/* Copies bytes that begin at bit `by` of s, by < 8; the last vector overlaps the one
 * before.  `stream`: d and bytes are of whole lines. */
RAVEL_INLINE void
ravel_bits_bytes_out(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t by,
                     int64_t stream)
{
    enum { ALL = 16 * RAVEL_LANES, WIDE = RAVEL_BITS_WIDE };
    int64_t i = 0;
    for (; bytes >= ALL && i < bytes; i += ALL) {
        i = i + ALL > bytes ? bytes - ALL : i;
        RAVEL_ALL_STORE(d + i, ravel_bits_shift_all(s + i, by), stream);
    }
    for (; bytes >= WIDE && i < bytes; i += WIDE) {
        i = i + WIDE > bytes ? bytes - WIDE : i;
        const RAVEL_TWO(1) v = ravel_bits_shift(s + i, s + i + 1, by, 8 - by);
        memcpy(d + i, &v, WIDE);
    }
    if (i < bytes)
        ravel_bits_shifted(d + i, s + i, bytes - i, by);
}

/* Copies n bits of a row to bit x of the destination.  `first`: what is before them in
 * their byte stays; else the byte before the row has it.  `last`: also what does not fill a
 * byte; else the byte before the row keeps it for the next tile. */
RAVEL_INLINE void
ravel_bits_out(unsigned char *dst, int64_t x, unsigned char *row, int64_t n, int first,
               int last, int64_t stream)
{
    unsigned char *const d = dst + (x >> 3);
    const int64_t at = x & 7, bytes = (at + n) >> 3, left = (at + n) & 7;
    if (at && first)
        row[-1] = (unsigned char)(*d << (8 - at));
    ravel_bits_bytes_out(d, row - (at > 0), bytes, -at & 7, stream && bytes % 64 == 0);
    if (!last)
        row[-1] = row[(n >> 3) - 1];
    else if (left)
        ravel_bits_into(d + bytes, 0, ravel_bits_at(row - 1, n + 8 - left, left), left);
}

/* Copies r rows of n bits, n >= 8, that touch in the destination.  A row is written with
 * what is after it in the buffer, which the next row replaces. */
__attribute__((noinline)) static void
ravel_bits_touch(unsigned char *dst, int64_t x, unsigned char *row, int64_t r, int64_t n)
{
    enum { WIDE = RAVEL_BITS_WIDE, PITCH = RAVEL_BITS_PITCH };
    const int64_t end = (x + r * n) >> 3;
#ifdef RAVEL_BITS_NARROW
    if (n <= RAVEL_JOINED_BITS) {
        const int64_t done = ravel_joined_any(dst, x, row, r, n, end);
        x += done * n;
        row += done * PITCH;
        r -= done;
    }
#endif
    row[-1] = (unsigned char)(dst[x >> 3] << (-x & 7));
    for (int64_t i = 1; i < r; i++)
        row[i * PITCH - 1] = (unsigned char)ravel_bits_at(row + (i - 1) * PITCH, n - 8, 8);
    for (; r > 0 && ((x + n) >> 3) + WIDE <= end; r--, x += n, row += PITCH) {
        const int64_t at = x & 7, bytes = (at + n + 7) >> 3, by = -x & 7;
        const unsigned char *const s = row - (at > 0);
        for (int64_t k = 0; k < bytes; k += WIDE) {
            const RAVEL_TWO(1) v = ravel_bits_shift(s + k, s + k + 1, by, 8 - by);
            memcpy(dst + (x >> 3) + k, &v, WIDE);
        }
    }
    for (; r > 0; r--, x += n, row += PITCH)
        ravel_bits_out(dst, x, row, n, 1, 1, 0);
}
#endif
