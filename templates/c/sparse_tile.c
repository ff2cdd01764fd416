/* From rows of entries to tiles: the coordinates of a row of tiles come together.  A set
 * marks them and gives them in ascending order, so that no entry is sorted. */

/* What the destination is made of. */
RAVEL_STEP
ravel_stream_tiles(ravel_stream *s, int64_t rows, int64_t bound, int64_t tall, int64_t wide,
                   int64_t down, int64_t across)
{
    s->tiles = (ravel_tiles){rows, bound, tall, wide, down, across};
}

/* The rows of the source; without `pos`, those that ravel_stream_bucket made. */
RAVEL_STEP
ravel_stream_rows(ravel_stream *s, const void *pos, const void *crd, int64_t bias, int64_t w)
{
    const void *order = pos ? NULL : s->area[RAVEL_ORDER];
    s->rows = (ravel_rows){pos ? pos : s->area[RAVEL_ROWS], crd, order, w, bias};
}

/* A list in any order: its entries, in the order of their rows `row`, by counting. */
typedef struct {
    const void *row;
    void *pos, *order, *counts;    /* counts: of each part, in the memory of the lists */
    int64_t rows, n, bias, w;
} ravel_bucket;

RAVEL_PART void *
ravel_bucket_counts(const ravel_bucket *b, int64_t part, int64_t parts, int64_t w)
{
    return part + 1 < parts ? (unsigned char *)b->counts + part * b->rows * w
           : (unsigned char *)b->pos;
}

RAVEL_PART void
ravel_bucket_count(const ravel_bucket *b, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    void *counts = ravel_bucket_counts(b, part, parts, w);
    memset(counts, 0, (size_t)(b->rows * w));
    for (; i < end; i++) {
        int64_t q = ravel_index_at(b->row, w, i) + b->bias;
        ravel_index_set(counts, w, q, ravel_index_at(counts, w, q) + 1);
    }
}

static void
ravel_bucket_count_part(void *arg, int part, int parts)
{
    const ravel_bucket *b = (const ravel_bucket *)arg;
    if (b->w == 4)
        ravel_bucket_count(b, part, parts, 4);
    else
        ravel_bucket_count(b, part, parts, 8);
}

RAVEL_PART void
ravel_bucket_places(const ravel_bucket *b, int64_t parts, int64_t w)
{
    int64_t sum = 0;
    for (int64_t q = 0; q < b->rows; q++)
        for (int64_t part = 0; part < parts; part++) {
            void *counts = ravel_bucket_counts(b, part, parts, w);
            int64_t here = ravel_index_at(counts, w, q);
            ravel_index_set(counts, w, q, sum);
            sum += here;
        }
}

RAVEL_PART void
ravel_bucket_put(const ravel_bucket *b, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(b->n, part, parts), end = ravel_part_of(b->n, part + 1, parts);
    void *places = ravel_bucket_counts(b, part, parts, w);
    for (; i < end; i++) {
        int64_t q = ravel_index_at(b->row, w, i) + b->bias, p = ravel_index_at(places, w, q);
        ravel_index_set(places, w, q, p + 1);
        ravel_index_set(b->order, w, p, i);
    }
}

static void
ravel_bucket_put_part(void *arg, int part, int parts)
{
    const ravel_bucket *b = (const ravel_bucket *)arg;
    if (b->w == 4)
        ravel_bucket_put(b, part, parts, 4);
    else
        ravel_bucket_put(b, part, parts, 8);
}

/* The parts that count apart: their counts, but for those of the last, must fit the memory
 * of the lists, which are made later.  The last part's places end where rows end: pos. */
