/* From one compressed level below a dense one to such a level with both exchanged: entry
 * (q, x) goes below parent x, with the coordinate q.  Each part counts the coordinates of its
 * rows; after that every part knows where its entries go, and their order is that of one part.
 * */

typedef struct {
    const void *pos, *crd;
    int64_t rows, cols, es, w;
    void *counts;         /* of each part: its entries with a coordinate, then their places */
    void *cursors;        /* of a row: its next entry */
    void *pos_out, *crd_out;
    unsigned char *out;
    const unsigned char *in;
    void *list, *scratch; /* of sparse_far.c; list is NULL: a column is beside its row */
    int shift, most;      /* a block has 2^shift columns, at most 2^most; 0: there are no blocks */
} ravel_turn;

/* Have the lines where entries i..i + 7 would be without a transpose ready to be written. */
RAVEL_PART void
ravel_turn_fetch(const ravel_turn *t, int64_t i, int64_t w)
{
    for (int64_t at = 0; at < 8 * t->es; at += RAVEL_LINE)
        ravel_fetch(t->out, i * t->es + at);
    ravel_fetch(t->crd_out, i * w);
}

/* A result that a near cache holds is fetched meanwhile, front to back: later it is written in
 * another order. */
RAVEL_PART void
ravel_turn_count(const ravel_turn *t, int64_t part, int64_t parts, int64_t w)
{
    enum { NEAR = 1 << 22 };
    int fits = ravel_index_at(t->pos, w, t->rows) <= NEAR / (t->es + w);
    int64_t q = ravel_row_of(t->pos, t->rows, part, parts, w);
    int64_t end = ravel_row_of(t->pos, t->rows, part + 1, parts, w);
    int64_t i = ravel_index_at(t->pos, w, q), last = ravel_index_at(t->pos, w, end);
    void *counts = ravel_counts_of(t->counts, t->cols, part, w);
    memset(counts, 0, (size_t)(t->cols * w));
    for (; i < last; i++) {
        int64_t x = ravel_index_at(t->crd, w, i);
        ravel_index_set(counts, w, x, ravel_index_at(counts, w, x) + 1);
        if (fits && i % 8 == 0)
            ravel_turn_fetch(t, i, w);
    }
}

static void
ravel_turn_count_part(void *arg, int part, int parts)
{
    const ravel_turn mine = *(const ravel_turn *)arg, *t = &mine;      /* in registers */
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
