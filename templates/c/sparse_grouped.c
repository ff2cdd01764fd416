/* A bucket of keys and their values to its rows in the destination: where rows have few entries these are
 * counted into their rows, and compared with each other there; else all keys are put in order. */

/* Rows of up to so many entries are compared: the number of one is in the low bits of its coordinate.  Those
 * as long as a row of bits has words set bits.  Of others, those of up to RAVEL_SPREAD are spread, longer ones
 * sorted by digits. */
enum { RAVEL_GROUPED = 32, RAVEL_GROUPED_BITS = 5, RAVEL_SPREAD = 256 };

/* A bucket of n entries: their keys and, where a round has put them, their values. */
typedef struct {
    int64_t b, n, first, rows;     /* its rows */
    const uint32_t *keys;
    const unsigned char *values;
    uint64_t *scratch;             /* 16 bytes for each entry, and a value */
} ravel_grouping;

/* What is written: the place of the next entry, the next row that has no pos, what the rows of the bucket have
 * above those of keys, the key before. */
typedef struct {
    int64_t p, q, base, last;
} ravel_writing;

/* An entry more of the row that is written, at the place p of the next one; returns that of the next. */
RAVEL_PART int64_t
ravel_grouped_entry(const ravel_sorted *t, int64_t p, int64_t c, int again, const unsigned char *val,
                    int64_t es, int64_t w)
{
    if (again) {
        if (es)
            ravel_join(t->s, t->out + (p - 1) * es, val, t->parts == 1 ? es : es / t->parts, t->parts, t->how, 0);
        return p;
    }
    ravel_index_set(t->crd_out, w, p, c - t->bias);
    ravel_move_value(t->out, p, val, 0, es);
    return p + 1;
}

/* The n coordinates of a row, of at most `lanes`, in order; each with the number of its entry below.  Loops
 * have the same length for most rows: their ends would be mispredicted. */
RAVEL_PART void
ravel_grouped_order(const int32_t *crd, int32_t *sorted, int32_t n, int32_t lanes)
{
    int32_t keys[RAVEL_GROUPED], rank[RAVEL_GROUPED] = {0};
    for (int32_t i = 0; i < lanes; i++)
        keys[i] = (int32_t)((uint32_t)crd[i] << RAVEL_GROUPED_BITS) | i;
    for (int32_t i = 0; i < lanes; i++)
        keys[i] = i < n ? keys[i] : INT32_MAX;
    for (int32_t k = 0; k < lanes; k++)
        for (int32_t i = 0; i < lanes; i++)
            rank[i] += keys[k] < keys[i];
    for (int32_t i = 0; i < lanes; i++)
        sorted[rank[i]] = keys[i];
}

RAVEL_PART int64_t
ravel_grouped_few(const ravel_sorted *t, int64_t p, const int32_t *crd, const unsigned char *values,
                  int64_t n, int64_t es, int64_t w)
{
    int32_t sorted[RAVEL_GROUPED], last = -1;
    if (n <= RAVEL_GROUPED / 2)
        ravel_grouped_order(crd, sorted, (int32_t)n, RAVEL_GROUPED / 2);
    else
        ravel_grouped_order(crd, sorted, (int32_t)n, RAVEL_GROUPED);
    for (int64_t i = 0; i < n; i++) {
        int32_t c = sorted[i] >> RAVEL_GROUPED_BITS;
        p = ravel_grouped_entry(t, p, c, c == last, values + (sorted[i] & (RAVEL_GROUPED - 1)) * es, es, w);
        last = c;
    }
    return p;
}

/* The n numbers of `a` in order: by their part above 32 bits, between its least and most, about one to each
 * of as many places; then by insertion.  b: a spare array, which has them then. */
