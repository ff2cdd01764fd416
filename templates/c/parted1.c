#ifndef RAVEL_PLAIN
/* Transposes a plane of 16 or more columns and up to 16 rows. */
static void
ravel_parted1(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 3)          /* constants for images */
        ravel_part_all1(d, s, cols, w, 4, 4);
    else if (w.rows <= 2)
        ravel_part_all1(d, s, cols, w, 2, 4);
    else if (w.rows <= 4)
        ravel_part_all1(d, s, cols, w, 4, 4);
    else if (w.rows <= 8)
        ravel_part_all1(d, s, cols, w, 8, 4);
    else
        ravel_part_all1(d, s, cols, w, 16, 4);
}

/* Transposes the planes without a buffer; returns 0, and does nothing, if it cannot. */
static int
ravel_split1(unsigned char *d, const unsigned char *s, int64_t rows, ravel_Split x)
{
    const int64_t lines = ravel_split_lines(d, x.n, x.cols * 1, x.dn, x.dp);
    if (x.stream && !lines && x.cols * 1 >= 2 * RAVEL_LINE)
        return 0;
    x.stream = x.stream && lines;
    if (rows == 2)
        ravel_split_rows1(d, s, x, 2, 4);
    else if (rows == 4)
        ravel_split_rows1(d, s, x, 4, 4);
    else if (rows == 8)
        ravel_split_rows1(d, s, x, 8, 4);
    else
        return 0;
    return 1;
}
#endif
