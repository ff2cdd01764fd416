#ifdef __GNUC__
#define RAVEL_FETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_FETCH(p) (void)(p)
#endif

/* Where the runs of one side are: run r is `step` bytes times number r of an index array of
 * 32 or 64 bits into the plane; times r where `bits` is 0. */
typedef struct {
    const void *array;
    int64_t bits, step;
} ravel_places;

RAVEL_CONSTANT int64_t
ravel_place(ravel_places p, int64_t r)
{
    if (p.bits == 64)
        return p.step * ((const int64_t *)p.array)[r];
    return p.step * (p.bits == 32 ? ((const int32_t *)p.array)[r] : r);
}

/* Copies n planes of `rows` runs; k is as for ravel_move_twice. */
RAVEL_CONSTANT void
ravel_indexed_each(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                   size_t k, int64_t bytes, int64_t dn, int64_t sn, ravel_places to,
                   ravel_places from)
{
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        for (int64_t r = 0; r < rows; r++)
            ravel_move_twice(d + ravel_place(to, r), s + ravel_place(from, r), k, bytes);
}

/* Fetches the first lines of a run that a number leads to. */
static inline void
ravel_indexed_fetch(const unsigned char *plane, ravel_places p, int64_t r, int64_t bytes)
{
    const unsigned char *run = plane + ravel_place(p, r);
    for (int64_t i = 0; p.bits && i < bytes && i < 512; i += 64)
        RAVEL_FETCH(run + i);
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

/* Copies n planes of runs, dn (sn) bytes apart, whose places in a plane the numbers of
 * index arrays are: `from` of the source, `to` of the destination, or both. */
static void
ravel_indexed(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
              int64_t bytes, int64_t dn, int64_t sn, const void *to, int64_t to_bits,
              int64_t dp, const void *from, int64_t from_bits, int64_t sp)
{
    const ravel_places t = {to, to_bits, dp}, f = {from, from_bits, sp};
    const ravel_places plain_t = {to, 0, dp}, plain_f = {from, 0, sp};
    const ravel_places t64 = {to, 64, dp}, f64 = {from, 64, sp};
    const ravel_places t32 = {to, 32, dp}, f32 = {from, 32, sp};
    if (bytes > 64)
        ravel_indexed_long(d, s, n, rows, bytes, dn, sn, t, f);
    else if (!to_bits && from_bits == 64)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, plain_t, f64);
    else if (!to_bits && from_bits == 32)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, plain_t, f32);
    else if (!from_bits && to_bits == 64)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, t64, plain_f);
    else if (!from_bits && to_bits == 32)
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, t32, plain_f);
    else
        ravel_indexed_short(d, s, n, rows, bytes, dn, sn, t, f);
}