static void
ravel_grouped_spread(const uint64_t *a, uint64_t *b, int64_t n)
{
    uint16_t ends[2 * RAVEL_SPREAD] = {0};
    uint64_t least = UINT64_MAX, most = 0;
    int shift = 32;
    for (int64_t i = 0; i < n; i++) {
        least = a[i] < least ? a[i] : least;
        most = a[i] > most ? a[i] : most;
    }
    while ((most - least) >> shift >= (uint64_t)(2 * n))
        shift++;
    for (int64_t i = 0; i < n; i++)
        ends[(a[i] - least) >> shift]++;
    for (int64_t k = 1; k < 2 * n; k++)
        ends[k] = (uint16_t)(ends[k] + ends[k - 1]);
    for (int64_t i = n - 1; i >= 0; i--)
        b[--ends[(a[i] - least) >> shift]] = a[i];
    for (int64_t i = 1, k; i < n; i++) {
        uint64_t x = b[i];
        for (k = i; k > 0 && b[k - 1] > x; k--)
            b[k] = b[k - 1];
        b[k] = x;
    }
}

/* A longer row. */
RAVEL_PART int64_t
ravel_grouped_many(const ravel_sorted *t, int64_t p, const int32_t *crd, const unsigned char *values,
                   int64_t n, uint64_t *pairs, int64_t es, int64_t w)
{
    int passes = ((int)t->s->sorting.bits + RAVEL_RADIX - 1) / RAVEL_RADIX;
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++)
        pairs[i] = (uint64_t)(uint32_t)crd[i] << 32 | (uint64_t)i;
    if (n <= RAVEL_SPREAD)
        ravel_grouped_spread(pairs, pairs + n, n);
    pairs = n <= RAVEL_SPREAD ? pairs + n : ravel_digits_sort8(pairs, pairs + n, n, 32, passes, RAVEL_RADIX);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = (int64_t)(pairs[i] >> 32);
        p = ravel_grouped_entry(t, p, c, c == last, values + (int64_t)(pairs[i] & UINT32_MAX) * es, es, w);
        last = c;
    }
    return p;
}

/* A row of as many entries as `words`, which hold a bit for each coordinate: its place is the number of bits
 * before.  room: 5 words for each two. */
RAVEL_PART int64_t
ravel_grouped_full(const ravel_sorted *t, int64_t p, const int32_t *crd, const unsigned char *values,
                   int64_t n, uint64_t *room, int64_t words, int64_t es, int64_t w)
{
    uint64_t *set = room, *seen = room + words;
    uint32_t *before = (uint32_t *)(void *)(seen + words), sum = 0;
    memset(set, 0, (size_t)(2 * words) * sizeof *set);
    for (int64_t i = 0; i < n; i++)
        set[crd[i] >> 6] |= (uint64_t)1 << (crd[i] & 63);
    for (int64_t k = 0; k < words; k++) {
        before[k] = sum;
        sum += (uint32_t)ravel_ones(set[k]);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t k = crd[i] >> 6;
        uint64_t bit = (uint64_t)1 << (crd[i] & 63);
        int64_t again = (seen[k] & bit) != 0, at = p + before[k] + ravel_ones(set[k] & (bit - 1));
        seen[k] |= bit;
        ravel_grouped_entry(t, at + again, crd[i], (int)again, values + i * es, es, w);
    }
    return p + sum;
}

/* Where the row of each key ends; returns the entries of the longest one. */
static int64_t
ravel_grouped_count(const ravel_sorted *t, const ravel_grouping *g, uint32_t *ends)
{
    int64_t bits = t->s->sorting.bits, from = g->first & t->s->sorting.below;
    uint32_t sum = 0, longest = 0;
    memset(ends, 0, (size_t)g->rows * sizeof *ends);
    for (int64_t i = 0; i < g->n; i++)
        ends[(g->keys[i] >> bits) - from]++;
    for (int64_t q = 0; q < g->rows; q++) {
        uint32_t here = ends[q];
        ends[q] = sum;
        sum += here;
        longest = here > longest ? here : longest;
    }
    return longest;
}

