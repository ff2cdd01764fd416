/* Copies n planes of `rows` runs of `bytes` bytes and fills each up to `width` bytes with
 * elements of `size` bytes that have the value `value`.  Runs are dp (sp) bytes apart,
 * planes dn (sn) bytes.  `stream`: short rows that are contiguous in the destination go
 * through a buffer, in whole cache lines with non-temporal stores. */
#ifndef RAVEL_PLAIN
/* Puts rows of at most 16 bytes into the buffer, one vector for each, from row r on until
 * row `most` or until the buffer is full.  Adds their bytes to *held; returns the next
 * row. */
RAVEL_INLINE int64_t
ravel_short_rows(unsigned char *stage, int64_t *held, const unsigned char *s, int64_t r,
                 int64_t most, int64_t bytes, int64_t width, int64_t sp,
                 const unsigned char *pad)
{
    unsigned char keep[16], rest[16];
    for (int64_t i = 0; i < 16; i++) {
        keep[i] = i < bytes ? 255 : 0;
        rest[i] = (unsigned char)(i < bytes || i >= width ? 0 : pad[i - bytes]);
    }
    const ravel_1x1 mask = ravel_load1(keep), fill = ravel_load1(rest);
    int64_t at = *held;
    for (; r < most && at + width <= 4096; r++, at += width)
        ravel_store1(stage + at, (ravel_load1(s + r * sp) & mask) | fill, 0);
    *held = at;
    return r;
}
#endif

static void
ravel_copy_fill_plane(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t dp, int64_t sp,
                      int64_t stream, const unsigned char *pad)
{
#ifndef RAVEL_PLAIN
    unsigned char stage[64 + 4096] __attribute__((aligned(64)));
    int64_t held = 0;
    if (stream && dp == width && width <= 2048) {
        /* rows from whose start 16 bytes can be read */
        const int64_t most = width <= 16 && sp > 0 ? rows - 1 - (15 + sp - bytes) / sp : 0;
        for (int64_t r = 0; r < rows; r++) {
            r = ravel_short_rows(stage, &held, s, r, most, bytes, width, sp, pad);
            if (held + width > 4096)
                held = ravel_pour(&d, stage, held, 1, 0);
            ravel_few_bytes(stage + held, s + r * sp, bytes);
            ravel_few_bytes(stage + held + bytes, pad, width - bytes);
            held += width;
            if (held + width > 4096 || r + 1 == rows)
                held = ravel_pour(&d, stage, held, 1, r + 1 == rows);
        }
        return;
    }
#endif
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        memcpy(d + r * dp, s + r * sp, (size_t)bytes);
        memcpy(d + r * dp + bytes, pad, (size_t)(width - bytes));
    }
}

static void
ravel_copy_fill(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                int64_t bytes, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                int64_t sp, int64_t stream, uint64_t value, int64_t size)
{
    unsigned char pad[RAVEL_PAD_BYTES];
    for (int64_t i = 0; i < width - bytes; i++)
        pad[i] = (unsigned char)(i % size < 8 ? value >> i % size * 8 & 255 : 0);
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_fill_plane(d, s, rows, bytes, width, dp, sp, stream, pad);
}
