RAVEL_WEAVE_WIDE(8, 2, 1)
#ifndef RAVEL_PLAIN
static void
ravel_woven8(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    ravel_wide8_all(d, s, rows, w);
}
#endif
RAVEL_WEAVE_PLANE(8, 2)
RAVEL_WOVEN_FEW(8)
RAVEL_INTERLEAVE(8, 2)
