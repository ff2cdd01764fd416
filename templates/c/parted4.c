#ifndef RAVEL_PLAIN
/* Transposes a plane of 4 or more columns and up to 4 rows. */
static void
ravel_parted4(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 12)          /* constants for images */
        ravel_part_all4(d, s, cols, w, 4, 2);
    else if (w.rows <= 2)
        ravel_part_all4(d, s, cols, w, 2, 2);
    else
        ravel_part_all4(d, s, cols, w, 4, 2);
}

/* Transposes the planes without a buffer; returns 0, and does nothing, if it cannot. */
static int
ravel_split4(unsigned char *d, const unsigned char *s, int64_t rows, ravel_Split x)
{
    const int64_t lines = ravel_split_lines(d, x.n, x.cols * 4, x.dn, x.dp);
    if (x.stream && !lines && x.cols * 4 >= 2 * RAVEL_LINE)
        return 0;
    x.stream = x.stream && lines;
    if (rows == 2)
        ravel_split_rows4(d, s, x, 2, 2);
    else
        return 0;
    return 1;
}
#endif
