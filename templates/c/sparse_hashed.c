/* How many keys differ, by a table of them; keys stay as they are. */

/* Up to so many keys have a table, which is near; more of them, and those that meet too many others there,
 * are put in order instead. */
enum { RAVEL_HASHED = 1 << 16, RAVEL_MET = 8 };

/* The bits of the places of a table for n keys: at most four for each. */
RAVEL_PART int
ravel_hashed_bits(int64_t n)
{
    int bits = 2;
    while ((int64_t)1 << bits < 2 * n)
        bits++;
    return bits;
}

/* How many of the n keys differ, none of which has all bits; -1: they meet too many others. */
RAVEL_PART int64_t
ravel_hashed_count(const uint32_t *keys, int64_t n, uint32_t *table)
{
    int bits = ravel_hashed_bits(n);
    uint32_t below = ((uint32_t)1 << bits) - 1;
    int64_t differ = 0, met = 0;
    memset(table, 0xff, sizeof *table << bits);
    for (int64_t i = 0; i < n && met <= RAVEL_MET * n; i++) {
        uint32_t key = keys[i], at = key * 2654435769u >> (32 - bits);
        for (; table[at] != key && table[at] != UINT32_MAX; met++)
            at = (at + 1) & below;
        differ += table[at] != key;
        table[at] = key;
    }
    return met <= RAVEL_MET * n ? differ : -1;
}
