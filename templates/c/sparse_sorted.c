/* A list of many entries to rows in order, with an index for each entry and little more: bins of rows
 * become buckets of about as many entries.  First the keys alone, a row of a bucket and a coordinate,
 * go to their buckets and are put in order, which counts what is left of equal ones.  Then keys and
 * values go to the buckets again: the values to where those of the destination will be, and each bucket
 * is put in order there.  Equal entries need more room than the destination has: buckets that do not
 * fit are late, and go to the memory of the keys in further rounds.
 *
 * Areas: COUNTS the next place of each bucket, of each part; CURSORS the same in a round; OWNERS the bucket
 * of each bin; BUCKETS where each begins; ROWS its first row; GROUPS where it begins in the destination;
 * ORDER where it is in a round; LIST and SCRATCH are set when the largest bucket is known. */

typedef struct {
    ravel_stream *s;
    const void *row, *crd;         /* of the source */
    const unsigned char *in;
    int64_t row_bias, crd_bias, w;
    void *pos, *crd_out;           /* of the destination */
    unsigned char *out;
    int64_t bias, es, parts, how, w_out;
    int late;                      /* the round has the values in the memory of the keys */
} ravel_sorted;

enum { RAVEL_LATE = -1, RAVEL_DONE = -2, RAVEL_RADIX = 8 };

/* Entries of a bucket are counted and numbered by 32 bits. */
static const int64_t RAVEL_SORTED_MOST = UINT32_MAX;

/* A bucket is full with so many entries. */
RAVEL_PART int64_t
ravel_sorted_full(int64_t n)
{
    const int64_t some = 1 << 14, share = n >> 11;
    return share > some ? share : some;
}

/* The most entries of a bucket, from those of the fullest bin. */
RAVEL_PART int64_t
ravel_sorted_most(int64_t n, int64_t fullest)
{
    int64_t most = ravel_sorted_full(n) + fullest;
    return most < n ? most : n;
}

/* Bytes of LIST, and what a part needs of SCRATCH for buckets of at most so many entries. */
RAVEL_PART int64_t
ravel_sorted_list(int64_t n, int64_t most, int64_t es)
{
    int64_t keys = 4 * n, one = (4 + es) * most;
    return ravel_area_part((keys > one ? keys : one) + 4);
}

RAVEL_PART int64_t
ravel_sorted_scratch(int64_t most, int64_t es)
{
    return ravel_area_part(most * (16 + es) + most / 8 + 1);
}

/* Whether SCRATCH is in proportion to entries: where one bucket has many, that is less than as much for
 * each part as the largest bucket needs. */
RAVEL_PART int
ravel_sorted_shares(int64_t n, int64_t most, int64_t es, int64_t parts)
{
    return ravel_sorted_scratch(n, es) / parts + 2 * RAVEL_LINE < ravel_sorted_scratch(most, es);
}

/* Room for LIST and SCRATCH of a list that is not checked. */
RAVEL_STEP
ravel_stream_room_sorted(ravel_stream *s, int64_t *m, const void *row, int64_t n, int64_t rows,
                         int64_t shift, int64_t bias, int64_t es, int64_t w)
{
    int64_t count[RAVEL_MOST_BUCKETS] = {0}, fullest = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t q = (uint64_t)ravel_index_at(row, w, i) + (uint64_t)bias;
        if (q < (uint64_t)rows)
            count[q >> shift]++;
    }
    for (int k = 0; k < RAVEL_MOST_BUCKETS; k++)
        fullest = count[k] > fullest ? count[k] : fullest;
    fullest = ravel_sorted_most(n, fullest);
    ravel_stream_room(s, m, ravel_sorted_list(n, fullest, es), 8, 0);
    if (ravel_sorted_shares(n, fullest, es, RAVEL_PARTS(s)))
        ravel_stream_room(s, m, ravel_sorted_scratch(n, es) + RAVEL_PARTS(s) * 2 * RAVEL_LINE, 8, 0);
    else
        ravel_stream_room(s, m, ravel_sorted_scratch(fullest, es), 8, 1);
}

RAVEL_PART int64_t *
ravel_sorted_area(const ravel_stream *s, int which)
{
    return (int64_t *)(void *)s->area[which];
}

RAVEL_PART uint16_t *
ravel_sorted_owners(const ravel_stream *s)
{
    return (uint16_t *)(void *)s->area[RAVEL_OWNERS];
}

