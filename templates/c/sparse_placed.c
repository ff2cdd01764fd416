/* The steps of a list whose keys are in buckets (sparse_sorted.c): they are counted; then the values go to the
 * buckets, and each bucket to its rows. */

/* Room that is lent to the buckets of a part from `first` on, at the end of its coordinates: so many bytes,
 * until the bucket `gate`.  0: they fit; below: there is no room. */
typedef struct {
    int64_t first, gate, bytes;
} ravel_lending;

static ravel_lending
ravel_sorted_lending(const ravel_sorted *t, int64_t from, int64_t end)
{
    const int64_t *starts = ravel_sorted_area(t->s, RAVEL_BUCKETS), *sums = ravel_sorted_area(t->s, RAVEL_GROUPS);
    ravel_lending l = {from, from, 0};
    while (l.first < end && starts[l.first + 1] - starts[from] <= sums[end] - sums[from])
        l.first++;
    l.bytes = (starts[end] - starts[l.first]) * t->es;
    while (l.gate < l.first && (sums[end] - sums[l.gate + 1]) * t->w_out >= l.bytes)
        l.gate++;
    if (4 * (starts[l.gate] - starts[from]) < l.bytes)
        l.bytes = -1;
    return l;
}

RAVEL_PART unsigned char *
ravel_sorted_lent(const ravel_sorted *t, const ravel_lending *l, int64_t end)
{
    return (unsigned char *)t->crd_out + ravel_sorted_area(t->s, RAVEL_GROUPS)[end] * t->w_out - l->bytes;
}

/* Bucket b of a part is next: values that it would write over go to the memory of its first keys. */
RAVEL_PART void
ravel_sorted_return(const ravel_sorted *t, const ravel_lending *l, int64_t from, int64_t b, int64_t end)
{
    int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER);
    const int64_t *starts = ravel_sorted_area(t->s, RAVEL_BUCKETS);
    unsigned char *to = t->s->area[RAVEL_LIST] + 4 * starts[from];
    if (b != l->gate || l->bytes <= 0)
        return;
    memcpy(to, ravel_sorted_lent(t, l, end), (size_t)l->bytes);
    for (int64_t k = l->first; k < end; k++)
        at[k] = at[k] < 0 ? at[k] : ravel_sorted_address(to + (starts[k] - starts[l->first]) * t->es);
}

/* The values of a part to their buckets; a place is fetched some entries before. */
RAVEL_PART void
ravel_sorted_put(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { AHEAD = 64 };
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const ravel_sorting sorting = t->s->sorting, *g = &sorting;
    void *places = ravel_counts_of(t->s->area[RAVEL_CURSORS], g->bins, part, 8);
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w), b = owner[q >> g->shift];
        int64_t p = ravel_index_at(places, 8, b);
        int64_t later = ravel_sorted_row(t, i < end - AHEAD ? i + AHEAD : i, w);
        ravel_fetch(NULL, ravel_index_at(places, 8, owner[later >> g->shift]));
        if (p < 0)
            continue;
        ravel_index_set(places, 8, b, p + es);
        ravel_move_value(ravel_sorted_at(p), 0, t->in, i, es);
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

RAVEL_PART void
ravel_sorted_round(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER), *first = ravel_sorted_area(t->s, RAVEL_ROWS);
    const int64_t *starts = ravel_sorted_area(t->s, RAVEL_BUCKETS);
    const uint32_t *keys = (const uint32_t *)(const void *)t->s->area[RAVEL_LIST];
    int64_t end, from = ravel_sorted_share(t->s, part, parts, &end);
    const ravel_lending lent = ravel_sorted_lending(t, from, end);
    uint64_t *scratch = (uint64_t *)(void *)ravel_sorted_scratch_of(t->s, part);
    for (int64_t b = from; b < end; b++) {
        ravel_sorted_return(t, &lent, from, b, end);
        if (at[b] < 0)
            continue;
        ravel_grouping g = {b, starts[b + 1] - starts[b], first[b], first[b + 1] - first[b],
                            keys + starts[b], NULL, scratch};
        if (es)
            g.values = ravel_sorted_at(at[b]);
        if (!ravel_grouped_rows(t, &g, es, w))
            ravel_grouped_sort(t, &g, es, w);
    }
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

