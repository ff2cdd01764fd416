/* The entries of rows to the places that sparse_turn.c has counted. */

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

/* most: bits of a column in its block, at most; 0: there is no memory for blocks.  lists: there is some for
 * columns, too. */
RAVEL_STEP
ravel_stream_transpose(ravel_stream *s, const void *pos, const void *crd, int64_t rows,
                       int64_t cols, void *pos_out, void *crd_out, void *out, const void *in,
                       int64_t es, int64_t w, int64_t most, int64_t lists)
{
    ravel_turn t = {pos, crd, rows, cols, es, w, s->area[RAVEL_COUNTS], s->area[RAVEL_CURSORS],
                    pos_out, crd_out, (unsigned char *)out, (const unsigned char *)in,
                    lists ? s->area[RAVEL_LIST] : NULL, s->area[RAVEL_SCRATCH], 0, (int)most};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_turn_count_part, &t);
    ravel_places(t.counts, cols, RAVEL_PARTS(s), pos_out, w);
    if (!ravel_turn_is_far(&t)) {
        RAVEL_SHARE(s, ravel_turn_part, &t);
        return;
    }
    RAVEL_SHARE(s, ravel_turn_put_part, &t);
    RAVEL_SHARE(s, ravel_turn_settle_part, &t);
}
