/* rows runs of `bytes` bytes in each of n planes; dp and sp bytes from one run to the
 * next, dn and sn from one plane to the next.  `stream`: past the caches, where runs are
 * whole lines, or long, or touch in the destination; the source is fetched 2 KB ahead. */
static void
ravel_copy_streamed(unsigned char *d, const unsigned char *s, int64_t rows,
                    int64_t bytes, int64_t dp, int64_t sp, const unsigned char *then)
{
    const int64_t on = 1 + 2048 / bytes;
    for (int64_t r = 0; r < rows; r++)
        ravel_stream_next(d + r * dp, s + r * sp, bytes,
                          r + on < rows ? s + (r + on) * sp
                                        : then + (r + on - rows) * sp);
}

/* Short runs that touch: by way of a buffer. */
static void
ravel_copy_gathered(unsigned char *d, const unsigned char *s, int64_t rows,
                    int64_t bytes, int64_t sp)
{
    unsigned char buffer[4096 + 512];
    const int64_t most = 4096 / bytes;
    for (int64_t r = 0, n; r < rows; r += n) {
        n = rows - r < most ? rows - r : most;
        for (int64_t i = 0; i < n; i++) {
            RAVEL_PREFETCH(s + (r + i) * sp + 32 * sp);
            ravel_move(buffer + i * bytes, s + (r + i) * sp, bytes);
        }
        ravel_stream_run(d + r * bytes, buffer, n * bytes);
    }
}

static void
ravel_copy(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
           int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t stream)
{
    const uintptr_t at = (uintptr_t)d | (uintptr_t)dp | (n > 1 ? (uintptr_t)dn : 0);
    const int lines = (at | (uintptr_t)bytes) % 64 == 0;
    if (bytes == 0)
        return;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        if (stream && (lines || bytes >= 256))
            ravel_copy_streamed(d, s, rows, bytes, dp, sp, s + sn);
        else if (stream && dp == bytes && rows > 1)
            ravel_copy_gathered(d, s, rows, bytes, sp);
        else
            ravel_copy_runs(d, s, rows, bytes, dp, sp);
}
