/* Orders of entries: by counting, where the order inside each count is that of the source;
 * by sorting records, else. */

/* One more entry below each parent in column c. */
RAVEL_STEP
ravel_stream_count(ravel_stream *s, int64_t c)
{
    for (int64_t i = 0; i < s->n; i++)
        s->count[s->x[c][i] + 1]++;
}

RAVEL_STEP
ravel_stream_uncount(ravel_stream *s, int64_t n)
{
    memset(s->count, 0, (size_t)(n + 1) * sizeof *s->count);
}

/* Counts become the first position of each; the level has the sum. */
RAVEL_STEP
ravel_stream_scan(ravel_stream *s, int64_t n, int64_t level)
{
    for (int64_t q = 0; q < n; q++)
        s->count[q + 1] += s->count[q];
    s->size[level] = s->count[n];
}

RAVEL_STEP
ravel_stream_counted(ravel_stream *s, void *pos, int64_t n, int64_t w)
{
    for (int64_t q = 0; q <= n && !s->flaw; q++)
        ravel_index_set(pos, w, q, s->count[q]);
}

/* Give each entry the next position of its parent. */
RAVEL_STEP
ravel_stream_place(ravel_stream *s, int64_t to, int64_t from)
{
    for (int64_t i = 0; i < s->n; i++)
        s->x[to][i] = s->count[s->x[from][i]]++;
}

RAVEL_PART void
ravel_scatter_each(ravel_stream *s, int64_t from, int64_t c, int64_t bias, void *crd,
                   unsigned char *out, const unsigned char *in, int64_t es, int64_t w)
{
    for (int64_t i = 0; i < s->n; i++) {
        int64_t p = s->count[s->x[from][i]]++;
        ravel_index_set(crd, w, p, s->x[c][i] - bias);
        ravel_move_value(out, p, in, s->x[0][i], es);
    }
}

/* ... and write its coordinate and its value there. */
RAVEL_STEP
ravel_stream_scatter(ravel_stream *s, int64_t from, int64_t c, int64_t bias, void *crd,
                     void *values, const void *from_values, int64_t es, int64_t w)
{
    unsigned char *out = (unsigned char *)values;
    const unsigned char *in = (const unsigned char *)from_values;
    if (es == 4 && w == 4)
        ravel_scatter_each(s, from, c, bias, crd, out, in, 4, 4);
    else if (es == 8 && w == 4)
        ravel_scatter_each(s, from, c, bias, crd, out, in, 8, 4);
    else if (es == 8)
        ravel_scatter_each(s, from, c, bias, crd, out, in, 8, 8);
    else
        ravel_scatter_each(s, from, c, bias, crd, out, in, es, w);
}

/* Keys: column c gets `bits` more bits from another column. */
RAVEL_STEP
ravel_stream_join(ravel_stream *s, int64_t c, int64_t from, int64_t bits)
{
    for (int64_t i = 0; i < s->n; i++)
        s->x[c][i] = (int64_t)((uint64_t)s->x[c][i] << bits) | s->x[from][i];
}

RAVEL_STEP
ravel_stream_part(ravel_stream *s, int64_t c, int64_t from, int64_t shift, int64_t bits)
{
    uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    for (int64_t i = 0; i < s->n; i++)
        s->x[c][i] = (int64_t)((uint64_t)s->x[from][i] >> shift & mask);
}

/* Append a record for each entry; its key is column c, ordered from bit `low` on. */
RAVEL_STEP
ravel_stream_record(ravel_stream *s, int64_t c, int64_t low)
{
    uint64_t last = s->records ? s->record[s->records - 1].key >> low : 0;
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t key = (uint64_t)s->x[c][i];
        s->unsorted |= key >> low < last;
        last = key >> low;
        const ravel_record record = {key, s->x[0][i]};
        s->record[s->records++] = record;
    }
}

/* Values of up to 8 bytes instead of their positions, for records. */
RAVEL_STEP
ravel_stream_carry(ravel_stream *s, const void *in, int64_t es)
{
    const unsigned char *from = (const unsigned char *)in;
    for (int64_t i = 0; es == 8 && i < s->n; i++)
        memcpy(&s->x[0][i], from + s->x[0][i] * 8, 8);
    for (int64_t i = 0; es != 8 && i < s->n; i++) {
        int64_t v = 0;
        memcpy(&v, from + s->x[0][i] * es, (size_t)es);
        s->x[0][i] = v;
    }
}

enum { RAVEL_DIGIT = 11 };             /* the most bits of a pass */

/* Move n records to the places that the digit at `shift` of their keys gives; `at` gets the
 * end of each digit. */
