/* From coordinates to positions of a destination: the outermost level first.  Without
 * arrays (NULL) a step only counts. */

/* Whether an entry differs from the one before, in the columns that are compared. */
RAVEL_STEP
ravel_stream_compare(ravel_stream *s, int64_t slot, int64_t c)
{
    int64_t last = s->seen[slot], *differs = s->x[2];
    for (int64_t i = 0; i < s->n; i++) {
        differs[i] = (slot && differs[i]) | (s->x[c][i] != last);
        last = s->x[c][i];
    }
    s->seen[slot] = last;
}

/* Whether a level has a new position for an entry: if one of the levels above has, or if
 * its own coordinate changes. */
RAVEL_STEP
ravel_stream_fresh(ravel_stream *s, int64_t level, int64_t c, int64_t first)
{
    int64_t last = s->last[level], *fresh = s->x[1];
    for (int64_t i = 0; i < s->n; i++) {
        fresh[i] = (!first && fresh[i]) | (s->x[c][i] != last);
        last = s->x[c][i];
    }
    s->last[level] = last;
}

/* ... for each entry that differs from the one before. */
RAVEL_STEP
ravel_stream_differ(ravel_stream *s)
{
    memcpy(s->x[1], s->x[2], (size_t)s->n * sizeof s->x[1][0]);
}

RAVEL_STEP
ravel_stream_write_dense(ravel_stream *s, int64_t to, int64_t from, int64_t c, int64_t n)
{
    for (int64_t i = 0; i < s->n; i++)
        s->x[to][i] = s->x[from][i] * n + s->x[c][i];
}

/* Each entry has a position of its own in a compressed level.  from: the column of the
 * parents; -1: all are below the root. */
RAVEL_STEP
ravel_stream_append(ravel_stream *s, int64_t level, int64_t to, int64_t c, int64_t from,
                    int64_t bias, void *pos, void *crd, int64_t w)
{
    int64_t n = s->size[level], next = s->next[level];
    s->size[level] += s->n;
    for (int64_t i = 0; i < s->n; i++)
        s->x[to][i] = n + i;
    if (!crd || !s->n)
        return;
    for (int64_t i = 0; i < s->n; i++)
        ravel_index_set(crd, w, n + i, s->x[c][i] - bias);
    for (int64_t i = 0; i < (from < 0 ? 1 : s->n); i++)
        for (int64_t q = from < 0 ? 0 : s->x[from][i]; next <= q; next++)
            ravel_index_set(pos, w, next, n + i);
    s->next[level] = next;
}

RAVEL_PART void
ravel_write_fresh(ravel_stream *s, int64_t level, int64_t to, int64_t c, int64_t from,
                  int64_t bias, void *pos, void *crd, int64_t w)
{
    int64_t n = s->size[level], next = s->next[level];
    for (int64_t i = 0; i < s->n; i++) {
        int64_t q = from < 0 ? 0 : s->x[from][i];
        if (s->x[1][i]) {
            for (; next <= q; next++)
                ravel_index_set(pos, w, next, n);
            ravel_index_set(crd, w, n, s->x[c][i] - bias);
            n++;
        }
        s->x[to][i] = n - 1;
    }
    s->size[level] = n;
    s->next[level] = next;
}

/* Entries that column 1 marks have a new position. */
RAVEL_STEP
ravel_stream_write_compressed(ravel_stream *s, int64_t level, int64_t to, int64_t c,
                              int64_t from, int64_t bias, void *pos, void *crd, int64_t w)
{
    if (crd && w == 4) {
        ravel_write_fresh(s, level, to, c, from, bias, pos, crd, 4);
        return;
    }
    if (crd) {
        ravel_write_fresh(s, level, to, c, from, bias, pos, crd, 8);
        return;
    }
    int64_t n = s->size[level];
    for (int64_t i = 0; i < s->n; i++) {
        n += s->x[1][i];
        s->x[to][i] = n - 1;
    }
    s->size[level] = n;
}

typedef struct {
    void *crd;
    const void *pos;
    int64_t parents, w;
} ravel_expanded;

