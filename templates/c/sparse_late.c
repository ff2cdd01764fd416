/* Late buckets of a list (sparse_sorted.c): in rounds their entries go to the memory of the keys as pairs, a key
 * and the number of the entry, which are put in order there, beside as many spare ones.  A bucket that is too
 * large for a round is read piece after piece of its keys.  Those too large for the scratch memory are counted
 * so, before others have keys.  Then all are written so. */

enum { RAVEL_LATE = -1, RAVEL_DONE = -2 };

/* How many pairs a round has. */
RAVEL_PART int64_t
ravel_late_room(const ravel_stream *s)
{
    return s->sorting.n / 4;
}

/* The places of the next round; returns whether there is one. */
RAVEL_PART int
ravel_late_next(ravel_stream *s)
{
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), room = ravel_late_room(s);
    int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), p = 0;
    int more = 0;
    for (int64_t b = 0; b < s->sorting.buckets; b++) {
        int64_t n = starts[b + 1] - starts[b];
        if (at[b] != RAVEL_LATE) {
            at[b] = RAVEL_DONE;
        } else if (p + n <= room) {
            at[b] = p;
            p += n;
            more = 1;
        }
    }
    s->sorting.pairs = p;
    return more;
}

/* The next places of each part, after those of the parts before: of so many bytes, or of pairs. */
RAVEL_PART void
ravel_sorted_cursors(const ravel_sorted *t, int64_t bytes)
{
    ravel_stream *s = t->s;
    const ravel_sorting *g = &s->sorting;
    const int64_t *starts = ravel_sorted_area(s, RAVEL_BUCKETS), *at = ravel_sorted_area(s, RAVEL_ORDER);
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        void *next = ravel_counts_of(s->area[RAVEL_CURSORS], g->bins, part, 8);
        const void *first = ravel_counts_of(s->area[RAVEL_COUNTS], g->bins, part, g->w);
        for (int64_t b = 0; b < g->buckets; b++) {
            int64_t others = ravel_index_at(first, g->w, b) - starts[b];
            ravel_index_set(next, 8, b, at[b] < 0 ? at[b] : at[b] + others * bytes);
        }
    }
}

enum { RAVEL_LATE_AHEAD = 16 };        /* values that are fetched before they are read */

/* The rows of the round are among low..high - 1. */
RAVEL_PART void
ravel_late_rows(const ravel_stream *s, int64_t *low, int64_t *high)
{
    const int64_t *at = ravel_sorted_area(s, RAVEL_ORDER), *first = ravel_sorted_area(s, RAVEL_ROWS);
    *low = *high = -1;
    for (int64_t b = 0; b < s->sorting.buckets; b++)
        if (at[b] >= 0) {
            *low = *low < 0 ? first[b] : *low;
            *high = first[b + 1];
        }
}

/* The numbers of those of entries i..end - 1 that are of rows low..high - 1, to `some`; returns how many.
 * Without branches: they would be mispredicted. */
RAVEL_PART int64_t
ravel_late_some(const ravel_sorted *t, int64_t i, int64_t end, int64_t low, int64_t high, int64_t *some,
                int64_t w)
{
    int64_t n = 0;
    for (; i < end; i++) {
        int64_t q = ravel_sorted_row(t, i, w);
        some[n] = i;
        n += (q >= low) & (q < high);
    }
    return n;
}

/* The pairs of a part. */
RAVEL_PART void
ravel_late_put(const ravel_sorted *shared, int64_t part, int64_t parts, int64_t w)
{
    const ravel_sorted mine = *shared, *t = &mine;     /* in registers */
    const ravel_sorting sorting = t->s->sorting, *g = &sorting;
    int64_t *places = (int64_t *)ravel_counts_of(t->s->area[RAVEL_CURSORS], g->bins, part, 8);
    uint64_t *pairs = (uint64_t *)(void *)t->s->area[RAVEL_LIST];
    const uint16_t *owner = ravel_sorted_owners(t->s);
    int64_t i = ravel_part_of(g->n, part, parts), end = ravel_part_of(g->n, part + 1, parts), low, high;
    int64_t some[RAVEL_BATCH];
    ravel_late_rows(t->s, &low, &high);
    for (int64_t next; i < end; i = next) {
        next = end - i < RAVEL_BATCH ? end : i + RAVEL_BATCH;
        int64_t n = ravel_late_some(t, i, next, low, high, some, w);
        for (int64_t k = 0; k < n; k++) {
            int64_t q = ravel_sorted_row(t, some[k], w), *place = &places[owner[q >> g->shift]];
            if (*place >= 0)
                pairs[(*place)++] = (uint64_t)ravel_sorted_key(t, g, q, some[k], w) << 32 | (uint64_t)some[k];
        }
    }
}

static void
ravel_late_put_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    if (t->w == 4)
        ravel_late_put(t, part, parts, 4);
    else
        ravel_late_put(t, part, parts, 8);
}

/* Before the first entry of bucket b. */
RAVEL_PART ravel_writing
ravel_late_begin(const ravel_sorted *t, int64_t b)
{
    int64_t first = ravel_sorted_area(t->s, RAVEL_ROWS)[b];
    const ravel_writing to = {t->pos ? ravel_sorted_area(t->s, RAVEL_GROUPS)[b] : 0, first,
                              first & ~t->s->sorting.below, -1};
    return to;
}

