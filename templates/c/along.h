/* Rows of the destination that do not begin at cache lines and have few columns are written
 * one after another: the first cache then still holds the line of which a store writes the
 * first part when the next store writes the rest.  Elements have ${size} bytes. */
#ifndef RAVEL_PLAIN
/* Writes `tall` rows at a time, which is a constant; the last ones, and the last columns of
 * a row, may overlap those before. */
RAVEL_INLINE void
ravel_along_rows${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                        int64_t tall, int64_t dp, int64_t sq)
{
    enum { M = ${each}, ALL = M * RAVEL_LANES };
    for (int64_t p = 0; p < rows; p += tall) {
        p = p + tall > rows ? rows - tall : p;
        for (int64_t q = 0; q < cols; q += ALL) {
            q = q + ALL > cols ? cols - ALL : q;
            for (int64_t k = p; k < p + tall; k += M) {
                RAVEL_ALL(1) v[1][M];
                ravel_block${size}(s + k * ${size} + q * sq, sq, v[0]);
                ravel_put${size}(d + k * dp + q * ${size}, v, 1, dp, 0);
            }
        }
    }
}

/* Rows of few columns: so many lines of the source stay in the first cache; but not if the
 * last columns are few, which overlap those before.  Rows that are all near are written column
 * by column, and their next lines prefetched. */
RAVEL_INLINE int
ravel_is_along${size}(const unsigned char *d, int64_t rows, int64_t cols, int64_t dp)
{
    enum { N = ${size}, ALL = ${each} * RAVEL_LANES };
    const int64_t last = cols % ALL, most = RAVEL_ALONG_COLS / (N < 4 ? 1 : N);
    return cols >= ALL && cols <= most && (last == 0 || 4 * last >= ALL) && rows * N >= 64 &&
           (N < 4 || rows > RAVEL_NEAR_ROWS) && ((uintptr_t)d | (uintptr_t)dp) % 64;
}

static void
ravel_along${size}(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq)
{
    if (${size} < 4 && cols <= RAVEL_ALONG_COLS / 2)
        ravel_along_rows${size}(d, s, rows, cols, 64 / ${size}, dp, sq);
    else
        ravel_along_rows${size}(d, s, rows, cols, ${each}, dp, sq);
}
#endif
