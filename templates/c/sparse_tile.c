/* From rows of coordinates to tiles: the tiles of a row of tiles are found by a set of their
 * coordinates, so that no entry is sorted. */

/* What the destination is made of. */
RAVEL_STEP
ravel_stream_tiles(ravel_stream *s, int64_t rows, int64_t bound, int64_t tall, int64_t wide,
                   int64_t down, int64_t across)
{
    const ravel_tiles tiles = {rows, bound, tall, wide, down, across};
    s->tiles = tiles;
}

typedef struct {
    ravel_stream *s;
    const void *pos, *crd;         /* of the source */
    int64_t bias, w;
    void *pos_out, *crd_out;
    int64_t bias_out, w_out;
    unsigned char *out;
    const unsigned char *in;
    int64_t es;
    uint64_t lo, hi;
} ravel_tiling;

/* The first row of tiles of a part. */
RAVEL_PART int64_t
ravel_tile_row(const ravel_tiling *t, int64_t part, int64_t parts)
{
    const ravel_tiles *k = &t->s->tiles;
    int64_t row = ravel_row_of(t->pos, k->rows, part, parts, t->w);
    return part == parts ? (k->rows + k->tall - 1) / k->tall : row / k->tall;
}

/* The end of the rows of row of tiles q. */
RAVEL_PART int64_t
ravel_tile_end(const ravel_tiles *k, int64_t q)
{
    return (q + 1) * k->tall < k->rows ? (q + 1) * k->tall : k->rows;
}

/* Coordinates are divided by shifts, if possible; -1: it is not. */
RAVEL_PART int
ravel_tile_shift(int64_t wide)
{
    return wide & (wide - 1) ? -1 : ravel_lowest((uint64_t)wide);
}

RAVEL_PART int64_t
ravel_tile_of(int64_t c, int64_t wide, int shift)
{
    return shift >= 0 ? c >> shift : c / wide;
}

/* The tiles of entries i..last - 1. */
RAVEL_PART void
ravel_tile_add(const ravel_tiling *t, const ravel_set *shared, int64_t i, int64_t last, int shift,
               int full, int64_t w)
{
    const ravel_set set = *shared;                     /* in registers */
    int64_t wide = t->s->tiles.wide, bias = t->bias;
    const void *crd = t->crd;
    if (full && shift >= 0)
        for (; i < last; i++)
            ravel_set_add(&set, (ravel_index_at(crd, w, i) + bias) >> shift, 1);
    for (; i < last; i++)
        ravel_set_add(&set, ravel_tile_of(ravel_index_at(crd, w, i) + bias, wide, shift), full);
}

/* Coordinate k of a list: of 2 bytes or, if one does not fit, of 3. */
RAVEL_PART int64_t
ravel_tile_at(const unsigned char *list, int64_t k, int64_t bytes)
{
    uint16_t low;
    memcpy(&low, list + k * bytes, sizeof low);
    return bytes == 2 ? low : low | (int64_t)list[k * 3 + 2] << 16;
}

RAVEL_PART void
ravel_tile_note(unsigned char *list, const int32_t *taken, int64_t n, int64_t bytes)
{
    for (int64_t k = 0; k < n; k++) {
        uint16_t low = (uint16_t)taken[k];
        memcpy(list + k * bytes, &low, sizeof low);
        if (bytes == 3)
            list[k * 3 + 2] = (unsigned char)(taken[k] >> 16);
    }
}

/* The tiles of each row of tiles: their coordinates go to the list, from the number of the
 * row's first entry on. */
RAVEL_PART void
ravel_gather_rows(const ravel_tiling *t, int64_t part, int64_t parts, int64_t w)
{
    const ravel_tiles k = t->s->tiles;
    const ravel_set set = ravel_set_of(t->s, k.bound, part);
    int64_t *groups = (int64_t *)(void *)t->s->area[RAVEL_GROUPS];
    unsigned char *list = t->s->area[RAVEL_LIST];
    int64_t end = ravel_tile_row(t, part + 1, parts), bytes = ravel_tile_bytes(k.bound);
    int shift = ravel_tile_shift(k.wide);
    for (int64_t q = ravel_tile_row(t, part, parts); q < end; q++) {
        int64_t first = ravel_index_at(t->pos, w, q * k.tall);
        int64_t last = ravel_index_at(t->pos, w, ravel_tile_end(&k, q));
        int full = ravel_set_is_full(&set, last - first);
        ravel_tile_add(t, &set, first, last, shift, full, w);
        int64_t n = ravel_set_take(&set, full);
        if (bytes == 2)
            ravel_tile_note(list + first * 2, set.taken, n, 2);
        else
            ravel_tile_note(list + first * 3, set.taken, n, 3);
        groups[q + 1] = n;
    }
}

static void
ravel_gather_part(void *arg, int part, int parts)
{
    const ravel_tiling *t = (const ravel_tiling *)arg;
    if (t->w == 4)
        ravel_gather_rows(t, part, parts, 4);
    else
        ravel_gather_rows(t, part, parts, 8);
}

/* Find the tiles; the level has a position for each. */
RAVEL_STEP
ravel_stream_gather(ravel_stream *s, int64_t level, const void *pos, const void *crd,
                    int64_t bias, int64_t w)
{
    int64_t n = (s->tiles.rows + s->tiles.tall - 1) / s->tiles.tall;
    ravel_tiling t = {s, pos, crd, bias, w, NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_gather_part, &t);
    s->size[level] = ravel_groups_sum(s, n);
}

