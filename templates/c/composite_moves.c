/* Permutes digits of whole elements if the number of bytes that stay together is not 1, 2,
 * 4 or 8: these runs are copied one by one. */
RAVEL_CONSTANT void
ravel_columns_moved(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                    size_t k, int64_t kept)
{
    for (int64_t c = 0; c < cols; c++)
        ravel_move_twice(d + c * kept, s + col[c], k, kept);
}

/* Copies a run of 3 bytes and more from each column. */
static void
ravel_columns_move(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                   int64_t kept)
{
    if (kept > 64)
        for (int64_t c = 0; c < cols; c++)
            ravel_move_many(d + c * kept, s + col[c], kept);
    else if (kept == 16)
        ravel_columns_moved(d, s, col, cols, 16, 16);
    else if (kept == 32)
        ravel_columns_moved(d, s, col, cols, 32, 32);
    else if (kept > 32)
        ravel_columns_moved(d, s, col, cols, 32, kept);
    else if (kept > 16)
        ravel_columns_moved(d, s, col, cols, 16, kept);
    else if (kept >= 8)
        ravel_columns_moved(d, s, col, cols, 8, kept);
    else if (kept >= 4)
        ravel_columns_moved(d, s, col, cols, 4, kept);
    else
        ravel_columns_moved(d, s, col, cols, 2, kept);
}

static void
ravel_tile_moves(unsigned char *d, const unsigned char *s, const int32_t *t, ravel_soon *soon)
{
    enum { MANY = 64 };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], kept = t[RAVEL_T_KEPT];
    const int32_t *const col = t + RAVEL_TILE_HEAD + rows, *const block = col + cols;
    const int64_t n = t[RAVEL_T_BLOCKS];
    const int64_t fetch = ravel_soon_share(soon, n * ((cols - 1) / MANY + 1));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c += MANY) {
            ravel_columns_move(d + block[2 * i] + c * kept, s + block[2 * i + 1], col + c,
                               cols - c < MANY ? cols - c : (int64_t)MANY, kept);
            ravel_soon_fetch(soon, fetch);
        }
}
