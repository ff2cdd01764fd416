/* Any permutation of digits of whole elements, if the number of contiguous bytes is not the
 * size of an element in a register: columns are moved one at a time. */
static void
ravel_tile_moves(unsigned char *d, const unsigned char *s, const int32_t *t, ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], kept = t[RAVEL_T_KEPT];
    const int32_t *const col = t + RAVEL_TILE_HEAD + rows, *const block = col + cols;
    const int64_t n = t[RAVEL_T_BLOCKS];
    const int64_t fetch = ravel_soon_share(soon, n * ((cols - 1) / 8 + 1));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++) {
            ravel_move(d + block[2 * i] + c * kept, s + block[2 * i + 1] + col[c], kept);
            if (c % 8 == 0)
                ravel_soon_fetch(soon, fetch);
        }
}

static void
ravel_composite(unsigned char *d, const unsigned char *s, const int32_t *t,
                int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream,
                    ravel_tile_moves);
}
