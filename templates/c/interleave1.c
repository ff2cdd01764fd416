#ifndef RAVEL_PLAIN
static void
ravel_woven1(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact1(d, s, rows, w, 2, 1);
    else if (w->exact && w->width == 4)
        ravel_exact1(d, s, rows, w, 4, 2);
    else if (w->exact && w->width == 8)
        ravel_exact1(d, s, rows, w, 8, 3);
    else if (w->width <= 2)
        ravel_weave_all1(d, s, rows, w, 2, 1);
    else if (w->width <= 4)
        ravel_weave_all1(d, s, rows, w, 4, 2);
    else if (w->width <= 8)
        ravel_weave_all1(d, s, rows, w, 8, 3);
    else if (w->width < 16)
        ravel_weave_all1(d, s, rows, w, 16, 4);
    else
        ravel_weave_all1(d, s, rows, w, 0, 4);
}
#endif
