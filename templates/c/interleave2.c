RAVEL_WEAVE(2, 8, 2, 1)
RAVEL_WEAVE(2, 8, 4, 2)
RAVEL_WEAVE(2, 8, 8, 3)
RAVEL_WEAVE_EXACT(2, 8, 2, 1)
RAVEL_WEAVE_EXACT(2, 8, 4, 2)
RAVEL_WEAVE_WIDE(2, 8, 3)
#ifndef RAVEL_PLAIN
static void
ravel_woven2(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact2x2(d, s, rows, w);
    else if (w->exact && w->width == 4)
        ravel_exact2x4(d, s, rows, w);
    else if (w->width <= 2)
        ravel_weave2x2_all(d, s, rows, w);
    else if (w->width <= 4)
        ravel_weave2x4_all(d, s, rows, w);
    else if (w->width < 8)
        ravel_weave2x8_all(d, s, rows, w);
    else
        ravel_wide2_all(d, s, rows, w);
}
#endif
RAVEL_WEAVE_PLANE(2, 8)
RAVEL_WOVEN_FEW(2)
RAVEL_INTERLEAVE(2, 8)
