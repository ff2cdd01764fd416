/* Transposes n planes with few columns:
 * d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for b < n, p < rows, q < cols, with
 * elements of `size` bytes.  A row of the destination has `width` elements, at most
 * RAVEL_WOVEN_BYTES bytes; those from `cols` on get the value `value`.
 *
 * `stream`: contiguous rows are written with non-temporal stores: directly if a row is a
 * cache line, or has 2, 4 or 8 bytes without padding in planes of whole lines; else through
 * a buffer.  A store may write beyond a row; the next row is written after it.  The buffer
 * prevents this at the end of the destination. */
#ifndef RAVEL_PLAIN
enum { RAVEL_STAGE = 3968 };

/* A plane; strides in bytes. */
typedef struct {
    int64_t cols, sq, width, dp, stream, ahead;
    int64_t n, dn, sn;             /* planes, and their strides */
    int64_t exact;                 /* rows are contiguous and have no padding */
    int64_t lines;                 /* rows are cache lines, for non-temporal stores */
    const unsigned char *value;    /* the value, repeated to 16 bytes */
    ravel_1x1 by;                  /* byte indices that drop padding: ravel_apart */
} ravel_Woven;

RAVEL_INLINE ravel_1x1
ravel_column(const unsigned char *s, int64_t q, ravel_Woven w)
{
    return ravel_load1(q < w.cols ? s + q * w.sq : w.value);
}

/* Stores the first `kept` bytes of each `of` bytes of v, contiguously. */
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
