/* Transposes n planes, each of `sides` matrices of rows x cols elements of 16 bytes:
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
        for (int64_t q0 = 0; q0 < cols; q0 += 4)
            for (int64_t p = 0; p < rows; p++)
                for (int64_t q = q0; q < q0 + 4 && q < cols; q++)
                    memcpy(to + p * dp + q * 16, from + p * 16 + q * sq, 16);
    }
}