/* The places of bucket b begin at `at`: those of each part after those of the parts before. */
RAVEL_PART void
ravel_sorted_place(ravel_stream *s, int64_t b, int64_t at, int64_t bins, int64_t w)
{
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        void *counts = ravel_counts_of(s->area[RAVEL_COUNTS], bins, part, w);
        int64_t here = ravel_index_at(counts, w, b);
        ravel_index_set(counts, w, b, at);
        at += here;
    }
}

/* Bin `bin` is one more of bucket b, or begins it; returns its entries. */
RAVEL_PART int64_t
ravel_sorted_join_bin(ravel_stream *s, int64_t b, int64_t bin, int begins, int64_t bins, int64_t w)
{
    int64_t sum = 0;
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        void *counts = ravel_counts_of(s->area[RAVEL_COUNTS], bins, part, w);
        int64_t here = ravel_index_at(counts, w, bin);
        ravel_index_set(counts, w, b, (begins ? 0 : ravel_index_at(counts, w, b)) + here);
        sum += here;
    }
    ravel_sorted_owners(s)[bin] = (uint16_t)b;
    return sum;
}

/* Make buckets of the counted bins.  No bucket has rows with different bits above those of a key. */
RAVEL_PART void
ravel_sorted_buckets(ravel_stream *s)
{
    const ravel_sorting *g = &s->sorting;
    int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *first = ravel_sorted_area(s, RAVEL_ROWS);
    int64_t full = ravel_sorted_full(g->n), b = -1, here = 0, sum = 0;
    s->sorting.most = 0;
    for (int64_t bin = 0; bin < g->bins; bin++) {
        int begins = b < 0 || here >= full || !(bin << g->shift & g->below);
        if (begins) {
            b++;
            starts[b] = sum;
            first[b] = bin << g->shift;
            here = 0;
        }
        int64_t some = ravel_sorted_join_bin(s, b, bin, begins, g->bins, g->w);
        here += some;
        sum += some;
        s->sorting.most = here > g->most ? here : g->most;
    }
    s->sorting.buckets = b + 1;
    starts[b + 1] = sum;
    first[b + 1] = g->rows;
    for (b = 0; b < g->buckets; b++)
        ravel_sorted_place(s, b, starts[b], g->bins, g->w);
}

RAVEL_PART int64_t
ravel_sorted_row(const ravel_sorted *t, int64_t i, int64_t w)
{
    return ravel_index_at(t->row, w, i) + t->row_bias;
}

RAVEL_PART uint32_t
ravel_sorted_key(const ravel_sorted *t, const ravel_sorting *g, int64_t q, int64_t i, int64_t w)
{
    return (uint32_t)((q & g->below) << g->bits | (ravel_index_at(t->crd, w, i) + t->crd_bias));
}

/* The keys of a part to their buckets. */
RAVEL_PART void
ravel_sorted_keys(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t w)
{
    enum { AHEAD = 64 };
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const ravel_sorting sorting = t->s->sorting, *g = &sorting;
    void *places = ravel_counts_of(t->s->area[RAVEL_COUNTS], g->bins, part, w);
    uint32_t *list = (uint32_t *)(void *)t->s->area[RAVEL_LIST];
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w), b = owner[q >> g->shift];
        int64_t p = ravel_index_at(places, w, b);
        int64_t later = ravel_sorted_row(t, i < end - AHEAD ? i + AHEAD : i, w);
        ravel_fetch(list, ravel_index_at(places, w, owner[later >> g->shift]) * 4);
        ravel_index_set(places, w, b, p + 1);
        list[p] = ravel_sorted_key(t, g, q, i, w);
    }
}

static void
ravel_sorted_keys_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->w == 4)
        ravel_sorted_keys(t, part, parts, 4);
    else
        ravel_sorted_keys(t, part, parts, 8);
}

/* The bits in which keys of bucket b differ: passes of a sort by digits, and the bits of a digit. */
RAVEL_PART void
ravel_sorted_digits(const ravel_stream *s, int64_t b, int *passes, int *width)
{
    const int64_t *first = ravel_sorted_area(s, RAVEL_ROWS);
    int bits = (int)s->sorting.bits;
    for (int64_t odd = first[b] ^ (first[b + 1] - 1); odd; odd >>= 1)
        bits++;
    *passes = (bits + RAVEL_RADIX - 1) / RAVEL_RADIX;
    *width = *passes ? (bits + *passes - 1) / *passes : 0;
}

