/* From columns of rows in order to rows of tiles, whose places have bits (sparse_bitmap.c).  A strip is
 * some rows of tiles: all columns are read for one after another, so that a near cache holds the
 * values that are written meanwhile, unless columns are too short or a row of tiles is too large. */

typedef struct {
    ravel_stream *s;
    const void *pos, *crd;         /* of the source */
    int64_t columns, bias, w;
    unsigned char *out;
    const unsigned char *in;
    int64_t es;
    uint64_t lo, hi;
} ravel_strips;

/* Rows of tiles. */
RAVEL_PART int64_t
ravel_strip_end(const ravel_tiles *k)
{
    return (k->rows + k->tall - 1) / k->tall;
}

/* Set the bits of tiles that have an entry, and count those of each word. */
RAVEL_PART void
ravel_strip_bits(ravel_stream *s, const void *pos, const void *crd, int64_t columns, int64_t bias,
                 int64_t w)
{
    const ravel_tiles k = s->tiles;
    uint64_t *words = ravel_words(s, RAVEL_BITS);
    int32_t *counts = (int32_t *)(void *)s->area[RAVEL_BEFORE];
    int64_t words_end = (k.bound * ravel_strip_end(&k) + 63) / 64;
    int shift = ravel_tile_shift(k.tall);
    for (int64_t c = 0, i = 0; c < columns; c++)
        for (int64_t last = ravel_index_at(pos, w, c + 1); i < last; i++) {
            int64_t q = ravel_tile_of(ravel_index_at(crd, w, i) + bias, k.tall, shift);
            ravel_bit_set(words, q * k.bound + c / k.wide);
        }
    for (int64_t i = 0; i < words_end; i++)
        counts[i] = (int32_t)ravel_ones(words[i]);
}

RAVEL_STEP
ravel_stream_find_strips(ravel_stream *s, const void *pos, const void *crd, int64_t columns,
                         int64_t bias, int64_t w)
{
    if (s->flaw)
        return;
    if (w == 4)
        ravel_strip_bits(s, pos, crd, columns, bias, 4);
    else
        ravel_strip_bits(s, pos, crd, columns, bias, 8);
}

/* The position of row of tiles q. */
RAVEL_PART int64_t
ravel_strip_at(const ravel_strips *t, int64_t q)
{
    const ravel_tiles *k = &t->s->tiles;
    if (q == ravel_strip_end(k))
        return t->s->total[2];
    return ravel_bit_number(ravel_words(t->s, RAVEL_BITS),
                            (const int32_t *)(const void *)t->s->area[RAVEL_BEFORE],
                            q * k->bound);
}

