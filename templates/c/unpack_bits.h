/* Runs of elements of `bits` bits: a constant for each. */
static void
ravel_unpack(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
             const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int64_t bits)
{
    if (bits == 4)
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 4);
    else if (bits == 2)
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 2);
    else
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 1);
}

static void
ravel_pack(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
           const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int up,
           int64_t bits)
{
    if (bits == 4)
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, up, 4);
    else if (bits == 2)
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 0, 2);
    else
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 0, 1);
}
