/* From positions of a source to coordinates: the innermost level first. */

/* Begin a pass over the source. */
RAVEL_STEP
ravel_stream_pass(ravel_stream *s)
{
    for (int i = 0; i < RAVEL_LEVELS; i++) {
        s->total[i] = s->size[i];
        s->size[i] = i == 0;
        s->last[i] = s->seen[i] = -1;
        s->next[i] = s->from[i] = 0;
    }
    s->cursor = 0;
}

/* The positions from `first` on, below `total`. */
RAVEL_STEP
ravel_stream_begin(ravel_stream *s, int64_t first, int64_t total)
{
    s->n = s->flaw ? 0 : total - first < RAVEL_BATCH ? total - first : (int64_t)RAVEL_BATCH;
    for (int64_t i = 0; i < s->n; i++)
        s->x[0][i] = first + i;
}

/* Remove places that are not used: their coordinate is -1. */
RAVEL_STEP
ravel_stream_present(ravel_stream *s, const void *crd, int64_t w)
{
    int64_t k = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t p = s->x[0][i];
        s->x[0][k] = p;
        k += ravel_index_at(crd, w, p) >= 0;
    }
    s->n = k;
}

/* Every parent has n positions: from the positions in one column to coordinates in column c
 * and parents in column `to`. */
RAVEL_STEP
ravel_stream_read_dense(ravel_stream *s, int64_t c, int64_t from, int64_t to, int64_t n)
{
    int64_t q = 0, start = 0;          /* start = q * n */
    for (int64_t i = 0; i < s->n; i++) {
        int64_t p = s->x[from][i];
        if ((uint64_t)(p - start) >= (uint64_t)n) {
            q = p / n;
            start = q * n;
        }
        s->x[c][i] = p - start;
        s->x[to][i] = q;
    }
}

/* There are `places` positions, as many below each of the parents. */
RAVEL_STEP
ravel_stream_read_nth(ravel_stream *s, int64_t from, int64_t to, int64_t places,
                      int64_t parents)
{
    int64_t each = places / parents, q = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->x[from][i] >= (q + 1) * each)
            q = s->x[from][i] / each;
        s->x[to][i] = q;
    }
}

/* The stored coordinates at positions. */
RAVEL_STEP
ravel_stream_load(ravel_stream *s, int64_t c, int64_t from, int64_t bias, const void *crd,
                  int64_t w)
{
    for (int64_t i = 0; i < s->n; i++)
        s->x[c][i] = ravel_index_at(crd, w, s->x[from][i]) + bias;
}

/* The positions of parent q are pos[q] to pos[q + 1] - 1. */
RAVEL_STEP
ravel_stream_parents(ravel_stream *s, int64_t level, int64_t from, int64_t to,
                     const void *pos, int64_t w)
{
    int64_t q = s->from[level], end = s->n ? ravel_index_at(pos, w, q + 1) : 0;
    for (int64_t i = 0; i < s->n; i++) {
        while (end <= s->x[from][i])
            end = ravel_index_at(pos, w, ++q + 1);
        s->x[to][i] = q;
    }
    s->from[level] = q;
}

/* Sums of digits: column c is v; add coef times the digit lo, hi of another column. */
RAVEL_STEP
ravel_stream_set(ravel_stream *s, int64_t c, int64_t v)
{
    for (int64_t i = 0; i < s->n; i++)
        s->x[c][i] = v;
}

RAVEL_STEP
ravel_stream_term(ravel_stream *s, int64_t c, int64_t from, int64_t coef, int64_t lo,
                  int64_t hi)
{
    if ((lo & (lo - 1)) == 0 && (hi & (hi - 1)) == 0) {
        int64_t mask = hi ? hi - 1 : -1;
        int shift = 0;
        while (lo >> shift > 1)
            shift++;
        for (int64_t i = 0; i < s->n; i++)
            s->x[c][i] += coef * ((s->x[from][i] & mask) >> shift);
        return;
    }
    int64_t above = 0, below = 0, q = 0;       /* multiples of hi and of lo; below = q * lo */
    for (int64_t i = 0; i < s->n; i++) {
        int64_t v = s->x[from][i];
        if (hi && (uint64_t)(v - above) >= (uint64_t)hi)
            above = (v / hi - (v % hi < 0)) * hi;
        v -= above;
        if ((uint64_t)(v - below) >= (uint64_t)lo) {
            q = v / lo - (v % lo < 0);
            below = q * lo;
        }
        s->x[c][i] += coef * q;
    }
}

/* The exclusive or of two columns, to the first. */
RAVEL_STEP
ravel_stream_mix(ravel_stream *s, int64_t to, int64_t from)
{
    for (int64_t i = 0; i < s->n; i++)
        s->x[to][i] ^= s->x[from][i];
}

/* Remove entries whose column c is not in 0..n - 1, from the first `columns` columns. */
RAVEL_STEP
ravel_stream_within(ravel_stream *s, int64_t c, int64_t n, int64_t columns)
{
    int64_t k = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->x[c][i] < 0 || s->x[c][i] >= n)
            continue;
        for (int64_t j = 0; k < i && j < columns; j++)
            s->x[j][k] = s->x[j][i];
        k++;
    }
    s->n = k;
}
