/* Copies of runs: with ordinary stores, and with non-temporal stores. */
#define RAVEL_RUNS(k)                                      \
    for (int64_t r = 0; r < rows; r++)                     \
        memcpy(d + r * dp, s + r * sp, k)
static void
ravel_copy_runs(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 1: RAVEL_RUNS(1); break;
    case 2: RAVEL_RUNS(2); break;
    case 4: RAVEL_RUNS(4); break;
    case 8: RAVEL_RUNS(8); break;
    case 16: RAVEL_RUNS(16); break;
    case 32: RAVEL_RUNS(32); break;
    case 64: RAVEL_RUNS(64); break;
    default:
        for (int64_t r = 0; r < rows; r++)
            ravel_move(d + r * dp, s + r * sp, bytes);
    }
}
#undef RAVEL_RUNS

/* Copies whole cache lines with non-temporal stores and prefetches from `next`. */
static inline void
ravel_stream_lines(unsigned char *d, const unsigned char *s, int64_t bytes,
                   const unsigned char *next)
{
    for (int64_t i = 0; i < bytes; i += 64) {
        RAVEL_PREFETCH(next + i);
        ravel_stream_line(d + i, s + i);
    }
}

static inline void
ravel_stream_next(unsigned char *d, const unsigned char *s, int64_t bytes,
                  const unsigned char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & 63);
    head = head < bytes ? head : bytes;
    const int64_t lines = (bytes - head) / 64 * 64, end = head + lines;
    if (head)
        memcpy(d, s, (size_t)head);
    ravel_stream_lines(d + head, s + head, lines, next + head);
    if (bytes > end)
        memcpy(d + end, s + end, (size_t)(bytes - end));
}

static inline void
ravel_stream_run(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    ravel_stream_next(d, s, bytes, s + 512);
}
