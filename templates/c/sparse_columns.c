/* Entries in any order, some at one place, to rows in order.  The rows of a list of few rows and
 * columns, whose result a near cache may hold, are put into its columns by counting; places in any order of a
 * larger one would be slow to write (sparse_sorted.c).  Column after column, an entry is the next one of its
 * row; equal entries are in one column, and the last column of each row tells them.  These ranks take
 * the place of the rows.  The destination is written in the order of the source: an entry is the next
 * one of its column, where its rank is. */

typedef struct {
    ravel_stream *s;
    const void *row, *crd;         /* of the source */
    int64_t n, rows, cols, row_bias, crd_bias, w;      /* as in ravel_list */
    const unsigned char *in;
    void *crd_out;                 /* of the destination */
    unsigned char *out;
    int64_t bias, es, parts, how, w_out;
} ravel_columns;

enum { RAVEL_COLUMNS_AHEAD = 64 };     /* places that are fetched before they are written */

RAVEL_PART uint16_t *
ravel_columns_list(const ravel_stream *s)
{
    return (uint16_t *)(void *)s->area[RAVEL_LIST];
}

RAVEL_PART int64_t
ravel_columns_of(const ravel_columns *t, int64_t i, int64_t w)
{
    return ravel_index_at(t->crd, w, i) + t->crd_bias;
}

RAVEL_PART void
ravel_columns_count(const ravel_columns *t, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(t->n, part, parts), end = ravel_part_of(t->n, part + 1, parts);
    void *counts = ravel_counts_of(t->s->area[RAVEL_COUNTS], t->cols, part, w);
    memset(counts, 0, (size_t)(t->cols * w));
    for (; i < end; i++) {
        int64_t c = ravel_columns_of(t, i, w);
        ravel_index_set(counts, w, c, ravel_index_at(counts, w, c) + 1);
    }
}

static void
ravel_columns_count_part(void *arg, int part, int parts)
{
    const ravel_columns mine = *(const ravel_columns *)arg, *t = &mine;        /* in registers */
    if (t->w == 4)
        ravel_columns_count(t, part, parts, 4);
    else
        ravel_columns_count(t, part, parts, 8);
}

/* Each row to the next place of its column. */
RAVEL_PART void
ravel_columns_put(const ravel_columns *t, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(t->n, part, parts), end = ravel_part_of(t->n, part + 1, parts);
    void *places = ravel_counts_of(t->s->area[RAVEL_COUNTS], t->cols, part, w);
    uint16_t *list = ravel_columns_list(t->s);
    for (; i < end; i++) {
        int64_t c = ravel_columns_of(t, i, w), p = ravel_index_at(places, w, c);
        ravel_index_set(places, w, c, p + 1);
        list[p] = (uint16_t)(ravel_index_at(t->row, w, i) + t->row_bias);
    }
}

static void
ravel_columns_put_part(void *arg, int part, int parts)
{
    const ravel_columns mine = *(const ravel_columns *)arg, *t = &mine;        /* in registers */
    if (t->w == 4)
        ravel_columns_put(t, part, parts, 4);
    else
        ravel_columns_put(t, part, parts, 8);
}

/* The columns of a part: count the places of each row.  A rank is twice the number of the entries of
 * its row in columns of this part before, and 1 if it is not the first one of its place. */
RAVEL_PART void
ravel_columns_rank(const ravel_columns *t, int64_t part, int64_t parts, int64_t w)
{
    const void *starts = t->s->area[RAVEL_ROWS];
    void *counts = ravel_counts_of(t->s->area[RAVEL_CURSORS], t->rows, part, w);
    int32_t *last = (int32_t *)ravel_counts_of(t->s->area[RAVEL_SLOTS], t->rows, part, 4);
    uint16_t *list = ravel_columns_list(t->s);
    int64_t c = ravel_row_of(starts, t->cols, part, parts, w);
    int64_t end = ravel_row_of(starts, t->cols, part + 1, parts, w);
    memset(last, 0xff, (size_t)(t->rows * 4));
    memset(counts, 0, (size_t)(t->rows * w));
    for (int64_t i = ravel_index_at(starts, w, c), next; c < end; c++) {
        t->s->area[RAVEL_OWNERS][c] = (unsigned char)part;
        for (next = ravel_index_at(starts, w, c + 1); i < next; i++) {
            int64_t q = list[i], n = ravel_index_at(counts, w, q), same = last[q] == (int32_t)c;
            last[q] = (int32_t)c;
            ravel_index_set(counts, w, q, n + 1 - same);
            list[i] = (uint16_t)((n - same) * 2 + same);
        }
    }
}

