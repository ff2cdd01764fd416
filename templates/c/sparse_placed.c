/* The destination of a list whose keys are in order (sparse_sorted.c): rows and coordinates, and in rounds
 * the values, each bucket at the places of its entries. */

/* The rows and coordinates of the buckets of a part. */
RAVEL_PART void
ravel_sorted_rows(const ravel_sorted *t, int64_t part, int64_t parts, int64_t w)
{
    const ravel_stream *s = t->s;
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *first = ravel_sorted_area(s, RAVEL_ROWS);
    const int64_t *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t end, b = ravel_sorted_share(s, part, parts, &end), below = ((int64_t)1 << g->bits) - 1;
    for (; b < end; b++) {
        const uint32_t *keys = (const uint32_t *)(const void *)s->area[RAVEL_LIST] + starts[b];
        int64_t q = first[b], base = q & ~g->below;
        for (int64_t p = sums[b]; p < sums[b + 1]; p++) {
            int64_t key = *keys++;
            for (int64_t row = base | key >> g->bits; q <= row; q++)
                ravel_index_set(t->pos, w, q, p);
            ravel_index_set(t->crd_out, w, p, (key & below) - t->bias);
        }
        for (; q < first[b + 1]; q++)
            ravel_index_set(t->pos, w, q, sums[b + 1]);
    }
}

static void
ravel_sorted_rows_part(void *arg, int part, int parts)
{
    const ravel_sorted mine = *(const ravel_sorted *)arg;      /* in registers */
    if (mine.w_out == 4)
        ravel_sorted_rows(&mine, part, parts, 4);
    else
        ravel_sorted_rows(&mine, part, parts, 8);
}

/* Where the values of a round are. */
RAVEL_PART unsigned char *
ravel_sorted_values(const ravel_sorted *t)
{
    const ravel_sorting *g = &t->s->sorting;
    int64_t room = ravel_sorted_list(g->n, g->most, t->es) / (4 + t->es);
    return t->late ? t->s->area[RAVEL_LIST] + 4 * room : t->out;
}

/* Keys and values of a part to the buckets of the round; a place is fetched some entries before. */
RAVEL_PART void
ravel_sorted_put(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { AHEAD = 64 };
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const ravel_sorting sorting = t->s->sorting, *g = &sorting;
    void *places = ravel_counts_of(t->s->area[RAVEL_CURSORS], g->bins, part, 8);
    uint32_t *list = (uint32_t *)(void *)t->s->area[RAVEL_LIST];
    unsigned char *values = ravel_sorted_values(t);
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w), b = owner[q >> g->shift];
        int64_t p = ravel_index_at(places, 8, b);
        int64_t later = ravel_sorted_row(t, i < end - AHEAD ? i + AHEAD : i, w);
        int64_t soon = ravel_index_at(places, 8, owner[later >> g->shift]);
        ravel_fetch(list, soon * 4);
        ravel_fetch(values, soon * es);
        if (p < 0)
            continue;
        ravel_index_set(places, 8, b, p + 1);
        list[p] = ravel_sorted_key(t, g, q, i, w);
        ravel_move_value(values, p, t->in, i, es);
    }
}

static void
ravel_sorted_put_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->w == 4 && t->es == 8)
        ravel_sorted_put(t, part, parts, 8, 4);
    else if (t->w == 4 && t->es == 4)
        ravel_sorted_put(t, part, parts, 4, 4);
    else
        ravel_sorted_put(t, part, parts, t->es, t->w);
}

/* Where coordinate c is in the row whose coordinates are from..end - 1: halves are left out, and what
 * remains is compared at once.  Of an array of `all`. */
RAVEL_PART int64_t
ravel_sorted_find(const void *crd, int64_t from, int64_t end, int64_t c, int64_t all, int64_t w)
{
    int64_t n = end - from, below = 0;
    for (int64_t half; n > RAVEL_COMPARED; n -= half) {
        half = n / 2;
        from += half & -(int64_t)(ravel_index_at(crd, w, from + half) <= c);
    }
    if (w == 4 && from + RAVEL_COMPARED <= all) {
        const int32_t *a = (const int32_t *)crd + from;
        int32_t some = (int32_t)n, x = (int32_t)c, k = 0;
        for (int32_t i = 0; i < RAVEL_COMPARED; i++)
            k += (i < some) & (a[i] < x);
        return from + k;
    }
    for (int64_t i = 0; i < n; i++)
        below += ravel_index_at(crd, w, from + i) < c;
    return from + below;
}

