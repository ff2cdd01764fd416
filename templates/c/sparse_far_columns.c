/* A list of few rows and columns whose result no near cache holds: places in any order of it would be
 * slow to write.  The list is put into its columns by counting (ravel_stream_bucket), and the entries
 * of one column after the other go to the next place of their row.  Then the steps that choose between
 * this way and the ranks of sparse_columns.c; both write the same bytes. */

/* The result of n entries is far: it has more bytes than this. */
RAVEL_PART int
ravel_columns_far(int64_t n, int64_t es, int64_t w)
{
    const int64_t near_bytes = (int64_t)6 << 20;
    return n > near_bytes / (es + w);
}

/* Column c has row q; returns whether it has had it before. */
RAVEL_PART int
ravel_columns_same(int32_t *last, int64_t q, int64_t c)
{
    int same = last[q] == (int32_t)c;
    last[q] = (int32_t)c;
    return same;
}

/* The columns c..end - 1: count the places of each row. */
RAVEL_PART void
ravel_columns_count_far(const ravel_columns *t, int64_t c, int64_t end, int32_t *last, void *places,
                        int64_t es, int64_t w)
{
    const void *pos = t->s->area[RAVEL_ROWS];
    const unsigned char *list = ravel_entry_at(t->s, 0, es);
    int64_t each = RAVEL_ENTRY_BYTES(es);
    memset(places, 0, (size_t)(t->rows * w));
    for (int64_t i = ravel_index_at(pos, w, c), next; c < end; c++)
        for (next = ravel_index_at(pos, w, c + 1); i < next; i++) {
            int32_t q = ravel_entry_key(list + i * each);
            int64_t n = ravel_index_at(places, w, q);
            ravel_index_set(places, w, q, n + !ravel_columns_same(last, q, c));
        }
}

/* ... write their entries.  A place is fetched some entries before it is written. */
RAVEL_PART void
ravel_columns_write_far(const ravel_columns *t, int64_t c, int64_t end, int32_t *last, void *places,
                        int64_t es, int64_t w, int64_t w_out)
{
    const void *pos = t->s->area[RAVEL_ROWS];
    int64_t each = RAVEL_ENTRY_BYTES(es);
    int64_t all = ravel_index_at(pos, w, end) - RAVEL_COLUMNS_AHEAD;
    const unsigned char *list = ravel_entry_at(t->s, 0, es);
    unsigned char *out = t->out;
    for (int64_t i = ravel_index_at(pos, w, c), next; c < end; c++)
        for (next = ravel_index_at(pos, w, c + 1); i < next; i++) {
            const unsigned char *e = list + i * each;
            int32_t q = ravel_entry_key(e);
            int32_t later = ravel_entry_key(i < all ? e + RAVEL_COLUMNS_AHEAD * each : e);
            int64_t p = ravel_index_at(places, w, q), soon = ravel_index_at(places, w, later);
            ravel_fetch(t->crd_out, soon * w_out);
            ravel_fetch(out, soon * es);
            if (ravel_columns_same(last, q, c)) {
                ravel_join(t->s, out + (p - 1) * es, e + sizeof q, es / t->parts, t->parts, t->how,
                           0);
                continue;
            }
            ravel_index_set(places, w, q, p + 1);
            ravel_index_set(t->crd_out, w_out, p, c - t->bias);
            ravel_move_value(out, p, e + sizeof q, 0, es);
        }
}

/* The columns of a part.  Without arrays of the destination, places are counted. */
RAVEL_PART void
ravel_columns_some_far(const ravel_columns *shared, int64_t part, int64_t parts, int64_t es, int64_t w,
                       int64_t w_out)
{
    const ravel_columns mine = *shared, *t = &mine;    /* in registers */
    const void *pos = t->s->area[RAVEL_ROWS];
    void *first = ravel_counts_of(t->s->area[RAVEL_CURSORS], t->rows, part, w);
    void *places = ravel_counts_of(t->s->area[RAVEL_LENGTHS], t->rows, part, w);
    int32_t *last = (int32_t *)ravel_counts_of(t->s->area[RAVEL_SLOTS], t->rows, part, 4);
    int64_t c = ravel_row_of(pos, t->cols, part, parts, w);
    int64_t end = ravel_row_of(pos, t->cols, part + 1, parts, w);
    memset(last, 0xff, (size_t)(t->rows * 4));
    if (!t->crd_out) {
        ravel_columns_count_far(t, c, end, last, first, es, w);
        return;
    }
    memcpy(places, first, (size_t)(t->rows * w));
    ravel_columns_write_far(t, c, end, last, places, es, w, w_out);
}

