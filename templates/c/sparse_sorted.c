/* A list of many entries to rows in order, with an index for each entry: bins of rows become buckets of about
 * as many entries.  First the keys alone, a row of a bucket and a coordinate, go to their buckets, and those
 * that differ are counted.  Then the values go to the buckets: to where those of the destination will be, and
 * each bucket is put in order there.  Equal entries need more room than the destination has.  The values of the
 * last buckets are lent the room of the last coordinates, until keys of so many buckets are not needed any more
 * that there is memory for them.  Buckets are late if they are too large for the scratch memory, or if there is
 * no room to lend (sparse_late.c).
 *
 * Areas: COUNTS the first place of each bucket, of each part; CURSORS the next one in a round; OWNERS the bucket
 * of each bin; BUCKETS where each begins; ROWS its first row; GROUPS where it begins in the destination;
 * ORDER where its values are or, if it is late, its pairs; LIST, the keys, and SCRATCH come last. */

typedef struct {
    ravel_stream *s;
    const void *row, *crd;         /* of the source */
    const unsigned char *in;
    int64_t row_bias, crd_bias, w;
    void *pos, *crd_out;           /* of the destination */
    unsigned char *out;
    int64_t bias, es, parts, how, w_out;
} ravel_sorted;

/* Entries are counted and numbered by 32 bits. */
static const int64_t RAVEL_SORTED_MOST = UINT32_MAX;

/* A bucket is full with so many entries. */
RAVEL_PART int64_t
ravel_sorted_full(int64_t n)
{
    const int64_t some = 1 << 12, share = n >> 11;
    return share > some ? share : some;
}

/* The entries of the largest bucket that is put in order by scratch memory. */
RAVEL_PART int64_t
ravel_sorted_most(int64_t n)
{
    int64_t least = 2 * ravel_sorted_full(n), most = n >> 8 > least ? n >> 8 : least;
    return most < n ? most : n;
}

RAVEL_PART int64_t
ravel_sorted_scratch(int64_t n, int64_t es)
{
    int64_t most = ravel_sorted_most(n);
    return ravel_area_part(most * (16 + es) + most / 8 + 1);
}

RAVEL_PART int64_t
ravel_sorted_list(int64_t n)
{
    return ravel_area_part(4 * n);
}

/* Room for LIST and SCRATCH, of a list of more than `few` entries. */
RAVEL_STEP
ravel_stream_room_sorted(ravel_stream *s, int64_t *m, int64_t n, int64_t es, int64_t few)
{
    if (m[0] < 0 || n <= few)
        return;
    ravel_stream_room(s, m, ravel_sorted_list(n), 8, 0);
    ravel_stream_room(s, m, ravel_sorted_scratch(n, es), 8, 1);
}

RAVEL_PART int64_t *
ravel_sorted_area(const ravel_stream *s, int which)
{
    return (int64_t *)(void *)s->area[which];
}

/* Places of values in memory as numbers, which those of no round are below. */
RAVEL_PART int64_t
ravel_sorted_address(const unsigned char *p)
{
    return (int64_t)(uintptr_t)p;
}

RAVEL_PART unsigned char *
ravel_sorted_at(int64_t address)
{
    return (unsigned char *)(uintptr_t)address;
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

/* Places of the parts, which are where those of the next part begin, become the first ones again. */
RAVEL_PART void
ravel_sorted_rewind(ravel_stream *s)
{
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    for (int64_t part = RAVEL_PARTS(s) - 1; part > 0; part--)
        memcpy(ravel_counts_of(s->area[RAVEL_COUNTS], g->bins, part, g->w),
               ravel_counts_of(s->area[RAVEL_COUNTS], g->bins, part - 1, g->w), (size_t)(g->buckets * g->w));
    for (int64_t b = 0; b < g->buckets; b++)
        ravel_index_set(s->area[RAVEL_COUNTS], g->w, b, starts[b]);
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

/* The buckets of a part: b to *end - 1. */
RAVEL_PART int64_t
ravel_sorted_share(const ravel_stream *s, int64_t part, int64_t parts, int64_t *end)
{
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    *end = ravel_row_of(starts, s->sorting.buckets, part + 1, parts, 8);
    return ravel_row_of(starts, s->sorting.buckets, part, parts, 8);
}

RAVEL_PART unsigned char *
ravel_sorted_scratch_of(const ravel_stream *s, int64_t part)
{
    return s->area[RAVEL_SCRATCH] + part * ravel_sorted_scratch(s->sorting.n, s->sorting.es);
}

/* How many keys of bucket b differ; those of a copy are put in order if they are too many for a table. */
RAVEL_PART int64_t
ravel_sorted_differ(const ravel_stream *s, int64_t b, const uint32_t *keys, int64_t n, uint32_t *scratch)
{
    int64_t differ = n <= RAVEL_HASHED ? ravel_hashed_count(keys, n, scratch) : -1;
    int passes, width;
    if (differ >= 0)
        return differ;
    memcpy(scratch, keys, (size_t)n * sizeof *keys);
    ravel_sorted_digits(s, b, &passes, &width);
    scratch = ravel_digits_sort4(scratch, scratch + n, n, 0, passes, width);
    differ = 1;
    for (int64_t i = 1; i < n; i++)
        differ += scratch[i] != scratch[i - 1];
    return differ;
}

/* The places that each bucket of a part has in the destination. */
static void
ravel_sorted_count_part(void *arg, int part, int parts)
{
    ravel_stream *s = ((const ravel_sorted *)arg)->s;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS);
    const uint32_t *keys = (const uint32_t *)(const void *)s->area[RAVEL_LIST];
    int64_t end, b = ravel_sorted_share(s, part, parts, &end);
    uint32_t *scratch = (uint32_t *)(void *)ravel_sorted_scratch_of(s, part);
    for (; b < end; b++)
        if (starts[b + 1] - starts[b] <= ravel_sorted_most(s->sorting.n))
            ravel_sorted_area(s, RAVEL_GROUPS)[b + 1] =
                ravel_sorted_differ(s, b, keys + starts[b], starts[b + 1] - starts[b], scratch);
}

