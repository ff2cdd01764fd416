/* Checks of a source's arrays, before any entry is read. */

/* The array has `expected` elements. */
RAVEL_STEP
ravel_stream_check_size(ravel_stream *s, int64_t array, int64_t n, int64_t expected)
{
    if (n < 0 || n != expected)
        ravel_flaw(s, RAVEL_FLAW_SIZE, array, expected);
}

/* The array has as many elements for each of `parents`. */
RAVEL_STEP
ravel_stream_check_multiple(ravel_stream *s, int64_t array, int64_t n, int64_t parents)
{
    if (n < 0 || n % parents)
        ravel_flaw(s, RAVEL_FLAW_SIZE, array, parents);
}

/* pos begins with 0, does not descend and ends with n, the number of coordinates. */
RAVEL_STEP
ravel_stream_check_pos(ravel_stream *s, int64_t array, const void *pos, int64_t parents,
                       int64_t n, int64_t w)
{
    if (s->flaw)
        return;
    if (ravel_index_at(pos, w, 0))
        ravel_flaw(s, RAVEL_FLAW_START, array, 0);
    for (int64_t q = 0; q < parents; q++)
        if (ravel_index_at(pos, w, q + 1) < ravel_index_at(pos, w, q)) {
            ravel_flaw(s, RAVEL_FLAW_BACKWARDS, array, q + 1);
            return;
        }
    if (ravel_index_at(pos, w, parents) != n)
        ravel_flaw(s, RAVEL_FLAW_END, array, parents);
}

/* Each coordinate is at least `low` and below `high`. */
RAVEL_STEP
ravel_stream_check_range(ravel_stream *s, int64_t array, const void *crd, int64_t n,
                         int64_t low, int64_t high, int64_t w)
{
    for (int64_t i = 0; i < n && !s->flaw; i += RAVEL_BATCH) {
        int64_t end = n - i < RAVEL_BATCH ? n : i + RAVEL_BATCH;
        int bad = 0;
        for (int64_t k = i; k < end; k++) {
            int64_t v = ravel_index_at(crd, w, k);
            bad |= (v < low) | (v >= high);
        }
        for (int64_t k = i; bad && k < end; k++)
            if (ravel_index_at(crd, w, k) < low || ravel_index_at(crd, w, k) >= high)
                ravel_flaw(s, RAVEL_FLAW_RANGE, array, k);
    }
}

/* Positions whose coordinate is not above the one before (or, with repeats, below it). */
RAVEL_PART int64_t
ravel_descents(const void *crd, int64_t n, int64_t repeats, int64_t w)
{
    int64_t count = 0;
    for (int64_t i = 1; i < n; i += RAVEL_BATCH) {
        int64_t end = n - i < RAVEL_BATCH ? n : i + RAVEL_BATCH;
        int32_t some = 0;
        for (int64_t k = i; k < end; k++)
            some += ravel_index_at(crd, w, k) < ravel_index_at(crd, w, k - 1) + !repeats;
        count += some;
    }
    return count;
}

RAVEL_PART void
ravel_ascends(ravel_stream *s, int64_t array, const void *crd, int64_t i, int64_t end,
              int64_t repeats, int64_t w)
{
    for (i++; i < end; i++) {
        int64_t v = ravel_index_at(crd, w, i), before = ravel_index_at(crd, w, i - 1);
        if (v < before || (v == before && !repeats))
            ravel_flaw(s, v < before ? RAVEL_FLAW_ORDER : RAVEL_FLAW_TWICE, array, i);
    }
}

/* The coordinates below each parent ascend: they descend between parents only. */
RAVEL_STEP
ravel_stream_check_order(ravel_stream *s, int64_t array, const void *pos, int64_t parents,
                         const void *crd, int64_t n, int64_t repeats, int64_t w)
{
    int64_t all = 0, between = 0;
    if (s->flaw)
        return;
    all = w == 4 ? ravel_descents(crd, n, repeats, 4) : ravel_descents(crd, n, repeats, 8);
    for (int64_t q = 1; q < parents; q++) {
        int64_t p = ravel_index_at(pos, w, q);
        if (p > 0 && p < n && p > ravel_index_at(pos, w, q - 1))
            between += ravel_index_at(crd, w, p) < ravel_index_at(crd, w, p - 1) + !repeats;
    }
    for (int64_t q = 0; all != between && q < parents && !s->flaw; q++)
        ravel_ascends(s, array, crd, ravel_index_at(pos, w, q),
                      ravel_index_at(pos, w, q + 1), repeats, w);
}

/* The coordinates of each group ascend, but for places that are not used: -1. */
RAVEL_STEP
ravel_stream_check_groups(ravel_stream *s, int64_t array, const void *crd, int64_t n,
                          int64_t groups, int64_t w)
{
    int64_t wide = s->flaw ? 0 : n / groups;
    for (int64_t g = 0; wide && g < groups && !s->flaw; g++)
        for (int64_t i = g * wide, last = -1; i < (g + 1) * wide; i++) {
            int64_t v = ravel_index_at(crd, w, i);
            if (v >= 0 && v <= last)
                ravel_flaw(s, v == last ? RAVEL_FLAW_TWICE : RAVEL_FLAW_ORDER, array, i);
            last = v >= 0 ? v : last;
        }
}
