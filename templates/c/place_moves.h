/* Runs from places to places. */

/* Moves run r of a chunk; `to` or `from` is NULL if the runs are dr or sr apart. */
RAVEL_CONSTANT void
ravel_move_run(unsigned char *d, const unsigned char *s, const int64_t *to, int64_t dr,
               const int64_t *from, int64_t sr, int64_t r, size_t k, int64_t bytes)
{
    ravel_move_twice(d + (to ? to[r] : dr * r), s + (from ? from[r] : sr * r), k, bytes);
}

/* Moves a chunk of m runs; k is as for ravel_move_twice.  If that writes one after the other, the
 * planes of a run are moved together, so many that the first cache holds what the next run reads
 * with them. */
RAVEL_CONSTANT void
ravel_move_chunk(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t m,
                 const int64_t *to, int64_t dr, const int64_t *from, int64_t sr, size_t k,
                 int64_t bytes)
{
    enum { TOGETHER = 64 };
    if (p.n > 1 && p.dn == (int64_t)k && bytes == p.dn) {
        for (int64_t b = 0; b < p.n; b += TOGETHER)
            for (int64_t r = 0; r < m; r++) {
                const int64_t end = p.n - b < TOGETHER ? p.n - b : (int64_t)TOGETHER;
                unsigned char *x = d + (to ? to[r] : dr * r) + b * p.dn;
                const unsigned char *y = s + (from ? from[r] : sr * r) + b * p.sn;
                for (int64_t i = 0; i < end; i++)
                    memcpy(x + i * (int64_t)k, y + i * p.sn, k);
            }
        return;
    }
    for (int64_t b = 0; b < p.n; b++, d += p.dn, s += p.sn) {
        int64_t r = 0;
        for (; r + 4 <= m; r += 4) {
            ravel_move_run(d, s, to, dr, from, sr, r, k, bytes);
            ravel_move_run(d, s, to, dr, from, sr, r + 1, k, bytes);
            ravel_move_run(d, s, to, dr, from, sr, r + 2, k, bytes);
            ravel_move_run(d, s, to, dr, from, sr, r + 3, k, bytes);
        }
        for (; r < m; r++)
            ravel_move_run(d, s, to, dr, from, sr, r, k, bytes);
    }
}

/* Fetches the first lines of a run. */
static inline void
ravel_fetch_run(const unsigned char *run, int64_t bytes)
{
    for (int64_t i = 0; i < bytes && i < 512; i += 64)
        RAVEL_PREFETCH(run + i);
}

/* Runs of more than 64 bytes.  No processor foresees where the next one is, so its lines are
 * fetched while those before it are copied. */
static inline void
ravel_move_long(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t m,
                const int64_t *to, const int64_t *from)
{
    const int64_t ahead = 1 + 1024 / p.bytes;
    for (int64_t b = 0; b < p.n; b++, d += p.dn, s += p.sn)
        for (int64_t r = 0; r < m; r++) {
            const int64_t later = r + ahead < m ? r + ahead : r;
            ravel_fetch_run(s + from[later], p.bytes);
            ravel_fetch_run(d + to[later], p.bytes);
            ravel_move_many(d + to[r], s + from[r], p.bytes);
        }
}

/* Runs of whole numbers of 1 to 16 bytes. */
RAVEL_CONSTANT void
ravel_move_even(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t m,
                const int64_t *to, int64_t dr, const int64_t *from, int64_t sr)
{
    switch (p.bytes) {
    case 1: ravel_move_chunk(d, s, p, m, to, dr, from, sr, 1, 1); return;
    case 2: ravel_move_chunk(d, s, p, m, to, dr, from, sr, 2, 2); return;
    case 4: ravel_move_chunk(d, s, p, m, to, dr, from, sr, 4, 4); return;
    case 8: ravel_move_chunk(d, s, p, m, to, dr, from, sr, 8, 8); return;
    case 16: ravel_move_chunk(d, s, p, m, to, dr, from, sr, 16, 16); return;
    }
}

/* Runs of any length; both sides have places. */
static inline void
ravel_move_any(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t m,
               const int64_t *to, const int64_t *from)
{
    const int64_t n = p.bytes;
    if (n > 64)
        ravel_move_long(d, s, p, m, to, from);
    else if (n < 4)
        ravel_move_chunk(d, s, p, m, to, 0, from, 0, 2, n);
    else if (n < 8)
        ravel_move_chunk(d, s, p, m, to, 0, from, 0, 4, n);
    else if (n < 16)
        ravel_move_chunk(d, s, p, m, to, 0, from, 0, 8, n);
    else if (n < 32)
        ravel_move_chunk(d, s, p, m, to, 0, from, 0, 16, n);
    else
        ravel_move_chunk(d, s, p, m, to, 0, from, 0, 32, n);
}

/* Moves m runs; `to` or `from` is NULL if they are dr or sr apart, and whole numbers of bytes as
 * ravel_move_even has. */
static void
ravel_move_rows(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t m,
                const int64_t *to, int64_t dr, const int64_t *from, int64_t sr)
{
    if (!ravel_is_even(p.bytes))
        ravel_move_any(d, s, p, m, to, from);
    else if (to && from)
        ravel_move_even(d, s, p, m, to, 0, from, 0);
    else if (to)
        ravel_move_even(d, s, p, m, to, 0, NULL, sr);
    else
        ravel_move_even(d, s, p, m, NULL, dr, from, 0);
}
