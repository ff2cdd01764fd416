/* Blocks of elements of ${size} bytes: rows lie on and on in the source, columns in the
 * destination. */
static inline void
ravel_block_plain${size}(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            memcpy(d + row[r] + c * ${size}, s + col[c] + r * ${size}, ${size});
}

static void
ravel_tile${size}(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int32_t *const block = col + cols;
    (void)soon;
    for (int64_t i = 0; i < t[RAVEL_T_BLOCKS]; i++)
        ravel_block_plain${size}(d + block[2 * i], s + block[2 * i + 1], row, col, rows,
                                 cols);
}

static void
ravel_composite${size}(unsigned char *d, const unsigned char *s, const int32_t *t,
                       int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream,
                    ravel_tile${size});
}
