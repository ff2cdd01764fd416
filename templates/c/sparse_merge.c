/* Entries in any order, some at one place, to rows in order: a list is put into its rows by
 * counting; in a row, a set orders the coordinates, and an array that they index joins the
 * values. */

/* The bytes of an entry in the work memory: its coordinate, then its value.  A power of two, so
 * that it is in one line. */
RAVEL_PART int64_t
ravel_entry_bytes(int64_t es)
{
    return es <= 4 ? 8 : es <= 12 ? 16 : 32;
}

RAVEL_PART unsigned char *
ravel_entry_at(const ravel_stream *s, int64_t i, int64_t es)
{
    return s->area[RAVEL_LIST] + i * ravel_entry_bytes(es);
}

RAVEL_PART void
ravel_entry_set(unsigned char *e, int64_t c, const unsigned char *val, int64_t es)
{
    int32_t crd = (int32_t)c;
    memcpy(e, &crd, sizeof crd);
    memcpy(e + sizeof crd, val, (size_t)es);
}

typedef struct {
    ravel_stream *s;
    const void *row, *crd;         /* of the source */
    const unsigned char *in;
    int64_t n, rows, row_bias, bias, es, w;
} ravel_bucket;

RAVEL_PART void
ravel_bucket_count(const ravel_bucket *b, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    void *counts = ravel_counts_of(b->s->area[RAVEL_COUNTS], b->rows, part, w);
    memset(counts, 0, (size_t)(b->rows * w));
    for (; i < end; i++) {
        int64_t q = ravel_index_at(b->row, w, i) + b->row_bias;
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
        int64_t q = ravel_index_at(b->row, w, i) + b->row_bias, p = ravel_index_at(places, w, q);
        int64_t later = ravel_index_at(b->row, w, i < end - AHEAD ? i + AHEAD : i) + b->row_bias;
        int64_t soon = ravel_index_at(places, w, later);
        ravel_fetch(list, soon * ravel_entry_bytes(es));
        ravel_index_set(places, w, q, p + 1);
        ravel_entry_set(list + p * ravel_entry_bytes(es), ravel_index_at(b->crd, w, i) + b->bias,
                        b->in + i * es, es);
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
    ravel_bucket b = {s, row, crd, (const unsigned char *)in, n, rows, row_bias, bias, es, w};
    if (s->flaw)
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
    if (s->flaw)
        return;
    memcpy(s->area[RAVEL_ROWS], pos, (size_t)((rows + 1) * w));
    for (int64_t i = 0; i < n; i++)
        ravel_entry_set(ravel_entry_at(s, i, es), ravel_index_at(crd, w, i) + bias, val + i * es,
                        es);
}

typedef struct {
    ravel_stream *s;
    int64_t rows, bound, es, parts, how, w;            /* w: of the source */
    void *pos, *crd;
    unsigned char *out;
    int64_t bias, w_out;
} ravel_merge;

RAVEL_PART int32_t
ravel_entry_crd(const unsigned char *e)
{
    int32_t c;
    memcpy(&c, e, sizeof c);
    return c;
}

/* A value at the coordinate of one that is there. */
RAVEL_PART void
ravel_merge_value(const ravel_merge *m, unsigned char *to, const unsigned char *val, int64_t es)
{
    ravel_join(m->s, to, val, es / m->parts, m->parts, m->how, 0);
}

/* The n entries of a row from `e` on, joined and in order; returns their number.  Few are
 * inserted one after the other. */
RAVEL_PART int64_t
ravel_merge_few(const ravel_merge *m, unsigned char *e, int64_t n, int64_t es)
{
    int64_t each = ravel_entry_bytes(es), kept = 0;
    for (int64_t i = 0; i < n; i++) {
        unsigned char one[32];
        int64_t k = kept;
        memcpy(one, e + i * each, (size_t)each);
        int32_t c = ravel_entry_crd(one);
        while (k > 0 && ravel_entry_crd(e + (k - 1) * each) > c)
            k--;
        if (k > 0 && ravel_entry_crd(e + (k - 1) * each) == c) {
            ravel_merge_value(m, e + (k - 1) * each + sizeof c, one + sizeof c, es);
            continue;
        }
        for (int64_t j = kept++; j > k; j--)
            memcpy(e + j * each, e + (j - 1) * each, (size_t)each);
        memcpy(e + k * each, one, (size_t)each);
    }
    return kept;
}

/* Many are put in order by the set.  sums: by coordinate. */
RAVEL_PART int64_t
ravel_merge_many(const ravel_merge *m, const ravel_set *set, unsigned char *e, int64_t n,
                 unsigned char *sums, int64_t es)
{
    int64_t each = ravel_entry_bytes(es);
    for (int64_t i = 0; i < n; i++) {
        int32_t c = ravel_entry_crd(e + i * each);
        const unsigned char *val = e + i * each + sizeof c;
        if (ravel_set_add(set, c))
            ravel_merge_value(m, sums + c * es, val, es);
        else
            memcpy(sums + c * es, val, (size_t)es);
    }
    n = ravel_set_take(set);
    for (int64_t i = 0; i < n; i++)
        ravel_entry_set(e + i * each, set->taken[i], sums + set->taken[i] * es, es);
    return n;
}

RAVEL_PART void
ravel_merge_rows(const ravel_merge *m, int64_t part, int64_t parts, int64_t es)
{
    enum { FEW = 16 };
    ravel_stream *s = m->s;
    const ravel_set set = ravel_set_of(s, m->bound, part);
    const void *pos = s->area[RAVEL_ROWS];
    int64_t *groups = (int64_t *)(void *)s->area[RAVEL_GROUPS];
    unsigned char *sums = (unsigned char *)ravel_counts_of(s->area[RAVEL_SLOTS], m->bound, part,
                                                           es);
    int64_t end = ravel_row_of(pos, m->rows, part + 1, parts, m->w);
    for (int64_t q = ravel_row_of(pos, m->rows, part, parts, m->w); q < end; q++) {
        int64_t first = ravel_index_at(pos, m->w, q);
        int64_t n = ravel_index_at(pos, m->w, q + 1) - first;
        unsigned char *e = ravel_entry_at(s, first, es);
        groups[q + 1] = n <= FEW ? ravel_merge_few(m, e, n, es)
                        : ravel_merge_many(m, &set, e, n, sums, es);
    }
}

static void
ravel_merge_part(void *arg, int part, int parts)
{
    const ravel_merge *m = (const ravel_merge *)arg;
    if (m->es == 4)
        ravel_merge_rows(m, part, parts, 4);
    else if (m->es == 8)
        ravel_merge_rows(m, part, parts, 8);
    else
        ravel_merge_rows(m, part, parts, m->es);
}

/* Join the entries of all rows; the level has a position for each that is left.  A value has
 * `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_merge(ravel_stream *s, int64_t level, int64_t rows, int64_t bound, int64_t es,
                   int64_t parts, int64_t how, int64_t w)
{
    ravel_merge m = {.s = s, .rows = rows, .bound = bound, .es = es * parts, .parts = parts,
                     .how = how, .w = w};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_merge_part, &m);
    s->size[level] = ravel_groups_sum(s, rows);
}

RAVEL_PART void
ravel_merged_rows(const ravel_merge *m, int64_t part, int64_t parts, int64_t es)
{
    const void *pos = m->s->area[RAVEL_ROWS];
    const int64_t *groups = (const int64_t *)(const void *)m->s->area[RAVEL_GROUPS];
    int64_t each = ravel_entry_bytes(es);
    int64_t end = ravel_row_of(pos, m->rows, part + 1, parts, m->w);
    for (int64_t q = ravel_row_of(pos, m->rows, part, parts, m->w); q < end; q++) {
        const unsigned char *e = ravel_entry_at(m->s, ravel_index_at(pos, m->w, q), es);
        ravel_index_set(m->pos, m->w_out, q, groups[q]);
        for (int64_t i = groups[q]; i < groups[q + 1]; i++, e += each) {
            ravel_index_set(m->crd, m->w_out, i, ravel_entry_crd(e) - m->bias);
            memcpy(m->out + i * es, e + sizeof(int32_t), (size_t)es);
        }
    }
}

static void
ravel_merged_part(void *arg, int part, int parts)
{
    const ravel_merge mine = *(const ravel_merge *)arg, *m = &mine;    /* in registers */
    if (m->es == 4)
        ravel_merged_rows(m, part, parts, 4);
    else if (m->es == 8)
        ravel_merged_rows(m, part, parts, 8);
    else
        ravel_merged_rows(m, part, parts, m->es);
}

/* Write the destination. */
RAVEL_STEP
ravel_stream_merged(ravel_stream *s, void *pos, void *crd, void *out, int64_t rows, int64_t bias,
                    int64_t es, int64_t w, int64_t w_out)
{
    ravel_merge m = {.s = s, .rows = rows, .es = es, .w = w, .pos = pos, .crd = crd,
                     .out = (unsigned char *)out, .bias = bias, .w_out = w_out};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_merged_part, &m);
    ravel_groups_end(s, pos, rows, w_out);
}
