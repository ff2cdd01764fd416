/* Whether ravel_indexed_single has the arrays of a side. */
RAVEL_CONSTANT int
ravel_is_single(int64_t bits)
{
    return bits == 64 || bits == 32 || bits == (64 << 8 | 64) || bits == (32 << 8 | 32);
}

/* Copies n planes of runs, dn (sn) bytes apart, whose places in a plane the numbers of
 * index arrays are: `from` of the source, `to` of the destination, or both. */
static void
ravel_indexed(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
              int64_t bytes, int64_t dn, int64_t sn, int64_t dr, const void *to,
              int64_t to_bits, int64_t dp, const void *to_second, int64_t dp_second, int64_t sr,
              const void *from, int64_t from_bits, int64_t sp, const void *from_second,
              int64_t sp_second)
{
    static const int32_t none[2] = {0, 0}, one[2] = {1, 0};
    const ravel_places t = {dr, {to, to_second}, to_bits, {dp, dp_second},
                            {none, one, one}, 0};
    const ravel_places f = {sr, {from, from_second}, from_bits, {sp, sp_second},
                            {none, one, one}, 0};
    const ravel_runs p = {n, bytes, dn, sn};
    const int single = bytes <= 16 && (bytes & (bytes - 1)) == 0 && (n == 1 || dn != bytes);
    if (single && !to_bits && ravel_is_single(from_bits))
        ravel_indexed_single(d, s, p, rows, 0, dr, &f);
    else if (single && !from_bits && ravel_is_single(to_bits))
        ravel_indexed_single(d, s, p, rows, 1, sr, &t);
    else
        ravel_move_places(d, s, p, rows, &t, &f);
}
