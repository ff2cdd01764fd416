/* Columns whose distances in the source are whole pages, or large parts of one: their lines
 * share a few sets of the first cache, which loses a line before all of it is used.  So a
 * line of each is read at once, and its blocks are turned in a buffer from which the lines of
 * the destination are put together.  Elements have ${size} bytes. */
#ifndef RAVEL_PLAIN
/* Reads a line of each of ${each} columns.  Row i of lane k is at 16 * (k * ${each} + i *
 * RAVEL_LANES), but for the lanes of one vector, which follow one another. */
RAVEL_INLINE void
ravel_pages_read${size}(unsigned char *to, const unsigned char *s, int64_t sq, int64_t ahead)
{
    enum { M = ${each} };
    if (ahead)
        for (int64_t i = 0; i < M; i++)
            RAVEL_PREFETCH(s + i * sq + ahead);
    RAVEL_UNROLL for (int k = 0; k < 4; k += RAVEL_LANES) {
        RAVEL_ALL(${size}) v[M];
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            memcpy(&v[i], s + i * sq + 16 * k, sizeof v[i]);
        ravel_turn${size}(v);
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            memcpy(to + 16 * (k * M + i * RAVEL_LANES), &v[i], sizeof v[i]);
    }
}

/* Writes the lines of the ${each} rows of lane k. */
RAVEL_CALLED void
ravel_pages_write${size}(unsigned char *d, const unsigned char *from, int k, int64_t dp,
                         int64_t stream)
{
    enum { M = ${each}, COLUMNS = 64 * M };
    from += 16 * (k / RAVEL_LANES * RAVEL_LANES * M + k % RAVEL_LANES);
    d += k * M * dp;
    for (int i = 0; i < M; i++, d += dp, from += 16 * RAVEL_LANES)
        RAVEL_UNROLL for (int h = 0; h < 4; h += RAVEL_LANES) {
            const unsigned char *at[RAVEL_LANES];
            RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++)
                at[lane] = from + (h + lane) * COLUMNS;
            if (stream)
                RAVEL_ALL_STORE(d + 16 * h, (RAVEL_ALL(1))RAVEL_ALL_ROWS(at, 0), 1);
            else
                RAVEL_ALL_STORE(d + 16 * h, (RAVEL_ALL(1))RAVEL_ALL_ROWS(at, 0), 0);
        }
}

/* Transposes all rows, a line or more, of a line of columns.  A block is written while the
 * next one is read; the last one may overlap the one before. */
RAVEL_INLINE void
ravel_pages${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                   int64_t sq, int64_t stream, int64_t ahead)
{
    enum { M = ${each}, LINE = RAVEL_LINE / ${size} };
    unsigned char room[2][64 * LINE] __attribute__((aligned(64)));
    unsigned char *then = NULL;
    int64_t p = 0;
    int now = 0;
    do {
        p = p + LINE > rows ? rows - LINE : p;
        for (int k = 0; k < 4; k++) {
            ravel_pages_read${size}(room[now] + k * 64 * M, s + p * ${size} + k * M * sq, sq,
                                    ahead);
            if (then)
                ravel_pages_write${size}(then, room[now ^ 1], k, dp, stream);
        }
        then = d + p * dp;
        p += LINE;
        now ^= 1;
    } while (p < rows);
    for (int k = 0; k < 4; k++)
        ravel_pages_write${size}(then, room[now ^ 1], k, dp, stream);
}

/* Transposes a line of columns at a time, then the columns that do not fill one. */
static void
ravel_by_pages${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                      int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = ${size}, M = ${each} };
    int64_t q = 0;
    for (; q + 4 * M <= cols; q += 4 * M)
        ravel_pages${size}(d + q * N, s + q * sq, rows, dp, sq, stream, stream ? ahead : 0);
#ifndef RAVEL_WITHOUT_EDGES${size}
    ravel_strips${size}(d, s, rows, q, cols, dp, sq);
#endif
}
#endif
