/* The destination of a list whose keys are in buckets (sparse_sorted.c): in rounds the values go to the
 * buckets, and each bucket to its rows. */

/* Where the values of a round are. */
RAVEL_PART unsigned char *
ravel_sorted_values(const ravel_sorted *t)
{
    const ravel_sorting *g = &t->s->sorting;
    int64_t room = ravel_sorted_list(g->n, g->most, t->es) / (4 + t->es);
    return t->late ? t->s->area[RAVEL_LIST] + 4 * room : t->out;
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
    unsigned char *values = ravel_sorted_values(t);
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w), b = owner[q >> g->shift];
        int64_t p = ravel_index_at(places, 8, b);
        int64_t later = ravel_sorted_row(t, i < end - AHEAD ? i + AHEAD : i, w);
        int64_t soon = ravel_index_at(places, 8, owner[later >> g->shift]);
        if (late)
            ravel_fetch(list, soon * 4);
        ravel_fetch(values, soon * es);
        if (p < 0)
            continue;
        ravel_index_set(places, 8, b, p + 1);
        if (late)
            list[p] = ravel_sorted_key(t, g, q, i, w);
        ravel_move_value(values, p, t->in, i, es);
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
    const unsigned char *values = ravel_sorted_values(t);
    int64_t end, b = ravel_sorted_share(t->s, part, parts, &end);
    uint64_t *scratch = (uint64_t *)(void *)ravel_sorted_scratch_of(t->s, b, part, parts);
    for (; b < end; b++) {
        if (at[b] < 0)
            continue;
        ravel_grouping g = {b, starts[b + 1] - starts[b], first[b], first[b + 1] - first[b],
                            keys + (t->late ? at[b] : starts[b]), NULL, scratch};
        if (es)
            g.values = values + at[b] * es;
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

/* The places of the first round: those of a part are within its share of the destination.  Without values
 * all buckets are in it. */
RAVEL_PART void
ravel_sorted_first(ravel_stream *s, int64_t es)
{
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), parts = RAVEL_PARTS(s);
    for (int64_t part = 0, end; part < parts; part++) {
        int64_t from = ravel_sorted_share(s, part, parts, &end);
        for (int64_t b = from; b < end; b++) {
            int64_t p = sums[from] + starts[b] - starts[from];
            at[b] = !es || p + starts[b + 1] - starts[b] <= sums[end] ? p : (int64_t)RAVEL_LATE;
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
    ravel_index_set(pos, w_out, g->rows, ravel_sorted_area(s, RAVEL_GROUPS)[g->buckets]);
    ravel_sorted_first(s, es);
    for (int more = 1; more; more = ravel_sorted_next(s), t.late = 1) {
        ravel_sorted_cursors(s);
        if (es)
            RAVEL_SHARE(s, ravel_sorted_put_part, &t);
        RAVEL_SHARE(s, ravel_sorted_round_part, &t);
    }
}