/* The value of an entry to its place; `seen` has a bit for each of the bucket that is there, or is NULL if
 * no two are equal. */
RAVEL_PART void
ravel_sorted_value(const ravel_sorted *t, int64_t p, int64_t bit, unsigned char *seen,
                   const unsigned char *val, int64_t es)
{
    if (seen && seen[bit >> 3] >> (bit & 7) & 1) {
        ravel_join(t->s, t->out + p * es, val, es / t->parts, t->parts, t->how, 0);
        return;
    }
    if (seen)
        seen[bit >> 3] = (unsigned char)(seen[bit >> 3] | 1 << (bit & 7));
    ravel_move_value(t->out, p, val, 0, es);
}

/* The n entries of a bucket to their places, which are found in their rows. */
RAVEL_PART void
ravel_sorted_search(const ravel_sorted *t, int64_t b, unsigned char *copy, const uint32_t *keys,
                    int64_t n, int64_t es, int64_t w)
{
    const ravel_stream *s = t->s;
    const ravel_sorting *g = &s->sorting;
    const int64_t *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t left = sums[b + 1] - sums[b], all = sums[g->buckets];
    int64_t base = ravel_sorted_area(s, RAVEL_ROWS)[b] & ~g->below, below = ((int64_t)1 << g->bits) - 1;
    unsigned char *seen = left < n ? copy + n * es : NULL;
    if (seen)
        memset(seen, 0, (size_t)(left / 8 + 1));
    for (int64_t i = 0; i < n; i++) {
        int64_t q = base | keys[i] >> g->bits, c = (keys[i] & below) - t->bias;
        int64_t p = ravel_sorted_find(t->crd_out, ravel_index_at(t->pos, w, q),
                                      ravel_index_at(t->pos, w, q + 1), c, all, w);
        ravel_sorted_value(t, p, p - sums[b], seen, copy + i * es, es);
    }
}

/* ... of long rows: the entries are put in order. */
RAVEL_PART void
ravel_sorted_long(const ravel_sorted *t, int64_t b, unsigned char *copy, const uint32_t *keys,
                  int64_t n, uint64_t *a, int64_t es)
{
    int64_t k = ravel_sorted_area(t->s, RAVEL_GROUPS)[b] - 1;
    int passes, width;
    ravel_sorted_digits(t->s, b, &passes, &width);
    for (int64_t i = 0; i < n; i++)
        a[i] = (uint64_t)keys[i] << 32 | (uint64_t)i;
    a = ravel_digits_sort8(a, a + n, n, 32, passes, width);
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *from = copy + (int64_t)(a[i] & UINT32_MAX) * es;
        if (i && a[i] >> 32 == a[i - 1] >> 32)
            ravel_join(t->s, t->out + k * es, from, es / t->parts, t->parts, t->how, 0);
        else
            ravel_move_value(t->out, ++k, from, 0, es);
    }
}

/* The entries of bucket b to their places.  pairs: scratch memory. */
RAVEL_PART void
ravel_sorted_bucket(const ravel_sorted *t, int64_t b, uint64_t *pairs, const uint32_t *keys,
                    const unsigned char *values, int64_t es, int64_t w)
{
    const ravel_stream *s = t->s;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *first = ravel_sorted_area(s, RAVEL_ROWS);
    int64_t n = starts[b + 1] - starts[b], rows = first[b + 1] - first[b];
    unsigned char *copy = (unsigned char *)(pairs + 2 * n);
    memcpy(copy, values, (size_t)(n * es));
    if (n / RAVEL_COMPARED > rows)
        ravel_sorted_long(t, b, copy, keys, n, pairs, es);
    else
        ravel_sorted_search(t, b, copy, keys, n, es, w);
}

