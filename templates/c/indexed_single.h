/* Rows of single elements, whose places are numbers of one array (indexed.c). */

RAVEL_CONSTANT int64_t
ravel_number(const void *array, int64_t bits, int64_t r)
{
    return bits == 64 ? ((const int64_t *)array)[r] : ((const int32_t *)array)[r];
}

/* Moves an element of a row to or, without `to`, from a place, from or to the other side's `at`. */
RAVEL_CONSTANT void
ravel_indexed_one(unsigned char *d, const unsigned char *s, size_t k, int to, int64_t at,
                  int64_t place)
{
    memcpy(d + (to ? place : at), s + (to ? at : place), k);
}

/* Moves rows of single elements of k bytes.  They are apart by `stride` on one side, and on the
 * other by `own` besides `step` times the numbers of an array.  Four at a time: else the loop
 * itself takes a third of the instructions. */
RAVEL_CONSTANT void
ravel_indexed_each(unsigned char *d, const unsigned char *s, int64_t rows, size_t k, int to,
                   int64_t stride, int64_t own, const void *array, int64_t bits, int64_t step)
{
    int64_t r = 0, at = 0, place = 0;
    for (; r + 4 <= rows; r += 4, at += 4 * stride, place += 4 * own) {
        const int64_t x = place + ravel_number(array, bits, r) * step;
        const int64_t y = place + ravel_number(array, bits, r + 1) * step;
        const int64_t z = place + ravel_number(array, bits, r + 2) * step;
        const int64_t w = place + ravel_number(array, bits, r + 3) * step;
        ravel_indexed_one(d, s, k, to, at, x);
        ravel_indexed_one(d, s, k, to, at + stride, y + own);
        ravel_indexed_one(d, s, k, to, at + 2 * stride, z + 2 * own);
        ravel_indexed_one(d, s, k, to, at + 3 * stride, w + 3 * own);
    }
    for (; r < rows; r++, at += stride, place += own)
        ravel_indexed_one(d, s, k, to, at, place + ravel_number(array, bits, r) * step);
}

/* The same for n planes.  A stride of 0 is a number to a compiler. */
RAVEL_CONSTANT void
ravel_indexed_planes(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows,
                     size_t k, int to, int64_t stride, int64_t own, const void *array,
                     int64_t bits, int64_t step)
{
    for (int64_t b = 0; b < p.n; b++, d += p.dn, s += p.sn)
        if (own)
            ravel_indexed_each(d, s, rows, k, to, stride, own, array, bits, step);
        else
            ravel_indexed_each(d, s, rows, k, to, stride, 0, array, bits, step);
}

RAVEL_CONSTANT void
ravel_indexed_sized(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows, int to,
                    int64_t stride, int64_t own, const void *array, int64_t bits, int64_t step)
{
    switch (p.bytes) {
    case 1: ravel_indexed_planes(d, s, p, rows, 1, to, stride, own, array, bits, step); break;
    case 2: ravel_indexed_planes(d, s, p, rows, 2, to, stride, own, array, bits, step); break;
    case 4: ravel_indexed_planes(d, s, p, rows, 4, to, stride, own, array, bits, step); break;
    case 8: ravel_indexed_planes(d, s, p, rows, 8, to, stride, own, array, bits, step); break;
    case 16: ravel_indexed_planes(d, s, p, rows, 16, to, stride, own, array, bits, step); break;
    }
}

/* `to`: they are numbers of the destination, of so many bits. */
static void
ravel_indexed_single(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows, int to,
                     int64_t stride, int64_t own, const void *array, int64_t bits, int64_t step)
{
    if (!to && bits == 64)
        ravel_indexed_sized(d, s, p, rows, 0, stride, own, array, 64, step);
    else if (!to)
        ravel_indexed_sized(d, s, p, rows, 0, stride, own, array, 32, step);
    else if (bits == 64)
        ravel_indexed_sized(d, s, p, rows, 1, stride, own, array, 64, step);
    else
        ravel_indexed_sized(d, s, p, rows, 1, stride, own, array, 32, step);
}
