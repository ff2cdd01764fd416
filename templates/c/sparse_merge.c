/* Rows of entries in any order, some at one place, to rows in order.  Few entries are put in order
 * by the number of those before each; many by a set, and an array that their coordinates index
 * joins the values. */

typedef struct {
    ravel_stream *s;
    int64_t rows, bound, es, parts, how, w;            /* w: of the source */
    void *pos, *crd;
    unsigned char *out;
    int64_t bias, w_out;
} ravel_merge;

/* A value at the coordinate of one that is there. */
RAVEL_PART void
ravel_merge_value(const ravel_merge *m, unsigned char *to, const unsigned char *val, int64_t es)
{
    ravel_join(m->s, to, val, es / m->parts, m->parts, m->how, 0);
}

enum { RAVEL_FEW = 32, RAVEL_FEW_BITS = 5 };

/* The first `lanes` keys of a row of n entries, in order; those that are not there are above all.  A
 * key ends with the number of the entry, so that no two are equal.  Loops have the same length for
 * most rows: their ends would be mispredicted. */
RAVEL_PART void
ravel_rank(const unsigned char *e, int32_t *sorted, int64_t n, int64_t lanes, int64_t each)
{
    int32_t keys[RAVEL_FEW], rank[RAVEL_FEW] = {0};
    for (int64_t i = 0; i < lanes; i++)
        keys[i] = i < n ? (int32_t)(ravel_entry_key(e + i * each) << RAVEL_FEW_BITS | i)
                  : INT32_MAX;
    for (int64_t k = 0; k < lanes; k++)
        for (int64_t i = 0; i < lanes; i++)
            rank[i] += keys[k] < keys[i];
    for (int64_t i = 0; i < lanes; i++)
        sorted[rank[i]] = keys[i];
}

/* The n entries of a row from `e` on, joined and in order; returns their number. */
RAVEL_PART int64_t
ravel_merge_few(const ravel_merge *m, unsigned char *e, int64_t n, int64_t es)
{
    int64_t each = RAVEL_ENTRY_BYTES(es);
    unsigned char row[RAVEL_FEW * 32], *to = e;
    int32_t keys[RAVEL_FEW], last = -1;
    if (n <= RAVEL_FEW / 2)
        ravel_rank(e, keys, n, RAVEL_FEW / 2, each);
    else
        ravel_rank(e, keys, n, RAVEL_FEW, each);
    memcpy(row, e, (size_t)(n * each));
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *one = row + (keys[i] & (RAVEL_FEW - 1)) * each;
        if (keys[i] >> RAVEL_FEW_BITS == last) {
            ravel_merge_value(m, to - each + sizeof last, one + sizeof last, es);
            continue;
        }
        last = keys[i] >> RAVEL_FEW_BITS;
        memcpy(to, one, (size_t)each);
        to += each;
    }
    return (to - e) / each;
}

/* Many are put in order by the set.  sums: by coordinate. */
RAVEL_PART int64_t
ravel_merge_many(const ravel_merge *m, const ravel_set *set, unsigned char *e, int64_t n,
                 unsigned char *sums, int64_t es)
{
    int64_t each = RAVEL_ENTRY_BYTES(es);
    int full = ravel_set_is_full(set, n);
    for (int64_t i = 0; i < n; i++) {
        int32_t c = ravel_entry_key(e + i * each);
        const unsigned char *val = e + i * each + sizeof c;
        if (ravel_set_add(set, c, full))
            ravel_merge_value(m, sums + c * es, val, es);
        else
            ravel_move_value(sums, c, val, 0, es);
    }
    n = ravel_set_take(set, full);
    for (int64_t i = 0; i < n; i++)
        ravel_entry_set(e + i * each, set->taken[i], sums, set->taken[i], es);
    return n;
}

/* The rows q..end - 1. */
RAVEL_PART void
ravel_merge_rows(const ravel_merge *m, const ravel_set *set, unsigned char *sums, int64_t q,
                 int64_t end, int64_t es)
{
    const void *pos = m->s->area[RAVEL_ROWS];
    int64_t *groups = (int64_t *)(void *)m->s->area[RAVEL_GROUPS];
    for (; q < end; q++) {
        int64_t first = ravel_index_at(pos, m->w, q);
        int64_t n = ravel_index_at(pos, m->w, q + 1) - first;
        unsigned char *e = ravel_entry_at(m->s, first, es);
        groups[q + 1] = n <= RAVEL_FEW ? ravel_merge_few(m, e, n, es)
                        : ravel_merge_many(m, set, e, n, sums, es);
    }
}

/* The rows of a part. */
RAVEL_PART void
ravel_merge_some(const ravel_merge *shared, int64_t part, int64_t parts, int64_t es)
{
    const ravel_merge mine = *shared, *m = &mine;      /* in registers */
    const ravel_set set = ravel_set_of(m->s, m->bound, part);
    const void *pos = m->s->area[RAVEL_ROWS];
    unsigned char *sums = (unsigned char *)ravel_counts_of(m->s->area[RAVEL_SLOTS], m->bound,
                                                           part, es);
    ravel_merge_rows(m, &set, sums, ravel_row_of(pos, m->rows, part, parts, m->w),
                     ravel_row_of(pos, m->rows, part + 1, parts, m->w), es);
}

static void
ravel_merge_part(void *arg, int part, int parts)
{
    const ravel_merge *m = (const ravel_merge *)arg;
    if (m->es == 4)
        ravel_merge_some(m, part, parts, 4);
    else if (m->es == 8)
        ravel_merge_some(m, part, parts, 8);
    else
        ravel_merge_some(m, part, parts, m->es);
}

/* Join the entries of all rows; the level has a position for each that is left.  A value has
 * `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_merge(ravel_stream *s, int64_t level, int64_t rows, int64_t bound, int64_t es,
                   int64_t parts, int64_t how, int64_t w)
{
    ravel_merge m = {s, rows, bound, es * parts, parts, how, w, NULL, NULL, NULL, 0, 0};
    if (s->flaw || s->ordered)
        return;
    RAVEL_SHARE(s, ravel_merge_part, &m);
    s->size[level] = ravel_groups_sum(s, rows);
}

RAVEL_PART void
ravel_merged_rows(const ravel_merge *m, int64_t part, int64_t parts, int64_t es)
{
    const void *pos = m->s->area[RAVEL_ROWS];
    const int64_t *groups = (const int64_t *)(const void *)m->s->area[RAVEL_GROUPS];
    int64_t each = RAVEL_ENTRY_BYTES(es);
    int64_t end = ravel_row_of(pos, m->rows, part + 1, parts, m->w);
    for (int64_t q = ravel_row_of(pos, m->rows, part, parts, m->w); q < end; q++) {
        const unsigned char *e = ravel_entry_at(m->s, ravel_index_at(pos, m->w, q), es);
        ravel_index_set(m->pos, m->w_out, q, groups[q]);
        for (int64_t i = groups[q]; i < groups[q + 1]; i++, e += each) {
            ravel_index_set(m->crd, m->w_out, i, ravel_entry_key(e) - m->bias);
            ravel_move_value(m->out, i, e + sizeof(int32_t), 0, es);
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
    ravel_merge m = {s, rows, 0, es, 0, 0, w, pos, crd, (unsigned char *)out, bias, w_out};
    if (s->flaw || s->ordered)
        return;
    RAVEL_SHARE(s, ravel_merged_part, &m);
    ravel_groups_end(s, pos, rows, w_out);
}