RAVEL_PART void
ravel_expand_rows(const ravel_expanded *x, int64_t q, int64_t end, int64_t w)
{
    void *crd = x->crd;
    for (int64_t i = ravel_index_at(x->pos, w, q); q < end; q++)
        for (int64_t last = ravel_index_at(x->pos, w, q + 1); i < last; i++)
            ravel_index_set(crd, w, i, q);
}

static void
ravel_expand_part(void *arg, int part, int parts)
{
    const ravel_expanded *x = (const ravel_expanded *)arg;
    int64_t q = ravel_row_of(x->pos, x->parents, part, parts, x->w);
    int64_t end = ravel_row_of(x->pos, x->parents, part + 1, parts, x->w);
    if (x->w == 4)
        ravel_expand_rows(x, q, end, 4);
    else
        ravel_expand_rows(x, q, end, 8);
}

/* A list of n entries: the coordinate of each is its parent in the source. */
RAVEL_STEP
ravel_stream_expand(ravel_stream *s, void *pos_out, void *crd, const void *pos, int64_t n,
                    int64_t parents, int64_t w)
{
    ravel_expanded x = {crd, pos, parents, w};
    if (s->flaw)
        return;
    ravel_index_set(pos_out, w, 0, 0);
    ravel_index_set(pos_out, w, 1, n);
    RAVEL_SHARE(s, ravel_expand_part, &x);
}

RAVEL_STEP
ravel_stream_write_singleton(ravel_stream *s, int64_t at, int64_t c, int64_t bias, void *crd,
                             int64_t w)
{
    for (int64_t i = 0; crd && i < s->n; i++)
        ravel_index_set(crd, w, s->x[at][i], s->x[c][i] - bias);
}

/* The number of an entry below its parent. */
RAVEL_STEP
ravel_stream_write_nth(ravel_stream *s, int64_t level, int64_t to, int64_t from,
                       int64_t joins)
{
    int64_t k = s->last[level], widest = s->widest;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t differs = joins ? s->x[2][i] : 1;
        k = s->x[1][i] ? 0 : k + differs;
        s->x[1][i] = differs;
        s->x[to][i] = s->x[from][i] * widest + k;
        s->widest = k >= s->widest ? k + 1 : s->widest;
    }
    s->last[level] = k;
}

/* A level has n positions. */
RAVEL_STEP
ravel_stream_assume(ravel_stream *s, int64_t level, int64_t n)
{
    s->size[level] = n;
}

/* After the last batch: the number of positions of each level. */
RAVEL_STEP
ravel_stream_grow(ravel_stream *s, int64_t level, int64_t n)
{
    s->size[level] = s->size[level - 1] * n;
}

RAVEL_STEP
ravel_stream_widen(ravel_stream *s, int64_t level)
{
    s->size[level] = s->size[level - 1] * s->widest;
}

RAVEL_STEP
ravel_stream_close(ravel_stream *s, int64_t level, void *pos, int64_t w)
{
    for (int64_t q = s->next[level]; pos && q <= s->size[level - 1] && !s->flaw; q++)
        ravel_index_set(pos, w, q, s->size[level]);
}

/* A level with 32-bit indices has fewer than 2^31 positions. */
RAVEL_STEP
ravel_stream_narrow(ravel_stream *s, int64_t level, int64_t array)
{
    if (s->size[level] > INT32_MAX)
        ravel_flaw(s, RAVEL_FLAW_INDEX, array, s->size[level]);
}

RAVEL_STEP
ravel_stream_report(ravel_stream *s, int64_t *m, int64_t array, int64_t level, int64_t plus)
{
    m[array] = s->size[level] + plus;
}

/* ... of an array whose size is known before. */
RAVEL_STEP
ravel_stream_report_number(ravel_stream *s, int64_t *m, int64_t array, int64_t n)
{
    (void)s;
    m[array] = n;
}

/* The result of a pass: the flaw, if there is one. */
RAVEL_STEP
ravel_stream_answer(ravel_stream *s, int64_t *m)
{
    if (!s->flaw)
        return;
    m[0] = s->array;
    m[1] = s->at;
}