RAVEL_PART void
ravel_bucket_share(ravel_stream *s, ravel_bucket *b)
{
    int64_t parts = RAVEL_PARTS(s);
    if (parts > 1 && (parts - 1) * b->rows * b->w <= b->n * (int64_t)sizeof(int32_t)) {
        RAVEL_SHARE(s, ravel_bucket_count_part, b);
    } else {
        parts = 1;
        ravel_bucket_count_part(b, 0, 1);
    }
    if (b->w == 4)
        ravel_bucket_places(b, parts, 4);
    else
        ravel_bucket_places(b, parts, 8);
    if (parts > 1)
        RAVEL_SHARE(s, ravel_bucket_put_part, b);
    else
        ravel_bucket_put_part(b, 0, 1);
}

RAVEL_STEP
ravel_stream_bucket(ravel_stream *s, const void *row, int64_t n, int64_t bias, int64_t w)
{
    ravel_bucket b = {row, s->area[RAVEL_ROWS] + w, s->area[RAVEL_ORDER], s->area[RAVEL_LIST],
                      s->tiles.rows, n, bias, w};
    if (s->flaw)
        return;
    memset(s->area[RAVEL_ROWS], 0, (size_t)w);
    ravel_bucket_share(s, &b);
}

/* A set of the coordinates of tiles: a bit for each, a bit for each word that has one, and
 * again. */
typedef struct {
    uint64_t *leaf, *middle, *top;
    int64_t words;                 /* of top */
} ravel_set;

/* Its words, all levels. */
RAVEL_PART int64_t
ravel_set_words(int64_t bound)
{
    int64_t leaf = (bound + 63) / 64, middle = (leaf + 63) / 64;
    return leaf + middle + (middle + 63) / 64;
}

RAVEL_PART ravel_set
ravel_set_of(ravel_stream *s, int64_t part)
{
    int64_t leaf = (s->tiles.bound + 63) / 64, middle = (leaf + 63) / 64;
    uint64_t *words = (uint64_t *)(void *)s->area[RAVEL_SET];
    words += part * ravel_area_part(ravel_set_words(s->tiles.bound) * 8) / 8;
    return (ravel_set){words, words + leaf, words + leaf + middle, (middle + 63) / 64};
}

RAVEL_PART void
ravel_set_add(const ravel_set *t, int64_t c)
{
    uint64_t was = t->leaf[c >> 6];
    t->leaf[c >> 6] = was | (uint64_t)1 << (c & 63);
    if (!was) {
        t->middle[c >> 12] |= (uint64_t)1 << (c >> 6 & 63);
        t->top[c >> 18] |= (uint64_t)1 << (c >> 12 & 63);
    }
}

/* Take all coordinates out, in ascending order; returns their number. */
RAVEL_PART int64_t
ravel_set_take(const ravel_set *t, int32_t *list)
{
    int64_t n = 0;
    for (int64_t i = 0; i < t->words; i++)
        for (; t->top[i]; t->top[i] &= t->top[i] - 1) {
            int64_t j = i * 64 + ravel_lowest(t->top[i]);
            for (; t->middle[j]; t->middle[j] &= t->middle[j] - 1) {
                int64_t k = j * 64 + ravel_lowest(t->middle[j]);
                for (uint64_t bits = t->leaf[k]; bits; bits &= bits - 1)
                    list[n++] = (int32_t)(k * 64 + ravel_lowest(bits));
                t->leaf[k] = 0;
            }
        }
    return n;
}

/* Rows of tiles q..end - 1 of a part: as many entries as others have. */
RAVEL_PART int64_t
ravel_tile_row(const ravel_stream *s, int64_t part, int64_t parts)
{
    const ravel_tiles *t = &s->tiles;
    int64_t all = (t->rows + t->tall - 1) / t->tall;
    int64_t n = ravel_index_at(s->rows.pos, s->rows.w, t->rows);
    if (part == 0 || part == parts)
        return part ? all : 0;
    int64_t row = ravel_row_at(s->rows.pos, t->rows, ravel_part_of(n, part, parts), s->rows.w);
    return row / t->tall;
}

