/* The kernel unpacked: other numbers of elements stay together, fewer than 64. */

/* Copies a run of `kept` bytes, at most k, from each column by a move of k bytes: what it writes
 * after the run the next one replaces.  Up to k bytes of a column are read.  k is a constant. */
RAVEL_CONSTANT void
ravel_kept_moved(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                 size_t k, int64_t kept)
{
    for (int64_t c = 0; c < cols - 1; c++)
        memcpy(d + c * kept, s + col[c], k);
    for (int64_t i = 0; i < kept; i++)
        d[(cols - 1) * kept + i] = s[col[cols - 1] + i];
}

/* Permutes the runs of a tile in the buffers. */
static void
ravel_tile_kept(unsigned char *d, const unsigned char *s, const int32_t *t, ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], kept = t[RAVEL_T_KEPT];
    const int32_t *const col = t + RAVEL_TILE_HEAD + rows, *block = col + cols;
    (void)soon;
    for (int64_t i = 0; i < t[RAVEL_T_BLOCKS]; i++, block += 2) {
        if (kept <= 4)
            ravel_kept_moved(d + block[0], s + block[1], col, cols, 4, kept);
        else if (kept <= 8)
            ravel_kept_moved(d + block[0], s + block[1], col, cols, 8, kept);
        else if (kept <= 16)
            ravel_kept_moved(d + block[0], s + block[1], col, cols, 16, kept);
        else if (kept <= 32)
            ravel_kept_moved(d + block[0], s + block[1], col, cols, 32, kept);
        else
            ravel_kept_moved(d + block[0], s + block[1], col, cols, 64, kept);
    }
}

static void
ravel_unpacked(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
               const int32_t *t, int64_t batches, int64_t rows, int64_t cols, int64_t dn,
               int64_t sn, int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream,
               int64_t bits)
{
    const int32_t *const tile = t + RAVEL_PAIR_HEAD;
    ravel_tiles at = {{{rows, tile[RAVEL_T_ROW], dp, sp, 0}, {cols, tile[RAVEL_T_COL], dq, sq, 0},
                       {batches, tile[RAVEL_T_BATCH], dn, sn, 0}}, 0, 0};
    if (rows > 0 && cols > 0 && batches > 0)
        ravel_unpacked_run(dst, d, src, s, t, &at, stream, bits, ravel_tile_kept);
}
