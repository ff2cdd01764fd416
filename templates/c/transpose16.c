/* Planes, b < n of them, and o < sides of each:
 *     d[b*dn + p*dp + (o*cols + q)*16] = s[b*sn + o*so + p*16 + q*sq]. */
static void
ravel_transpose16(unsigned char *d, const unsigned char *s, int64_t n, int64_t sides,
                  int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t so,
                  int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    (void)stream;
    (void)ahead;
    for (int64_t o = 1; o < sides; o++)
        ravel_transpose16(d + o * cols * 16, s + o * so, n, 1, rows, cols, dn, sn, so, dp,
                          sq, stream, ahead);
    for (int64_t b = 0; b < n; b++)
        for (int64_t q0 = 0; q0 < cols; q0 += 4)
            for (int64_t p = 0; p < rows; p++)
                for (int64_t q = q0; q < q0 + 4 && q < cols; q++)
                    memcpy(d + b * dn + p * dp + q * 16, s + b * sn + p * 16 + q * sq, 16);
}
