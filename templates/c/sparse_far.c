/* The entries of rows to columns that are far apart: each would be written to a line that is in no
 * cache.  First they go to blocks of columns, in the destination's arrays: a column in its block is in
 * the low bits of a number that has its row above them or, if both do not fit an index, in a list.  Then
 * the entries of a block, which fits a cache, go to their places. */

/* Columns of rows that follow each other are apart: of some rows, the coordinates between their
 * first and their last entry, and between their first entry and that of the row before. */
RAVEL_PART int
ravel_turn_is_apart(const ravel_turn *t, int64_t w)
{
    enum { SOME = 1024, NEAR = 16 };
    int64_t step = t->rows / SOME + 1, apart = 0, rows = 0;
    for (int64_t q = 1; q < t->rows; q += step) {
        int64_t before = ravel_index_at(t->pos, w, q - 1), i = ravel_index_at(t->pos, w, q);
        int64_t end = ravel_index_at(t->pos, w, q + 1);
        if (before == i || i == end)
            continue;
        int64_t first = ravel_index_at(t->crd, w, i);
        int64_t moved = first - ravel_index_at(t->crd, w, before);
        apart += ravel_index_at(t->crd, w, end - 1) - first + (moved < 0 ? -moved : moved);
        rows++;
    }
    return apart / NEAR > rows * (t->cols / NEAR / NEAR);
}

/* The most bytes of a block of 2^shift columns. */
RAVEL_PART int64_t
ravel_turn_largest(const ravel_turn *t, int shift, int64_t w)
{
    int64_t most = 0;
    for (int64_t x = 0, end; x < t->cols; x = end) {
        end = t->cols - x < (int64_t)1 << shift ? t->cols : x + ((int64_t)1 << shift);
        int64_t n = ravel_index_at(t->pos_out, w, end) - ravel_index_at(t->pos_out, w, x);
        most = n > most ? n : most;
    }
    return most * (t->es + w);
}

/* Bits of a column in its block: of as few blocks as fit the memory that there is for one, because
 * each is written in another page; -1: too many. */
RAVEL_PART int
ravel_turn_shift(const ravel_turn *t, int64_t w)
{
    enum { FEW = 256 };
    int shift = 0;
    while (((t->cols - 1) >> shift) >= FEW)
        shift++;
    shift = shift < t->most ? shift : t->most;
    while (shift >= 0 && ((t->cols - 1) >> shift) < RAVEL_BLOCKS) {
        if (ravel_turn_largest(t, shift, w) <= RAVEL_BLOCK_BYTES)
            return shift;
        shift--;
    }
    return -1;
}

/* Where the entries of a part begin in each block. */
RAVEL_PART void
ravel_turn_blocks(const ravel_turn *t, int64_t part, int64_t *blocks, int64_t w)
{
    const void *places = ravel_counts_of(t->counts, t->cols, part, w);
    for (int64_t x = 0; x < t->cols; x++) {
        int64_t pos = ravel_index_at(t->pos_out, w, x), *at = &blocks[x >> t->shift];
        *at = x & (((int64_t)1 << t->shift) - 1) ? *at : pos;
        *at += ravel_index_at(places, w, x) - pos;
    }
}

/* Entry i, of row q and column x, to the next place of its block. */
RAVEL_PART void
ravel_turn_to_block(const ravel_turn *t, int64_t *blocks, int64_t q, int64_t x, int64_t i, int packs,
                    int64_t es, int64_t w)
{
    int64_t p = blocks[x >> t->shift]++, below = ((int64_t)1 << t->shift) - 1;
    if (!packs)
        ravel_index_set(t->list, w, p, x);
    ravel_turn_entry(t, p, packs ? (int64_t)((uint64_t)q << t->shift | (uint64_t)(x & below)) : q, i,
                     es, w);
}