RAVEL_PART void
ravel_scatter(ravel_record *to, const ravel_record *from, int64_t n, int64_t shift,
              int64_t bits, int64_t *at)
{
    int64_t sum = 0;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    memset(at, 0, sizeof *at << bits);
    for (int64_t i = 0; i < n; i++)
        at[from[i].key >> shift & mask]++;
    for (int64_t k = 0; k <= (int64_t)mask; k++) {
        int64_t here = at[k];
        at[k] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < n; i++)
        to[at[from[i].key >> shift & mask]++] = from[i];
}

RAVEL_PART void
ravel_insert(ravel_record *r, int64_t n, int64_t low)
{
    for (int64_t i = 1; i < n; i++) {
        ravel_record x = r[i];
        int64_t k = i;
        for (; k > 0 && r[k - 1].key >> low > x.key >> low; k--)
            r[k] = r[k - 1];
        r[k] = x;
    }
}

/* Sort records whose keys are equal from bit `high` on, by counting from the lowest digit
 * to the highest. */
RAVEL_PART void
ravel_sort_some(ravel_record *r, ravel_record *spare, int64_t n, int64_t low, int64_t high)
{
    enum { FEW = 24, BITS = 8 };
    int64_t at[1 << RAVEL_DIGIT], most = n < 4096 ? (int)BITS : (int)RAVEL_DIGIT;
    if (n <= FEW) {
        ravel_insert(r, n, low);
        return;
    }
    int64_t passes = (high - low + most - 1) / most;
    ravel_record *from = r, *to = spare;
    for (int64_t p = 0, b = low; p < passes; p++) {
        int64_t bits = (high - b + passes - p - 1) / (passes - p);
        ravel_scatter(to, from, n, b, bits, at);
        ravel_record *swap = from;
        from = to;
        to = swap;
        b += bits;
    }
    if (from != r)
        memcpy(r, from, (size_t)n * sizeof *r);
}

/* The records in groups of equal digits from bit `shift` on, in order. */
RAVEL_PART void
ravel_group(ravel_stream *s, int64_t shift, int64_t bits)
{
    int64_t at[1 << RAVEL_DIGIT];
    int unsorted = 0;
    for (int64_t i = 1; i < s->records; i++)
        unsorted |= s->record[i].key >> shift < s->record[i - 1].key >> shift;
    if (!unsorted)
        return;
    ravel_scatter(s->spare, s->record, s->records, shift, bits, at);
    ravel_record *swap = s->record;
    s->record = s->spare;
    s->spare = swap;
}

typedef struct {
    ravel_record *record, *spare;
    int64_t low, shift;            /* groups: the digits from `shift` on are equal */
    int64_t starts[RAVEL_TEAM + 1];        /* of the groups of each part */
} ravel_groups;

RAVEL_PART uint64_t
ravel_group_at(const ravel_groups *g, int64_t i)
{
    return g->shift < 64 ? g->record[i].key >> g->shift : 0;
}

/* The groups that begin in the share of a part. */
static void
ravel_groups_part(void *arg, int part, int parts)
{
    const ravel_groups *g = (const ravel_groups *)arg;
    int64_t last = g->starts[part + 1];
    (void)parts;
    for (int64_t i = g->starts[part], end; i < last; i = end) {
        uint64_t group = ravel_group_at(g, i);
        for (end = i + 1; end < last && ravel_group_at(g, end) == group; end++)
            ;
        ravel_sort_some(g->record + i, g->spare + i, end - i, g->low, g->shift);
    }
}

/* Sort the records by the bits low..high - 1 of their keys; equal keys keep their order.
 * First into groups that fit a cache, by the highest digit; then each group. */
RAVEL_STEP
ravel_stream_sort(ravel_stream *s, int64_t low, int64_t high)
{
    enum { FITS = 512 };
    int64_t bits = 0;
    s->spare = s->record + s->records;
    if (!s->unsorted || s->flaw)
        return;
    s->unsorted = 0;
    while (bits < RAVEL_DIGIT && bits < high - low && s->records >> bits > FITS)
        bits++;
    if (bits)
        ravel_group(s, high - bits, bits);
    ravel_groups g = {s->record, s->spare, low, high - bits, {0}};
    for (int64_t part = 1, parts = RAVEL_PARTS(s); part <= parts; part++) {
        int64_t i = ravel_part_of(s->records, part, parts);
        while (i < s->records && i > 0 && ravel_group_at(&g, i) == ravel_group_at(&g, i - 1))
            i++;
        g.starts[part] = i;
    }
    RAVEL_SHARE(s, ravel_groups_part, &g);
}

/* A batch of records: the position of the value, and the key in column c. */
RAVEL_STEP
ravel_stream_replay(ravel_stream *s, int64_t first, int64_t c)
{
    int64_t left = s->records - first;
    s->n = s->flaw ? 0 : left < RAVEL_BATCH ? left : (int64_t)RAVEL_BATCH;
    for (int64_t i = 0; i < s->n; i++) {
        s->x[0][i] = s->record[first + i].at;
        s->x[c][i] = (int64_t)s->record[first + i].key;
    }
}
