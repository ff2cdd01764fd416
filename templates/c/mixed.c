/* Whether any class follows from the numbers of a side. */
RAVEL_CONSTANT int
ravel_has_classes(const ravel_places *p)
{
    return p->by[1][1] || p->by[2][1];
}

/* Sets first[r] to the entries of row r of a chunk in the table. */
static inline void
ravel_mixed_entries(const ravel_places *t, const ravel_places *f, int64_t i, int64_t m,
                    int64_t each, int64_t *first)
{
    int64_t more[RAVEL_CHUNK];
    memset(first, 0, (size_t)m * sizeof *first);
    for (int k = 0; k < 2; k++) {
        const ravel_places *p = k ? f : t;
        if (!ravel_has_classes(p))
            continue;
        ravel_near_places(p, i, m, more);
        for (int64_t r = 0; r < m; r++)
            first[r] += more[r] * each;
    }
}

/* As ravel_keep_places, with what else a row has. */
static inline int64_t
ravel_keep_rows(int64_t *to, int64_t *from, int64_t *first, int64_t n)
{
    int64_t kept = 0;
    for (int64_t r = 0; r < n; r++) {
        to[kept] = to[r];
        from[kept] = from[r];
        first[kept] = first[r];
        kept += to[r] != INT64_MIN && from[r] != INT64_MIN;
    }
    return kept;
}

/* The rows of a chunk.  `order` is how their runs are moved: RAVEL_MIXED_ROWS, one after the other
 * for each place in the table, as those of neighbouring rows are neighbours; RAVEL_MIXED_DST and
 * RAVEL_MIXED_SRC, those of a row one after the other, which is how they are on that side.  `span` is
 * from where to where the runs of a row are, on the destination and on the source, if that is
 * worth fetching: else twice 0. */
typedef struct {
    int64_t m;
    const int64_t *to, *from, *first;
    const int32_t *table, *span;
    int64_t entries, order;
} ravel_mixed_rows;

/* Moves the run at one place in the table of each row; k is as for ravel_move_twice. */
RAVEL_CONSTANT void
ravel_mixed_along(unsigned char *d, const unsigned char *s, const ravel_mixed_rows *p,
                  const int32_t *table, size_t k, int64_t bytes)
{
    const int64_t *to = p->to, *from = p->from, *first = p->first, m = p->m;
    int64_t r = 0;
    for (; r + 2 <= m; r += 2) {
        const int32_t *a = table + first[r], *b = table + first[r + 1];
        const int64_t d0 = to[r] + a[0], d1 = to[r + 1] + b[0];
        const int64_t s0 = from[r] + a[1], s1 = from[r + 1] + b[1];
        ravel_move_twice(d + d0, s + s0, k, bytes);
        ravel_move_twice(d + d1, s + s1, k, bytes);
    }
    for (; r < m; r++) {
        const int32_t *at = table + first[r];
        ravel_move_twice(d + to[r] + at[0], s + from[r] + at[1], k, bytes);
    }
}

/* Moves the runs of a row. */
RAVEL_CONSTANT void
ravel_mixed_row(unsigned char *d, const unsigned char *s, const int32_t *at, int64_t entries,
                int64_t order, size_t k, int64_t bytes)
{
    if (order == RAVEL_MIXED_DST)
        for (int64_t e = 0; e < entries; e++)
            ravel_move_twice(d + e * bytes, s + at[2 * e + 1], k, bytes);
    else if (order == RAVEL_MIXED_SRC)
        for (int64_t e = 0; e < entries; e++)
            ravel_move_twice(d + at[2 * e], s + e * bytes, k, bytes);
    else
        for (int64_t e = 0; e < entries; e++)
            ravel_move_twice(d + at[2 * e], s + at[2 * e + 1], k, bytes);
}

/* Fetches lines of a row that no processor foresees. */
RAVEL_CONSTANT void
ravel_mixed_fetch(const unsigned char *row, const int32_t *span)
{
    for (int64_t i = span[0]; i < span[1]; i += 64)
        RAVEL_PREFETCH(row + i);
}

RAVEL_CONSTANT void
ravel_mixed_chunk(unsigned char *d, const unsigned char *s, const ravel_mixed_rows *p,
                  int64_t order, size_t k, int64_t bytes)
{
    const int64_t *to = p->to, *from = p->from, *first = p->first;
    const int64_t entries = p->entries, m = p->m, ahead = 8;
    const int32_t *table = p->table;
    for (int64_t r = 0; r < m; r++) {
        const int64_t later = r + ahead < m ? r + ahead : r;
        if (order != RAVEL_MIXED_DST)
            ravel_mixed_fetch(d + to[later], p->span);
        if (order != RAVEL_MIXED_SRC)
            ravel_mixed_fetch(s + from[later], p->span + 2);
        ravel_mixed_row(d + to[r], s + from[r], table + first[r], entries, order, k, bytes);
    }
}