/* Write the rows of a bucket of few entries each; returns whether they are few. */
RAVEL_PART int
ravel_grouped_rows(const ravel_sorted *t, const ravel_grouping *g, int64_t es, int64_t w)
{
    const ravel_sorting *z = &t->s->sorting;
    uint32_t *ends = (uint32_t *)(void *)g->scratch, below = ((uint32_t)1 << z->bits) - 1;
    int32_t *crd = (int32_t *)(void *)(ends + g->n);
    uint64_t *pairs = g->scratch + g->n + RAVEL_GROUPED;
    unsigned char *values = (unsigned char *)(g->scratch + 2 * g->n);
    int64_t from = g->first & z->below, bits = z->bits, p = ravel_sorted_area(t->s, RAVEL_GROUPS)[g->b];
    int64_t words = (below >> 6) + 1, few = g->n / 4, full = words <= few - RAVEL_GROUPED ? words : INT64_MAX;
    if (g->n < 4 * RAVEL_GROUPED || g->rows > g->n ||
        (g->n / RAVEL_COMPARED > g->rows && g->n / g->rows < full) || bits > 31 - RAVEL_GROUPED_BITS ||
        (ravel_grouped_count(t, g, ends) > few && full > few))
        return 0;
    memset(crd + g->n, 0, RAVEL_GROUPED * sizeof *crd);
    for (int64_t i = 0; i < g->n; i++) {
        uint32_t at = ends[(g->keys[i] >> bits) - from]++;
        crd[at] = (int32_t)(g->keys[i] & below);
        ravel_move_value(values, at, g->values, i, es);
    }
    for (int64_t q = 0, at = 0; q < g->rows; at = ends[q++]) {
        int64_t n = ends[q] - at;
        ravel_index_set(t->pos, w, g->first + q, p);
        p = n <= RAVEL_GROUPED ? ravel_grouped_few(t, p, crd + at, values + at * es, n, es, w)
            : n >= full ? ravel_grouped_full(t, p, crd + at, values + at * es, n, pairs, words, es, w)
            : ravel_grouped_many(t, p, crd + at, values + at * es, n, pairs, es, w);
    }
    return 1;
}

/* The pos of the rows before `end` that have none yet. */
RAVEL_PART void
ravel_grouped_rest(const ravel_sorted *t, ravel_writing *to, int64_t end, int64_t w)
{
    for (; to->q < end; to->q++)
        ravel_index_set(t->pos, w, to->q, to->p);
}

/* n entries in order: a key, and in the low half the number of the value, which is fetched some entries
 * before; `ahead` 0: it is not. */
RAVEL_PART void
ravel_grouped_write(const ravel_sorted *t, ravel_writing *to, const uint64_t *a, int64_t n,
                    const unsigned char *values, int64_t ahead, int64_t es, int64_t w)
{
    const ravel_sorting *z = &t->s->sorting;
    for (int64_t i = 0; i < n; i++) {
        int64_t key = (int64_t)(a[i] >> 32);
        if (ahead)
            ravel_fetch_source(values, (int64_t)(a[i < n - ahead ? i + ahead : i] & UINT32_MAX) * es);
        ravel_grouped_rest(t, to, (to->base | key >> z->bits) + 1, w);
        to->p = ravel_grouped_entry(t, to->p, key & (((int64_t)1 << z->bits) - 1), key == to->last,
                                    values + (int64_t)(a[i] & UINT32_MAX) * es, es, w);
        to->last = key;
    }
}

/* ... of all others. */
RAVEL_PART void
ravel_grouped_sort(const ravel_sorted *t, const ravel_grouping *g, int64_t es, int64_t w)
{
    unsigned char *values = (unsigned char *)(g->scratch + 2 * g->n);
    uint64_t *a = g->scratch;
    ravel_writing to = {ravel_sorted_area(t->s, RAVEL_GROUPS)[g->b], g->first,
                        g->first & ~t->s->sorting.below, -1};
    int passes, width;
    ravel_sorted_digits(t->s, g->b, &passes, &width);
    if (es)
        memcpy(values, g->values, (size_t)(g->n * es));
    for (int64_t i = 0; i < g->n; i++)
        a[i] = (uint64_t)g->keys[i] << 32 | (uint64_t)i;
    a = ravel_digits_sort8(a, a + g->n, g->n, 32, passes, width);
    ravel_grouped_write(t, &to, a, g->n, values, 0, es, w);
    ravel_grouped_rest(t, &to, g->first + g->rows, w);
}
