/* Copies rows x cols elements of `size` bytes; dr, dc (sr, sc) are the strides of rows and
 * columns in bytes. */
RAVEL_CONSTANT void
ravel_elements(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
               int64_t dr, int64_t dc, int64_t sr, int64_t sc, int64_t size)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            memcpy(d + r * dr + c * dc, s + r * sr + c * sc, (size_t)size);
}

/* For a reversed row the strides are constants, so that a compiler can use vectors. */
RAVEL_CONSTANT void
ravel_strided_size(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dr, int64_t dc, int64_t sr, int64_t sc, int64_t size)
{
    if (dc == size && sc == -size)
        ravel_elements(d, s, rows, cols, dr, size, sr, -size, size);
    else
        ravel_elements(d, s, rows, cols, dr, dc, sr, sc, size);
}

static void
ravel_strided(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
              int64_t dr, int64_t dc, int64_t sr, int64_t sc, int64_t size)
{
    switch (size) {
    case 1: ravel_strided_size(d, s, rows, cols, dr, dc, sr, sc, 1); break;
    case 2: ravel_strided_size(d, s, rows, cols, dr, dc, sr, sc, 2); break;
    case 4: ravel_strided_size(d, s, rows, cols, dr, dc, sr, sc, 4); break;
    case 8: ravel_strided_size(d, s, rows, cols, dr, dc, sr, sc, 8); break;
    case 16: ravel_strided_size(d, s, rows, cols, dr, dc, sr, sc, 16); break;
    }
}