/* Where the values of each bucket go; those of a part are within its share of the destination. */
RAVEL_PART void
ravel_sorted_values(const ravel_sorted *t)
{
    ravel_stream *s = t->s;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), parts = RAVEL_PARTS(s), most = ravel_sorted_most(s->sorting.n);
    for (int64_t part = 0, end; part < parts; part++) {
        int64_t from = ravel_sorted_share(s, part, parts, &end);
        ravel_lending l = ravel_sorted_lending(t, from, end);
        for (int64_t b = from; b < end; b++) {
            unsigned char *lent = b < l.first ? t->out : ravel_sorted_lent(t, &l, end);
            int64_t p = b < l.first ? sums[from] + starts[b] - starts[from] : starts[b] - starts[l.first];
            int late = (b >= l.first && l.bytes < 0) || starts[b + 1] - starts[b] > most;
            at[b] = late ? (int64_t)RAVEL_LATE : t->es ? ravel_sorted_address(lent + p * t->es) : 0;
        }
    }
}

/* Count buckets that are too large for the scratch memory: their pairs have the memory of the keys before
 * these. */
RAVEL_PART void
ravel_sorted_count_large(ravel_sorted *t)
{
    const int64_t *starts = ravel_sorted_area(t->s, RAVEL_BUCKETS);
    int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER), most = ravel_sorted_most(t->s->sorting.n);
    for (int64_t b = 0; b < t->s->sorting.buckets; b++)
        at[b] = starts[b + 1] - starts[b] <= most ? RAVEL_DONE : RAVEL_LATE;
    ravel_late_all(t);
}

/* Count the entries of a list, joined; the level has a position for each.  bits: of a coordinate. */
RAVEL_STEP
ravel_stream_sorted(ravel_stream *s, int64_t level, const void *row, const void *crd, int64_t n,
                    int64_t rows, int64_t shift, int64_t bits, int64_t row_bias, int64_t bias,
                    int64_t es, int64_t w)
{
    int64_t bins = ((rows - 1) >> shift) + 1;
    ravel_bucket counted = {s, row, crd, NULL, n, bins, shift, row_bias, bias, es, w};
    ravel_sorted t = {s, row, crd, NULL, row_bias, bias, w, NULL, NULL, NULL, 0, es, 1, 0, w};
    ravel_sorting g = {n, rows, shift, bits, bins, ((int64_t)1 << (31 - bits)) - 1, 0, 0, es, w,
                       row_bias, bias};
    int64_t *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    if (s->flaw || s->ordered || s->near)
        return;
    if (n > RAVEL_SORTED_MOST) {
        ravel_flaw(s, RAVEL_FLAW_MANY, -1, RAVEL_SORTED_MOST);
        return;
    }
    s->sorting = g;
    s->area[RAVEL_LIST] = s->room;
    s->area[RAVEL_SCRATCH] = s->room + ravel_sorted_list(n);
    RAVEL_SHARE(s, ravel_bucket_count_part, &counted);
    ravel_sorted_buckets(s);
    ravel_sorted_count_large(&t);
    RAVEL_SHARE(s, ravel_sorted_keys_part, &t);
    ravel_sorted_rewind(s);
    RAVEL_SHARE(s, ravel_sorted_count_part, &t);
    sums[0] = 0;
    for (int64_t b = 0; b < s->sorting.buckets; b++)
        sums[b + 1] += sums[b];
    s->size[level] = sums[s->sorting.buckets];
}

/* Write the destination.  A value has `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_fill_sorted(ravel_stream *s, const void *row, const void *crd, const void *in,
                         void *pos, void *crd_out, void *out, int64_t bias, int64_t es,
                         int64_t parts, int64_t how, int64_t w_out)
{
    const ravel_sorting *g = &s->sorting;
    ravel_sorted t = {s, row, crd, (const unsigned char *)in, g->row_bias, g->crd_bias, g->w, pos, crd_out,
                      (unsigned char *)out, bias, es * parts, parts, how, w_out};
    if (s->flaw || s->ordered || s->near)
        return;
    ravel_index_set(pos, w_out, g->rows, ravel_sorted_area(s, RAVEL_GROUPS)[g->buckets]);
    ravel_sorted_values(&t);
    ravel_sorted_cursors(&t, t.es);
    if (es)
        RAVEL_SHARE(s, ravel_sorted_put_part, &t);
    RAVEL_SHARE(s, ravel_sorted_round_part, &t);
    ravel_late_all(&t);
}
