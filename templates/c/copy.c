/* Copies whole cache lines with non-temporal stores and prefetches from `next`. */
static inline void
ravel_stream_lines(unsigned char *d, const unsigned char *s, int64_t bytes,
                   const unsigned char *next)
{
    for (int64_t i = 0; i < bytes; i += RAVEL_LINE) {
        RAVEL_PREFETCH(next + i);
        ravel_stream_line(d + i, s + i);
    }
}

static inline void
ravel_stream_next(unsigned char *d, const unsigned char *s, int64_t bytes,
                  const unsigned char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    head = head < bytes ? head : bytes;
    const int64_t lines = (bytes - head) / RAVEL_LINE * RAVEL_LINE, end = head + lines;
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

/* Copies n planes of `rows` runs of `bytes` bytes.  Runs are dp (sp) bytes apart, planes
 * dn (sn) bytes.  `stream`: uses non-temporal stores for runs that are whole cache lines,
 * long, or contiguous in the destination, and prefetches the source 2 KB ahead. */
static inline void
ravel_copy_long(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp, int64_t sn, int lines)
{
    const int64_t on = 1 + 2048 / bytes, planes = on / rows * sn, more = on % rows;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t next = r + more < rows ? planes + (r + more) * sp
                                             : planes + sn + (r + more - rows) * sp;
        if (lines)
            ravel_stream_lines(d + r * dp, s + r * sp, bytes, s + next);
        else
            ravel_stream_next(d + r * dp, s + r * sp, bytes, s + next);
    }
}

static void
ravel_copy_streamed(unsigned char *d, const unsigned char *s, int64_t rows,
                    int64_t bytes, int64_t dp, int64_t sp, int64_t sn, int lines)
{
    switch (lines ? bytes : 0) {
    case 0: ravel_copy_long(d, s, rows, bytes, dp, sp, sn, 0); break;
    case RAVEL_LINE: ravel_copy_long(d, s, rows, RAVEL_LINE, dp, sp, sn, 1); break;
    case 2 * RAVEL_LINE: ravel_copy_long(d, s, rows, 2 * RAVEL_LINE, dp, sp, sn, 1); break;
    default: ravel_copy_long(d, s, rows, bytes, dp, sp, sn, 1);
    }
}

/* Copies planes whose runs are contiguous in the destination and fill whole cache lines
 * there.  A run is one vector or several. */
static void
ravel_copy_abreast(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                   int64_t bytes, int64_t dn, int64_t sn, int64_t sp)
{
    const int64_t ahead = (1 + 1024 / bytes) * sn;
    for (int64_t b = 0; b < n; b++)
        for (int64_t r = 0; r < rows; r++) {
            RAVEL_PREFETCH(s + b * sn + r * sp + ahead);
            for (int64_t i = 0; i < bytes; i += RAVEL_STREAM)
                ravel_stream(d + b * dn + r * bytes + i, s + b * sn + r * sp + i);
        }
}

static inline void
ravel_fetch_runs(const unsigned char *s, int64_t rows, int64_t sp)
{
    const int64_t on = sp > 0 && sp < RAVEL_LINE ? RAVEL_LINE / sp : 1;
    for (int64_t r = 0; r < rows; r += on)
        RAVEL_PREFETCH(s + r * sp);
}

/* Copies short runs that are contiguous in the destination, through a buffer: a piece of
 * each plane, then the next piece of each. */
static void
ravel_copy_gathered(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                    int64_t bytes, int64_t dn, int64_t sn, int64_t sp)
{
    unsigned char buffer[RAVEL_COPY_BUFFER];
    const int64_t most = RAVEL_COPY_BUFFER / bytes;
    for (int64_t r = 0, k; r < rows; r += k) {
        k = rows - r < most ? rows - r : most;
        for (int64_t b = 0; b < n; b++) {
            const unsigned char *from = s + b * sn + r * sp;
            ravel_fetch_runs(from + k * sp, k, sp);
            ravel_copy_runs(buffer, from, k, bytes, bytes, sp);
            ravel_stream_run(d + b * dn + r * bytes, buffer, k * bytes);
        }
    }
}

/* The same if the runs of one row of all planes are contiguous, then those of the next. */
static void
ravel_copy_woven(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                 int64_t bytes, int64_t sn, int64_t sp)
{
    unsigned char buffer[RAVEL_COPY_BUFFER];
    const int64_t most = RAVEL_COPY_BUFFER / (n * bytes);
    for (int64_t r = 0, k; r < rows; r += k) {
        k = rows - r < most ? rows - r : most;
        for (int64_t b = 0; b < n; b++) {
            const unsigned char *from = s + b * sn + r * sp;
            ravel_fetch_runs(from + k * sp, k, sp);
            ravel_copy_runs(buffer + b * bytes, from, k, bytes, n * bytes, sp);
        }
        ravel_stream_run(d + r * n * bytes, buffer, k * n * bytes);
    }
}

/* Copies short runs that are contiguous in the destination: the rows of a plane, or one
 * row of all planes. */
static int
ravel_copy_short(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                 int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    enum { FEW = 1024 };
    const int whole = bytes % RAVEL_STREAM == 0;
    if (dp == bytes && rows > 1) {
        const uintptr_t at = (uintptr_t)d | (uintptr_t)(rows * bytes) | (uintptr_t)dn;
        if (whole && rows * bytes <= FEW && n > 1 && at % RAVEL_LINE == 0)
            ravel_copy_abreast(d, s, n, rows, bytes, dn, sn, sp);
        else
            ravel_copy_gathered(d, s, n, rows, bytes, dn, sn, sp);
    } else if (dn == bytes && n > 1) {
        const uintptr_t at = (uintptr_t)d | (uintptr_t)(n * bytes) | (uintptr_t)dp;
        if (whole && n * bytes <= FEW && at % RAVEL_LINE == 0)
            ravel_copy_abreast(d, s, rows, n, bytes, dp, sp, sn);
        else if (dp != n * bytes)
            ravel_copy_gathered(d, s, rows, n, bytes, dp, sp, sn);
        else if (dp <= RAVEL_COPY_BUFFER)
            ravel_copy_woven(d, s, n, rows, bytes, sn, sp);
        else
            return 0;
    } else {
        return 0;
    }
    return 1;
}

static void
ravel_copy(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
           int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t stream)
{
    const uintptr_t at = (uintptr_t)d | (uintptr_t)dp | (n > 1 ? (uintptr_t)dn : 0);
    const int lines = (at | (uintptr_t)bytes) % RAVEL_LINE == 0;
    if (bytes == 0 || rows == 0)
        return;
    if (stream && !lines && bytes < RAVEL_LONG_BYTES &&
        ravel_copy_short(d, s, n, rows, bytes, dn, sn, dp, sp))
        return;
    if (!stream || (!lines && bytes < RAVEL_LONG_BYTES)) {
        const int across = !stream && rows < n && n * rows * bytes <= RAVEL_NEAR_BYTES;
        ravel_copy_planes(d, s, across ? rows : n, across ? n : rows, bytes,
                          across ? dp : dn, across ? sp : sn, across ? dn : dp,
                          across ? sn : sp);
        return;
    }
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_streamed(d, s, rows, bytes, dp, sp, sn, lines);
}