/* The first row of tiles of a part: parts have about as many tiles. */
RAVEL_PART int64_t
ravel_strip_part_row(const ravel_strips *t, int64_t part, int64_t parts)
{
    int64_t low = 0, high = ravel_strip_end(&t->s->tiles);
    int64_t first = ravel_part_of(t->s->total[2], part, parts);
    if (part == 0 || part == parts)
        return part ? high : 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ravel_strip_at(t, middle) < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The entries of column c in rows below `row`, from i on; returns the next one. */
RAVEL_PART int64_t
ravel_strip_column(const ravel_strips *t, int64_t c, int64_t i, int64_t last, int64_t row, int64_t es,
                   int64_t w)
{
    const ravel_tiles k = t->s->tiles;                 /* in registers */
    const uint64_t *words = ravel_words(t->s, RAVEL_BITS);
    const int32_t *before = (const int32_t *)(const void *)t->s->area[RAVEL_BEFORE];
    int64_t inner = k.tall * k.wide, tile = c / k.wide, across = c % k.wide * k.across, r;
    int shift = ravel_tile_shift(k.tall);
    for (; i < last && (r = ravel_index_at(t->crd, w, i) + t->bias) < row; i++) {
        int64_t q = ravel_tile_of(r, k.tall, shift);
        int64_t p = ravel_bit_number(words, before, q * k.bound + tile) * inner;
        ravel_move_value(t->out, p + (r - q * k.tall) * k.down + across, t->in, i, es);
    }
    return i;
}

/* Have the entries of a column after column c ready: what a strip reads of each column is short. */
RAVEL_PART void
ravel_strip_ahead(const ravel_strips *t, const void *next, int64_t c, int64_t es, int64_t w)
{
    enum { AHEAD = 8 };
    int64_t i = ravel_index_at(next, w, c + AHEAD < t->columns ? c + AHEAD : c);
    ravel_fetch_source(t->crd, i * w);
    ravel_fetch_source(t->in, i * es);
}

/* The first entry of column c in row `row` or below. */
RAVEL_PART int64_t
ravel_strip_first(const ravel_strips *t, int64_t c, int64_t row, int64_t w)
{
    int64_t low = ravel_index_at(t->pos, w, c), high = ravel_index_at(t->pos, w, c + 1);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ravel_index_at(t->crd, w, middle) + t->bias < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The bytes of a strip: at least so many that it has two entries of each column. */
RAVEL_PART int64_t
ravel_strip_bytes(const ravel_strips *t, int64_t w)
{
    const ravel_tiles *k = &t->s->tiles;
    int64_t most = 1 + ravel_index_at(t->pos, w, t->columns) / t->columns / 2;
    int64_t bytes = ravel_strip_at(t, ravel_strip_end(k)) * k->tall * k->wide * t->es;
    return bytes / most > RAVEL_BLOCK_BYTES ? bytes / most : (int64_t)RAVEL_BLOCK_BYTES;
}

RAVEL_PART void
ravel_strip_rows(const ravel_strips *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_strips mine = *shared, *t = &mine;     /* in registers */
    const ravel_tiles k = t->s->tiles;
    void *next = ravel_counts_of(t->s->area[RAVEL_CURSORS], t->columns, part, w);
    int64_t inner = k.tall * k.wide, q = ravel_strip_part_row(t, part, parts);
    int64_t end = ravel_strip_part_row(t, part + 1, parts);
    int64_t most = ravel_strip_bytes(t, w);
    for (int64_t c = 0; c < t->columns; c++)
        ravel_index_set(next, w, c, ravel_strip_first(t, c, q * k.tall, w));
    while (q < end) {
        int64_t first = ravel_strip_at(t, q), last = first;
        for (; q < end && (last - first) * inner * es < most; q++)
            last = ravel_strip_at(t, q + 1);
        ravel_fill_all(t->out + first * inner * es, (last - first) * inner, es, t->lo, t->hi);
        for (int64_t c = 0; c < t->columns; c++) {
            ravel_strip_ahead(t, next, c, es, w);
            int64_t i = ravel_index_at(next, w, c), to = ravel_index_at(t->pos, w, c + 1);
            ravel_index_set(next, w, c, ravel_strip_column(t, c, i, to, q * k.tall, es, w));
        }
    }
}

static void
ravel_strip_part(void *arg, int part, int parts)
{
    const ravel_strips *t = (const ravel_strips *)arg;
    if (t->es == 4 && t->w == 4)
        ravel_strip_rows(t, part, parts, 4, 4);
    else if (t->es == 8 && t->w == 4)
        ravel_strip_rows(t, part, parts, 8, 4);
    else
        ravel_strip_rows(t, part, parts, t->es, t->w);
}

/* Write the values. */
RAVEL_STEP
ravel_stream_fill_strips(ravel_stream *s, const void *pos, const void *crd, int64_t columns,
                         int64_t bias, int64_t w, void *out, const void *in, int64_t es,
                         uint64_t lo, uint64_t hi)
{
    ravel_strips t = {s, pos, crd, columns, bias, w, (unsigned char *)out,
                      (const unsigned char *)in, es, lo, hi};
    if (!s->flaw && es && columns)
        RAVEL_SHARE(s, ravel_strip_part, &t);
}
