/* The kernel composite. */
static void
ravel_composite(unsigned char *d, const unsigned char *s, const int32_t *t,
                int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream, uint64_t fill,
                int64_t size)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream, fill, size,
                    ravel_tile_moves);
}
