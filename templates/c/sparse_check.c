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
    if (n < 0 || (parents ? n % parents : n))
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

typedef struct {
    const void *crd;
    int64_t n, low, high, w;
    unsigned char bad[RAVEL_TEAM];
} ravel_range;

/* Whether one of the coordinates i..end - 1 is outside.  In vectors: with 32-bit indices, low
 * and high have 32 bits. */
RAVEL_PART int
ravel_range_bad(const ravel_range *r, int64_t i, int64_t end, int64_t w)
{
    int32_t bad = 0, low = (int32_t)r->low, high = (int32_t)r->high;
    const int32_t *crd = (const int32_t *)r->crd;
    for (; w == 4 && i < end; i++)
        bad |= (crd[i] < low) | (crd[i] >= high);
    for (; i < end; i++) {
        int64_t v = ravel_index_at(r->crd, w, i);
        bad |= (v < r->low) | (v >= r->high);
    }
    return bad;
}

static void
ravel_range_part(void *arg, int part, int parts)
{
    ravel_range *r = (ravel_range *)arg;
    int64_t i = ravel_part_of(r->n, part, parts), end = ravel_part_of(r->n, part + 1, parts);
    r->bad[part] = (unsigned char)(r->w == 4 ? ravel_range_bad(r, i, end, 4)
                                   : ravel_range_bad(r, i, end, 8));
}

/* Each coordinate is at least `low` and below `high`. */
RAVEL_STEP
ravel_stream_check_range(ravel_stream *s, int64_t array, const void *crd, int64_t n,
                         int64_t low, int64_t high, int64_t w)
{
    ravel_range r = {crd, n, low, high, w, {0}};
    int bad = 0;
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_range_part, &r);
    for (int k = 0; k < RAVEL_TEAM; k++)
        bad |= r.bad[k];
    for (int64_t i = 0; bad && i < n; i++)
        if (ravel_index_at(crd, w, i) < low || ravel_index_at(crd, w, i) >= high)
            ravel_flaw(s, RAVEL_FLAW_RANGE, array, i);
}

/* Whether coordinate i is not above the one before (or, with repeats, is below it). */
RAVEL_PART int32_t
ravel_descends(const void *crd, int64_t i, int64_t repeats, int64_t w)
{
    int64_t v = ravel_index_at(crd, w, i), before = ravel_index_at(crd, w, i - 1);
    return repeats ? v < before : v <= before;
}

/* ... the number of those from..to - 1.  In vectors, of 32-bit indices without other numbers. */
RAVEL_PART int64_t
ravel_descents(const void *crd, int64_t from, int64_t to, int64_t repeats, int64_t w)
{
    int64_t count = 0;
    for (int64_t i = from; i < to; i += RAVEL_BATCH) {
        int64_t end = to - i < RAVEL_BATCH ? to : i + RAVEL_BATCH, k = i;
        const int32_t *x = (const int32_t *)crd;
        int32_t some = 0;
        for (; w == 4 && k < end; k++)
            some += repeats ? x[k] < x[k - 1] : x[k] <= x[k - 1];
        for (; k < end; k++)
            some += ravel_descends(crd, k, repeats, w);
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

typedef struct {
    const void *pos, *crd;
    int64_t parents, n, low, high, repeats, w;
    unsigned char bad[RAVEL_TEAM];
} ravel_lists;

/* Whether the lists of parents q..end - 1 do not ascend or leave their range.  They ascend if
 * coordinates descend between lists only. */
RAVEL_PART int
ravel_lists_bad(const ravel_lists *l, int64_t q, int64_t end, int64_t repeats, int64_t w)
{
    int64_t from = ravel_index_at(l->pos, w, q), to = ravel_index_at(l->pos, w, end);
    int64_t all = from < to ? ravel_descents(l->crd, from + 1, to, repeats, w) : 0;
    int bad = 0;
    for (int64_t p = from, next; q < end; q++, p = next) {
        next = ravel_index_at(l->pos, w, q + 1);
        if (p == next)
            continue;
        bad |= ravel_index_at(l->crd, w, p) < l->low;
        bad |= ravel_index_at(l->crd, w, next - 1) >= l->high;
        all -= p > from ? ravel_descends(l->crd, p, repeats, w) : 0;
    }
    return bad | (all != 0);
}

static void
ravel_lists_part(void *arg, int part, int parts)
{
    ravel_lists *l = (ravel_lists *)arg;
    int64_t q = ravel_row_of(l->pos, l->parents, part, parts, l->w);
    int64_t end = ravel_row_of(l->pos, l->parents, part + 1, parts, l->w);
    int64_t repeats = l->repeats;
    if (l->w == 4)
        l->bad[part] = (unsigned char)(repeats ? ravel_lists_bad(l, q, end, 1, 4)
                                       : ravel_lists_bad(l, q, end, 0, 4));
    else
        l->bad[part] = (unsigned char)ravel_lists_bad(l, q, end, repeats, 8);
}

/* The coordinates are in range and, below each parent, ascend.  A flaw is looked for only if
 * there is one. */
RAVEL_STEP
ravel_stream_check_lists(ravel_stream *s, int64_t array, const void *pos, int64_t parents,
                         const void *crd, int64_t n, int64_t low, int64_t high,
                         int64_t repeats, int64_t w)
{
    ravel_lists l = {pos, crd, parents, n, low, high, repeats, w, {0}};
    int bad = 0;
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_lists_part, &l);
    for (int i = 0; i < RAVEL_TEAM; i++)
        bad |= l.bad[i];
    if (!bad)
        return;
    ravel_stream_check_range(s, array, crd, n, low, high, w);
    for (int64_t q = 0; q < parents && !s->flaw; q++)
        ravel_ascends(s, array, crd, ravel_index_at(pos, w, q),
                      ravel_index_at(pos, w, q + 1), repeats, w);
}

/* The coordinates of each group ascend, but for places that are not used: -1. */
RAVEL_STEP
ravel_stream_check_groups(ravel_stream *s, int64_t array, const void *crd, int64_t n,
                          int64_t groups, int64_t w)
{
    int64_t wide = s->flaw || !groups ? 0 : n / groups;
    for (int64_t g = 0; wide && g < groups && !s->flaw; g++)
        for (int64_t i = g * wide, last = -1; i < (g + 1) * wide; i++) {
            int64_t v = ravel_index_at(crd, w, i);
            if (v >= 0 && v <= last)
                ravel_flaw(s, v == last ? RAVEL_FLAW_TWICE : RAVEL_FLAW_ORDER, array, i);
            last = v >= 0 ? v : last;
        }
}
