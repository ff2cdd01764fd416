/* Planes, b < n of them, of rows of `width` elements, the last width - cols of them
 * `value`:  d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for p < rows, q < cols.
 * A row is at most RAVEL_WOVEN_BYTES long.  Rows that touch go past the caches if
 * `stream`: as they come where they are lines, or of 2, 4 or 8 bytes, nothing padded, in
 * planes of whole lines; through a buffer where they are of 3, 5 or other bytes.  A store
 * may run into the next row, which is written after it; where that is not ours the buffer
 * takes it. */
#ifndef RAVEL_PLAIN
enum { RAVEL_STAGE = 3968 };

/* The columns of a plane, and what they become. */
typedef struct {
    int64_t cols, sq, width, dp, stream, ahead;
    int64_t n, dn, sn;             /* so many planes at once */
    int64_t exact;                 /* no padding, rows that touch */
    int64_t lines;                 /* rows are whole lines, written past the caches */
    const unsigned char *value;    /* 16 bytes of it */
    ravel_1x1 by;                  /* pads between short rows taken out */
} ravel_Woven;

RAVEL_INLINE ravel_1x1
ravel_column(const unsigned char *s, int64_t q, ravel_Woven w)
{
    return ravel_load1(q < w.cols ? s + q * w.sq : w.value);
}

/* Rows of `of` bytes of which `kept` are kept. */
RAVEL_INLINE void
ravel_keep(unsigned char *d, ravel_1x1 v, int64_t of, int64_t kept, ravel_1x1 by)
{
    if (of == kept || of == 16) {
        ravel_store1(d, v, 0);
        return;
    }
#ifdef RAVEL_SHUFFLE
    ravel_store1(d, RAVEL_SHUFFLE(v, by), 0);
#else
    (void)by;
    for (int i = 0; i < 2; i++) {
        const uint64_t low = ((ravel_8x1)v)[i], high = low >> 32;
        memcpy(d + 8 * i / of * kept, &low, 8);
        if (of == 4)
            memcpy(d + (2 * i + 1) * kept, &high, 8);
    }
#endif
}
#endif