/* Runs of k to 2 * k bytes. */
RAVEL_CONSTANT void
ravel_mixed_sized(unsigned char *d, const unsigned char *s, const ravel_mixed_rows *p, size_t k,
                  int64_t bytes)
{
    switch (p->order) {
    case RAVEL_MIXED_ROWS:
        for (int64_t e = 0; e < p->entries; e++)
            ravel_mixed_along(d, s, p, p->table + 2 * e, k, bytes);
        return;
    case RAVEL_MIXED_DST: ravel_mixed_chunk(d, s, p, RAVEL_MIXED_DST, k, bytes); return;
    case RAVEL_MIXED_SRC: ravel_mixed_chunk(d, s, p, RAVEL_MIXED_SRC, k, bytes); return;
    default: ravel_mixed_chunk(d, s, p, RAVEL_MIXED_ANY, k, bytes); return;
    }
}

static inline void
ravel_mixed_long(unsigned char *d, const unsigned char *s, const ravel_mixed_rows *p,
                 int64_t bytes)
{
    for (int64_t r = 0; r < p->m; r++)
        for (int64_t e = 0; e < p->entries; e++) {
            const int32_t *at = p->table + p->first[r] + 2 * e;
            ravel_move_many(d + p->to[r] + at[0], s + p->from[r] + at[1], bytes);
        }
}

static inline void
ravel_mixed_any(unsigned char *d, const unsigned char *s, const ravel_mixed_rows *p, int64_t n)
{
    switch (n) {
    case 1: ravel_mixed_sized(d, s, p, 1, 1); return;
    case 2: ravel_mixed_sized(d, s, p, 2, 2); return;
    case 4: ravel_mixed_sized(d, s, p, 4, 4); return;
    case 8: ravel_mixed_sized(d, s, p, 8, 8); return;
    case 16: ravel_mixed_sized(d, s, p, 16, 16); return;
    case 32: ravel_mixed_sized(d, s, p, 32, 32); return;
    }
    if (n > 64)
        ravel_mixed_long(d, s, p, n);
    else if (n > 32)
        ravel_mixed_sized(d, s, p, 32, n);
    else if (n > 16)
        ravel_mixed_sized(d, s, p, 16, n);
    else if (n > 8)
        ravel_mixed_sized(d, s, p, 8, n);
    else if (n > 4)
        ravel_mixed_sized(d, s, p, 4, n);
    else
        ravel_mixed_sized(d, s, p, 2, n);
}

/* Copies as ravel_placed does, several runs for each row: where they are follows from the row's
 * class, a digit of each number.  by[0] to by[2] are those of ravel_placed.  by[3]: runs of a row;
 * by[4]: their order; by[5] to by[8]: their span.  After that the words of ravel_places, of the
 * destination and of the source; those of the classes of both; and the table, for each class and
 * each run its offsets in destination and source. */
static void
ravel_mixed(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
            int64_t bytes, int64_t dn, int64_t sn, int64_t dr, const void *to,
            int64_t to_bits, int64_t dp, const void *to_second, int64_t dp_second, int64_t sr,
            const void *from, int64_t from_bits, int64_t sp, const void *from_second,
            int64_t sp_second, const int32_t *by)
{
    const int64_t each = by[0], all = rows * each;
    const int64_t skips = (to_bits | from_bits) & (RAVEL_SKIPS | RAVEL_SKIPS << 8);
    const int32_t *part[13] = {by + 9};
    for (int i = 1; i < 13; i++)
        part[i] = ravel_places_next(part[i - 1]);
    const ravel_places t = {each > 1 ? 0 : dr, {to, to_second}, to_bits, {dp, dp_second},
                            {part[0], part[1], part[2]}, by[1]};
    const ravel_places f = {each > 1 ? 0 : sr, {from, from_second}, from_bits, {sp, sp_second},
                            {part[3], part[4], part[5]}, by[2]};
    const ravel_places tc = {0, {to, to_second}, to_bits, {0, 0}, {part[6], part[7], part[8]}, 1};
    const ravel_places fc = {0, {from, from_second}, from_bits, {0, 0},
                             {part[9], part[10], part[11]}, 1};
    int64_t place[2][RAVEL_CHUNK], first[RAVEL_CHUNK];
    for (int64_t i = 0; i < all && bytes; i += RAVEL_CHUNK) {
        int64_t m = all - i < RAVEL_CHUNK ? all - i : (int64_t)RAVEL_CHUNK;
        ravel_places_of(&t, i, m, place[0]);
        ravel_places_of(&f, i, m, place[1]);
        ravel_mixed_entries(&tc, &fc, i, m, 2 * by[3], first);
        if (skips)
            m = ravel_keep_rows(place[0], place[1], first, m);
        const ravel_mixed_rows p = {m, place[0], place[1], first, part[12], by + 5, by[3], by[4]};
        for (int64_t b = 0; b < n; b++)
            ravel_mixed_any(d + b * dn, s + b * sn, &p, bytes);
    }
}
