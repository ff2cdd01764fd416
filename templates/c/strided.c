/* Copies rows x cols elements of `size` bytes; dr, dc (sr, sc) are the strides of rows and
 * columns in bytes.  For a reversed row the strides are constants, so that a compiler can
 * use vectors. */
static void
ravel_strided(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
              int64_t dr, int64_t dc, int64_t sr, int64_t sc, int64_t size)
{
    const int mirror = dc == size && sc == -size;
#define RAVEL_ELEMENTS(n, dstep, sstep)                                   \
    for (int64_t r = 0; r < rows; r++)                                    \
        for (int64_t c = 0; c < cols; c++)                                \
            memcpy(d + r * dr + c * (dstep), s + r * sr + c * (sstep), n)
#define RAVEL_SIZE(n)                                                     \
    case n:                                                               \
        if (mirror)                                                       \
            RAVEL_ELEMENTS(n, n, -n);                                     \
        else                                                              \
            RAVEL_ELEMENTS(n, dc, sc);                                    \
        break
    switch (size) {
    RAVEL_SIZE(1);
    RAVEL_SIZE(2);
    RAVEL_SIZE(4);
    RAVEL_SIZE(8);
    RAVEL_SIZE(16);
    }
#undef RAVEL_ELEMENTS
#undef RAVEL_SIZE
}
