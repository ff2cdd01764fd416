RAVEL_PART(1, 16, 2, 4)
RAVEL_PART(1, 16, 4, 4)
RAVEL_PART(1, 16, 8, 4)
RAVEL_PART(1, 16, 16, 4)
#ifndef RAVEL_PLAIN
static void
ravel_parted1(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 3)          /* pictures: all known */
        ravel_part1x4_all(d, s, cols, w);
    else if (w.rows <= 2)
        ravel_part1x2_all(d, s, cols, w);
    else if (w.rows <= 4)
        ravel_part1x4_all(d, s, cols, w);
    else if (w.rows <= 8)
        ravel_part1x8_all(d, s, cols, w);
    else
        ravel_part1x16_all(d, s, cols, w);
}
#endif
RAVEL_PARTED_FEW(1)
RAVEL_DEINTERLEAVE(1, 16)
