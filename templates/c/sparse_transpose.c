/* From one compressed level below a dense one to such a level with both exchanged: entry
 * (q, x) goes below parent x, with the coordinate q.  Each part counts the coordinates of its
 * rows; after that every part knows where its entries go, and their order is that of one part.
 * */

typedef struct {
    const void *pos, *crd;
    int64_t rows, cols, es, w;
    void *counts;         /* of each part: its entries with a coordinate, then their places */
    void *cursors;        /* of a row: its next entry */
    void *crd_out;
    unsigned char *out;
    const unsigned char *in;
} ravel_turn;

/* The rows of a part: those that begin in its share of the entries. */
RAVEL_PART int64_t
ravel_turn_row(const ravel_turn *t, int64_t part, int64_t parts)
{
    int64_t n = ravel_index_at(t->pos, t->w, t->rows);
    return part == 0 ? 0 : part == parts ? t->rows
           : ravel_row_at(t->pos, t->rows, ravel_part_of(n, part, parts), t->w);
}

RAVEL_PART void *
ravel_turn_counts(const ravel_turn *t, int64_t part)
{
    return (unsigned char *)t->counts + part * ravel_area_part(t->cols * t->w);
}

RAVEL_PART void
ravel_turn_count(const ravel_turn *t, int64_t part, int64_t parts, int64_t w)
{
    int64_t q = ravel_turn_row(t, part, parts), end = ravel_turn_row(t, part + 1, parts);
    int64_t i = ravel_index_at(t->pos, w, q), last = ravel_index_at(t->pos, w, end);
    void *counts = ravel_turn_counts(t, part);
    memset(counts, 0, (size_t)(t->cols * w));
    for (; i < last; i++) {
        int64_t x = ravel_index_at(t->crd, w, i);
        ravel_index_set(counts, w, x, ravel_index_at(counts, w, x) + 1);
    }
}

static void
ravel_turn_count_part(void *arg, int part, int parts)
{
    const ravel_turn *t = (const ravel_turn *)arg;
    if (t->w == 4)
        ravel_turn_count(t, part, parts, 4);
    else
        ravel_turn_count(t, part, parts, 8);
}

/* Counts become the first place of each part below each parent, and pos. */
RAVEL_PART void
ravel_turn_places(const ravel_turn *t, void *pos, int64_t parts, int64_t w)
{
    int64_t sum = 0;
    for (int64_t x = 0; x < t->cols; x++) {
        ravel_index_set(pos, w, x, sum);
        for (int64_t part = 0; part < parts; part++) {
            void *counts = ravel_turn_counts(t, part);
            int64_t here = ravel_index_at(counts, w, x);
            ravel_index_set(counts, w, x, sum);
            sum += here;
        }
    }
    ravel_index_set(pos, w, t->cols, sum);
}

/* The places that entries are written to at once should fit a cache: the rows are read in
 * panels of columns, if a row has several entries in each. */
RAVEL_PART int64_t
ravel_turn_panels(const ravel_turn *t)
{
    enum { FITS = 1 << 20, FEW = 16 };
    int64_t n = ravel_index_at(t->pos, t->w, t->rows);
    int64_t panels = n * (t->es + t->w) / FITS + 1, most = n / (t->rows * FEW) + 1;
    return panels < most ? panels : most;
}

/* Entry i of row q. */
RAVEL_PART void
ravel_turn_entry(const ravel_turn *t, void *places, int64_t q, int64_t i, int64_t x,
                 int64_t es, int64_t w)
{
    int64_t p = ravel_index_at(places, w, x);
    ravel_index_set(places, w, x, p + 1);
    ravel_index_set(t->crd_out, w, p, q);
    memcpy(t->out + p * es, t->in + i * es, (size_t)es);
}

RAVEL_PART void
ravel_turn_rows(const ravel_turn *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_turn mine = *shared, *t = &mine;       /* in registers */
    int64_t q = ravel_turn_row(t, part, parts), end = ravel_turn_row(t, part + 1, parts);
    int64_t panels = ravel_turn_panels(t), i, x;
    void *places = ravel_turn_counts(t, part);
    for (int64_t r = q; r < end; r++)
        ravel_index_set(t->cursors, w, r, ravel_index_at(t->pos, w, r));
    for (int64_t k = 1; k <= panels; k++)
        for (int64_t r = q, below = ravel_part_of(t->cols, k, panels); r < end; r++) {
            int64_t last = ravel_index_at(t->pos, w, r + 1);
            for (i = ravel_index_at(t->cursors, w, r);
                 i < last && (x = ravel_index_at(t->crd, w, i)) < below; i++)
                ravel_turn_entry(t, places, r, i, x, es, w);
            ravel_index_set(t->cursors, w, r, i);
        }
}

static void
ravel_turn_part(void *arg, int part, int parts)
{
    const ravel_turn *t = (const ravel_turn *)arg;
    if (t->es == 4 && t->w == 4)
        ravel_turn_rows(t, part, parts, 4, 4);
    else if (t->es == 8 && t->w == 4)
        ravel_turn_rows(t, part, parts, 8, 4);
    else
        ravel_turn_rows(t, part, parts, t->es, t->w);
}

RAVEL_STEP
ravel_stream_transpose(ravel_stream *s, const void *pos, const void *crd, int64_t rows,
                       int64_t cols, void *pos_out, void *crd_out, void *out, const void *in,
                       int64_t es, int64_t w)
{
    ravel_turn t = {pos, crd, rows, cols, es, w, s->area[RAVEL_COUNTS], s->area[RAVEL_CURSORS],
                    crd_out, (unsigned char *)out, (const unsigned char *)in};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_turn_count_part, &t);
    ravel_turn_places(&t, pos_out, RAVEL_PARTS(s), w);
    RAVEL_SHARE(s, ravel_turn_part, &t);
}
