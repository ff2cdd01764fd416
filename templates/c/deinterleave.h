/* Transposes a plane element by element. */
static void
ravel_parted_few${size}(unsigned char *d, const unsigned char *s, int64_t rows,
                        int64_t cols, int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * ${size}, s + p * ${size} + q * sq, ${size});
}

/* Transposes n planes with few rows, less than a vector has elements of ${size} bytes:
 * d[b*dn + p*dp + q*${size}] = s[b*sn + p*${size} + q*sq]  for b < n, p < rows, q < cols.
 *
 * Short planes of 2, 4 or 8 rows whose columns are contiguous in the source are split
 * without a buffer, with non-temporal stores if `stream` and rows are whole cache lines.
 * For other planes four vectors of a row form a line of 64 bytes, which is written with
 * non-temporal stores if `stream` and all rows of the destination are aligned alike.  A
 * load may read beyond a column; therefore the last columns are read from a buffer. */
static void
ravel_deinterleave${size}(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                    int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t sq,
                    int64_t stream, int64_t ahead)
{
#ifndef RAVEL_PLAIN
    const int64_t row = rows * ${size};
    const ravel_Split few = {n, cols, dn, sn, dp, stream};
    if (cols >= ${each} && cols * ${size} < 256 && sq == row && ravel_split${size}(d, s, rows, few))
        return;
    if (cols >= ${each} && rows > 1 && row <= 16 && sq >= row) {
        const ravel_1x1 by = ravel_apart(ravel_slot(row), row);
        stream = stream && dp % 64 == 0;
        for (int64_t b = 0; b < n; b++, d += dn, s += sn) {
            const int64_t past = stream && (uintptr_t)d % ${size} == 0;
            const ravel_Parted plane = {rows, sq, dp, past, ahead, by};
            ravel_parted${size}(d, s, cols, plane);
        }
        return;
    }
#endif
    (void)stream;
    (void)ahead;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_parted_few${size}(d, s, rows, cols, dp, sq);
}
