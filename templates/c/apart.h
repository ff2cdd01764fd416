/* Parts of the kernels deinterleave that are the same for all sizes of elements. */
#ifndef RAVEL_PLAIN
/* A plane; strides in bytes. */
typedef struct {
    int64_t rows, sq, dp, stream, ahead;
    ravel_1x1 by;                  /* byte indices that pad short columns: ravel_apart */
} ravel_Parted;

/* n planes whose columns are contiguous in the source; strides in bytes. */
typedef struct {
    int64_t n, cols, dn, sn, dp, stream;
} ravel_Split;

/* Loads 16 / `of` columns of `bytes` bytes into one vector, each padded to `of` bytes. */
RAVEL_INLINE ravel_1x1
ravel_apart_load(const unsigned char *s, int64_t of, int64_t bytes, int64_t sq,
                 ravel_1x1 by)
{
    unsigned char slot[16];
    if (of == 16 || (of == bytes && sq == bytes))
        return ravel_load1(s);
#ifdef RAVEL_SHUFFLE
    if (sq == bytes)
        return RAVEL_SHUFFLE(ravel_load1(s), by);
#endif
    (void)by;
    RAVEL_UNROLL for (int i = 0; i < 16 / of; i++)
        memcpy(slot + i * of, s + i * sq, (size_t)of);
    return ravel_load1(slot);
}

/* Copies n columns of `bytes` bytes, sq bytes apart, one after another. */
RAVEL_CALLED void
ravel_apart_copy(unsigned char *to, const unsigned char *s, int64_t n, int64_t sq, int64_t bytes)
{
    for (int64_t i = 0; i < n; i++)
        ravel_few_bytes(to + i * bytes, s + i * sq, bytes);
}

/* Whether non-temporal stores write whole cache lines: of the rows of a plane, or of the
 * rows of all planes, which follow one another. */
RAVEL_INLINE int64_t
ravel_split_lines(const unsigned char *d, int64_t n, int64_t bytes, int64_t dn,
                  int64_t dp)
{
    const int64_t run = dn == bytes || n == 1 ? n * bytes : bytes | dn;
    return ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)run) % RAVEL_LINE == 0 && bytes % 16 == 0;
}
#endif
