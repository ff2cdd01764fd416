RAVEL_PART(4, 4, 2, 2)
RAVEL_PART(4, 4, 4, 2)
RAVEL_SPLIT(4, 4, 2, 2)
#ifndef RAVEL_PLAIN
static void
ravel_parted4(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 12)          /* constants for images */
        ravel_part4x4_all(d, s, cols, w);
    else if (w.rows <= 2)
        ravel_part4x2_all(d, s, cols, w);
    else
        ravel_part4x4_all(d, s, cols, w);
}

/* Transposes the planes without a buffer; returns 0, and does nothing, if it cannot. */
static int
ravel_split4(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
             int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t stream)
{
    const int64_t lines = ravel_split_lines(d, n, cols * 4, dn, dp);
    if (stream && !lines && cols * 4 >= 128)
        return 0;
    stream = stream && lines;
    if (rows == 2)
        ravel_split4x2(d, s, n, cols, dn, sn, dp, stream);
    else
        return 0;
    return 1;
}
#else
#define ravel_split4(...) 0
#endif
RAVEL_PARTED_FEW(4)
RAVEL_DEINTERLEAVE(4, 4)
