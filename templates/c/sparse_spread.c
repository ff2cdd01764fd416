/* From rows of entries to a layout in which a row is contiguous: the fill of a row is written
 * just before its entries, which find it in a cache.  Large layouts are written past the caches, in
 * pieces of a row: a piece of fill gets the entries, is copied, and is the fill again. */

typedef struct {
    unsigned char *out;
    const void *pos, *crd;
    const unsigned char *in;
    int64_t rows, down, across, bias, es, w;
    uint64_t lo, hi;
} ravel_spread;

/* Where entry i is in its row. */
RAVEL_PART int64_t
ravel_spread_at(const ravel_spread *x, int64_t i, int64_t es, int64_t w)
{
    return (ravel_index_at(x->crd, w, i) + x->bias) * x->across * es;
}

RAVEL_PART void
ravel_spread_rows(const ravel_spread *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_spread mine = *shared, *x = &mine;     /* in registers */
    int64_t end = ravel_part_of(x->rows, part + 1, parts);
    for (int64_t q = ravel_part_of(x->rows, part, parts); q < end; q++) {
        unsigned char *row = x->out + q * x->down * es;
        int64_t i = ravel_index_at(x->pos, w, q), last = ravel_index_at(x->pos, w, q + 1);
        ravel_fill_all(row, x->down, es, x->lo, x->hi);
        for (; i < last; i++)
            memcpy(row + ravel_spread_at(x, i, es, w), x->in + i * es, (size_t)es);
    }
}

RAVEL_PART void
ravel_spread_past(const ravel_spread *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    enum { PIECE = 1 << 14 };
    const ravel_spread mine = *shared, *x = &mine;     /* in registers */
    unsigned char piece[PIECE];
    int64_t end = ravel_part_of(x->rows, part + 1, parts), bytes = x->down * es, most = PIECE / es * es;
    ravel_fill_all(piece, most / es, es, x->lo, x->hi);
    for (int64_t q = ravel_part_of(x->rows, part, parts); q < end; q++) {
        int64_t i = ravel_index_at(x->pos, w, q), last = ravel_index_at(x->pos, w, q + 1);
        for (int64_t at = 0, from = i; at < bytes; at += most, from = i) {
            int64_t n = bytes - at < most ? bytes - at : most;
            for (; i < last && ravel_spread_at(x, i, es, w) < at + n; i++)
                memcpy(piece + ravel_spread_at(x, i, es, w) - at, x->in + i * es, (size_t)es);
            ravel_copy_past(x->out + q * bytes + at, piece, n);
            for (; from < i; from++)
                ravel_fill_all(piece + ravel_spread_at(x, from, es, w) - at, 1, es, x->lo, x->hi);
        }
    }
    ravel_fence();
}

RAVEL_PART void
ravel_spread_some(const ravel_spread *x, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    if (x->rows * x->down * es < RAVEL_STREAMED)
        ravel_spread_rows(x, part, parts, es, w);
    else
        ravel_spread_past(x, part, parts, es, w);
}

static void
ravel_spread_part(void *arg, int part, int parts)
{
    const ravel_spread *x = (const ravel_spread *)arg;
    if (x->es == 4 && x->w == 4)
        ravel_spread_some(x, part, parts, 4, 4);
    else if (x->es == 8 && x->w == 4)
        ravel_spread_some(x, part, parts, 8, 4);
    else
        ravel_spread_some(x, part, parts, x->es, x->w);
}

/* A row has `down` places, and a coordinate moves by `across`. */
RAVEL_STEP
ravel_stream_spread(ravel_stream *s, void *out, const void *pos, const void *crd, const void *in,
                    int64_t rows, int64_t down, int64_t across, int64_t bias, int64_t es,
                    int64_t w, uint64_t lo, uint64_t hi)
{
    ravel_spread x = {(unsigned char *)out, pos, crd, (const unsigned char *)in, rows, down,
                      across, bias, es, w, lo, hi};
    if (!s->flaw)
        RAVEL_SHARE(s, ravel_spread_part, &x);
}
