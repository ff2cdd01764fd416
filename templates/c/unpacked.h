/* The kernel unpacked${size}: ${size} of the elements stay together. */
static void
ravel_unpacked${size}(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                      const int32_t *t, int64_t batches, int64_t rows, int64_t cols,
                      int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t dq,
                      int64_t sq, int64_t stream, int64_t bits)
{
    const int32_t *const tile = t + RAVEL_PAIR_HEAD;
    ravel_tiles at = {{{rows, tile[RAVEL_T_ROW], dp, sp, 0}, {cols, tile[RAVEL_T_COL], dq, sq, 0},
                       {batches, tile[RAVEL_T_BATCH], dn, sn, 0}}, 0, 0};
    if (rows > 0 && cols > 0 && batches > 0)
        ravel_unpacked_run(dst, d, src, s, t, &at, stream, bits, ravel_tile${size});
}