RAVEL_PART int64_t
ravel_tile_end(const ravel_tiles *t, int64_t q)
{
    return (q + 1) * t->tall < t->rows ? (q + 1) * t->tall : t->rows;
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

/* Where entry i has its coordinate and its value. */
RAVEL_PART int64_t
ravel_entry_at(const ravel_rows *r, int64_t i, int64_t w)
{
    return r->order ? ravel_index_at(r->order, w, i) : i;
}

/* The tiles of each row of tiles: their coordinates go to the list, from the number of the
 * row's first entry on. */
RAVEL_PART void
ravel_gather_rows(ravel_stream *s, int64_t part, int64_t parts, int64_t w)
{
    const ravel_tiles t = s->tiles;
    const ravel_rows r = s->rows;
    const ravel_set set = ravel_set_of(s, part);
    int64_t *groups = (int64_t *)(void *)s->area[RAVEL_GROUPS];
    int32_t *list = (int32_t *)(void *)s->area[RAVEL_LIST];
    int64_t end = ravel_tile_row(s, part + 1, parts);
    int shift = ravel_tile_shift(t.wide);
    memset(set.leaf, 0, (size_t)ravel_set_words(t.bound) * sizeof *set.leaf);
    for (int64_t q = ravel_tile_row(s, part, parts); q < end; q++) {
        int64_t first = ravel_index_at(r.pos, w, q * t.tall);
        int64_t last = ravel_index_at(r.pos, w, ravel_tile_end(&t, q));
        for (int64_t i = first; i < last; i++) {
            int64_t c = ravel_index_at(r.crd, w, ravel_entry_at(&r, i, w)) + r.bias;
            ravel_set_add(&set, ravel_tile_of(c, t.wide, shift));
        }
        groups[q + 1] = ravel_set_take(&set, list + first);
    }
}

typedef struct {
    ravel_stream *s;
    void *pos, *crd;
    int64_t bias, w;
    unsigned char *out;
    const unsigned char *in;
    int64_t es, parts, how, joins;
    uint64_t lo, hi;
} ravel_tiling;

static void
ravel_gather_part(void *arg, int part, int parts)
{
    ravel_stream *s = ((const ravel_tiling *)arg)->s;
    if (s->rows.w == 4)
        ravel_gather_rows(s, part, parts, 4);
    else
        ravel_gather_rows(s, part, parts, 8);
}

/* Find the tiles; the level has a position for each. */
RAVEL_STEP
ravel_stream_gather(ravel_stream *s, int64_t level)
{
    int64_t *groups = (int64_t *)(void *)s->area[RAVEL_GROUPS];
    int64_t n = (s->tiles.rows + s->tiles.tall - 1) / s->tiles.tall;
    ravel_tiling t = {s, NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_gather_part, &t);
    groups[0] = 0;
    for (int64_t q = 0; q < n; q++)
        groups[q + 1] += groups[q];
    s->size[level] = groups[n];
}

/* Begin row of tiles q: its pos, its coordinates, the place of each tile, and the fill.  The
 * place of a tile that has no entry yet is stored as ~place. */
RAVEL_PART void
ravel_tile_begin(const ravel_tiling *t, int64_t q, int32_t *slot, int64_t first)
{
    const ravel_stream *s = t->s;
    const int64_t *groups = (const int64_t *)(const void *)s->area[RAVEL_GROUPS];
    const int32_t *list = (const int32_t *)(const void *)s->area[RAVEL_LIST] + first;
    int64_t at = groups[q], n = groups[q + 1] - at, inner = s->tiles.tall * s->tiles.wide;
    ravel_index_set(t->pos, t->w, q, at);
    for (int64_t k = 0; k < n; k++) {
        ravel_index_set(t->crd, t->w, at + k, list[k] - t->bias);
        slot[list[k]] = (int32_t)(t->joins ? ~k : k);
    }
    if (inner > 1)
        ravel_fill_all(t->out + at * inner * t->es, n * inner, t->es, t->lo, t->hi);
}

/* The entries of one row, `row` of its row of tiles, whose first tile is `at`. */
RAVEL_PART void
ravel_tile_entries(const ravel_tiling *t, int64_t i, int64_t last, int64_t row, int64_t at,
                   int32_t *slot, int64_t es, int64_t w)
{
    const ravel_tiles k = t->s->tiles;
    const ravel_rows r = t->s->rows;
    int shift = ravel_tile_shift(k.wide);
    int64_t inner = k.tall * k.wide;
    unsigned char *out = t->out + row * k.down * es;
    const unsigned char *in = t->in;
    int joins = t->joins != 0;
    for (; i < last; i++) {
        int64_t p = ravel_entry_at(&r, i, w), c = ravel_index_at(r.crd, w, p) + r.bias;
        int64_t tile = ravel_tile_of(c, k.wide, shift), place = slot[tile];
        int again = joins && place >= 0;
        if (joins && !again)
            slot[tile] = (int32_t)(place = ~place);
        unsigned char *v = out + ((at + place) * inner + (c - tile * k.wide) * k.across) * es;
        if (again)
            ravel_join(t->s, v, in + p * es, es / t->parts, t->parts, t->how, p);
        else
            memcpy(v, in + p * es, (size_t)es);
    }
}

RAVEL_PART void
ravel_tile_rows(const ravel_tiling *shared, int64_t part, int64_t parts, int64_t es, int64_t w)
{
    const ravel_tiling mine = *shared, *t = &mine;
    const ravel_stream *s = t->s;
    const ravel_tiles *k = &s->tiles;
    int32_t *slot = (int32_t *)(void *)(s->area[RAVEL_SLOTS] +
                                         part * ravel_area_part(k->bound * 4));
    const int64_t *groups = (const int64_t *)(const void *)s->area[RAVEL_GROUPS];
    int64_t end = ravel_tile_row(s, part + 1, parts);
    for (int64_t q = ravel_tile_row(s, part, parts); q < end; q++) {
        int64_t r = q * k->tall, last = ravel_tile_end(k, q);
        ravel_tile_begin(t, q, slot, ravel_index_at(s->rows.pos, w, r));
        for (; r < last; r++)
            ravel_tile_entries(t, ravel_index_at(s->rows.pos, w, r),
                               ravel_index_at(s->rows.pos, w, r + 1), r - q * k->tall,
                               groups[q], slot, es, w);
    }
}

static void
ravel_tile_part(void *arg, int part, int parts)
{
    const ravel_tiling *t = (const ravel_tiling *)arg;
    int64_t w = t->s->rows.w;
    if (t->es == 4 && w == 4)
        ravel_tile_rows(t, part, parts, 4, 4);
    else if (t->es == 8 && w == 4)
        ravel_tile_rows(t, part, parts, 8, 4);
    else
        ravel_tile_rows(t, part, parts, t->es, w);
}

/* Where the destination's coordinates and values go. */
RAVEL_STEP
ravel_stream_fill_tiles(ravel_stream *s, void *pos, void *crd, int64_t bias, int64_t w,
                        void *out, const void *in, int64_t es, int64_t parts, int64_t how,
                        int64_t joins, uint64_t lo, uint64_t hi)
{
    const int64_t *groups = (const int64_t *)(const void *)s->area[RAVEL_GROUPS];
    int64_t n = (s->tiles.rows + s->tiles.tall - 1) / s->tiles.tall;
    ravel_tiling t = {s, pos, crd, bias, w, (unsigned char *)out, (const unsigned char *)in,
                      es * parts, parts, how, joins, lo, hi};
    if (s->flaw)
        return;
    if (joins && how == RAVEL_REFUSE)
        ravel_tile_part(&t, 0, 1);     /* the first flaw is that of one thread */
    else
        RAVEL_SHARE(s, ravel_tile_part, &t);
    ravel_index_set(pos, w, n, groups[n]);
}