/* The numbers of each digit become the first place of each. */
RAVEL_PART void
ravel_sorted_sums(uint32_t *count, int width)
{
    uint32_t sum = 0;
    for (int k = 0; k < 1 << width; k++) {
        uint32_t here = count[k];
        count[k] = sum;
        sum += here;
    }
}

enum { RAVEL_INSERTED = 24, RAVEL_COMPARED = 16 };

/* The n numbers of `a` in order of their bits from `from` on: few by insertion, many digit by digit.  b: a
 * spare array.  Returns the one that has them then. */
#define RAVEL_SORT_DIGITS(name, type)                                                              \
    RAVEL_PART type *name(type *a, type *b, int64_t n, int from, int passes, int width)            \
    {                                                                                              \
        uint32_t count[4][1 << RAVEL_RADIX];                                                       \
        type below = ((type)1 << width) - 1;                                                       \
        for (int64_t i = 1, k; n <= RAVEL_INSERTED && i < n; i++) {                                \
            type x = a[i];                                                                         \
            for (k = i; k > 0 && a[k - 1] > x; k--)                                                \
                a[k] = a[k - 1];                                                                   \
            a[k] = x;                                                                              \
        }                                                                                          \
        if (n <= RAVEL_INSERTED)                                                                   \
            return a;                                                                              \
        for (int k = 0; k < passes; k++)                                                           \
            memset(count[k], 0, sizeof **count << width);                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int k = 0; k < passes; k++)                                                       \
                count[k][a[i] >> (from + k * width) & below]++;                                    \
        for (int k = 0; k < passes; k++) {                                                         \
            type *swap = a;                                                                        \
            ravel_sorted_sums(count[k], width);                                                    \
            for (int64_t i = 0; i < n; i++)                                                        \
                b[count[k][a[i] >> (from + k * width) & below]++] = a[i];                          \
            a = b;                                                                                 \
            b = swap;                                                                              \
        }                                                                                          \
        return a;                                                                                  \
    }
RAVEL_SORT_DIGITS(ravel_sorted_order, uint32_t)
RAVEL_SORT_DIGITS(ravel_sorted_pairs, uint64_t)

/* The buckets of a part: b to *end - 1. */
RAVEL_PART int64_t
ravel_sorted_share(const ravel_stream *s, int64_t part, int64_t parts, int64_t *end)
{
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    *end = ravel_row_of(starts, s->sorting.buckets, part + 1, parts, 8);
    return ravel_row_of(starts, s->sorting.buckets, part, parts, 8);
}

/* The scratch memory of a part whose first bucket is b. */
RAVEL_PART unsigned char *
ravel_sorted_scratch_of(const ravel_stream *s, int64_t b, int64_t part, int64_t parts)
{
    const ravel_sorting *g = &s->sorting;
    int64_t before = ravel_sorted_area(s, RAVEL_BUCKETS)[b];
    return s->area[RAVEL_SCRATCH] + (ravel_sorted_shares(g->n, g->most, g->es, parts)
                                     ? ravel_sorted_scratch(before, g->es) + part * 2 * RAVEL_LINE
                                     : part * ravel_sorted_scratch(g->most, g->es));
}

/* The keys of each bucket of a part in order, without equal ones. */
static void
ravel_sorted_count_part(void *arg, int part, int parts)
{
    ravel_stream *s = ((const ravel_sorted *)arg)->s;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    int64_t end, b = ravel_sorted_share(s, part, parts, &end);
    uint32_t *spare = (uint32_t *)(void *)ravel_sorted_scratch_of(s, b, part, parts);
    for (int passes, width; b < end; b++) {
        uint32_t *keys = (uint32_t *)(void *)s->area[RAVEL_LIST] + starts[b], *in;
        int64_t n = starts[b + 1] - starts[b], k = 0;
        uint32_t last = UINT32_MAX;
        ravel_sorted_digits(s, b, &passes, &width);
        in = ravel_sorted_order(keys, spare, n, 0, passes, width);
        for (int64_t i = 0; i < n; i++) {
            k += in[i] != last;
            keys[k - 1] = last = in[i];
        }
        ravel_sorted_area(s, RAVEL_GROUPS)[b + 1] = k;
    }
}

