/* Copies `rows` rows of runs of `bytes` bytes.  Run i is copied from s + table[2*i + 1] to
 * d + table[2*i]; rows are dp (sp) bytes apart.  The offsets of four runs are read before one of these
 * is written: else the reads may wait for one another (composite_lanes.h). */
RAVEL_CONSTANT void
ravel_gather_each(unsigned char *d, const unsigned char *s, const int32_t *table,
                  int64_t entries, int64_t rows, size_t k, int64_t bytes, int64_t dp,
                  int64_t sp)
{
    const int32_t *const end = table + 2 * entries;
    for (int64_t r = 0; r < rows; r++, d += dp, s += sp) {
        const int32_t *t = table;
        for (; end - t >= 8; t += 8) {
            const int64_t to[4] = {t[0], t[2], t[4], t[6]}, from[4] = {t[1], t[3], t[5], t[7]};
            ravel_move_twice(d + to[0], s + from[0], k, bytes);
            ravel_move_twice(d + to[1], s + from[1], k, bytes);
            ravel_move_twice(d + to[2], s + from[2], k, bytes);
            ravel_move_twice(d + to[3], s + from[3], k, bytes);
        }
        for (; t < end; t += 2)
            ravel_move_twice(d + t[0], s + t[1], k, bytes);
    }
}

/* The same for runs whose length is not a power of two up to 64. */
static void
ravel_gather_odd(unsigned char *d, const unsigned char *s, const int32_t *table,
                 int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
    if (bytes < 4)
        ravel_gather_each(d, s, table, entries, rows, 2, bytes, dp, sp);
    else if (bytes < 8)
        ravel_gather_each(d, s, table, entries, rows, 4, bytes, dp, sp);
    else if (bytes < 16)
        ravel_gather_each(d, s, table, entries, rows, 8, bytes, dp, sp);
    else if (bytes < 32)
        ravel_gather_each(d, s, table, entries, rows, 16, bytes, dp, sp);
    else if (bytes < 64)
        ravel_gather_each(d, s, table, entries, rows, 32, bytes, dp, sp);
    else if (bytes <= 128)
        ravel_gather_each(d, s, table, entries, rows, 64, bytes, dp, sp);
    else
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < entries; i++)
                ravel_move_many(d + r * dp + table[2 * i], s + r * sp + table[2 * i + 1],
                                bytes);
}

static void
ravel_gather(unsigned char *d, const unsigned char *s, const int32_t *table,
             int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_gather_each(d, s, table, entries, rows, 1, 1, dp, sp); break;
    case 2: ravel_gather_each(d, s, table, entries, rows, 2, 2, dp, sp); break;
    case 4: ravel_gather_each(d, s, table, entries, rows, 4, 4, dp, sp); break;
    case 8: ravel_gather_each(d, s, table, entries, rows, 8, 8, dp, sp); break;
    case 16: ravel_gather_each(d, s, table, entries, rows, 16, 16, dp, sp); break;
    case 32: ravel_gather_each(d, s, table, entries, rows, 32, 32, dp, sp); break;
    case 64: ravel_gather_each(d, s, table, entries, rows, 64, 64, dp, sp); break;
    default: ravel_gather_odd(d, s, table, entries, rows, bytes, dp, sp);
    }
}
