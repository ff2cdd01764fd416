/* Sets rows x cols elements of `size` bytes to `value`; dr and dc are the strides of rows
 * and columns in bytes.  Short rows and single elements are copied from a run of values. */
static void
ravel_fill(unsigned char *d, int64_t rows, int64_t cols, int64_t dr, int64_t dc,
           uint64_t value, int64_t size)
{
    enum { RUN = 128, LARGEST = 16 };
    const int64_t bytes = cols * size;
    unsigned char v[RUN] = {0};
    for (int64_t i = 0; i < RUN && value; i++)
        v[i] = (unsigned char)(i % size < 8 ? value >> 8 * (i % size) & 255 : 0);
    if (dc != size && size <= LARGEST)
        ravel_copy_planes(d, v, rows, cols, size, dr, 0, dc, 0);
    else if (bytes <= RUN)
        ravel_copy_runs(d, v, rows, bytes, dr, 0);
    else
        for (int64_t r = 0; r < rows; r++, d += dr) {
            if (value == 0)
                memset(d, 0, (size_t)bytes);
            else
                ravel_copy_runs(d, v, 1, bytes % RUN, 0, 0);
            for (int64_t i = bytes % RUN; i < bytes && value; i += RUN)
                memcpy(d + i, v, RUN);
        }
}