/* Count the entries of a list, joined; the level has a position for each.  bits: of a coordinate. */
RAVEL_STEP
ravel_stream_sorted(ravel_stream *s, int64_t level, const void *row, const void *crd, int64_t n,
                    int64_t rows, int64_t shift, int64_t bits, int64_t row_bias, int64_t bias,
                    int64_t es, int64_t w)
{
    int64_t bins = ((rows - 1) >> shift) + 1;
    ravel_bucket counted = {s, row, crd, NULL, n, bins, shift, row_bias, bias, es, w};
    ravel_sorted t = {s, row, crd, NULL, row_bias, bias, w, NULL, NULL, NULL, 0, es, 1, 0, w, 0};
    ravel_sorting g = {n, rows, shift, bits, bins, ((int64_t)1 << (31 - bits)) - 1, 0, 0, es, w,
                       row_bias, bias};
    int64_t *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    if (s->flaw)
        return;
    s->sorting = g;
    RAVEL_SHARE(s, ravel_bucket_count_part, &counted);
    ravel_sorted_buckets(s);
    if (s->sorting.most > RAVEL_SORTED_MOST) {
        ravel_flaw(s, RAVEL_FLAW_MANY, -1, RAVEL_SORTED_MOST);
        return;
    }
    s->area[RAVEL_LIST] = s->room;
    s->area[RAVEL_SCRATCH] = s->room + ravel_sorted_list(n, s->sorting.most, es);
    RAVEL_SHARE(s, ravel_sorted_keys_part, &t);
    sums[0] = 0;
    RAVEL_SHARE(s, ravel_sorted_count_part, &t);
    for (int64_t b = 0; b < s->sorting.buckets; b++)
        sums[b + 1] += sums[b];
    s->size[level] = sums[s->sorting.buckets];
}

/* The rows and coordinates of the buckets of a part. */
RAVEL_PART void
ravel_sorted_rows(const ravel_sorted *t, int64_t part, int64_t parts, int64_t w)
{
    const ravel_stream *s = t->s;
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *first = ravel_sorted_area(s, RAVEL_ROWS);
    const int64_t *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t end, b = ravel_sorted_share(s, part, parts, &end), below = ((int64_t)1 << g->bits) - 1;
    for (; b < end; b++) {
        const uint32_t *keys = (const uint32_t *)(const void *)s->area[RAVEL_LIST] + starts[b];
        int64_t q = first[b], base = q & ~g->below;
        for (int64_t p = sums[b]; p < sums[b + 1]; p++) {
            int64_t key = *keys++;
            for (int64_t row = base | key >> g->bits; q <= row; q++)
                ravel_index_set(t->pos, w, q, p);
            ravel_index_set(t->crd_out, w, p, (key & below) - t->bias);
        }
        for (; q < first[b + 1]; q++)
            ravel_index_set(t->pos, w, q, sums[b + 1]);
    }
}

static void
ravel_sorted_rows_part(void *arg, int part, int parts)
{
    const ravel_sorted mine = *(const ravel_sorted *)arg;      /* in registers */
    if (mine.w_out == 4)
        ravel_sorted_rows(&mine, part, parts, 4);
    else
        ravel_sorted_rows(&mine, part, parts, 8);
}

/* Where the values of a round are. */
RAVEL_PART unsigned char *
ravel_sorted_values(const ravel_sorted *t)
{
    const ravel_sorting *g = &t->s->sorting;
    int64_t room = ravel_sorted_list(g->n, g->most, t->es) / (4 + t->es);
    return t->late ? t->s->area[RAVEL_LIST] + 4 * room : t->out;
}

/* Keys and values of a part to the buckets of the round; a place is fetched some entries before. */
RAVEL_PART void
ravel_sorted_put(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { AHEAD = 64 };
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const ravel_sorting sorting = t->s->sorting, *g = &sorting;
    void *places = ravel_counts_of(t->s->area[RAVEL_CURSORS], g->bins, part, 8);
    uint32_t *list = (uint32_t *)(void *)t->s->area[RAVEL_LIST];
    unsigned char *values = ravel_sorted_values(t);
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts);
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w), b = owner[q >> g->shift];
        int64_t p = ravel_index_at(places, 8, b);
        int64_t later = ravel_sorted_row(t, i < end - AHEAD ? i + AHEAD : i, w);
        int64_t soon = ravel_index_at(places, 8, owner[later >> g->shift]);
        ravel_fetch(list, soon * 4);
        ravel_fetch(values, soon * es);
        if (p < 0)
            continue;
        ravel_index_set(places, 8, b, p + 1);
        list[p] = ravel_sorted_key(t, g, q, i, w);
        ravel_move_value(values, p, t->in, i, es);
    }
}

