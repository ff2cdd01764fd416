/* The destination of a list whose keys are in buckets (sparse_sorted.c): in rounds the values go to the
 * buckets, and each bucket to its rows. */

/* Where the values of a late round are. */
RAVEL_PART unsigned char *
ravel_sorted_values(const ravel_sorted *t)
{
    const ravel_sorting *g = &t->s->sorting;
    return t->s->area[RAVEL_LIST] + 4 * (ravel_sorted_list(g->n, g->most, t->es) / (4 + t->es));
}

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
        at[k] = ravel_sorted_address(to + (starts[k] - starts[l->first]) * t->es);
}

/* The values of a part to the buckets of the round, and if that is `late` the keys; a place is fetched some
 * entries before. */
RAVEL_PART void
ravel_sorted_put(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w, int late)
{
    enum { AHEAD = 64 };
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const ravel_sorting sorting = t->s->sorting, *g = &sorting;
    void *places = ravel_counts_of(t->s->area[RAVEL_CURSORS], g->bins, part, 8);
    uint32_t *list = (uint32_t *)(void *)t->s->area[RAVEL_LIST];
    unsigned char *values = late ? ravel_sorted_values(t) : NULL;
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w), b = owner[q >> g->shift];
        int64_t p = ravel_index_at(places, 8, b);
        int64_t later = ravel_sorted_row(t, i < end - AHEAD ? i + AHEAD : i, w);
        int64_t soon = ravel_index_at(places, 8, owner[later >> g->shift]);
        if (late)
            ravel_fetch(list, soon * 4);
        ravel_fetch(values, late ? soon * es : soon);
        if (p < 0)
            continue;
        ravel_index_set(places, 8, b, p + (late ? 1 : es));
        if (late)
            list[p] = ravel_sorted_key(t, g, q, i, w);
        ravel_move_value(late ? values + p * es : ravel_sorted_at(p), 0, t->in, i, es);
    }
}

static void
ravel_sorted_put_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->late)
        ravel_sorted_put(t, part, parts, t->es, t->w, 1);
    else if (t->w == 4 && t->es == 8)
        ravel_sorted_put(t, part, parts, 8, 4, 0);
    else if (t->w == 4 && t->es == 4)
        ravel_sorted_put(t, part, parts, 4, 4, 0);
    else
        ravel_sorted_put(t, part, parts, t->es, t->w, 0);
}

RAVEL_PART void
ravel_sorted_round(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER), *first = ravel_sorted_area(t->s, RAVEL_ROWS);
    const int64_t *starts = ravel_sorted_area(t->s, RAVEL_BUCKETS);
    const uint32_t *keys = (const uint32_t *)(const void *)t->s->area[RAVEL_LIST];
    int64_t end, from = ravel_sorted_share(t->s, part, parts, &end);
    ravel_lending lent = {from, from, 0};
    uint64_t *scratch = (uint64_t *)(void *)ravel_sorted_scratch_of(t->s, from, part, parts);
    if (!t->late)
        lent = ravel_sorted_lending(t, from, end);
    for (int64_t b = from; b < end; b++) {
        if (at[b] < 0)
            continue;
        ravel_sorted_return(t, &lent, from, b, end);
        ravel_grouping g = {b, starts[b + 1] - starts[b], first[b], first[b + 1] - first[b],
                            keys + (t->late ? at[b] : starts[b]), NULL, scratch};
        if (es)
            g.values = t->late ? ravel_sorted_values(t) + at[b] * es : ravel_sorted_at(at[b]);
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

/* The places of the first round: those of a part are within its share of the destination. */
RAVEL_PART void
ravel_sorted_first(const ravel_sorted *t)
{
    ravel_stream *s = t->s;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), parts = RAVEL_PARTS(s);
    for (int64_t part = 0, end; part < parts; part++) {
        int64_t from = ravel_sorted_share(s, part, parts, &end);
        ravel_lending l = ravel_sorted_lending(t, from, end);
        for (int64_t b = from; b < end; b++) {
            unsigned char *lent = b < l.first ? t->out : ravel_sorted_lent(t, &l, end);
            int64_t p = b < l.first ? sums[from] + starts[b] - starts[from] : starts[b] - starts[l.first];
            at[b] = b >= l.first && l.bytes < 0 ? (int64_t)RAVEL_LATE
                    : t->es                     ? ravel_sorted_address(lent + p * t->es) : 0;
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
ravel_sorted_cursors(const ravel_sorted *t)
{
    ravel_stream *s = t->s;
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *at = ravel_sorted_area(s, RAVEL_ORDER);
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        void *next = ravel_counts_of(s->area[RAVEL_CURSORS], g->bins, part, 8);
        const void *before = part ? ravel_counts_of(s->area[RAVEL_COUNTS], g->bins, part - 1, g->w) : NULL;
        for (int64_t b = 0; b < g->buckets; b++) {
            int64_t others = before ? ravel_index_at(before, g->w, b) - starts[b] : 0;
            ravel_index_set(next, 8, b, at[b] < 0 ? at[b] : at[b] + others * (t->late ? 1 : t->es));
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
    if (s->flaw || s->ordered || s->near)
        return;
    ravel_index_set(pos, w_out, g->rows, ravel_sorted_area(s, RAVEL_GROUPS)[g->buckets]);
    ravel_sorted_first(&t);
    for (int more = 1; more; more = ravel_sorted_next(s), t.late = 1) {
        ravel_sorted_cursors(&t);
        if (es)
            RAVEL_SHARE(s, ravel_sorted_put_part, &t);
        RAVEL_SHARE(s, ravel_sorted_round_part, &t);
    }
}
