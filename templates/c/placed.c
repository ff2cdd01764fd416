/* Copies as ravel_indexed does, by places that are not linear in the numbers or in the rows.
 * by[0]: rows for each of `rows`; if above 1, dr and sr are not used.  by[1], by[2]: whether the
 * places of the destination and those of the source are near.  After that the words of
 * ravel_places, of the destination and of the source. */
static void
ravel_placed(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
             int64_t bytes, int64_t dn, int64_t sn, int64_t dr, const void *to,
             int64_t to_bits, int64_t dp, const void *to_second, int64_t dp_second, int64_t sr,
             const void *from, int64_t from_bits, int64_t sp, const void *from_second,
             int64_t sp_second, const int32_t *by)
{
    const int64_t each = by[0];
    ravel_places t = {each > 1 ? 0 : dr, {to, to_second}, to_bits, {dp, dp_second}, {0}, by[1]};
    ravel_places f = {each > 1 ? 0 : sr, {from, from_second}, from_bits, {sp, sp_second}, {0}, by[2]};
    ravel_places_by(&f, ravel_places_by(&t, by + 3));
    const ravel_runs p = {n, bytes, dn, sn};
#if defined(RAVEL_GATHER) && defined(RAVEL_SSE2)
    if (ravel_gathers(p, &t, &f)) {
        ravel_gather_places(d, s, p, rows * each, &f);
        return;
    }
#endif
    ravel_move_places(d, s, p, rows * each, &t, &f);
}
