/* Levels that need the number of entries of each parent: ranked, sliced, jagged.  The parents
 * are rows here.  Areas: LENGTHS has the entries of each row; ORDER the rows, those with most
 * entries first; RANKS where each row is in that order.  Without ranks it is that of the rows. */

RAVEL_PART int64_t
ravel_length(const ravel_stream *s, int64_t row, int64_t w)
{
    return ravel_index_at(s->area[RAVEL_LENGTHS], w, row);
}

RAVEL_PART int64_t
ravel_row_at(const ravel_stream *s, int64_t rank, int64_t w)
{
    return s->ranked ? ravel_index_at(s->area[RAVEL_ORDER], w, rank) : rank;
}

RAVEL_PART int64_t
ravel_rank_of(const ravel_stream *s, int64_t row, int64_t w)
{
    return s->ranked ? ravel_index_at(s->area[RAVEL_RANKS], w, row) : row;
}

RAVEL_STEP
ravel_stream_untally(ravel_stream *s, int64_t rows, int64_t w)
{
    memset(s->area[RAVEL_LENGTHS], 0, (size_t)(rows * w));
}

/* One more entry of the row in column c, unless it is equal to the one before. */
RAVEL_STEP
ravel_stream_tally(ravel_stream *s, int64_t c, int64_t joins, int64_t w)
{
    void *lengths = s->area[RAVEL_LENGTHS];
    for (int64_t i = 0; i < s->n; i++) {
        int64_t row = s->x[c][i], one = joins ? s->x[2][i] : 1;
        ravel_index_set(lengths, w, row, ravel_index_at(lengths, w, row) + one);
    }
}

/* Rows from..from + n - 1 in order of a digit of their lengths, the largest first; rows that are
 * equal in it keep their order. */
RAVEL_PART void
ravel_rank_digit(const ravel_stream *s, void *to, const void *order, int64_t from, int64_t n,
                 int shift, int64_t w)
{
    int64_t at[256] = {0}, sum = from;
    for (int64_t i = from; i < from + n; i++)
        at[ravel_length(s, ravel_index_at(order, w, i), w) >> shift & 255]++;
    for (int k = 255; k >= 0; k--) {
        int64_t here = at[k];
        at[k] = sum;
        sum += here;
    }
    for (int64_t i = from; i < from + n; i++) {
        int64_t row = ravel_index_at(order, w, i);
        ravel_index_set(to, w, at[ravel_length(s, row, w) >> shift & 255]++, row);
    }
}

/* Rank the rows of a window. */
RAVEL_PART void
ravel_rank_window(ravel_stream *s, int64_t from, int64_t n, int64_t w)
{
    void *order = s->area[RAVEL_ORDER], *spare = s->area[RAVEL_RANKS];
    int64_t longest = 0;
    for (int64_t i = from; i < from + n; i++) {
        int64_t length = ravel_length(s, i, w);
        longest = length > longest ? length : longest;
        ravel_index_set(order, w, i, i);
    }
    for (int shift = 0; shift < 63 && longest >> shift; shift += 8) {
        ravel_rank_digit(s, spare, order, from, n, shift, w);
        memcpy((unsigned char *)order + from * w, (unsigned char *)spare + from * w,
               (size_t)(n * w));
    }
}

/* Rank all rows; in windows of `window` rows, 0: all in one. */
RAVEL_STEP
ravel_stream_rank(ravel_stream *s, int64_t rows, int64_t window, int64_t w)
{
    int64_t step = window > 0 && window < rows ? window : rows;
    if (s->flaw)
        return;
    s->ranked = 1;
    for (int64_t from = 0; from < rows; from += step)
        ravel_rank_window(s, from, rows - from < step ? rows - from : step, w);
    for (int64_t i = 0; i < rows; i++)
        ravel_index_set(s->area[RAVEL_RANKS], w, ravel_row_at(s, i, w), i);
}

/* Write the ranked rows. */
RAVEL_STEP
ravel_stream_ranked(ravel_stream *s, void *crd, int64_t rows, int64_t w)
{
    if (!s->flaw && rows)
        memcpy(crd, s->area[RAVEL_ORDER], (size_t)(rows * w));
}

/* The most entries of a row of a slice. */
RAVEL_PART int64_t
ravel_slice_width(const ravel_stream *s, int64_t slice, int64_t rows, int64_t tall, int64_t w)
{
    int64_t end = (slice + 1) * tall < rows ? (slice + 1) * tall : rows, most = 0;
    for (int64_t i = slice * tall; i < end; i++) {
        int64_t length = ravel_length(s, ravel_row_at(s, i, w), w);
        most = length > most ? length : most;
    }
    return most;
}