static void
ravel_sorted_put_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->w == 4 && t->es == 8)
        ravel_sorted_put(t, part, parts, 8, 4);
    else if (t->w == 4 && t->es == 4)
        ravel_sorted_put(t, part, parts, 4, 4);
    else
        ravel_sorted_put(t, part, parts, t->es, t->w);
}

/* Where coordinate c is in the row whose coordinates are from..end - 1: halves are left out, and what
 * remains is compared at once.  Of an array of `all`. */
RAVEL_PART int64_t
ravel_sorted_find(const void *crd, int64_t from, int64_t end, int64_t c, int64_t all, int64_t w)
{
    int64_t n = end - from, below = 0;
    for (int64_t half; n > RAVEL_COMPARED; n -= half) {
        half = n / 2;
        from += half & -(int64_t)(ravel_index_at(crd, w, from + half) <= c);
    }
    if (w == 4 && from + RAVEL_COMPARED <= all) {
        const int32_t *a = (const int32_t *)crd + from;
        int32_t some = (int32_t)n, x = (int32_t)c, k = 0;
        for (int32_t i = 0; i < RAVEL_COMPARED; i++)
            k += (i < some) & (a[i] < x);
        return from + k;
    }
    for (int64_t i = 0; i < n; i++)
        below += ravel_index_at(crd, w, from + i) < c;
    return from + below;
}

/* The value of an entry to its place; `seen` has a bit for each of the bucket that is there, or is NULL if
 * no two are equal. */
RAVEL_PART void
ravel_sorted_value(const ravel_sorted *t, int64_t p, int64_t bit, unsigned char *seen,
                   const unsigned char *val, int64_t es)
{
    if (seen && seen[bit >> 3] >> (bit & 7) & 1) {
        ravel_join(t->s, t->out + p * es, val, es / t->parts, t->parts, t->how, 0);
        return;
    }
    if (seen)
        seen[bit >> 3] = (unsigned char)(seen[bit >> 3] | 1 << (bit & 7));
    ravel_move_value(t->out, p, val, 0, es);
}

/* The n entries of a bucket to their places, which are found in their rows. */
RAVEL_PART void
ravel_sorted_search(const ravel_sorted *t, int64_t b, unsigned char *copy, const uint32_t *keys,
                    int64_t n, int64_t es, int64_t w)
{
    const ravel_stream *s = t->s;
    const ravel_sorting *g = &s->sorting;
    const int64_t *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t left = sums[b + 1] - sums[b], all = sums[g->buckets];
    int64_t base = ravel_sorted_area(s, RAVEL_ROWS)[b] & ~g->below, below = ((int64_t)1 << g->bits) - 1;
    unsigned char *seen = left < n ? copy + n * es : NULL;
    if (seen)
        memset(seen, 0, (size_t)(left / 8 + 1));
    for (int64_t i = 0; i < n; i++) {
        int64_t q = base | keys[i] >> g->bits, c = (keys[i] & below) - t->bias;
        int64_t p = ravel_sorted_find(t->crd_out, ravel_index_at(t->pos, w, q),
                                      ravel_index_at(t->pos, w, q + 1), c, all, w);
        ravel_sorted_value(t, p, p - sums[b], seen, copy + i * es, es);
    }
}

/* ... of long rows: the entries are put in order. */
RAVEL_PART void
ravel_sorted_long(const ravel_sorted *t, int64_t b, unsigned char *copy, const uint32_t *keys,
                  int64_t n, uint64_t *a, int64_t es)
{
    int64_t k = ravel_sorted_area(t->s, RAVEL_GROUPS)[b] - 1;
    int passes, width;
    ravel_sorted_digits(t->s, b, &passes, &width);
    for (int64_t i = 0; i < n; i++)
        a[i] = (uint64_t)keys[i] << 32 | (uint64_t)i;
    a = ravel_sorted_pairs(a, a + n, n, 32, passes, width);
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *from = copy + (int64_t)(a[i] & UINT32_MAX) * es;
        if (i && a[i] >> 32 == a[i - 1] >> 32)
            ravel_join(t->s, t->out + k * es, from, es / t->parts, t->parts, t->how, 0);
        else
            ravel_move_value(t->out, ++k, from, 0, es);
    }
}

