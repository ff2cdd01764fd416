RAVEL_PART(2, 8, 2, 3)
RAVEL_PART(2, 8, 4, 3)
RAVEL_PART(2, 8, 8, 3)
#ifndef RAVEL_PLAIN
static void
ravel_parted2(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 6)          /* pictures: all known */
        ravel_part2x4_all(d, s, cols, w);
    else if (w.rows <= 2)
        ravel_part2x2_all(d, s, cols, w);
    else if (w.rows <= 4)
        ravel_part2x4_all(d, s, cols, w);
    else
        ravel_part2x8_all(d, s, cols, w);
}
#endif
RAVEL_PARTED_FEW(2)
RAVEL_DEINTERLEAVE(2, 8)
