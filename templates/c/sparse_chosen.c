/* A level nofm: n of m coordinates below each parent, m at most 16.  The area CHOSEN has a bit for
 * each coordinate of a parent that has an entry. */

/* The bits of a code. */
RAVEL_PART int
ravel_code_bits(int64_t m)
{
    return m <= 2 ? 1 : m <= 4 ? 2 : 4;
}

/* Places without an entry have the lowest coordinates that are free, from m - n on. */
RAVEL_PART uint64_t
ravel_chosen(uint64_t entries, int64_t n, int64_t m)
{
    int64_t missing = n - ravel_ones(entries);
    for (int64_t c = m - n; c < m && missing > 0; c++)
        if (!(entries >> c & 1)) {
            entries |= (uint64_t)1 << c;
            missing--;
        }
    return entries;
}

RAVEL_PART uint16_t *
ravel_chosen_area(ravel_stream *s)
{
    return (uint16_t *)(void *)s->area[RAVEL_CHOSEN];
}

RAVEL_STEP
ravel_stream_unchoose(ravel_stream *s, int64_t parents)
{
    memset(ravel_chosen_area(s), 0, (size_t)parents * sizeof(uint16_t));
}

/* An entry at the coordinate in column c below the parent in `from`. */
RAVEL_STEP
ravel_stream_choose(ravel_stream *s, int64_t from, int64_t c, int64_t n, int64_t array)
{
    uint16_t *chosen = ravel_chosen_area(s);
    for (int64_t i = 0; i < s->n; i++) {
        int64_t q = s->x[from][i];
        chosen[q] = (uint16_t)(chosen[q] | 1u << s->x[c][i]);
        if (ravel_ones(chosen[q]) > n)
            ravel_flaw(s, RAVEL_FLAW_FULL, array, q);
    }
}

/* Code j of a parent: at / m is the place of its codes. */
RAVEL_PART int64_t
ravel_code(const unsigned char *crd, int64_t at, int64_t j, int64_t n, int64_t m)
{
    int64_t bits = ravel_code_bits(m), bit = (at / m * n + j) * bits;
    return crd[bit >> 3] >> (bit & 7) & ((1 << bits) - 1);
}

RAVEL_STEP
ravel_stream_clear_codes(ravel_stream *s, void *crd, int64_t bytes)
{
    if (!s->flaw && bytes)
        memset(crd, 0, (size_t)bytes);
}

/* The codes of the parents in column 0. */
RAVEL_STEP
ravel_stream_write_codes(ravel_stream *s, void *crd, int64_t at, int64_t n, int64_t m)
{
    unsigned char *codes = (unsigned char *)crd;
    int64_t bits = ravel_code_bits(m);
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t set = ravel_chosen(ravel_chosen_area(s)[s->x[0][i]], n, m);
        int64_t bit = s->x[at][i] / m * n * bits;
        for (; set; set &= set - 1, bit += bits)
            codes[bit >> 3] = (unsigned char)(codes[bit >> 3] | ravel_lowest(set) << (bit & 7));
    }
}

/* The position of an entry: that of its coordinate among those of its parent. */
RAVEL_STEP
ravel_stream_write_chosen(ravel_stream *s, int64_t to, int64_t from, int64_t c, int64_t n,
                          int64_t m)
{
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t set = ravel_chosen(ravel_chosen_area(s)[s->x[from][i]], n, m);
        uint64_t below = ((uint64_t)1 << s->x[c][i]) - 1;
        s->x[to][i] = s->x[from][i] * n + ravel_ones(set & below);
    }
}

/* Of a source: the codes of the parents in column 0 ascend, and are below m. */
RAVEL_STEP
ravel_stream_check_chosen(ravel_stream *s, int64_t array, const void *crd, int64_t at, int64_t n,
                          int64_t m)
{
    const unsigned char *codes = (const unsigned char *)crd;
    int64_t bits = ravel_code_bits(m);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0, last = -1; j < n; j++) {
            int64_t c = ravel_code(codes, s->x[at][i], j, n, m);
            if (c >= m || c <= last)
                ravel_flaw(s, c >= m ? RAVEL_FLAW_RANGE : c < last ? RAVEL_FLAW_ORDER
                           : RAVEL_FLAW_TWICE, array, (s->x[at][i] / m * n + j) * bits / 8);
            last = c;
        }
}

/* The coordinates of positions: code `which` of the parents at `at`. */
RAVEL_STEP
ravel_stream_read_chosen(ravel_stream *s, int64_t c, int64_t at, int64_t which, const void *crd,
                         int64_t n, int64_t m)
{
    const unsigned char *codes = (const unsigned char *)crd;
    for (int64_t i = 0; i < s->n; i++)
        s->x[c][i] = ravel_code(codes, s->x[at][i], s->x[which][i], n, m);
}
