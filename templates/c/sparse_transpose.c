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

RAVEL_PART void
ravel_turn_count(const ravel_turn *t, int64_t part, int64_t parts, int64_t w)
{
    int64_t q = ravel_row_of(t->pos, t->rows, part, parts, w);
    int64_t end = ravel_row_of(t->pos, t->rows, part + 1, parts, w);
    int64_t i = ravel_index_at(t->pos, w, q), last = ravel_index_at(t->pos, w, end);
    void *counts = ravel_counts_of(t->counts, t->cols, part, w);
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

/* Entry i of row q goes to place p. */
RAVEL_PART void
ravel_turn_entry(const ravel_turn *t, int64_t p, int64_t q, int64_t i, int64_t es, int64_t w)
{
    ravel_index_set(t->crd_out, w, p, q);
    ravel_move_value(t->out, p, t->in, i, es);
}

/* Rows q..end - 1.  A place far from the others is not in a cache: it is fetched some entries
 * before it is written. */
RAVEL_PART void
ravel_turn_rows(const ravel_turn *t, int64_t q, int64_t end, void *places, int64_t es,
                int64_t w)
{
    enum { AHEAD = 64 };
    int64_t all = ravel_index_at(t->pos, w, end) - AHEAD;
    for (; q < end; q++) {
        int64_t i = ravel_index_at(t->pos, w, q), last = ravel_index_at(t->pos, w, q + 1);
        for (; i < last; i++) {
            int64_t x = ravel_index_at(t->crd, w, i), p = ravel_index_at(places, w, x);
            int64_t later = ravel_index_at(t->crd, w, i < all ? i + AHEAD : i);
            int64_t soon = ravel_index_at(places, w, later);
            ravel_fetch(t->crd_out, soon * w);
            ravel_fetch(t->out, soon * es);
            ravel_index_set(places, w, x, p + 1);
            ravel_turn_entry(t, p, q, i, es, w);
        }
    }
}

/* The same in panels of columns: the places of a panel fit the first cache.  The line after
 * that of a place is fetched before it is needed. */
RAVEL_PART void
ravel_turn_panels(const ravel_turn *t, int64_t q, int64_t end, int64_t panels, void *places,
                  int64_t es, int64_t w)
{
    int64_t i, x;
    for (int64_t r = q; r < end; r++)
        ravel_index_set(t->cursors, w, r, ravel_index_at(t->pos, w, r));
    for (int64_t k = 1; k <= panels; k++)
        for (int64_t r = q, below = ravel_part_of(t->cols, k, panels); r < end; r++) {
            int64_t last = ravel_index_at(t->pos, w, r + 1);
            for (i = ravel_index_at(t->cursors, w, r);
                 i < last && (x = ravel_index_at(t->crd, w, i)) < below; i++) {
                int64_t p = ravel_index_at(places, w, x);
                ravel_fetch(t->crd_out, p * w + RAVEL_LINE);
                ravel_fetch(t->out, p * es + RAVEL_LINE);
                ravel_index_set(places, w, x, p + 1);
                ravel_turn_entry(t, p, r, i, es, w);
            }
            ravel_index_set(t->cursors, w, r, i);
        }
}

/* Panels pay if a row has several entries in each; then some rows at once, whose entries fit
 * the second cache. */
RAVEL_PART void
ravel_turn_some(const ravel_turn *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { COLUMNS = 128, FEW = 12, PANELS = 8, FITS = 1 << 22 };
    const ravel_turn mine = *shared, *t = &mine;       /* in registers */
    int64_t q = ravel_row_of(t->pos, t->rows, part, parts, w);
    int64_t end = ravel_row_of(t->pos, t->rows, part + 1, parts, w);
    int64_t n = ravel_index_at(t->pos, w, end) - ravel_index_at(t->pos, w, q);
    int64_t each = q < end ? n / (end - q) : 0, panels = t->cols / COLUMNS;
    void *places = ravel_counts_of(t->counts, t->cols, part, w);
    if (panels > each / FEW)
        panels = each / FEW;
    int64_t rows = panels < PANELS ? end - q : FITS / (each * (es + w)) + 1;
    for (int64_t next; q < end; q = next) {
        next = end - q < rows ? end : q + rows;
        if (panels < PANELS)
            ravel_turn_rows(t, q, next, places, es, w);
        else
            ravel_turn_panels(t, q, next, panels, places, es, w);
    }
}

static void
ravel_turn_part(void *arg, int part, int parts)
{
    const ravel_turn *t = (const ravel_turn *)arg;
    if (t->es == 4 && t->w == 4)
        ravel_turn_some(t, part, parts, 4, 4);
    else if (t->es == 8 && t->w == 4)
        ravel_turn_some(t, part, parts, 8, 4);
    else
        ravel_turn_some(t, part, parts, t->es, t->w);
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
    ravel_places(t.counts, cols, RAVEL_PARTS(s), pos_out, w);
    RAVEL_SHARE(s, ravel_turn_part, &t);
}