/* The positions of a level `sliced`: each slice has `tall` rows, also the last one. */
RAVEL_STEP
ravel_stream_slices(ravel_stream *s, int64_t level, int64_t rows, int64_t tall, int64_t w)
{
    s->lists = (rows + tall - 1) / tall;
    s->size[level] = 0;
    for (int64_t k = 0; k < s->lists && !s->flaw; k++)
        s->size[level] += ravel_slice_width(s, k, rows, tall, w) * tall;
}

RAVEL_STEP
ravel_stream_slice_pos(ravel_stream *s, void *pos, int64_t rows, int64_t tall, int64_t w)
{
    int64_t sum = 0, n = (rows + tall - 1) / tall;
    for (int64_t k = 0; k <= n && !s->flaw; k++) {
        ravel_index_set(pos, w, k, sum);
        sum += k < n ? ravel_slice_width(s, k, rows, tall, w) * tall : 0;
    }
}

/* The next place of a row: its k-th, which the number of those before says. */
RAVEL_PART int64_t
ravel_next_of(ravel_stream *s, int64_t row, int64_t differs, int64_t w)
{
    int64_t k = ravel_length(s, row, w) + differs;
    ravel_index_set(s->area[RAVEL_LENGTHS], w, row, k);
    return k - 1;
}

RAVEL_STEP
ravel_stream_write_slice(ravel_stream *s, int64_t to, int64_t from, const void *pos,
                         int64_t tall, int64_t joins, int64_t w)
{
    for (int64_t i = 0; i < s->n; i++) {
        int64_t row = s->x[from][i], rank = ravel_rank_of(s, row, w);
        int64_t k = ravel_next_of(s, row, joins ? s->x[2][i] : 1, w);
        s->x[to][i] = ravel_index_at(pos, w, rank / tall) + k * tall + rank % tall;
    }
}

/* The positions of a level `jagged`: each diagonal has the rows that reach it. */
RAVEL_STEP
ravel_stream_diagonals(ravel_stream *s, int64_t level, int64_t rows, int64_t w)
{
    s->lists = rows ? ravel_length(s, ravel_row_at(s, 0, w), w) : 0;
    s->size[level] = 0;
    for (int64_t i = 0; i < rows && !s->flaw; i++)
        s->size[level] += ravel_length(s, i, w);
}

/* pos counts the rows of each length first; those are not in the diagonals from there on. */
RAVEL_STEP
ravel_stream_diagonal_pos(ravel_stream *s, void *pos, int64_t rows, int64_t w)
{
    int64_t sum = 0, left = rows;
    if (s->flaw)
        return;
    memset(pos, 0, (size_t)((s->lists + 1) * w));
    for (int64_t i = 0; i < rows; i++) {
        int64_t length = ravel_length(s, i, w);
        ravel_index_set(pos, w, length, ravel_index_at(pos, w, length) + 1);
    }
    for (int64_t k = 0; k <= s->lists; k++) {
        int64_t here = ravel_index_at(pos, w, k);
        ravel_index_set(pos, w, k, sum);
        left -= here;
        sum += left;
    }
}

RAVEL_STEP
ravel_stream_write_diagonal(ravel_stream *s, int64_t to, int64_t from, const void *pos,
                            int64_t joins, int64_t w)
{
    for (int64_t i = 0; i < s->n; i++) {
        int64_t row = s->x[from][i], k = ravel_next_of(s, row, joins ? s->x[2][i] : 1, w);
        s->x[to][i] = ravel_index_at(pos, w, k) + ravel_rank_of(s, row, w);
    }
}

/* pos of such a level has a place more than it has lists. */
RAVEL_STEP
ravel_stream_report_lists(ravel_stream *s, int64_t *m, int64_t array)
{
    m[array] = s->lists + 1;
}



/* Each row is there once, in its window. */
RAVEL_STEP
ravel_stream_check_ranked(ravel_stream *s, int64_t array, const void *crd, int64_t rows,
                          int64_t window, int64_t w)
{
    uint64_t *seen = (uint64_t *)(void *)s->area[RAVEL_SEEN];
    if (s->flaw)
        return;
    memset(seen, 0, (size_t)(rows + 63) / 64 * sizeof *seen);
    for (int64_t i = 0; i < rows && !s->flaw; i++) {
        int64_t row = ravel_index_at(crd, w, i);
        if (row < 0 || row >= rows || (window && row / window != i / window)) {
            ravel_flaw(s, RAVEL_FLAW_RANGE, array, i);
            return;
        }
        uint64_t bit = (uint64_t)1 << (row & 63);
        if (seen[row >> 6] & bit)
            ravel_flaw(s, RAVEL_FLAW_TWICE, array, i);
        seen[row >> 6] |= bit;
    }
}

