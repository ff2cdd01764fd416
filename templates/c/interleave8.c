#ifndef RAVEL_PLAIN
static void
ravel_woven8(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    ravel_weave_all8(d, s, rows, w, 0, 1);
}
#endif
