/* From rows of entries in order to levels that number the entries of a row: nth, sliced, jagged.
 * Rows are shared by threads: the place of each entry follows from its row and its number. */

typedef struct {
    ravel_stream *s;
    const void *pos, *crd;         /* of the source */
    const unsigned char *in;
    const void *starts;            /* of slices or diagonals */
    void *crd_out;
    unsigned char *out;
    int64_t rows, bias, es, w, w_out;
    int64_t tall;         /* rows of a slice; 0: all rows are as wide; -1: diagonals */
} ravel_laying;

/* The rows of a part, for one kind of level. */
RAVEL_PART void
ravel_lay_rows(const ravel_laying *l, int64_t q, int64_t end, int64_t es, int64_t w, int64_t w_out,
               int jagged)
{
    int64_t by = l->tall > 0 ? l->tall : 1;
    for (int64_t i = ravel_index_at(l->pos, w, q); q < end; q++) {
        int64_t rank = ravel_rank_of(l->s, q, w_out), last = ravel_index_at(l->pos, w, q + 1);
        int64_t place = l->tall > 0 ? ravel_index_at(l->starts, w_out, rank / by) + rank % by
                        : rank * l->s->widest;
        for (int64_t k = 0; i < last; i++, k++, place += by) {
            int64_t p = jagged ? ravel_index_at(l->starts, w_out, k) + rank : place;
            ravel_index_set(l->crd_out, w_out, p, ravel_index_at(l->crd, w, i) + l->bias);
            ravel_move_value(l->out, p, l->in, i, es);
        }
    }
}

RAVEL_PART void
ravel_lay_some(const ravel_laying *shared, int64_t part, int64_t parts, int64_t es, int64_t w,
               int64_t w_out)
{
    const ravel_laying mine = *shared, *l = &mine;     /* in registers */
    int64_t q = ravel_row_of(l->pos, l->rows, part, parts, w);
    int64_t end = ravel_row_of(l->pos, l->rows, part + 1, parts, w);
    if (l->tall < 0)
        ravel_lay_rows(l, q, end, es, w, w_out, 1);
    else
        ravel_lay_rows(l, q, end, es, w, w_out, 0);
}

static void
ravel_lay_part(void *arg, int part, int parts)
{
    const ravel_laying *l = (const ravel_laying *)arg;
    int narrow = l->w == 4 && l->w_out == 4;
    if (l->es == 4 && narrow)
        ravel_lay_some(l, part, parts, 4, 4, 4);
    else if (l->es == 8 && narrow)
        ravel_lay_some(l, part, parts, 8, 4, 4);
    else
        ravel_lay_some(l, part, parts, l->es, l->w, l->w_out);
}

/* The entries of each row, and the most of a row. */
RAVEL_STEP
ravel_stream_lengths(ravel_stream *s, const void *pos, int64_t rows, int64_t tallied, int64_t w,
                     int64_t w_out)
{
    for (int64_t q = 0; q < rows && !s->flaw; q++) {
        int64_t n = ravel_index_at(pos, w, q + 1) - ravel_index_at(pos, w, q);
        s->widest = n > s->widest ? n : s->widest;
        if (tallied)
            ravel_index_set(s->area[RAVEL_LENGTHS], w_out, q, n);
    }
}

/* Write the coordinates and the values. */
RAVEL_STEP
ravel_stream_lay(ravel_stream *s, const void *pos, const void *crd, const void *in,
                 const void *starts, void *crd_out, void *out, int64_t rows, int64_t bias,
                 int64_t tall, int64_t es, int64_t w, int64_t w_out)
{
    ravel_laying l = {s, pos, crd, (const unsigned char *)in, starts, crd_out,
                      (unsigned char *)out, rows, bias, es, w, w_out, tall};
    if (!s->flaw)
        RAVEL_SHARE(s, ravel_lay_part, &l);
}
