static inline void
ravel_columns16(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * 16, s + p * 16 + q * sq, 16);
}

/* Transposes n planes, each of `sides` matrices, b < n, o < sides:
 *     d[b*dn + p*dp + (o*cols + q)*16] = s[b*sn + o*so + p*16 + q*sq]. */
static void
ravel_transpose16(unsigned char *d, const unsigned char *s, int64_t n, int64_t sides,
                  int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t so,
                  int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    (void)stream;
    (void)ahead;
    for (int64_t k = 0; k < sides * n; k++) {
        unsigned char *to = d + k / n * cols * 16 + k % n * dn;
        const unsigned char *from = s + k / n * so + k % n * sn;
        int64_t q = 0;
        for (; q + 4 <= cols; q += 4)
            ravel_columns16(to + q * 16, from + q * sq, rows, 4, dp, sq);
        if (cols - q == 2)
            ravel_columns16(to + q * 16, from + q * sq, rows, 2, dp, sq);
        else
            ravel_columns16(to + q * 16, from + q * sq, rows, cols - q, dp, sq);
    }
}