static void
ravel_columns_rank_part(void *arg, int part, int parts)
{
    const ravel_columns mine = *(const ravel_columns *)arg, *t = &mine;        /* in registers */
    if (t->w == 4)
        ravel_columns_rank(t, part, parts, 4);
    else
        ravel_columns_rank(t, part, parts, 8);
}

/* Rank the entries; BUCKETS becomes the first place of each row. */
static void
ravel_columns_rank_all(ravel_columns *t)
{
    ravel_stream *s = t->s;
    RAVEL_SHARE(s, ravel_columns_count_part, t);
    ravel_places(s->area[RAVEL_COUNTS], t->cols, RAVEL_PARTS(s), s->area[RAVEL_ROWS], t->w);
    RAVEL_SHARE(s, ravel_columns_put_part, t);
    RAVEL_SHARE(s, ravel_columns_rank_part, t);
    ravel_places(s->area[RAVEL_CURSORS], t->rows, RAVEL_PARTS(s), s->area[RAVEL_BUCKETS], t->w);
}

/* The next places of the columns for the entries from part `part` on: where the part before has
 * ended. */
RAVEL_PART void *
ravel_columns_cursors(const ravel_columns *t, int64_t part, int64_t from, int64_t w)
{
    void *next = ravel_counts_of(t->s->area[RAVEL_LENGTHS], t->cols, part, w);
    const void *before = t->s->area[RAVEL_ROWS];
    if (from)
        before = ravel_counts_of(t->s->area[RAVEL_COUNTS], t->cols, from - 1, w);
    memcpy(next, before, (size_t)(t->cols * w));
    return next;
}

/* The place of entry i of the source, twice; and 1 if it is not the first one there. */
RAVEL_PART int64_t
ravel_columns_place(const ravel_columns *t, void *next, int64_t i, int64_t parts, int64_t w)
{
    int64_t c = ravel_columns_of(t, i, w), q = ravel_index_at(t->row, w, i) + t->row_bias;
    int64_t at = ravel_index_at(next, w, c), owner = parts > 1 ? t->s->area[RAVEL_OWNERS][c] : 0;
    const void *first = ravel_counts_of(t->s->area[RAVEL_CURSORS], t->rows, owner, w);
    ravel_index_set(next, w, c, at + 1);
    return ravel_index_at(first, w, q) * 2 + ravel_columns_list(t->s)[at];
}

RAVEL_PART void
ravel_columns_entry(const ravel_columns *t, int64_t p, int64_t i, int joins, int64_t es, int64_t w,
                    int64_t w_out)
{
    if (!(p & 1)) {
        ravel_index_set(t->crd_out, w_out, p >> 1, ravel_columns_of(t, i, w) - t->bias);
        ravel_move_value(t->out, p >> 1, t->in, i, es);
    } else if (joins) {
        ravel_join(t->s, t->out + (p >> 1) * es, t->in + i * es, es / t->parts, t->parts, t->how, 0);
    }
}

