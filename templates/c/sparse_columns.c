/* Entries in any order, some at one place, to rows in order: a list is put into its columns by
 * counting (ravel_stream_bucket), and the entries of one column after the other go to the next place
 * of their row.  Equal entries are in one column; the last column of each row tells them. */

typedef struct {
    ravel_stream *s;
    int64_t cols, rows, es, parts, how, w;             /* w: of the source */
    void *crd;                     /* of the destination; NULL: places are counted */
    unsigned char *out;
    int64_t bias, w_out;
} ravel_columns;

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
ravel_columns_count(const ravel_columns *t, int64_t c, int64_t end, int32_t *last, void *places,
                    int64_t es, int64_t w)
{
    const void *pos = t->s->area[RAVEL_ROWS];
    const unsigned char *list = ravel_entry_at(t->s, 0, es);
    int64_t each = ravel_entry_bytes(es);
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
ravel_columns_write(const ravel_columns *t, int64_t c, int64_t end, int32_t *last, void *places,
                    int64_t es, int64_t w, int64_t w_out)
{
    enum { AHEAD = 64 };
    const void *pos = t->s->area[RAVEL_ROWS];
    int64_t each = ravel_entry_bytes(es), all = ravel_index_at(pos, w, end) - AHEAD;
    const unsigned char *list = ravel_entry_at(t->s, 0, es);
    unsigned char *out = t->out;
    for (int64_t i = ravel_index_at(pos, w, c), next; c < end; c++)
        for (next = ravel_index_at(pos, w, c + 1); i < next; i++) {
            const unsigned char *e = list + i * each;
            int32_t q = ravel_entry_key(e), later = ravel_entry_key(i < all ? e + AHEAD * each : e);
            int64_t p = ravel_index_at(places, w, q), soon = ravel_index_at(places, w, later);
            ravel_fetch(t->crd, soon * w_out);
            ravel_fetch(out, soon * es);
            if (ravel_columns_same(last, q, c)) {
                ravel_join(t->s, out + (p - 1) * es, e + sizeof q, es / t->parts, t->parts, t->how,
                           0);
                continue;
            }
            ravel_index_set(places, w, q, p + 1);
            ravel_index_set(t->crd, w_out, p, c - t->bias);
            ravel_move_value(out, p, e + sizeof q, 0, es);
        }
}

RAVEL_PART void
ravel_columns_some(const ravel_columns *shared, int64_t part, int64_t parts, int64_t es, int64_t w,
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
    if (!t->crd) {
        ravel_columns_count(t, c, end, last, first, es, w);
        return;
    }
    memcpy(places, first, (size_t)(t->rows * w));
    ravel_columns_write(t, c, end, last, places, es, w, w_out);
}

static void
ravel_columns_part(void *arg, int part, int parts)
{
    const ravel_columns *t = (const ravel_columns *)arg;
    int small = t->w == 4 && t->w_out == 4;
    if (small && t->es == 4)
        ravel_columns_some(t, part, parts, 4, 4, 4);
    else if (small && t->es == 8)
        ravel_columns_some(t, part, parts, 8, 4, 4);
    else
        ravel_columns_some(t, part, parts, t->es, t->w, t->w_out);
}

/* Count the places of each row; the level has a position for each. */
RAVEL_STEP
ravel_stream_count_rows(ravel_stream *s, int64_t level, int64_t cols, int64_t rows, int64_t es,
                        int64_t w)
{
    ravel_columns t = {.s = s, .cols = cols, .rows = rows, .es = es, .w = w, .w_out = w};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_columns_part, &t);
    ravel_places(s->area[RAVEL_CURSORS], rows, RAVEL_PARTS(s), s->area[RAVEL_BUCKETS], w);
    s->size[level] = ravel_index_at(s->area[RAVEL_BUCKETS], w, rows);
}

/* Write the destination.  A value has `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_fill_rows(ravel_stream *s, void *pos, void *crd, void *out, int64_t cols, int64_t rows,
                       int64_t bias, int64_t es, int64_t parts, int64_t how, int64_t w,
                       int64_t w_out)
{
    ravel_columns t = {s, cols, rows, es * parts, parts, how, w, crd, (unsigned char *)out, bias,
                       w_out};
    if (s->flaw)
        return;
    for (int64_t q = 0; q <= rows; q++)
        ravel_index_set(pos, w_out, q, ravel_index_at(s->area[RAVEL_BUCKETS], w, q));
    RAVEL_SHARE(s, ravel_columns_part, &t);
}
