RAVEL_WEAVE(4, 4, 2, 1)
RAVEL_WEAVE(4, 4, 4, 2)
RAVEL_WEAVE_EXACT(4, 4, 2, 1)
RAVEL_WEAVE_WIDE(4, 4, 2)
#ifndef RAVEL_PLAIN
static void
ravel_woven4(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact4x2(d, s, rows, w);
    else if (w->width <= 2)
        ravel_weave4x2_all(d, s, rows, w);
    else if (w->width < 4)
        ravel_weave4x4_all(d, s, rows, w);
    else
        ravel_wide4_all(d, s, rows, w);
}
#endif
RAVEL_WEAVE_PLANE(4, 4)
RAVEL_WOVEN_FEW(4)
RAVEL_INTERLEAVE(4, 4)
