/* Rows whose entries may be in any order, but are in order and differ: the arrays are copied. */

typedef struct {
    ravel_stream *s;
    const void *pos, *crd;
    int64_t rows, w;
} ravel_in_rows;

/* Whether rows q..end - 1 ascend: of their entries, only first ones of a row are not above the one
 * before. */
RAVEL_PART int
ravel_in_rows_ascend(const ravel_in_rows *t, int64_t q, int64_t end, int64_t w)
{
    int64_t from = ravel_index_at(t->pos, w, q), last = ravel_index_at(t->pos, w, end);
    int64_t steps = ravel_descents(t->crd, from > 1 ? from : 1, last, 0, w);
    for (; q < end; q++) {
        int64_t i = ravel_index_at(t->pos, w, q);
        if (i > 0 && i < ravel_index_at(t->pos, w, q + 1))
            steps -= ravel_descends(t->crd, i, 0, w);
    }
    return !steps;
}

RAVEL_PART void
ravel_in_rows_some(const ravel_in_rows *t, int64_t part, int64_t parts, int64_t w)
{
    int64_t q = ravel_row_of(t->pos, t->rows, part, parts, w), ascend = 1;
    int64_t end = ravel_row_of(t->pos, t->rows, part + 1, parts, w);
    for (; q < end && ascend; q += RAVEL_BATCH)
        ascend = ravel_in_rows_ascend(t, q, end - q < RAVEL_BATCH ? end : q + RAVEL_BATCH, w);
    t->s->places[part] = ascend;
}

static void
ravel_in_rows_part(void *arg, int part, int parts)
{
    const ravel_in_rows *t = (const ravel_in_rows *)arg;
    if (t->w == 4)
        ravel_in_rows_some(t, part, parts, 4);
    else
        ravel_in_rows_some(t, part, parts, 8);
}

/* See whether rows of n entries are in order.  If they are, the level has a position for each, and the
 * steps that follow do nothing. */
RAVEL_STEP
ravel_stream_in_rows(ravel_stream *s, int64_t level, const void *pos, const void *crd, int64_t n,
                     int64_t rows, int64_t w)
{
    ravel_in_rows t = {s, pos, crd, rows, w};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_in_rows_part, &t);
    s->ordered = 1;
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++)
        s->ordered = s->ordered && s->places[part];
    if (s->ordered)
        s->size[level] = n;
}

typedef struct {
    const void *in;
    void *out;
    int64_t n, less, w, w_out;
} ravel_indices;

static void
ravel_indices_part(void *arg, int part, int parts)
{
    const ravel_indices *c = (const ravel_indices *)arg;
    int64_t end = ravel_part_of(c->n, part + 1, parts);
    for (int64_t i = ravel_part_of(c->n, part, parts); i < end; i++)
        ravel_index_set(c->out, c->w_out, i, ravel_index_at(c->in, c->w, i) - c->less);
}

/* n indices, each less a number. */
RAVEL_PART void
ravel_copy_indices(ravel_stream *s, void *out, const void *in, int64_t n, int64_t less, int64_t w,
                   int64_t w_out)
{
    ravel_indices c = {in, out, n, less, w, w_out};
    if (w == w_out && !less)
        ravel_stream_copy(s, out, in, n, w);
    else if (n > 0)
        RAVEL_SHARE(s, ravel_indices_part, &c);
}

/* Write the destination of rows in order: coordinates are less by `less`, values have es bytes. */
RAVEL_STEP
ravel_stream_fill_in_rows(ravel_stream *s, const void *pos, const void *crd, const void *in, void *pos_out,
                          void *crd_out, void *out, int64_t n, int64_t rows, int64_t less, int64_t es,
                          int64_t w, int64_t w_out)
{
    if (s->flaw || !s->ordered)
        return;
    ravel_copy_indices(s, pos_out, pos, rows + 1, 0, w, w_out);
    ravel_copy_indices(s, crd_out, crd, n, less, w, w_out);
    if (es)
        ravel_stream_copy(s, out, in, n, es);
}
