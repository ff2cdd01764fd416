/* From tiles to rows, as from BSR to CSR: the values of a tile that are not the fill become entries
 * of its rows.  They are counted first. */

typedef struct {
    ravel_stream *s;
    const void *pos, *crd;         /* of the source */
    const unsigned char *in;
    int64_t rows, cols, tall, wide, across, w;
    void *crd_out, *pos_out;
    unsigned char *out;
    int64_t es, es_out, w_out;     /* es_out is 0: the destination has no values */
    uint64_t fill[2];              /* 16 bytes of it */
} ravel_untiling;

/* The first row of tiles of a part. */
RAVEL_PART int64_t
ravel_untile_row(const ravel_untiling *t, int64_t part, int64_t parts)
{
    return ravel_row_of(t->pos, (t->rows + t->tall - 1) / t->tall, part, parts, t->w);
}

/* The entries of a tile, of which `bits` has those from value `base` on: they are counted, or
 * written to the next place of their row, which pos_out has. */
RAVEL_PART void
ravel_untile_bits(const ravel_untiling *t, uint64_t bits, int64_t i, int64_t base, int64_t row,
                  int64_t col, int64_t es, int64_t es_out)
{
    int64_t *groups = (int64_t *)(void *)t->s->area[RAVEL_GROUPS];
    uint32_t minor = (uint32_t)(t->across == 1 ? t->wide : t->tall);
    for (; bits; bits &= bits - 1) {
        uint32_t v = (uint32_t)base + (uint32_t)ravel_lowest(bits), high = v / minor;
        int64_t low = v - high * minor, q = row + (t->across == 1 ? high : low);
        int64_t c = col + (t->across == 1 ? low : high);
        if (q >= t->rows || c >= t->cols)
            continue;
        if (!t->pos_out) {
            groups[q + 1]++;
            continue;
        }
        int64_t k = ravel_index_at(t->pos_out, t->w_out, q);
        ravel_index_set(t->pos_out, t->w_out, q, k + 1);
        ravel_index_set(t->crd_out, t->w_out, k, c);
        ravel_move_value(t->out, k, t->in + i * t->tall * t->wide * es, v, es_out);
    }
}

/* The tiles of row of tiles q. */
RAVEL_PART void
ravel_untile_tiles(const ravel_untiling *t, int64_t q, int64_t es, int64_t es_out, int64_t w)
{
    enum { WORD = 64, AHEAD = 4096 };
    int64_t inner = t->tall * t->wide, last = ravel_index_at(t->pos, w, q + 1);
    for (int64_t i = ravel_index_at(t->pos, w, q); i < last; i++)
        for (int64_t base = 0; base < inner; base += WORD) {
            int64_t n = inner - base < WORD ? inner - base : (int64_t)WORD;
            const unsigned char *v = t->in + (i * inner + base) * es;
            uint64_t bits = ravel_mask_word(v, n, es, t->fill);
            for (int64_t at = 0; at < n * es; at += RAVEL_LINE)
                ravel_fetch_source(v, AHEAD + at);
            ravel_untile_bits(t, bits, i, base, q * t->tall,
                              ravel_index_at(t->crd, w, i) * t->wide, es, es_out);
        }
}

RAVEL_PART void
ravel_untile_rows(const ravel_untiling *shared, int64_t part, int64_t parts, int64_t es,
                  int64_t w)
{
    const ravel_untiling mine = *shared, *t = &mine;   /* in registers */
    int64_t *groups = (int64_t *)(void *)t->s->area[RAVEL_GROUPS];
    int64_t end = ravel_untile_row(t, part + 1, parts), es_out = t->es_out ? es : 0;
    for (int64_t q = ravel_untile_row(t, part, parts); q < end; q++) {
        int64_t row = q * t->tall, below = row + t->tall < t->rows ? row + t->tall : t->rows;
        for (int64_t r = row; r < below; r++)
            if (t->pos_out)
                ravel_index_set(t->pos_out, t->w_out, r, groups[r]);
            else
                groups[r + 1] = 0;
        ravel_untile_tiles(t, q, es, es_out, w);
        for (int64_t r = row; t->pos_out && r < below; r++)
            ravel_index_set(t->pos_out, t->w_out, r, groups[r]);
    }
}

static void
ravel_untile_part(void *arg, int part, int parts)
{
    const ravel_untiling *t = (const ravel_untiling *)arg;
    if (t->es == 4 && t->w == 4)
        ravel_untile_rows(t, part, parts, 4, 4);
    else if (t->es == 8 && t->w == 4)
        ravel_untile_rows(t, part, parts, 8, 4);
    else
        ravel_untile_rows(t, part, parts, t->es, t->w);
}

/* The tiles of the source: those of s->tiles. */
RAVEL_PART ravel_untiling
ravel_untiling_of(ravel_stream *s, const void *pos, const void *crd, const void *in, int64_t es,
                  int64_t w)
{
    const ravel_tiles k = s->tiles;
    ravel_untiling t = {s, pos, crd, (const unsigned char *)in, k.rows, k.bound, k.tall, k.wide,
                        k.across, w, NULL, NULL, NULL, es, 0, 0, {0, 0}};
    return t;
}

/* Count the entries of the rows; the level has a position for each. */
RAVEL_STEP
ravel_stream_untile(ravel_stream *s, int64_t level, const void *pos, const void *crd,
                    const void *in, int64_t es, int64_t w, uint64_t lo, uint64_t hi)
{
    ravel_untiling t = ravel_untiling_of(s, pos, crd, in, es, w);
    ravel_repeat(t.fill, es, lo, hi);
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_untile_part, &t);
    s->size[level] = ravel_groups_sum(s, t.rows);
}

/* Write the destination. */
RAVEL_STEP
ravel_stream_fill_untiled(ravel_stream *s, const void *pos, const void *crd, const void *in,
                          void *pos_out, void *crd_out, void *out, int64_t es, int64_t es_out,
                          int64_t w, int64_t w_out, uint64_t lo, uint64_t hi)
{
    ravel_untiling t = ravel_untiling_of(s, pos, crd, in, es, w);
    ravel_repeat(t.fill, es, lo, hi);
    t.pos_out = pos_out;
    t.crd_out = crd_out;
    t.out = (unsigned char *)out;
    t.es_out = es_out;
    t.w_out = w_out;
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_untile_part, &t);
    ravel_groups_end(s, pos_out, t.rows, w_out);
}
