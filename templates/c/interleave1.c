RAVEL_WEAVE(1, 16, 2, 1)
RAVEL_WEAVE(1, 16, 4, 2)
RAVEL_WEAVE(1, 16, 8, 3)
RAVEL_WEAVE(1, 16, 16, 4)
RAVEL_WEAVE_EXACT(1, 16, 2, 1)
RAVEL_WEAVE_EXACT(1, 16, 4, 2)
RAVEL_WEAVE_EXACT(1, 16, 8, 3)
RAVEL_WEAVE_WIDE(1, 16, 4)
#ifndef RAVEL_PLAIN
static void
ravel_woven1(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact1x2(d, s, rows, w);
    else if (w->exact && w->width == 4)
        ravel_exact1x4(d, s, rows, w);
    else if (w->exact && w->width == 8)
        ravel_exact1x8(d, s, rows, w);
    else if (w->width <= 2)
        ravel_weave1x2_all(d, s, rows, w);
    else if (w->width <= 4)
        ravel_weave1x4_all(d, s, rows, w);
    else if (w->width <= 8)
        ravel_weave1x8_all(d, s, rows, w);
    else if (w->width < 16)
        ravel_weave1x16_all(d, s, rows, w);
    else
        ravel_wide1_all(d, s, rows, w);
}
#endif
RAVEL_WEAVE_PLANE(1, 16)
RAVEL_WOVEN_FEW(1)
RAVEL_INTERLEAVE(1, 16)
