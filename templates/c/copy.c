/* rows runs of `bytes` bytes in each of n planes; dp and sp bytes from one run to the
 * next, dn and sn from one plane to the next.  `stream`: past the caches. */
static void
ravel_copy(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
           int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t stream)
{
    if (stream && bytes < 256)
        stream = 0;
#define RAVEL_RUNS(move, k)                                     \
    for (int64_t r = 0; r < rows; r++)                          \
        move(d + r * dp, s + r * sp, k)
    for (int64_t b = 0; b < n; b++, d += dn, s += sn) {
        if (stream) {
            const int64_t on = 1 + 2048 / bytes;
            for (int64_t r = 0; r < rows; r++)
                ravel_stream_next(d + r * dp, s + r * sp, bytes,
                                  r + on < rows ? s + (r + on) * sp
                                                : s + sn + (r + on - rows) * sp);
            continue;
        }
        switch (bytes) {
        case 1: RAVEL_RUNS(memcpy, 1); break;
        case 2: RAVEL_RUNS(memcpy, 2); break;
        case 4: RAVEL_RUNS(memcpy, 4); break;
        case 8: RAVEL_RUNS(memcpy, 8); break;
        case 16: RAVEL_RUNS(memcpy, 16); break;
        case 32: RAVEL_RUNS(memcpy, 32); break;
        case 64: RAVEL_RUNS(memcpy, 64); break;
        default: RAVEL_RUNS(memcpy, (size_t)bytes); break;
        }
    }
#undef RAVEL_RUNS
}