RAVEL_PART void
ravel_sorted_round(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER);
    const uint32_t *keys = (const uint32_t *)(const void *)t->s->area[RAVEL_LIST];
    const unsigned char *values = ravel_sorted_values(t);
    int64_t end, b = ravel_sorted_share(t->s, part, parts, &end);
    uint64_t *pairs = (uint64_t *)(void *)ravel_sorted_scratch_of(t->s, b, part, parts);
    for (; b < end; b++)
        if (at[b] >= 0)
            ravel_sorted_bucket(t, b, pairs, keys + at[b], values + at[b] * es, es, w);
}

static void
ravel_sorted_round_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->es == 8 && t->w_out == 4)
        ravel_sorted_round(t, part, parts, 8, 4);
    else if (t->es == 4 && t->w_out == 4)
        ravel_sorted_round(t, part, parts, 4, 4);
    else
        ravel_sorted_round(t, part, parts, t->es, t->w_out);
}

/* The places of the first round: those of a part are within its share of the destination. */
RAVEL_PART void
ravel_sorted_first(ravel_stream *s)
{
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), parts = RAVEL_PARTS(s);
    for (int64_t part = 0, end; part < parts; part++) {
        int64_t from = ravel_sorted_share(s, part, parts, &end);
        for (int64_t b = from; b < end; b++) {
            int64_t p = sums[from] + starts[b] - starts[from];
            at[b] = p + starts[b + 1] - starts[b] <= sums[end] ? p : (int64_t)RAVEL_LATE;
        }
    }
}

/* The places of the next round, in the memory of the keys; returns whether there is one. */
RAVEL_PART int
ravel_sorted_next(ravel_stream *s)
{
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), p = 0;
    int64_t room = ravel_sorted_list(g->n, g->most, g->es) / (4 + g->es);
    int more = 0;
    for (int64_t b = 0; b < g->buckets; b++) {
        int64_t n = starts[b + 1] - starts[b];
        if (at[b] != RAVEL_LATE) {
            at[b] = RAVEL_DONE;
        } else if (p + n <= room) {
            at[b] = p;
            p += n;
            more = 1;
        }
    }
    return more;
}

/* The next places of each part, after those of the parts before. */
RAVEL_PART void
ravel_sorted_cursors(ravel_stream *s)
{
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *at = ravel_sorted_area(s, RAVEL_ORDER);
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        void *next = ravel_counts_of(s->area[RAVEL_CURSORS], g->bins, part, 8);
        const void *before = part ? ravel_counts_of(s->area[RAVEL_COUNTS], g->bins, part - 1, g->w) : NULL;
        for (int64_t b = 0; b < g->buckets; b++) {
            int64_t others = before ? ravel_index_at(before, g->w, b) - starts[b] : 0;
            ravel_index_set(next, 8, b, at[b] < 0 ? at[b] : at[b] + others);
        }
    }
}

/* Write the destination.  A value has `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_fill_sorted(ravel_stream *s, const void *row, const void *crd, const void *in,
                         void *pos, void *crd_out, void *out, int64_t bias, int64_t es,
                         int64_t parts, int64_t how, int64_t w_out)
{
    const ravel_sorting *g = &s->sorting;
    ravel_sorted t = {s, row, crd, (const unsigned char *)in, g->row_bias, g->crd_bias, g->w, pos, crd_out,
                      (unsigned char *)out, bias, es * parts, parts, how, w_out, 0};
    if (s->flaw || s->ordered)
        return;
    RAVEL_SHARE(s, ravel_sorted_rows_part, &t);
    ravel_index_set(pos, w_out, g->rows, ravel_sorted_area(s, RAVEL_GROUPS)[g->buckets]);
    if (!es || !g->n)
        return;
    ravel_sorted_first(s);
    for (int more = 1; more; more = ravel_sorted_next(s), t.late = 1) {
        ravel_sorted_cursors(s);
        RAVEL_SHARE(s, ravel_sorted_put_part, &t);
        RAVEL_SHARE(s, ravel_sorted_round_part, &t);
    }
}
