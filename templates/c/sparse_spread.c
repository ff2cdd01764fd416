/* From rows of entries to a layout in which a row is contiguous: the fill of a row is written
 * just before its entries, which find it in a cache. */

typedef struct {
    unsigned char *out;
    const void *pos, *crd;
    const unsigned char *in;
    int64_t rows, down, across, bias, es, w;
    uint64_t lo, hi;
} ravel_spread;

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
            memcpy(row + (ravel_index_at(x->crd, w, i) + x->bias) * x->across * es,
                   x->in + i * es, (size_t)es);
    }
}

static void
ravel_spread_part(void *arg, int part, int parts)
{
    const ravel_spread *x = (const ravel_spread *)arg;
    if (x->es == 4 && x->w == 4)
        ravel_spread_rows(x, part, parts, 4, 4);
    else if (x->es == 8 && x->w == 4)
        ravel_spread_rows(x, part, parts, 8, 4);
    else
        ravel_spread_rows(x, part, parts, x->es, x->w);
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