/* A row's places i, i + by, ... below `end`: the coordinates ascend, but for -1. */
RAVEL_PART void
ravel_check_places(ravel_stream *s, int64_t array, const void *crd, int64_t i, int64_t end,
                   int64_t by, int64_t w)
{
    for (int64_t last = -1; i < end; i += by) {
        int64_t v = ravel_index_at(crd, w, i);
        if (v >= 0 && v <= last)
            ravel_flaw(s, v == last ? RAVEL_FLAW_TWICE : RAVEL_FLAW_ORDER, array, i);
        last = v >= 0 ? v : last;
    }
}

/* Slices have whole columns; rows below the last one have no entries; coordinates of a row
 * ascend if it is `ordered`. */
RAVEL_STEP
ravel_stream_check_slices(ravel_stream *s, int64_t array, const void *pos, int64_t places,
                          const void *crd, int64_t rows, int64_t tall, int64_t ordered,
                          int64_t w)
{
    int64_t all = (rows + tall - 1) / tall * tall;
    for (int64_t k = 0; k * tall < rows && !s->flaw; k++)
        if ((ravel_index_at(pos, w, k + 1) - ravel_index_at(pos, w, k)) % tall)
            ravel_flaw(s, RAVEL_FLAW_SLICE, array, k + 1);
    for (int64_t i = 0; i < all && !s->flaw; i++) {
        int64_t first = ravel_index_at(pos, w, i / tall) + i % tall;
        int64_t end = ravel_index_at(pos, w, i / tall + 1);
        if (i < rows && ordered)
            ravel_check_places(s, places, crd, first, end, tall, w);
        for (int64_t p = first; i >= rows && p < end; p += tall)
            if (ravel_index_at(crd, w, p) >= 0)
                ravel_flaw(s, RAVEL_FLAW_RANGE, places, p);
    }
}

/* pos begins with 0 and ends with the number of places; no diagonal is longer than the one
 * before, or than the rows; in a row coordinates ascend if it is `ordered`. */
RAVEL_STEP
ravel_stream_check_diagonals(ravel_stream *s, int64_t array, const void *pos, int64_t n,
                             int64_t places, const void *crd, int64_t total, int64_t rows,
                             int64_t ordered, int64_t w)
{
    int64_t before = rows;
    if (s->flaw)
        return;
    if (n < 1)
        ravel_flaw(s, RAVEL_FLAW_SIZE, array, 1);
    else
        ravel_stream_check_pos(s, array, pos, n - 1, total, w);
    for (int64_t k = 0; k + 1 < n && !s->flaw; k++) {
        int64_t here = ravel_index_at(pos, w, k + 1) - ravel_index_at(pos, w, k);
        if (here > before || here == 0)
            ravel_flaw(s, here ? RAVEL_FLAW_LONGER : RAVEL_FLAW_NONE, array, k + 1);
        before = here;
    }
    for (int64_t k = 1; ordered && k + 1 < n && !s->flaw; k++) {
        int64_t p = ravel_index_at(pos, w, k), above = ravel_index_at(pos, w, k - 1);
        for (int64_t end = ravel_index_at(pos, w, k + 1); p < end; p++, above++) {
            int64_t v = ravel_index_at(crd, w, p), last = ravel_index_at(crd, w, above);
            if (v <= last)
                ravel_flaw(s, v == last ? RAVEL_FLAW_TWICE : RAVEL_FLAW_ORDER, places, p);
        }
    }
}

/* From positions, which ascend, to ranks. */
RAVEL_STEP
ravel_stream_read_slice(ravel_stream *s, int64_t level, int64_t from, int64_t to,
                        const void *pos, int64_t tall, int64_t w)
{
    int64_t k = s->from[level];
    for (int64_t i = 0; i < s->n; i++) {
        while (ravel_index_at(pos, w, k + 1) <= s->x[from][i])
            k++;
        s->x[to][i] = k * tall + (s->x[from][i] - ravel_index_at(pos, w, k)) % tall;
    }
    s->from[level] = k;
}

RAVEL_STEP
ravel_stream_read_diagonal(ravel_stream *s, int64_t level, int64_t from, int64_t to,
                           const void *pos, int64_t w)
{
    int64_t k = s->from[level];
    for (int64_t i = 0; i < s->n; i++) {
        while (ravel_index_at(pos, w, k + 1) <= s->x[from][i])
            k++;
        s->x[to][i] = s->x[from][i] - ravel_index_at(pos, w, k);
    }
    s->from[level] = k;
}
