/* A bit for each place that a compressed level may have: that of coordinate c below parent q is
 * q*n + c.  The position of a place is the number of bits before its own, so that entries come in
 * any order.  Areas: BITS; BEFORE, for each word of them, the bits before it; WRITTEN, a bit for
 * each value of the destination: it is written. */

RAVEL_PART uint64_t *
ravel_words(const ravel_stream *s, int which)
{
    return (uint64_t *)(void *)s->area[which];
}

/* Set a bit; returns whether it was set. */
RAVEL_PART int
ravel_bit_set(uint64_t *words, int64_t k)
{
    uint64_t was = words[k >> 6];
    words[k >> 6] = was | (uint64_t)1 << (k & 63);
    return (int)(was >> (k & 63) & 1);
}

/* No place has an entry. */
RAVEL_STEP
ravel_stream_unset(ravel_stream *s, int64_t bits)
{
    size_t words = (size_t)(bits + 63) / 64;
    memset(s->area[RAVEL_BITS], 0, words * sizeof(uint64_t));
    memset(s->area[RAVEL_BEFORE], 0, words * sizeof(int32_t));
}

/* Set the bits in column c, and count those that are new in a word. */
RAVEL_STEP
ravel_stream_set_bits(ravel_stream *s, int64_t c)
{
    uint64_t *words = ravel_words(s, RAVEL_BITS);
    int32_t *counts = (int32_t *)(void *)s->area[RAVEL_BEFORE];
    for (int64_t i = 0; i < s->n; i++)
        counts[s->x[c][i] >> 6] += !ravel_bit_set(words, s->x[c][i]);
}

/* Counts become what is before a word; the level has a position for each bit.  None of the values
 * that these have, `block` each, is written; 0: nobody asks. */
RAVEL_STEP
ravel_stream_number_bits(ravel_stream *s, int64_t level, int64_t bits, int64_t block)
{
    int32_t *before = (int32_t *)(void *)s->area[RAVEL_BEFORE], sum = 0;
    for (int64_t i = 0; i < (bits + 63) / 64 && !s->flaw; i++) {
        int32_t here = before[i];
        before[i] = sum;
        sum += here;
    }
    s->size[level] = sum;
    if (block)
        memset(s->area[RAVEL_WRITTEN], 0, (size_t)(sum * block + 63) / 64 * sizeof(uint64_t));
}

RAVEL_PART int64_t
ravel_bit_number(const uint64_t *words, const int32_t *before, int64_t k)
{
    uint64_t below = ((uint64_t)1 << (k & 63)) - 1;
    return before[k >> 6] + ravel_ones(words[k >> 6] & below);
}

/* The positions of the places in column c. */
RAVEL_STEP
ravel_stream_find_bits(ravel_stream *s, int64_t to, int64_t c)
{
    const uint64_t *words = ravel_words(s, RAVEL_BITS);
    const int32_t *before = (const int32_t *)(const void *)s->area[RAVEL_BEFORE];
    for (int64_t i = 0; i < s->n; i++)
        s->x[to][i] = ravel_bit_number(words, before, s->x[c][i]);
}

/* Column 2: whether an entry is the first one with the value in column c. */
RAVEL_STEP
ravel_stream_written(ravel_stream *s, int64_t c)
{
    uint64_t *words = ravel_words(s, RAVEL_WRITTEN);
    for (int64_t i = 0; i < s->n; i++)
        s->x[2][i] = !ravel_bit_set(words, s->x[c][i]);
}

typedef struct {
    const ravel_stream *s;
    void *pos, *crd;
    int64_t parents, n, bias, w;
} ravel_taking;

/* The coordinates of the bits from..end - 1, at positions from p on; returns the next one. */
RAVEL_PART int64_t
ravel_take_range(const ravel_taking *t, int64_t from, int64_t end, int64_t p, int64_t w)
{
    const uint64_t *words = ravel_words(t->s, RAVEL_BITS);
    void *crd = t->crd;
    for (int64_t at = from, next; at < end; at = next) {
        next = (at | 63) + 1 < end ? (at | 63) + 1 : end;
        uint64_t bits = words[at >> 6] >> (at & 63);
        if (next - at < 64)
            bits &= ((uint64_t)1 << (next - at)) - 1;
        for (; bits; bits &= bits - 1)
            ravel_index_set(crd, w, p++, at - from + ravel_lowest(bits) - t->bias);
    }
    return p;
}

RAVEL_PART void
ravel_take_some(const ravel_taking *t, int64_t part, int64_t parts, int64_t w)
{
    const int32_t *before = (const int32_t *)(const void *)t->s->area[RAVEL_BEFORE];
    int64_t q = ravel_part_of(t->parents, part, parts);
    int64_t end = ravel_part_of(t->parents, part + 1, parts);
    int64_t p = q < end ? ravel_bit_number(ravel_words(t->s, RAVEL_BITS), before, q * t->n) : 0;
    for (; q < end; q++) {
        ravel_index_set(t->pos, w, q, p);
        p = ravel_take_range(t, q * t->n, (q + 1) * t->n, p, w);
    }
    if (end == t->parents)
        ravel_index_set(t->pos, w, end, p);
}

static void
ravel_take_part(void *arg, int part, int parts)
{
    const ravel_taking *t = (const ravel_taking *)arg;
    if (t->w == 4)
        ravel_take_some(t, part, parts, 4);
    else
        ravel_take_some(t, part, parts, 8);
}

/* Write the level: each of the parents has n places. */
RAVEL_STEP
ravel_stream_take_bits(ravel_stream *s, void *pos, void *crd, int64_t parents, int64_t n,
                       int64_t bias, int64_t w)
{
    ravel_taking t = {s, pos, crd, parents, n, bias, w};
    if (!s->flaw)
        RAVEL_SHARE(s, ravel_take_part, &t);
}
