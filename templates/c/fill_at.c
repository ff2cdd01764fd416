/* Sets `rows` rows of runs of `bytes` bytes to elements of `bits` bits of `value`.  Run i is at
 * d + table[2*i], and table[2*i + 1] is 0; rows are dp bytes apart. */
static void
ravel_fill_at(unsigned char *d, const int32_t *table, int64_t entries, int64_t rows,
              int64_t bytes, int64_t dp, uint64_t value, int64_t bits)
{
    enum { RUN = 128 };
    const int64_t size = bits < 8 ? 1 : bits / 8;
    unsigned char v[RUN] = {0};
    if (bits < 8)
        value = (value & ((1u << bits) - 1)) * (255 / ((1u << bits) - 1));
    for (int64_t i = 0; i < RUN && value; i++)
        v[i] = (unsigned char)(i % size < 8 ? value >> 8 * (i % size) & 255 : 0);
    if (bytes <= RUN) {
        ravel_gather(d, v, table, entries, rows, bytes, dp, 0);
        return;
    }
    for (int64_t r = 0; r < rows; r++, d += dp)
        for (int64_t i = 0; i < entries; i++) {
            unsigned char *const run = d + table[2 * i];
            for (int64_t at = 0; at + RUN < bytes; at += RUN)
                memcpy(run + at, v, RUN);
            memcpy(run + bytes - RUN, v, RUN);
        }
}
