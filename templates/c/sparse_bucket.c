/* Entries in any order to their rows, by counting. */

RAVEL_PART unsigned char *
ravel_entry_at(const ravel_stream *s, int64_t i, int64_t es)
{
    return s->area[RAVEL_LIST] + i * RAVEL_ENTRY_BYTES(es);
}

RAVEL_PART int32_t
ravel_entry_key(const unsigned char *e)
{
    int32_t key;
    memcpy(&key, e, sizeof key);
    return key;
}

RAVEL_PART void
ravel_entry_set(unsigned char *e, int64_t k, const unsigned char *val, int64_t i, int64_t es)
{
    int32_t key = (int32_t)k;
    memcpy(e, &key, sizeof key);
    ravel_move_value(e + sizeof key, 0, val, i, es);
}

typedef struct {
    ravel_stream *s;
    const void *row, *crd;         /* of the source */
    const unsigned char *in;
    int64_t n, rows, shift, row_bias, bias, es, w;
} ravel_bucket;

/* Count the entries of each row or, of more than one row, of each 2^shift rows. */
RAVEL_PART void
ravel_bucket_count(const ravel_bucket *b, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    void *counts = ravel_counts_of(b->s->area[RAVEL_COUNTS], b->rows, part, w);
    memset(counts, 0, (size_t)(b->rows * w));
    for (; i < end; i++) {
        int64_t q = (ravel_index_at(b->row, w, i) + b->row_bias) >> b->shift;
        ravel_index_set(counts, w, q, ravel_index_at(counts, w, q) + 1);
    }
}

static void
ravel_bucket_count_part(void *arg, int part, int parts)
{
    const ravel_bucket *b = (const ravel_bucket *)arg;
    if (b->w == 4)
        ravel_bucket_count(b, part, parts, 4);
    else
        ravel_bucket_count(b, part, parts, 8);
}

/* Each entry to the next place of its row, which is fetched some entries before. */
RAVEL_PART void
ravel_bucket_put(const ravel_bucket *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { AHEAD = 64 };
    const ravel_bucket mine = *shared, *b = &mine;     /* in registers */
    void *places = ravel_counts_of(b->s->area[RAVEL_COUNTS], b->rows, part, w);
    unsigned char *list = ravel_entry_at(b->s, 0, es);
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_index_at(b->row, w, i) + b->row_bias;
        int64_t p = ravel_index_at(places, w, q);
        int64_t later = ravel_index_at(b->row, w, i < end - AHEAD ? i + AHEAD : i) + b->row_bias;
        int64_t soon = ravel_index_at(places, w, later);
        ravel_fetch(list, soon * RAVEL_ENTRY_BYTES(es));
        ravel_index_set(places, w, q, p + 1);
        ravel_entry_set(list + p * RAVEL_ENTRY_BYTES(es),
                        ravel_index_at(b->crd, w, i) + b->bias, b->in, i, es);
    }
}

static void
ravel_bucket_put_part(void *arg, int part, int parts)
{
    const ravel_bucket *b = (const ravel_bucket *)arg;
    if (b->es == 4 && b->w == 4)
        ravel_bucket_put(b, part, parts, 4, 4);
    else if (b->es == 8 && b->w == 4)
        ravel_bucket_put(b, part, parts, 8, 4);
    else
        ravel_bucket_put(b, part, parts, b->es, b->w);
}

/* A list of n entries, to its rows. */
RAVEL_STEP
ravel_stream_bucket(ravel_stream *s, const void *row, const void *crd, const void *in, int64_t n,
                    int64_t rows, int64_t row_bias, int64_t bias, int64_t es, int64_t w)
{
    ravel_bucket b = {s, row, crd, (const unsigned char *)in, n, rows, 0, row_bias, bias, es, w};
    if (s->flaw || s->ordered)
        return;
    RAVEL_SHARE(s, ravel_bucket_count_part, &b);
    ravel_places(s->area[RAVEL_COUNTS], rows, RAVEL_PARTS(s), s->area[RAVEL_ROWS], w);
    RAVEL_SHARE(s, ravel_bucket_put_part, &b);
}

/* Rows of n entries that are there already. */
RAVEL_STEP
ravel_stream_rows(ravel_stream *s, const void *pos, const void *crd, const void *in, int64_t n,
                  int64_t rows, int64_t bias, int64_t es, int64_t w)
{
    const unsigned char *val = (const unsigned char *)in;
    if (s->flaw || s->ordered)
        return;
    memcpy(s->area[RAVEL_ROWS], pos, (size_t)((rows + 1) * w));
    for (int64_t i = 0; i < n; i++)
        ravel_entry_set(ravel_entry_at(s, i, es), ravel_index_at(crd, w, i) + bias, val, i, es);
}
