/* rows x cols elements of `size` bytes; dr, dc (sr, sc) bytes from one row,
 * column to the next. */
static void
ravel_strided(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
              int64_t dr, int64_t dc, int64_t sr, int64_t sc, int64_t size)
{
#define RAVEL_ELEMENTS(n)                                                 \
    for (int64_t r = 0; r < rows; r++)                                    \
        for (int64_t c = 0; c < cols; c++)                                \
            memcpy(d + r * dr + c * dc, s + r * sr + c * sc, n)
    switch (size) {
    case 1: RAVEL_ELEMENTS(1); break;
    case 2: RAVEL_ELEMENTS(2); break;
    case 4: RAVEL_ELEMENTS(4); break;
    case 8: RAVEL_ELEMENTS(8); break;
    default: RAVEL_ELEMENTS(16); break;
    }
#undef RAVEL_ELEMENTS
}
