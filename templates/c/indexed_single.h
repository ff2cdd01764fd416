/* Rows of single elements, whose places are numbers of one array, or of two with the same bits
 * (indexed.c). */

RAVEL_CONSTANT int64_t
ravel_number(const void *array, int64_t bits, int64_t r)
{
    return bits == 64 ? ((const int64_t *)array)[r] : ((const int32_t *)array)[r];
}

/* What the numbers of row r add to its place. */
RAVEL_CONSTANT int64_t
ravel_number_place(ravel_places p, int64_t bits, int two, int64_t r)
{
    const int64_t place = ravel_number(p.array[0], bits, r) * p.step[0];
    return two ? place + ravel_number(p.array[1], bits, r) * p.step[1] : place;
}

/* Moves an element of a row to or, without `to`, from a place, from or to the other side's `at`. */
RAVEL_CONSTANT void
ravel_indexed_one(unsigned char *d, const unsigned char *s, size_t k, int to, int64_t at,
                  int64_t place)
{
    memcpy(d + (to ? place : at), s + (to ? at : place), k);
}

/* Moves rows of single elements of k bytes.  They are apart by `stride` on one side, and on the
 * other by `own` besides what their numbers add.  Four at a time: else the loop itself takes a
 * third of the instructions. */
RAVEL_CONSTANT void
ravel_indexed_each(unsigned char *d, const unsigned char *s, int64_t rows, size_t k, int to,
                   int64_t stride, int64_t own, ravel_places p, int64_t bits, int two)
{
    int64_t r = 0, at = 0, place = 0;
    for (; r + 4 <= rows; r += 4, at += 4 * stride, place += 4 * own) {
        const int64_t x = place + ravel_number_place(p, bits, two, r);
        const int64_t y = place + ravel_number_place(p, bits, two, r + 1);
        const int64_t z = place + ravel_number_place(p, bits, two, r + 2);
        const int64_t w = place + ravel_number_place(p, bits, two, r + 3);
        ravel_indexed_one(d, s, k, to, at, x);
        ravel_indexed_one(d, s, k, to, at + stride, y + own);
        ravel_indexed_one(d, s, k, to, at + 2 * stride, z + 2 * own);
        ravel_indexed_one(d, s, k, to, at + 3 * stride, w + 3 * own);
    }
    for (int64_t left = rows & 3; left > 0; left--, r++, at += stride, place += own)
        ravel_indexed_one(d, s, k, to, at, place + ravel_number_place(p, bits, two, r));
}

/* The same for n planes. */
RAVEL_CONSTANT void
ravel_indexed_planes(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows,
                     size_t k, int to, int64_t stride, const ravel_places *at, int64_t bits)
{
    const int two = at->bits >> 8 != 0;
    for (int64_t b = 0; b < p.n; b++, d += p.dn, s += p.sn)
        if (two)
            ravel_indexed_each(d, s, rows, k, to, stride, at->stride, *at, bits, 1);
        else
            ravel_indexed_each(d, s, rows, k, to, stride, at->stride, *at, bits, 0);
}

RAVEL_CONSTANT void
ravel_indexed_sized(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows, int to,
                    int64_t stride, const ravel_places *at, int64_t bits)
{
    switch (p.bytes) {
    case 1: ravel_indexed_planes(d, s, p, rows, 1, to, stride, at, bits); break;
    case 2: ravel_indexed_planes(d, s, p, rows, 2, to, stride, at, bits); break;
    case 4: ravel_indexed_planes(d, s, p, rows, 4, to, stride, at, bits); break;
    case 8: ravel_indexed_planes(d, s, p, rows, 8, to, stride, at, bits); break;
    case 16: ravel_indexed_planes(d, s, p, rows, 16, to, stride, at, bits); break;
    }
}

/* `to`: they are numbers of the destination. */
static void
ravel_indexed_single(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows, int to,
                     int64_t stride, const ravel_places *at)
{
    const int wide = at->bits & 64;
    if (!to && wide)
        ravel_indexed_sized(d, s, p, rows, 0, stride, at, 64);
    else if (!to)
        ravel_indexed_sized(d, s, p, rows, 0, stride, at, 32);
    else if (wide)
        ravel_indexed_sized(d, s, p, rows, 1, stride, at, 64);
    else
        ravel_indexed_sized(d, s, p, rows, 1, stride, at, 32);
}