static void
ravel_columns_far_part(void *arg, int part, int parts)
{
    const ravel_columns *t = (const ravel_columns *)arg;
    int small = t->w == 4 && t->w_out == 4;
    if (small && t->es == 4)
        ravel_columns_some_far(t, part, parts, 4, 4, 4);
    else if (small && t->es == 8)
        ravel_columns_some_far(t, part, parts, 8, 4, 4);
    else
        ravel_columns_some_far(t, part, parts, t->es, t->w, t->w_out);
}

/* The bits of an entry in the work memory: itself, or its rank. */
RAVEL_PART int64_t
ravel_columns_bits(int64_t n, int64_t es, int64_t w)
{
    return ravel_columns_far(n, es, w) ? RAVEL_ENTRY_BYTES(es) * 8 : 16;
}

RAVEL_STEP
ravel_stream_room_columns(ravel_stream *s, int64_t *m, int64_t n, int64_t es, int64_t w)
{
    ravel_stream_room(s, m, n, ravel_columns_bits(n, es, w), 0);
}

RAVEL_STEP
ravel_stream_area_columns(ravel_stream *s, int64_t n, int64_t es, int64_t w)
{
    ravel_stream_area(s, RAVEL_LIST, n, ravel_columns_bits(n, es, w), 0);
}

/* A list to its columns; the level has a position for each place. */
RAVEL_STEP
ravel_stream_columns(ravel_stream *s, int64_t level, const void *row, const void *crd, const void *in,
                     int64_t n, int64_t rows, int64_t cols, int64_t row_bias, int64_t crd_bias,
                     int64_t es, int64_t w)
{
    ravel_list list = {n, rows, cols, row_bias, crd_bias, w};
    ravel_columns t = {s, row, crd, n, rows, cols, row_bias, crd_bias, w, NULL, NULL, NULL, 0, es, 1,
                       0, w};
    if (s->flaw || s->ordered)
        return;
    s->list = list;
    if (ravel_columns_far(n, es, w)) {
        ravel_stream_bucket(s, crd, row, in, n, cols, crd_bias, row_bias, es, w);
        RAVEL_SHARE(s, ravel_columns_far_part, &t);
        ravel_places(s->area[RAVEL_CURSORS], rows, RAVEL_PARTS(s), s->area[RAVEL_BUCKETS], w);
    } else {
        ravel_columns_rank_all(&t);
    }
    s->size[level] = ravel_index_at(s->area[RAVEL_BUCKETS], w, rows);
}

/* Write the destination.  A value has `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_fill_columns(ravel_stream *s, const void *row, const void *crd, const void *in,
                          void *pos, void *crd_out, void *out, int64_t bias, int64_t es,
                          int64_t parts, int64_t how, int64_t w_out)
{
    const ravel_list *l = &s->list;
    ravel_columns t = {s, row, crd, l->n, l->rows, l->cols, l->row_bias, l->bias, l->w,
                       (const unsigned char *)in, crd_out, (unsigned char *)out, bias, es * parts,
                       parts, how, w_out};
    if (s->flaw || s->ordered)
        return;
    for (int64_t q = 0; q <= l->rows; q++)
        ravel_index_set(pos, w_out, q, ravel_index_at(s->area[RAVEL_BUCKETS], l->w, q));
    if (ravel_columns_far(l->n, t.es, l->w))
        RAVEL_SHARE(s, ravel_columns_far_part, &t);
    else
        ravel_columns_write_all(&t, ravel_index_at(pos, w_out, l->rows));
}
