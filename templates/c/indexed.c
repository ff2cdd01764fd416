/* Where the runs of one side are: run r is r strides into the plane, and for each of up to two
 * index arrays a step times its number r.  `bits` has what arrays there are, in its low byte of
 * the first and above it of the second: 0 for none, 32 or 64 for the bits of a number, and
 * RAVEL_SKIPS if runs whose number is below 0 are skipped. */
typedef struct {
    int64_t stride;
    const void *array;
    int64_t bits, step;
    const void *second;
    int64_t second_step;
} ravel_places;
enum { RAVEL_SKIPS = 128, RAVEL_BITS = 96 };

RAVEL_CONSTANT int64_t
ravel_number(const void *array, int64_t bits, int64_t r)
{
    return bits & 64 ? ((const int64_t *)array)[r] : bits ? ((const int32_t *)array)[r] : 0;
}

RAVEL_CONSTANT int64_t
ravel_place(ravel_places p, int64_t r)
{
    return p.stride * r + p.step * ravel_number(p.array, p.bits & RAVEL_BITS, r) +
           p.second_step * ravel_number(p.second, p.bits >> 8 & RAVEL_BITS, r);
}

RAVEL_CONSTANT int
ravel_skips(ravel_places p, int64_t r)
{
    return (p.bits & RAVEL_SKIPS && ravel_number(p.array, p.bits & RAVEL_BITS, r) < 0) ||
           (p.bits >> 8 & RAVEL_SKIPS &&
            ravel_number(p.second, p.bits >> 8 & RAVEL_BITS, r) < 0);
}

/* Copies n planes of `rows` runs; k is as for ravel_move_twice. */
RAVEL_CONSTANT void
ravel_indexed_each(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                   size_t k, int64_t bytes, int64_t dn, int64_t sn, ravel_places to,
                   ravel_places from)
{
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        for (int64_t r = 0; r < rows; r++)
            if (!ravel_skips(to, r) && !ravel_skips(from, r))
                ravel_move_twice(d + ravel_place(to, r), s + ravel_place(from, r), k, bytes);
}

/* Fetches the first lines of a run that a number leads to. */
static inline void
ravel_indexed_fetch(const unsigned char *plane, ravel_places p, int64_t r, int64_t bytes)
{
    const int64_t at = p.bits && !ravel_skips(p, r) ? ravel_place(p, r) : 0;
    const unsigned char *run = plane + at;
    for (int64_t i = 0; p.bits && i < bytes && i < 512; i += 64)
        RAVEL_PREFETCH(run + i);
}

/* Runs of more than 64 bytes.  No processor foresees where the next one is, so its lines are
 * fetched while those before it are copied. */
static void
ravel_indexed_long(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                   int64_t bytes, int64_t dn, int64_t sn, ravel_places to, ravel_places from)
{
    const int64_t ahead = 1 + 1024 / bytes;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        for (int64_t r = 0; r < rows; r++) {
            const int64_t later = r + ahead < rows ? r + ahead : r;
            ravel_indexed_fetch(s, from, later, bytes);
            ravel_indexed_fetch(d, to, later, bytes);
            if (!ravel_skips(to, r) && !ravel_skips(from, r))
                ravel_move_many(d + ravel_place(to, r), s + ravel_place(from, r), bytes);
        }
}

/* Runs of up to 64 bytes whose length is not a power of two up to 16. */
static void
ravel_indexed_odd(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t bytes, int64_t dn, int64_t sn, ravel_places to, ravel_places from)
{
    if (bytes < 4)
        ravel_indexed_each(d, s, n, rows, 2, bytes, dn, sn, to, from);
    else if (bytes < 8)
        ravel_indexed_each(d, s, n, rows, 4, bytes, dn, sn, to, from);
    else if (bytes < 16)
        ravel_indexed_each(d, s, n, rows, 8, bytes, dn, sn, to, from);
    else if (bytes < 32)
        ravel_indexed_each(d, s, n, rows, 16, bytes, dn, sn, to, from);
    else
        ravel_indexed_each(d, s, n, rows, 32, bytes, dn, sn, to, from);
}

RAVEL_CONSTANT void
ravel_indexed_short(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                    int64_t bytes, int64_t dn, int64_t sn, ravel_places to,
                    ravel_places from)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_indexed_each(d, s, n, rows, 1, 1, dn, sn, to, from); break;
    case 2: ravel_indexed_each(d, s, n, rows, 2, 2, dn, sn, to, from); break;
    case 4: ravel_indexed_each(d, s, n, rows, 4, 4, dn, sn, to, from); break;
    case 8: ravel_indexed_each(d, s, n, rows, 8, 8, dn, sn, to, from); break;
    case 16: ravel_indexed_each(d, s, n, rows, 16, 16, dn, sn, to, from); break;
    default: ravel_indexed_odd(d, s, n, rows, bytes, dn, sn, to, from);
    }
}

/* The same places, and to a compiler a number for what arrays there are. */
RAVEL_CONSTANT ravel_places
ravel_with(ravel_places p, int64_t bits)
{
    p.bits = bits;
    return p;
}

/* Copies n planes of runs, dn (sn) bytes apart, whose places in a plane the numbers of
 * index arrays are: `from` of the source, `to` of the destination, or both. */
static void
ravel_indexed(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
              int64_t bytes, int64_t dn, int64_t sn, int64_t dr, const void *to,
              int64_t to_bits, int64_t dp, const void *to_second, int64_t dp_second, int64_t sr,
              const void *from, int64_t from_bits, int64_t sp, const void *from_second,
              int64_t sp_second)
{
    const ravel_places t = {dr, to, to_bits, dp, to_second, dp_second};
    const ravel_places f = {sr, from, from_bits, sp, from_second, sp_second};
    const ravel_places plain_t = ravel_with(t, 0), plain_f = ravel_with(f, 0);
    const int64_t two32 = 32 | 32 << 8, two64 = 64 | 64 << 8;
    if (bytes > 64)
        ravel_indexed_long(d, s, n, rows, bytes, dn, sn, t, f);
    else if (!to_bits && from_bits == 64)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, plain_t, ravel_with(f, 64));
    else if (!to_bits && from_bits == 32)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, plain_t, ravel_with(f, 32));
    else if (!to_bits && from_bits == two64)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, plain_t, ravel_with(f, two64));
    else if (!to_bits && from_bits == two32)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, plain_t, ravel_with(f, two32));
    else if (!from_bits && to_bits == 64)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, ravel_with(t, 64), plain_f);
    else if (!from_bits && to_bits == 32)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, ravel_with(t, 32), plain_f);
    else
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, t, f);
}