RAVEL_PART void
ravel_turn_put(const ravel_turn *shared, int64_t part, int64_t parts, int packs, int64_t es, int64_t w)
{
    const ravel_turn mine = *shared, *t = &mine;       /* in registers */
    int64_t blocks[RAVEL_BLOCKS];
    int64_t q = ravel_row_of(t->pos, t->rows, part, parts, w);
    int64_t end = ravel_row_of(t->pos, t->rows, part + 1, parts, w);
    ravel_turn_blocks(t, part, blocks, w);
    for (int64_t i = ravel_index_at(t->pos, w, q), last; q < end; q++)
        for (last = ravel_index_at(t->pos, w, q + 1); i < last; i++)
            ravel_turn_to_block(t, blocks, q, ravel_index_at(t->crd, w, i), i, packs, es, w);
}

static void
ravel_turn_put_part(void *arg, int part, int parts)
{
    const ravel_turn *t = (const ravel_turn *)arg;
    if (!t->list && t->es == 4 && t->w == 4)
        ravel_turn_put(t, part, parts, 1, 4, 4);
    else if (!t->list && t->es == 8 && t->w == 4)
        ravel_turn_put(t, part, parts, 1, 8, 4);
    else
        ravel_turn_put(t, part, parts, !t->list, t->es, t->w);
}

/* The entries first..end - 1 of a block, whose first column is x, to their places, of which all are in
 * the block. */
RAVEL_PART void
ravel_turn_block(const ravel_turn *t, unsigned char *some, int64_t x, int64_t first, int64_t end, int packs,
                 int64_t es, int64_t w)
{
    int64_t n = end - first, below = ((int64_t)1 << t->shift) - 1;
    unsigned char *rows = some, *values = some + n * w;
    void *places = t->counts;
    memcpy(rows, (const unsigned char *)t->crd_out + first * w, (size_t)(n * w));
    if (es)
        memcpy(values, t->out + first * es, (size_t)(n * es));
    for (int64_t i = 0; i < n; i++) {
        int64_t key = ravel_index_at(rows, w, i);
        uint64_t whole = w == 4 ? (uint32_t)key : (uint64_t)key;
        int64_t c = packs ? x + (key & below) : ravel_index_at(t->list, w, first + i);
        int64_t p = ravel_index_at(places, w, c);
        ravel_index_set(places, w, c, p + 1);
        ravel_index_set(t->crd_out, w, p, packs ? (int64_t)(whole >> t->shift) : key);
        ravel_move_value(t->out, p, values, i, es);
    }
}

/* The blocks that begin in the share of a part. */
RAVEL_PART void
ravel_turn_settle(const ravel_turn *shared, int64_t part, int64_t parts, int packs, int64_t es, int64_t w)
{
    const ravel_turn mine = *shared, *t = &mine;       /* in registers */
    unsigned char *some = (unsigned char *)ravel_counts_of(t->scratch, RAVEL_BLOCK_BYTES, part, 1);
    int64_t blocks = ((t->cols - 1) >> t->shift) + 1;
    int64_t b = ravel_part_of(blocks, part, parts), last = ravel_part_of(blocks, part + 1, parts);
    for (; b < last; b++) {
        int64_t x = b << t->shift, end = (b + 1) << t->shift;
        ravel_turn_block(t, some, x, ravel_index_at(t->pos_out, w, x),
                         ravel_index_at(t->pos_out, w, end < t->cols ? end : t->cols), packs, es, w);
    }
}

static void
ravel_turn_settle_part(void *arg, int part, int parts)
{
    const ravel_turn *t = (const ravel_turn *)arg;
    if (!t->list && t->es == 4 && t->w == 4)
        ravel_turn_settle(t, part, parts, 1, 4, 4);
    else if (!t->list && t->es == 8 && t->w == 4)
        ravel_turn_settle(t, part, parts, 1, 8, 4);
    else
        ravel_turn_settle(t, part, parts, !t->list, t->es, t->w);
}

/* Whether the entries are to go by blocks; sets their width. */
RAVEL_PART int
ravel_turn_is_far(ravel_turn *t)
{
    if (!t->most || t->cols <= RAVEL_NEAR_COLUMNS || !ravel_turn_is_apart(t, t->w))
        return 0;
    t->shift = ravel_turn_shift(t, t->w);
    return t->shift >= 0;
}
