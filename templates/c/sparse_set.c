/* A set of coordinates, to put them in order: a bit for each, a bit for each word that has
 * one, and again. */
typedef struct {
    uint64_t *leaf, *middle, *top;
    int64_t leaves, words;         /* words of leaf; of top */
    int32_t *taken;                /* what was taken out */
} ravel_set;

/* The set of a part, empty. */
RAVEL_PART ravel_set
ravel_set_of(ravel_stream *s, int64_t bound, int64_t part)
{
    int64_t leaf = (bound + 63) / 64, middle = (leaf + 63) / 64, top = (middle + 63) / 64;
    uint64_t *words = (uint64_t *)ravel_counts_of(s->area[RAVEL_SET], ravel_set_words(bound),
                                                  part, sizeof *words);
    memset(words, 0, (size_t)(leaf + middle + top) * sizeof *words);
    const ravel_set set = {words, words + leaf, words + leaf + middle, leaf, top,
                           (int32_t *)(void *)(words + leaf + middle + top)};
    return set;
}

/* Of n coordinates most words have some: only `leaf` is used, and all its words are read. */
RAVEL_PART int
ravel_set_is_full(const ravel_set *t, int64_t n)
{
    return n / 2 >= t->leaves;
}

/* Add a coordinate; returns whether it was there.  Without branches: they would be
 * mispredicted. */
RAVEL_PART int
ravel_set_add(const ravel_set *t, int64_t c, int full)
{
    uint64_t was = t->leaf[c >> 6];
    t->leaf[c >> 6] = was | (uint64_t)1 << (c & 63);
    if (!full) {
        t->middle[c >> 12] |= (uint64_t)1 << (c >> 6 & 63);
        t->top[c >> 18] |= (uint64_t)1 << (c >> 12 & 63);
    }
    return (int)(was >> (c & 63) & 1);
}

/* The bits of a word to `taken`, some at once; what is too much is overwritten. */
RAVEL_PART int64_t
ravel_set_take_word(const ravel_set *t, int64_t word, int64_t n)
{
    uint64_t bits = t->leaf[word];
    int64_t ones = ravel_ones(bits);
    t->leaf[word] = 0;
    for (int64_t i = 0; i < ones; i += RAVEL_TAKEN)
        for (int64_t k = 0; k < RAVEL_TAKEN; k++, bits &= bits - 1)
            t->taken[n + i + k] =
                (int32_t)(word * 64 + ravel_lowest(bits | (uint64_t)1 << 63));
    return n + ones;
}

/* Take all coordinates out, in ascending order; returns their number. */
RAVEL_PART int64_t
ravel_set_take(const ravel_set *t, int full)
{
    int64_t n = 0;
    for (int64_t i = 0; full && i < t->leaves; i++)
        n = ravel_set_take_word(t, i, n);
    for (int64_t i = 0; !full && i < t->words; i++)
        for (; t->top[i]; t->top[i] &= t->top[i] - 1) {
            int64_t j = i * 64 + ravel_lowest(t->top[i]);
            for (; t->middle[j]; t->middle[j] &= t->middle[j] - 1)
                n = ravel_set_take_word(t, j * 64 + ravel_lowest(t->middle[j]), n);
        }
    return n;
}

/* The entries of n groups, counted from groups[1] on, become their first places; returns
 * their sum. */
RAVEL_PART int64_t
ravel_groups_sum(ravel_stream *s, int64_t n)
{
    int64_t *groups = (int64_t *)(void *)s->area[RAVEL_GROUPS];
    groups[0] = 0;
    for (int64_t q = 0; q < n; q++)
        groups[q + 1] += groups[q];
    return groups[n];
}

/* The last pos. */
RAVEL_PART void
ravel_groups_end(ravel_stream *s, void *pos, int64_t n, int64_t w)
{
    ravel_index_set(pos, w, n, ((const int64_t *)(const void *)s->area[RAVEL_GROUPS])[n]);
}
