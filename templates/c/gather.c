/* Copies `rows` rows of runs of `bytes` bytes.  Run i is copied from s + table[2*i + 1] to
 * d + table[2*i]; rows are dp (sp) bytes apart. */
static void
ravel_gather(unsigned char *d, const unsigned char *s, const int32_t *table,
             int64_t entries, int64_t rows, int64_t bytes, int64_t dp, int64_t sp)
{
#define RAVEL_ENTRIES(n)                                                         \
    for (int64_t r = 0; r < rows; r++, d += dp, s += sp)                         \
        for (int64_t i = 0; i < entries; i++)                                    \
            memcpy(d + table[2 * i], s + table[2 * i + 1], n)
    switch (bytes) {
    case 1: RAVEL_ENTRIES(1); break;
    case 2: RAVEL_ENTRIES(2); break;
    case 4: RAVEL_ENTRIES(4); break;
    case 8: RAVEL_ENTRIES(8); break;
    case 16: RAVEL_ENTRIES(16); break;
    case 32: RAVEL_ENTRIES(32); break;
    case 64: RAVEL_ENTRIES(64); break;
    case 128: RAVEL_ENTRIES(128); break;
    default: RAVEL_ENTRIES((size_t)bytes); break;
    }
#undef RAVEL_ENTRIES
}
