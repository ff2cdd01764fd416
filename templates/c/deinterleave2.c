RAVEL_PART(2, 8, 2, 3)
RAVEL_PART(2, 8, 4, 3)
RAVEL_PART(2, 8, 8, 3)
RAVEL_SPLIT(2, 8, 2, 3)
RAVEL_SPLIT(2, 8, 4, 3)
#ifndef RAVEL_PLAIN
static void
ravel_parted2(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 6)          /* constants for images */
        ravel_part2x4_all(d, s, cols, w);
    else if (w.rows <= 2)
        ravel_part2x2_all(d, s, cols, w);
    else if (w.rows <= 4)
        ravel_part2x4_all(d, s, cols, w);
    else
        ravel_part2x8_all(d, s, cols, w);
}

/* Transposes the planes without a buffer; returns 0, and does nothing, if it cannot. */
static int
ravel_split2(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
             int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t stream)
{
    const int64_t lines = ravel_split_lines(d, n, cols * 2, dn, dp);
    if (stream && !lines && cols * 2 >= 128)
        return 0;
    stream = stream && lines;
    if (rows == 2)
        ravel_split2x2(d, s, n, cols, dn, sn, dp, stream);
    else if (rows == 4)
        ravel_split2x4(d, s, n, cols, dn, sn, dp, stream);
    else
        return 0;
    return 1;
}
#else
#define ravel_split2(...) 0
#endif
RAVEL_PARTED_FEW(2)
RAVEL_DEINTERLEAVE(2, 8)
