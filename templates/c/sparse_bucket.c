/* Entries in any order to their rows, by counting.  Many rows are put into buckets first, each of
 * 2^shift rows, whose entries fit a cache; then the entries of a bucket are put into its rows. */

RAVEL_PART unsigned char *
ravel_entry_at(const ravel_stream *s, int64_t i, int64_t es)
{
    return s->area[RAVEL_LIST] + i * RAVEL_ENTRY_BYTES(es);
}

/* The coordinate; in a bucket, the row in the bucket is above it, from bit `bits` on. */
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
    int64_t n, buckets, row_bias, bias, es, w;
    int shift, bits;
} ravel_bucket;

RAVEL_PART void
ravel_bucket_count(const ravel_bucket *b, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    void *counts = ravel_counts_of(b->s->area[RAVEL_COUNTS], b->buckets, part, w);
    memset(counts, 0, (size_t)(b->buckets * w));
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

/* Each entry to the next place of its bucket, which is fetched some entries before. */
RAVEL_PART void
ravel_bucket_put(const ravel_bucket *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { AHEAD = 64 };
    const ravel_bucket mine = *shared, *b = &mine;     /* in registers */
    void *places = ravel_counts_of(b->s->area[RAVEL_COUNTS], b->buckets, part, w);
    unsigned char *list = ravel_entry_at(b->s, 0, es);
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    int64_t below = ((int64_t)1 << b->shift) - 1;
    for (; i < end; i++) {
        int64_t q = ravel_index_at(b->row, w, i) + b->row_bias;
        int64_t p = ravel_index_at(places, w, q >> b->shift);
        int64_t later = ravel_index_at(b->row, w, i < end - AHEAD ? i + AHEAD : i) + b->row_bias;
        int64_t soon = ravel_index_at(places, w, later >> b->shift);
        ravel_fetch(list, soon * RAVEL_ENTRY_BYTES(es));
        ravel_index_set(places, w, q >> b->shift, p + 1);
        ravel_entry_set(list + p * RAVEL_ENTRY_BYTES(es),
                        (q & below) << b->bits | (ravel_index_at(b->crd, w, i) + b->bias),
                        b->in, i, es);
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

/* A list of n entries, to its buckets; a bucket of one row is a row. */
RAVEL_STEP
ravel_stream_bucket(ravel_stream *s, const void *row, const void *crd, const void *in, int64_t n,
                    int64_t rows, int64_t shift, int64_t bits, int64_t row_bias, int64_t bias,
                    int64_t es, int64_t w)
{
    int64_t buckets = ((rows - 1) >> shift) + 1;
    ravel_bucket b = {s, row, crd, (const unsigned char *)in, n, buckets, row_bias, bias, es, w,
                      (int)shift, (int)bits};
    void *starts = s->area[shift ? RAVEL_BUCKETS : RAVEL_ROWS], *pos = s->area[RAVEL_ROWS];
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_bucket_count_part, &b);
    ravel_places(s->area[RAVEL_COUNTS], buckets, RAVEL_PARTS(s), starts, w);
    RAVEL_SHARE(s, ravel_bucket_put_part, &b);
    ravel_index_set(pos, w, rows, n);
    for (int64_t k = 0; k < buckets; k++)
        ravel_index_set(pos, w, k << shift, ravel_index_at(starts, w, k));
    s->tall = (int64_t)1 << shift;
    s->largest = 0;
    for (int64_t k = 0; k < buckets; k++) {
        int64_t some = ravel_index_at(starts, w, k + 1) - ravel_index_at(starts, w, k);
        s->largest = some > s->largest ? some : s->largest;
    }
}

/* The entries of a bucket, the rows q..end - 1, to their rows.  Their first places are known;
 * the others are set here.  A part has scratch memory for the entries of a bucket. */
RAVEL_PART void
ravel_bucket_settle(ravel_stream *s, int64_t q, int64_t end, int64_t part, int64_t bits,
                    int64_t es, int64_t w)
{
    void *pos = s->area[RAVEL_ROWS];
    int64_t each = RAVEL_ENTRY_BYTES(es), first = ravel_index_at(pos, w, q), sum = first;
    int64_t n = ravel_index_at(pos, w, end) - first;
    unsigned char *list = ravel_entry_at(s, 0, es);
    unsigned char *some = (unsigned char *)ravel_counts_of(s->area[RAVEL_SCRATCH], s->largest,
                                                           part, each);
    void *places = ravel_counts_of(s->area[RAVEL_COUNTS], s->tall, part, w);
    memcpy(some, list + first * each, (size_t)(n * each));
    memset(places, 0, (size_t)((end - q) * w));
    for (int64_t i = 0; i < n; i++) {
        int64_t r = ravel_entry_key(some + i * each) >> bits;
        ravel_index_set(places, w, r, ravel_index_at(places, w, r) + 1);
    }
    for (int64_t r = 0; r < end - q; r++) {
        int64_t here = ravel_index_at(places, w, r);
        ravel_index_set(places, w, r, sum);
        if (r)
            ravel_index_set(pos, w, q + r, sum);
        sum += here;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t key = ravel_entry_key(some + i * each), r = key >> bits;
        int64_t p = ravel_index_at(places, w, r);
        ravel_index_set(places, w, r, p + 1);
        ravel_entry_set(list + p * each, key - (r << bits), some + i * each + sizeof key, 0,
                        es);
    }
}

/* The room of the scratch memory: for the largest bucket of a list that is not checked. */
RAVEL_STEP
ravel_stream_room_bucket(ravel_stream *s, int64_t *m, const void *row, int64_t n, int64_t rows,
                         int64_t shift, int64_t bias, int64_t es, int64_t w)
{
    int64_t count[RAVEL_MOST_BUCKETS] = {0}, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t q = (uint64_t)ravel_index_at(row, w, i) + (uint64_t)bias;
        if (q < (uint64_t)rows)
            count[q >> shift]++;
    }
    for (int k = 0; k < RAVEL_MOST_BUCKETS; k++)
        largest = count[k] > largest ? count[k] : largest;
    ravel_stream_room(s, m, largest, RAVEL_ENTRY_BYTES(es) * 8, 1);
}

/* Rows of n entries that are there already. */
RAVEL_STEP
ravel_stream_rows(ravel_stream *s, const void *pos, const void *crd, const void *in, int64_t n,
                  int64_t rows, int64_t bias, int64_t es, int64_t w)
{
    const unsigned char *val = (const unsigned char *)in;
    if (s->flaw)
        return;
    memcpy(s->area[RAVEL_ROWS], pos, (size_t)((rows + 1) * w));
    for (int64_t i = 0; i < n; i++)
        ravel_entry_set(ravel_entry_at(s, i, es), ravel_index_at(crd, w, i) + bias, val, i, es);
}
