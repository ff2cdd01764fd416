/* Several runs of each row (mixed.c). */

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

static void
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
