/* How many keys differ, by a table of them; keys stay as they are. */

/* Up to so many keys have a table, which is near; more of them, and those that meet too many others there,
 * are put in order instead. */
enum { RAVEL_HASHED = 1 << 16, RAVEL_MET = 8 };

/* The bits of the places of a table for n keys: at most so many for each. */
RAVEL_PART int
ravel_hashed_bits(int64_t n, int64_t most)
{
    int bits = 2;
    while ((int64_t)2 << bits <= most * n)
        bits++;
    return bits;
}

/* How many of the n keys differ, none of which has all bits; -1: they meet too many others.  A key goes to
 * the next place that is free. */
RAVEL_PART int64_t
ravel_hashed_next(const uint32_t *keys, int64_t n, uint32_t *table, int bits)
{
    uint32_t below = ((uint32_t)1 << bits) - 1;
    int64_t differ = 0, met = 0;
    memset(table, 0xff, sizeof *table << bits);
    for (int64_t i = 0; i < n && met <= RAVEL_MET * n; i++) {
        uint32_t key = keys[i], at = key * 2246822519u >> (32 - bits);
        for (; table[at] != key && table[at] != UINT32_MAX; met++)
            at = (at + 1) & below;
        differ += table[at] != key;
        table[at] = key;
    }
    return met <= RAVEL_MET * n ? differ : -1;
}

/* The same.  Keys whose place another one has are put aside first, without a branch that would be
 * mispredicted.  table: 4 numbers for each key, and 4 more. */
RAVEL_PART int64_t
ravel_hashed_count(const uint32_t *keys, int64_t n, uint32_t *table)
{
    int bits = ravel_hashed_bits(n, 3), few;
    int64_t differ = 0, k = 0;
    uint32_t *aside = table + ((size_t)1 << bits);
    memset(table, 0xff, sizeof *table << bits);
    for (int64_t i = 0; i < n; i++) {
        uint32_t key = keys[i], *at = &table[key * 2654435769u >> (32 - bits)], there = *at;
        *at = there == UINT32_MAX ? key : there;
        differ += there == UINT32_MAX;
        aside[k] = key;
        k += there != UINT32_MAX && there != key;
    }
    few = ravel_hashed_bits(k, 8);
    k = ravel_hashed_next(aside, k, table, few < bits ? few : bits);
    return k < 0 ? -1 : differ + k;
}
