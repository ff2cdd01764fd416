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

/* Moves the rows of a chunk in n planes: where their runs are is the same in each.  Rows of the
 * destination mostly follow each other at one distance. */
static void
ravel_mixed_planes(unsigned char *d, const unsigned char *s, ravel_runs planes,
                   const ravel_mixed_rows *p)
{
    const ravel_runs runs = {1, planes.bytes, 0, 0};
    const int64_t m = p->m;
    int64_t to[RAVEL_MIXED_PLACES], from[RAVEL_MIXED_PLACES], dr = 0;
    int apart = ravel_is_even(planes.bytes);
    for (int64_t e = 0; e < p->entries; e++)
        for (int64_t r = 0; r < m; r++) {
            const int32_t *at = p->table + p->first[r] + 2 * e;
            to[e * m + r] = p->to[r] + at[0];
            from[e * m + r] = p->from[r] + at[1];
            dr = r == 1 && !e ? to[1] - to[0] : dr;
            apart &= to[e * m + r] - to[e * m] == dr * r;
        }
    for (int64_t b = 0; b < planes.n; b++, d += planes.dn, s += planes.sn)
        for (int64_t e = 0; e < p->entries; e++)
            ravel_move_rows(apart ? d + to[e * m] : d, s, runs, m, apart ? NULL : to + e * m,
                            dr, from + e * m, 0);
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
    ravel_places t = {each > 1 ? 0 : dr, {to, to_second}, to_bits, {dp, dp_second}, {0}, by[1]};
    ravel_places f = {each > 1 ? 0 : sr, {from, from_second}, from_bits, {sp, sp_second}, {0}, by[2]};
    ravel_places tc = {0, {to, to_second}, to_bits, {0}, {0}, 1};
    ravel_places fc = {0, {from, from_second}, from_bits, {0}, {0}, 1};
    const int32_t *table = ravel_places_by(&f, ravel_places_by(&t, by + 9));
    table = ravel_places_by(&fc, ravel_places_by(&tc, table));
    const ravel_runs planes = {n, bytes, dn, sn};
    const int again = n > 2 && by[4] == RAVEL_MIXED_ROWS && by[3] <= RAVEL_MIXED_PLACES / 16;
    const int64_t most = RAVEL_MIXED_PLACES / by[3];
    const int64_t chunk = again && most < RAVEL_CHUNK ? most : (int64_t)RAVEL_CHUNK;
    int64_t place[2][RAVEL_CHUNK], first[RAVEL_CHUNK];
    for (int64_t i = 0; i < all && bytes; i += chunk) {
        int64_t m = all - i < chunk ? all - i : chunk;
        ravel_places_of(&t, i, m, place[0]);
        ravel_places_of(&f, i, m, place[1]);
        ravel_mixed_entries(&tc, &fc, i, m, 2 * by[3], first);
        if (skips)
            m = ravel_keep_rows(place[0], place[1], first, m);
        const ravel_mixed_rows p = {m, place[0], place[1], first, table, by + 5, by[3], by[4]};
        if (again)
            ravel_mixed_planes(d, s, planes, &p);
        for (int64_t b = 0; b < n && !again; b++)
            ravel_mixed_any(d + b * dn, s + b * sn, &p, bytes);
    }
}
