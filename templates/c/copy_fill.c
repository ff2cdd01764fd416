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
    for (; r < most && at + width <= RAVEL_COPY_BUFFER; r++, at += width)
        ravel_store1(stage + at, (ravel_load1(s + r * sp) & mask) | fill, 0);
    *held = at;
    return r;
}

/* Rows that are whole cache lines: the padding stays in the buffer. */
static void
ravel_copy_fill_lines(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t sp, const unsigned char *pad)
{
    unsigned char stage[RAVEL_COPY_BUFFER] __attribute__((aligned(RAVEL_LINE)));
    const int64_t most = RAVEL_COPY_BUFFER / width;
    ravel_copy_runs(stage + bytes, pad, most, width - bytes, width, 0);
    for (int64_t r = 0; r < rows; r += most) {
        const int64_t k = rows - r < most ? rows - r : most;
        ravel_copy_runs(stage, s + r * sp, k, bytes, width, sp);
        ravel_pour(&d, stage, k * width, 1, 0);
    }
}

/* Rows of other sizes. */
static void
ravel_copy_fill_staged(unsigned char *d, const unsigned char *s, int64_t rows,
                       int64_t bytes, int64_t width, int64_t sp, const unsigned char *pad)
{
    unsigned char stage[RAVEL_LINE + RAVEL_COPY_BUFFER] __attribute__((aligned(RAVEL_LINE)));
    int64_t held = 0;
    /* rows from whose start 16 bytes can be read */
    const int64_t most = width <= 16 && sp > 0 ? rows - 1 - (15 + sp - bytes) / sp : 0;
    for (int64_t r = 0; r < rows;) {
        r = ravel_short_rows(stage, &held, s, r, most, bytes, width, sp, pad);
        const int64_t room = (RAVEL_COPY_BUFFER - held) / width;
        const int64_t k = rows - r < room ? rows - r : room;
        ravel_copy_runs(stage + held, s + r * sp, k, bytes, width, sp);
        ravel_copy_runs(stage + held + bytes, pad, k, width - bytes, width, 0);
        r += k;
        held = ravel_pour(&d, stage, held + k * width, 1, r == rows);
    }
}
#endif

static void
ravel_copy_fill_plane(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t dp, int64_t sp,
                      int64_t stream, const unsigned char *pad)
{
#ifndef RAVEL_PLAIN
    if (stream && dp == width && width <= 2048) {
        if (((uintptr_t)d | (uintptr_t)width) % RAVEL_LINE == 0)
            ravel_copy_fill_lines(d, s, rows, bytes, width, sp, pad);
        else
            ravel_copy_fill_staged(d, s, rows, bytes, width, sp, pad);
        return;
    }
#endif
    /* of each piece the runs, then what follows each */
    const int64_t piece = 1 + RAVEL_NEAR_BYTES / width;
    (void)stream;
    for (int64_t r = 0; r < rows; r += piece) {
        const int64_t k = rows - r < piece ? rows - r : piece;
        ravel_copy_runs(d + r * dp, s + r * sp, k, bytes, dp, sp);
        ravel_copy_runs(d + r * dp + bytes, pad, k, width - bytes, dp, 0);
    }
}

/* So many bytes of elements of `size` bytes, by doubling what is there. */
static inline void
ravel_repeat(unsigned char *d, int64_t bytes, uint64_t value, int64_t size)
{
    int64_t done = size < bytes ? size : bytes;
    for (int64_t i = 0; i < done; i++)
        d[i] = (unsigned char)(i < 8 ? value >> i * 8 & 255 : 0);
    for (int64_t more; done < bytes; done += more) {
        more = bytes - done < done ? bytes - done : done;
        memcpy(d + done, d, (size_t)more);
    }
}

static void
ravel_copy_fill(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                int64_t bytes, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                int64_t sp, int64_t stream, uint64_t value, int64_t size)
{
    unsigned char pad[RAVEL_PAD_BYTES];
    ravel_repeat(pad, width - bytes, value, size);
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_fill_plane(d, s, rows, bytes, width, dp, sp, stream, pad);
}