/* The entries of a part.  Of several parts, others may have the first one of a place. */
RAVEL_PART void
ravel_columns_write(const ravel_columns *shared, int64_t part, int64_t parts, int64_t es, int64_t w,
                    int64_t w_out)
{
    const ravel_columns mine = *shared, *t = &mine;    /* in registers */
    int64_t place[RAVEL_COLUMNS_AHEAD], end = ravel_part_of(t->n, part + 1, parts);
    void *next = ravel_columns_cursors(t, part, part, w);
    for (int64_t i = ravel_part_of(t->n, part, parts), n; i < end; i += n) {
        n = end - i < RAVEL_COLUMNS_AHEAD ? end - i : (int64_t)RAVEL_COLUMNS_AHEAD;
        for (int64_t k = 0; k < n; k++) {
            place[k] = ravel_columns_place(t, next, i + k, parts, w);
            ravel_fetch(t->crd_out, (place[k] >> 1) * w_out);
            ravel_fetch(t->out, (place[k] >> 1) * es);
        }
        for (int64_t k = 0; k < n; k++)
            ravel_columns_entry(t, place[k], i + k, parts == 1, es, w, w_out);
    }
}

static void
ravel_columns_write_part(void *arg, int part, int parts)
{
    const ravel_columns *t = (const ravel_columns *)arg;
    int small = t->w == 4 && t->w_out == 4;
    if (small && t->es == 4)
        ravel_columns_write(t, part, parts, 4, 4, 4);
    else if (small && t->es == 8)
        ravel_columns_write(t, part, parts, 8, 4, 4);
    else
        ravel_columns_write(t, part, parts, t->es, t->w, t->w_out);
}

/* Join the entries that are not the first ones, in the order of the source; those of a part's rows. */
static void
ravel_columns_join_part(void *arg, int part, int parts)
{
    const ravel_columns *t = (const ravel_columns *)arg;
    int64_t q = ravel_part_of(t->rows, part, parts), end = ravel_part_of(t->rows, part + 1, parts);
    void *next = ravel_columns_cursors(t, part, 0, t->w);
    for (int64_t i = 0; i < t->n; i++) {
        int64_t p = ravel_columns_place(t, next, i, parts, t->w);
        int64_t row = ravel_index_at(t->row, t->w, i) + t->row_bias;
        if (p & 1 && q <= row && row < end)
            ravel_columns_entry(t, p, i, 1, t->es, t->w, t->w_out);
    }
}

/* Write the entries; the places of all rows are before `end`. */
static void
ravel_columns_write_all(ravel_columns *t, int64_t end)
{
    ravel_stream *s = t->s;
    RAVEL_SHARE(s, ravel_columns_write_part, t);
    if (RAVEL_PARTS(s) > 1 && end < t->n)
        RAVEL_SHARE(s, ravel_columns_join_part, t);
}

/* Room for the ranks of a list whose result is near: of at most `few` entries. */
RAVEL_STEP
ravel_stream_room_columns(ravel_stream *s, int64_t *m, int64_t n, int64_t few)
{
    ravel_stream_room(s, m, n <= few ? n : 0, 16, 0);
}

RAVEL_STEP
ravel_stream_area_columns(ravel_stream *s, int64_t n, int64_t few)
{
    ravel_stream_area(s, RAVEL_LIST, n <= few ? n : 0, 16, 0);
}

/* Rank such a list; the level has a position for each place. */
RAVEL_STEP
ravel_stream_columns(ravel_stream *s, int64_t level, const void *row, const void *crd, int64_t n,
                     int64_t rows, int64_t cols, int64_t row_bias, int64_t crd_bias, int64_t few, int64_t w)
{
    ravel_list list = {n, rows, cols, row_bias, crd_bias, w};
    ravel_columns t = {s, row, crd, n, rows, cols, row_bias, crd_bias, w, NULL, NULL, NULL, 0, 0, 1, 0, w};
    s->near = n <= few;
    if (s->flaw || s->ordered || !s->near)
        return;
    s->list = list;
    ravel_columns_rank_all(&t);
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
    if (s->flaw || s->ordered || !s->near)
        return;
    for (int64_t q = 0; q <= l->rows; q++)
        ravel_index_set(pos, w_out, q, ravel_index_at(s->area[RAVEL_BUCKETS], l->w, q));
    ravel_columns_write_all(&t, ravel_index_at(pos, w_out, l->rows));
}
