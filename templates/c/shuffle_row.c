/* Permutes the bytes and parts of bytes of tiles by a table.  The tiles are rows times
 * columns, in chunks; there is at least one chunk each way, and the last chunk may overlap
 * the one before.  d and s are elements of `bits` bits from the start of the buffers; di
 * (sk) is the stride of rows, dj (sl) that of columns.  All chunks begin at whole bytes.
 *
 * The table has words of 4 bytes: rows of a chunk, columns of a chunk; then the passes.  All
 * but the last write to a buffer.  A pass:
 *      rows of four lanes of 16 bytes; whether the four lanes are 64 contiguous bytes in the
 *      destination; whether some bytes are fill, whose bits are in v; words to the next
 *      pass, 0 if it is the last; whether it ends with a turn, which transposes the bits of
 *      each 8 bytes that it wrote;
 *      groups of rows that differ in their offsets only.
 * A group:
 *      terms w of whole bytes; terms m with a mask; 1 if each term reads 64 contiguous bytes,
 *      plus 2 if all terms read the same ones; pairs of registers of windows, 0 to 4; windows of
 *      a register, 1 of 64 bytes or 4 of 16; rows;
 *      a mask of the bytes that are fill, 16, if the pass has any;
 *      for each w whether it reads 64 contiguous bytes, and the indices of its bytes, 16; for
 *      each m the same, a mask, 16, and the bits to shift to the left;
 *      for each pair what the terms together read, for processors that permute 128 bytes: the
 *      bytes in each register, at most 64, 2; for each byte of the row its index in the 128
 *      bytes, or 128, 16; with terms that have a mask, those are the bytes of its lower half, and
 *      follow those of its upper half, 16, and masks of the bytes whose lower half, 16, and whose
 *      upper half, 16, is an upper one there;
 *      for each row the offsets of its lanes in the destination, 4; those that each w and m
 *      reads, 4; those of the windows of each pair, 2 or 8. */

/* A group of rows of a pass over tiles that are dp (sp) bytes apart.  `stream`: non-temporal
 * stores.  `term`: the constants of its terms; `row`: its first row, each of `words`. */
typedef struct {
    unsigned char *d;
    const unsigned char *s;
    int64_t n, dp, sp, stream;
    const unsigned char *fill;
    int32_t lines, words;
    const int32_t *group, *term, *row;
} ravel_shuffled;

#ifdef RAVEL_SHUFFLES
/* Whether the lines of a row go past the caches. */
RAVEL_INLINE int64_t
ravel_shuffle_past(const ravel_shuffled *a, const int32_t *row)
{
    return a->stream && ((uintptr_t)a->d + (uintptr_t)row[0]) % 64 == 0;
}

/* At most 8 terms, w of whole bytes or m with a mask: their constants are in registers. */
RAVEL_INLINE void
ravel_shuffle_few(const ravel_shuffled *a, int w, int m, int even, int same, int lane)
{
    ravel_lanes at[8], mask[8];
    ravel_shifts by[8];
    const int32_t *const t = a->term, *row = a->row;
    const int each = m ? RAVEL_MASKED : RAVEL_WHOLE;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int i = 0; i < w + m; i++)
        at[i] = ravel_constant(t + i * each + RAVEL_TERM_AT + 4 * lane);
    RAVEL_UNROLL for (int i = 0; i < m; i++) {
        mask[i] = ravel_constant(t + i * each + RAVEL_TERM_MASK + 4 * lane);
        by[i] = ravel_shifts_by(t[i * each + RAVEL_TERM_SHIFT]);
    }
    for (int32_t r = 0; r < rows; r++, row += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        int32_t to[4], of[8][4];
        RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
            to[k] = row[lane + k];
        RAVEL_UNROLL for (int i = 0; i < w + m; i++)
            RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
                of[i][k] = row[4 + 4 * i + lane + k];
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            ravel_lanes v = {0}, from = ravel_windows(s, of[0], even);
            RAVEL_UNROLL for (int i = 0; i < w + m; i++) {
                if (i > 0 && !same)
                    from = ravel_windows(s, of[i], even);
                const ravel_lanes x = ravel_pick(from, at[i]);
                v |= m ? ravel_shifted(x, by[i]) & mask[i] : x;
            }
            ravel_put(d, to, v, lines, past);
        }
    }
}

/* Of three terms with a mask, whose shifts gcc makes eight loops of, only what reads the same contiguous
 * bytes has a loop of its own where vectors have a shift each way. */
RAVEL_INLINE void
ravel_shuffle_terms(const ravel_shuffled *a, int w, int m, int lane)
{
    const int32_t reads = a->group[RAVEL_GROUP_READS];
    switch (RAVEL_LANES < 4 && m == 3 && reads < 3 ? 0 : reads) {
    case 3: ravel_shuffle_few(a, w, m, 1, m > 0, lane); break;
    case 2: ravel_shuffle_few(a, w, m, 0, m > 0, lane); break;
    case 1: ravel_shuffle_few(a, w, m, 1, 0, lane); break;
    default: ravel_shuffle_few(a, w, m, 0, 0, lane); break;
    }
}

/* Any number of terms: a row of one tile. */
RAVEL_INLINE void
ravel_shuffle_one(const ravel_shuffled *a, unsigned char *d, const unsigned char *s,
                  const int32_t *row, int64_t past, int lane)
{
    const int32_t *t = a->term, *of = row + 4 + lane;
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    ravel_lanes v = {0};
    if (a->fill)
        v = ravel_constant(a->fill) & ravel_constant(t - 16 + 4 * lane);
    for (int32_t i = 0; i < w; i++, t += RAVEL_WHOLE, of += 4)
        v |= ravel_pick(ravel_windows(s, of, t[0]), ravel_constant(t + RAVEL_TERM_AT + 4 * lane));
    for (int32_t i = 0; i < m; i++, t += RAVEL_MASKED, of += 4) {
        const ravel_lanes x = ravel_pick(ravel_windows(s, of, t[0]),
                                         ravel_constant(t + RAVEL_TERM_AT + 4 * lane));
        v |= ravel_shifted(x, ravel_shifts_by(t[RAVEL_TERM_SHIFT])) &
             ravel_constant(t + RAVEL_TERM_MASK + 4 * lane);
    }
    ravel_put(d, row + lane, v, a->lines, past);
}
#endif
