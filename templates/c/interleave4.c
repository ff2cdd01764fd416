#ifndef RAVEL_PLAIN
static void
ravel_woven4(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact4(d, s, rows, w, 2, 1);
    else if (w->width <= 2)
        ravel_weave_all4(d, s, rows, w, 2, 1);
    else if (w->width < 4)
        ravel_weave_all4(d, s, rows, w, 4, 2);
    else
        ravel_weave_all4(d, s, rows, w, 0, 2);
}
#endif
