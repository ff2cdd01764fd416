#ifndef RAVEL_PLAIN
static void
ravel_woven2(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact2(d, s, rows, w, 2, 1);
    else if (w->exact && w->width == 4)
        ravel_exact2(d, s, rows, w, 4, 2);
    else if (w->width <= 2)
        ravel_weave_all2(d, s, rows, w, 2, 1);
    else if (w->width <= 4)
        ravel_weave_all2(d, s, rows, w, 4, 2);
    else if (w->width < 8)
        ravel_weave_all2(d, s, rows, w, 8, 3);
    else
        ravel_weave_all2(d, s, rows, w, 0, 3);
}
#endif
