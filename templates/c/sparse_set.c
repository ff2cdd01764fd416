/* A set of coordinates, to put them in order: a bit for each, a bit for each word that has one, and
 * again. */
typedef struct {
    uint64_t *leaf, *middle, *top;
    int64_t words;                 /* of top */
} ravel_set;

/* Its words, all levels. */
RAVEL_PART int64_t
ravel_set_words(int64_t bound)
{
    int64_t leaf = (bound + 63) / 64, middle = (leaf + 63) / 64;
    return leaf + middle + (middle + 63) / 64;
}

/* The set of a part, empty. */
RAVEL_PART ravel_set
ravel_set_of(ravel_stream *s, int64_t bound, int64_t part)
{
    int64_t leaf = (bound + 63) / 64, middle = (leaf + 63) / 64, all = ravel_set_words(bound);
    uint64_t *words = (uint64_t *)(void *)s->area[RAVEL_SET];
    words += part * ravel_area_part(all * 8) / 8;
    memset(words, 0, (size_t)all * sizeof *words);
    return (ravel_set){words, words + leaf, words + leaf + middle, (middle + 63) / 64};
}

/* Add a coordinate; returns whether it was there. */
RAVEL_PART int
ravel_set_add(const ravel_set *t, int64_t c)
{
    uint64_t was = t->leaf[c >> 6], bit = (uint64_t)1 << (c & 63);
    t->leaf[c >> 6] = was | bit;
    if (!was) {
        t->middle[c >> 12] |= (uint64_t)1 << (c >> 6 & 63);
        t->top[c >> 18] |= (uint64_t)1 << (c >> 12 & 63);
    }
    return (was & bit) != 0;
}

/* Take all coordinates out, in ascending order; returns their number. */
RAVEL_PART int64_t
ravel_set_take(const ravel_set *t, int32_t *list)
{
    int64_t n = 0;
    for (int64_t i = 0; i < t->words; i++)
        for (; t->top[i]; t->top[i] &= t->top[i] - 1) {
            int64_t j = i * 64 + ravel_lowest(t->top[i]);
            for (; t->middle[j]; t->middle[j] &= t->middle[j] - 1) {
                int64_t k = j * 64 + ravel_lowest(t->middle[j]);
                for (uint64_t bits = t->leaf[k]; bits; bits &= bits - 1)
                    list[n++] = (int32_t)(k * 64 + ravel_lowest(bits));
                t->leaf[k] = 0;
            }
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