/* How many of the keys of n pairs differ, and from the key before. */
static int64_t
ravel_late_differ(uint64_t *a, int64_t n, uint32_t *spare, int64_t last, int passes, int width)
{
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++)
        spare[i] = (uint32_t)(a[i] >> 32);
    spare = ravel_digits_sort4(spare, spare + n, n, 0, passes, width);
    for (int64_t i = 0; i < n; i++) {
        differ += spare[i] != last;
        last = (int64_t)spare[i];
    }
    return differ;
}

/* n pairs of bucket b: they are counted, or put in order and written. */
static void
ravel_late_pairs(const ravel_sorted *t, ravel_writing *to, int64_t b, uint64_t *a, int64_t n)
{
    uint64_t *spare = a + ravel_late_room(t->s);
    int passes, width;
    ravel_sorted_digits(t->s, b, &passes, &width);
    if (!t->pos) {
        to->p += ravel_late_differ(a, n, (uint32_t *)(void *)spare, to->last, passes, width);
        to->last = n ? (int64_t)(a[0] >> 32) : to->last;
        return;
    }
    a = ravel_digits_sort8(a, spare, n, 32, passes, width);
    ravel_grouped_write(t, to, a, n, t->in, RAVEL_LATE_AHEAD, t->es, t->w_out);
}

/* After the last one. */
RAVEL_PART void
ravel_late_end(const ravel_sorted *t, ravel_writing *to, int64_t b)
{
    if (t->pos)
        ravel_grouped_rest(t, to, ravel_sorted_area(t->s, RAVEL_ROWS)[b + 1], t->w_out);
    else
        ravel_sorted_area(t->s, RAVEL_GROUPS)[b + 1] = to->p;
}

/* The buckets of a round; those of a part have their pairs in its share. */
static void
ravel_late_round_part(void *arg, int part, int parts)
{
    const ravel_sorted *t = (const ravel_sorted *)arg;
    const int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER), *starts = ravel_sorted_area(t->s, RAVEL_BUCKETS);
    int64_t from = ravel_part_of(t->s->sorting.pairs + 1, part, parts);
    int64_t end = ravel_part_of(t->s->sorting.pairs + 1, part + 1, parts);
    for (int64_t b = 0; b < t->s->sorting.buckets; b++) {
        if (at[b] < from || at[b] >= end)
            continue;
        ravel_writing to = ravel_late_begin(t, b);
        ravel_late_pairs(t, &to, b, (uint64_t *)(void *)t->s->area[RAVEL_LIST] + at[b], starts[b + 1] - starts[b]);
        ravel_late_end(t, &to, b);
    }
}

/* The key of entry i; -1: it is not of bucket b. */
RAVEL_PART int64_t
ravel_late_key(const ravel_sorted *t, int64_t b, int64_t i)
{
    const ravel_sorting *g = &t->s->sorting;
    int64_t q = ravel_sorted_row(t, i, g->w);
    return ravel_sorted_owners(t->s)[q >> g->shift] == b ? (int64_t)ravel_sorted_key(t, g, q, i, g->w) : -1;
}

/* Where a piece of the keys from `low` on ends that has room, found digit by digit, or that of one key; *n
 * entries have its keys. */
static int64_t
ravel_late_piece(const ravel_sorted *t, int64_t b, int64_t low, int64_t *n)
{
    enum { DIGITS = 1 << RAVEL_RADIX };
    const int64_t room = ravel_late_room(t->s);
    int64_t count[DIGITS], high = low;
    *n = 0;
    for (int shift = 24, k = 0; shift >= 0 && k < DIGITS; shift -= RAVEL_RADIX) {
        memset(count, 0, sizeof count);
        for (int64_t i = 0; i < t->s->sorting.n; i++) {
            int64_t key = ravel_late_key(t, b, i);
            if (key >= high && (key - high) >> shift < DIGITS)
                count[(key - high) >> shift]++;
        }
        for (k = 0; k < DIGITS && *n + count[k] <= room; k++)
            *n += count[k];
        high += (int64_t)k << shift;
    }
    *n = high > low ? *n : count[0];
    return high > low ? high : low + 1;
}

/* A bucket with too many entries for a round. */
static void
ravel_late_large(const ravel_sorted *t, int64_t b)
{
    uint64_t *pairs = (uint64_t *)(void *)t->s->area[RAVEL_LIST];
    ravel_writing to = ravel_late_begin(t, b);
    for (int64_t low = 0, high, n; low >> 31 == 0; low = high) {
        int64_t have = 0;
        high = ravel_late_piece(t, b, low, &n);
        int64_t most = n <= ravel_late_room(t->s) ? n : 1;
        for (int64_t i = 0; n && i < t->s->sorting.n; i++) {
            int64_t key = ravel_late_key(t, b, i);
            if (key < low || key >= high)
                continue;
            pairs[have++] = (uint64_t)key << 32 | (uint64_t)i;
            if (have < most)
                continue;
            ravel_late_pairs(t, &to, b, pairs, have);
            have = 0;
        }
    }
    ravel_late_end(t, &to, b);
}

/* Count or write the buckets that are late. */
static void
ravel_late_all(ravel_sorted *t)
{
    const int64_t *at = ravel_sorted_area(t->s, RAVEL_ORDER);
    while (ravel_late_next(t->s)) {
        ravel_sorted_cursors(t, 1);
        RAVEL_SHARE(t->s, ravel_late_put_part, t);
        RAVEL_SHARE(t->s, ravel_late_round_part, t);
    }
    for (int64_t b = 0; b < t->s->sorting.buckets; b++)
        if (at[b] == RAVEL_LATE)
            ravel_late_large(t, b);
}