/* The entries of bucket b to their places.  pairs: scratch memory. */
RAVEL_PART void
ravel_sorted_bucket(const ravel_sorted *t, int64_t b, uint64_t *pairs, const uint32_t *keys,
                    const unsigned char *values, int64_t es, int64_t w)
{
    const ravel_stream *s = t->s;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *first = ravel_sorted_area(s, RAVEL_ROWS);
    int64_t n = starts[b + 1] - starts[b], rows = first[b + 1] - first[b];
    unsigned char *copy = (unsigned char *)(pairs + 2 * n);
    memcpy(copy, values, (size_t)(n * es));
    if (n / RAVEL_COMPARED > rows)
        ravel_sorted_long(t, b, copy, keys, n, pairs, es);
    else
        ravel_sorted_search(t, b, copy, keys, n, es, w);
}

RAVEL_PART void
ravel_sorted_round(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER);
    const uint32_t *keys = (const uint32_t *)(const void *)t->s->area[RAVEL_LIST];
    const unsigned char *values = ravel_sorted_values(t);
    int64_t end, b = ravel_sorted_share(t->s, part, parts, &end);
    uint64_t *pairs = (uint64_t *)(void *)ravel_sorted_scratch_of(t->s, b, part, parts);
    for (; b < end; b++)
        if (at[b] >= 0)
            ravel_sorted_bucket(t, b, pairs, keys + at[b], values + at[b] * es, es, w);
}

static void
ravel_sorted_round_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->es == 8 && t->w_out == 4)
        ravel_sorted_round(t, part, parts, 8, 4);
    else if (t->es == 4 && t->w_out == 4)
        ravel_sorted_round(t, part, parts, 4, 4);
    else
        ravel_sorted_round(t, part, parts, t->es, t->w_out);
}

/* The places of the first round: those of a part are within its share of the destination. */
RAVEL_PART void
ravel_sorted_first(ravel_stream *s)
{
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *sums = ravel_sorted_area(s, RAVEL_GROUPS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), parts = RAVEL_PARTS(s);
    for (int64_t part = 0, end; part < parts; part++) {
        int64_t from = ravel_sorted_share(s, part, parts, &end);
        for (int64_t b = from; b < end; b++) {
            int64_t p = sums[from] + starts[b] - starts[from];
            at[b] = p + starts[b + 1] - starts[b] <= sums[end] ? p : (int64_t)RAVEL_LATE;
        }
    }
}

/* The places of the next round, in the memory of the keys; returns whether there is one. */
RAVEL_PART int
ravel_sorted_next(ravel_stream *s)
{
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), p = 0;
    int64_t room = ravel_sorted_list(g->n, g->most, g->es) / (4 + g->es);
    int more = 0;
    for (int64_t b = 0; b < g->buckets; b++) {
        int64_t n = starts[b + 1] - starts[b];
        if (at[b] != RAVEL_LATE) {
            at[b] = RAVEL_DONE;
        } else if (p + n <= room) {
            at[b] = p;
            p += n;
            more = 1;
        }
    }
    return more;
}

/* The next places of each part, after those of the parts before. */
RAVEL_PART void
ravel_sorted_cursors(ravel_stream *s)
{
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *at = ravel_sorted_area(s, RAVEL_ORDER);
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        void *next = ravel_counts_of(s->area[RAVEL_CURSORS], g->bins, part, 8);
        const void *before = part ? ravel_counts_of(s->area[RAVEL_COUNTS], g->bins, part - 1, g->w) : NULL;
        for (int64_t b = 0; b < g->buckets; b++) {
            int64_t others = before ? ravel_index_at(before, g->w, b) - starts[b] : 0;
            ravel_index_set(next, 8, b, at[b] < 0 ? at[b] : at[b] + others);
        }
    }
}

/* Write the destination.  A value has `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_fill_sorted(ravel_stream *s, const void *row, const void *crd, const void *in,
                         void *pos, void *crd_out, void *out, int64_t bias, int64_t es,
                         int64_t parts, int64_t how, int64_t w_out)
{
    const ravel_sorting *g = &s->sorting;
    ravel_sorted t = {s, row, crd, (const unsigned char *)in, g->row_bias, g->crd_bias, g->w, pos, crd_out,
                      (unsigned char *)out, bias, es * parts, parts, how, w_out, 0};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_sorted_rows_part, &t);
    ravel_index_set(pos, w_out, g->rows, ravel_sorted_area(s, RAVEL_GROUPS)[g->buckets]);
    if (!es || !g->n)
        return;
    ravel_sorted_first(s);
    for (int more = 1; more; more = ravel_sorted_next(s), t.late = 1) {
        ravel_sorted_cursors(s);
        RAVEL_SHARE(s, ravel_sorted_put_part, &t);
        RAVEL_SHARE(s, ravel_sorted_round_part, &t);
    }
}
