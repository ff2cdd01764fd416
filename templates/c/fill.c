/* Sets rows x cols elements of `size` bytes to `value`; dr and dc are the strides of rows
 * and columns in bytes. */
static void
ravel_fill(unsigned char *d, int64_t rows, int64_t cols, int64_t dr, int64_t dc,
           uint64_t value, int64_t size)
{
    unsigned char v[16] = {0};
    for (int i = 0; i < 8; i++)
        v[i] = (unsigned char)(value >> 8 * i & 255);
    for (int64_t r = 0; r < rows; r++) {
        if (value == 0 && dc == size) {
            memset(d + r * dr, 0, (size_t)(cols * size));
            continue;
        }
        for (int64_t c = 0; c < cols; c++)
            memcpy(d + r * dr + c * dc, v, (size_t)size);
    }
}
