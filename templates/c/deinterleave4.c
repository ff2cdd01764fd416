RAVEL_PART(4, 4, 2, 2)
RAVEL_PART(4, 4, 4, 2)
#ifndef RAVEL_PLAIN
static void
ravel_parted4(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 12)          /* pictures: all known */
        ravel_part4x4_all(d, s, cols, w);
    else if (w.rows <= 2)
        ravel_part4x2_all(d, s, cols, w);
    else
        ravel_part4x4_all(d, s, cols, w);
}
#endif
RAVEL_PARTED_FEW(4)
RAVEL_DEINTERLEAVE(4, 4)