/* Begin row of tiles q: its pos, its coordinates, where each tile begins, and the fill of its values in
 * `out`.  bytes: of a coordinate of the list. */
RAVEL_PART void
ravel_tile_begin(const ravel_tiling *t, int64_t q, unsigned char *out, int32_t *slot, int64_t first,
                 int64_t bytes, int64_t w)
{
    const int64_t *groups = (const int64_t *)(const void *)t->s->area[RAVEL_GROUPS];
    const unsigned char *list = t->s->area[RAVEL_LIST] + first * bytes;
    int64_t at = groups[q], n = groups[q + 1] - at, inner = t->s->tiles.tall * t->s->tiles.wide;
    void *crd = t->crd_out;
    ravel_index_set(t->pos_out, w, q, at);
    for (int64_t k = 0, bias = t->bias_out; k < n; k++) {
        int64_t c = ravel_tile_at(list, k, bytes);
        ravel_index_set(crd, w, at + k, c - bias);
        slot[c] = (int32_t)k;
    }
    ravel_fill_all(out, n * inner, t->es, t->lo, t->hi);
}

/* The entries of one row; `out` has the row of its tiles. */
RAVEL_PART void
ravel_tile_entries(const ravel_tiling *t, int64_t row, unsigned char *out, const int32_t *slot,
                   int64_t es, int64_t w)
{
    const ravel_tiles k = t->s->tiles;
    const void *crd = t->crd;
    const unsigned char *in = t->in;
    int shift = ravel_tile_shift(k.wide);
    int64_t inner = k.tall * k.wide, bias = t->bias, last = ravel_index_at(t->pos, w, row + 1);
    for (int64_t i = ravel_index_at(t->pos, w, row); i < last; i++) {
        int64_t c = ravel_index_at(crd, w, i) + bias, tile = ravel_tile_of(c, k.wide, shift);
        int64_t p = slot[tile] * inner + (c - tile * k.wide) * k.across;
        memcpy(out + p * es, in + i * es, (size_t)es);
    }
}

RAVEL_PART void
ravel_tile_rows(const ravel_tiling *shared, int64_t part, int64_t parts, int64_t es, int64_t w,
                int64_t w_out)
{
    const ravel_tiling mine = *shared, *t = &mine;     /* in registers */
    const ravel_tiles k = t->s->tiles;
    int32_t *slot = (int32_t *)ravel_counts_of(t->s->area[RAVEL_SLOTS], k.bound, part, 4);
    const int64_t *groups = (const int64_t *)(const void *)t->s->area[RAVEL_GROUPS];
    int64_t end = ravel_tile_row(t, part + 1, parts), bytes = k.tall * k.wide * es;
    int streams = RAVEL_STREAMS && groups[(k.rows + k.tall - 1) / k.tall] * bytes >= RAVEL_STREAMED;
    unsigned char *scratch = !streams ? NULL : (unsigned char *)
        ravel_counts_of(t->s->area[RAVEL_SCRATCH], RAVEL_NEAR_BYTES, part, 1);
    for (int64_t q = ravel_tile_row(t, part, parts); q < end; q++) {
        int64_t r = q * k.tall, last = ravel_tile_end(&k, q), n = (groups[q + 1] - groups[q]) * bytes;
        int put_together = streams && n <= RAVEL_NEAR_BYTES;
        unsigned char *out = put_together ? scratch : t->out + groups[q] * bytes, *row = out;
        if (ravel_tile_bytes(k.bound) == 2)
            ravel_tile_begin(t, q, out, slot, ravel_index_at(t->pos, w, r), 2, w_out);
        else
            ravel_tile_begin(t, q, out, slot, ravel_index_at(t->pos, w, r), 3, w_out);
        for (; r < last; r++, row += k.down * es)
            ravel_tile_entries(t, r, row, slot, es, w);
        if (put_together)
            ravel_copy_past(t->out + groups[q] * bytes, out, n);
    }
    ravel_fence();
}

static void
ravel_tile_part(void *arg, int part, int parts)
{
    const ravel_tiling *t = (const ravel_tiling *)arg;
    int narrow = t->w == 4 && t->w_out == 4;
    if (t->es == 4 && narrow)
        ravel_tile_rows(t, part, parts, 4, 4, 4);
    else if (t->es == 8 && narrow)
        ravel_tile_rows(t, part, parts, 8, 4, 4);
    else
        ravel_tile_rows(t, part, parts, t->es, t->w, t->w_out);
}

/* Write the destination. */
RAVEL_STEP
ravel_stream_fill_tiles(ravel_stream *s, const void *pos, const void *crd, int64_t bias,
                        int64_t w, void *pos_out, void *crd_out, int64_t bias_out,
                        int64_t w_out, void *out, const void *in, int64_t es, uint64_t lo,
                        uint64_t hi)
{
    ravel_tiling t = {s, pos, crd, bias, w, pos_out, crd_out, bias_out, w_out,
                      (unsigned char *)out, (const unsigned char *)in, es, lo, hi};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_tile_part, &t);
    ravel_groups_end(s, pos_out, (s->tiles.rows + s->tiles.tall - 1) / s->tiles.tall, w_out);
}
