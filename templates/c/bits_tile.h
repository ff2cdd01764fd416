/* Tiles of elements of 1, 2 or 4 bits, transposed into a buffer.
 *
 *     columns of the source, shifted to whole bytes --mix--> bytes that hold elements of as
 *     many columns --zip--> rows of the buffer
 *
 * A tile has 256 rows and 128 bytes of columns. */
#ifdef RAVEL_BITS_TILES
/* Columns that share bytes of the destination: where the first vector of each begins, the
 * bits before it, and where the bits after those continue and how far up: the same byte if
 * there are none before. */
typedef struct {
    const unsigned char *s[8], *next[8];
    int64_t by[8], up[8];
} ravel_bits_columns;

RAVEL_INLINE void
ravel_bits_column(ravel_bits_columns *a, int i, const unsigned char *s, int64_t y)
{
    a->by[i] = y & 7;
    a->up[i] = y & 7 ? 8 - (y & 7) : 0;
    a->s[i] = s + (y >> 3);
    a->next[i] = a->s[i] + ((y & 7) > 0);
}

/* Returns a vector of the bytes that begin at bit `by` of s.  A bit that is in words of both
 * s and next has the same place in both. */
RAVEL_INLINE RAVEL_TWO(1)
ravel_bits_shift(const unsigned char *s, const unsigned char *next, int64_t by, int64_t up)
{
    const RAVEL_TWO(8) a = (RAVEL_TWO(8))ravel_bits_load(s);
    const RAVEL_TWO(8) b = (RAVEL_TWO(8))ravel_bits_load(next);
    return (RAVEL_TWO(1))(a >> (uint64_t)by | b << (uint64_t)up);
}

/* Mixes a vector of each column, k bytes on.  Prefetches what the tiles after the next
 * read of it. */
RAVEL_INLINE void
ravel_bits_mixed(unsigned char *to, const ravel_bits_columns *at, int64_t k, int whole,
                 int bits)
{
    RAVEL_TWO(1) v[8];
    RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++) {
        __builtin_prefetch(at->s[i] + k + 128);
        v[i] = whole ? ravel_bits_load(at->s[i] + k)
                     : ravel_bits_shift(at->s[i] + k, at->next[i] + k, at->by[i], at->up[i]);
    }
    ravel_bits_mix(v, bits);
    RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++)
        memcpy(to + i * 16 * RAVEL_BITS_WIDE, &v[i], RAVEL_BITS_WIDE);
}

/* Mixes a vector of each of at most 128 / bits columns, to 16 vectors for each element of a
 * byte; y and sq in bits.  Columns of one byte are sq bytes from those of the next.  The
 * first column takes the place of those that the last byte lacks. */
RAVEL_INLINE void
ravel_bits_gather(unsigned char *mixed, const unsigned char *s, int64_t y, int64_t cols,
                  int64_t sq, int side, int bits)
{
    enum { SIDE = 16, WIDE = RAVEL_BITS_WIDE };
    const int per = 8 / bits;
    const int64_t step = sq / bits, full = cols < side * per ? cols / per : (int64_t)side;
    ravel_bits_columns at;
    int whole = 1;
    RAVEL_UNROLL for (int i = 0; i < per; i++) {
        ravel_bits_column(&at, i, s, y + (i < cols ? i * sq : 0));
        whole &= at.by[i] == 0;
    }
    for (int64_t j = 0; j < full; j++)
        ravel_bits_mixed(mixed + j * WIDE, &at, j * step, whole, bits);
    if (full == side)
        return;
    RAVEL_UNROLL for (int i = 0; i < per; i++) {
        for (int64_t j = full; j < side; j++)
            memset(mixed + (i * SIDE + j) * WIDE, 0, WIDE);
        if (full * per + i >= cols)
            ravel_bits_column(&at, i, s, y);
    }
    if (full * per < cols)
        ravel_bits_mixed(mixed + full * WIDE, &at, full * step, whole, bits);
}

/* Transposes a vector of each of `cols` columns to rows of 16 bytes, of which `rows` are
 * wanted.  The columns make `side` bytes of a row at most, 8 or 16. */
RAVEL_INLINE void
ravel_bits_sided(unsigned char *to, const unsigned char *s, int64_t y, int64_t rows,
                 int64_t cols, int64_t sq, int side, int bits)
{
    enum { SIDE = 16, WIDE = RAVEL_BITS_WIDE };
    const int per = 8 / bits;
    unsigned char mixed[8 * SIDE * WIDE] __attribute__((aligned(64)));
    ravel_bits_gather(mixed, s, y, cols, sq, side, bits);
    for (int i = 0; i < per; i++) {
        RAVEL_TWO(1) v[SIDE] = {{0}};
        RAVEL_UNROLL for (int j = 0; j < side; j++)
            v[j] = ravel_bits_load(mixed + (i * SIDE + j) * WIDE);
        ravel_bits_zip(v, SIDE, 4);
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_PAIR; lane++) {
            if (lane * SIDE * per >= rows)
                break;
            RAVEL_UNROLL for (int j = 0; j < SIDE; j++)
                ravel_store1(to + ((lane * SIDE + j) * per + i) * RAVEL_BITS_PITCH,
                             ravel_lane(v[j], lane), 0);
        }
    }
}

/* The same for at most 128 / bits columns. */
RAVEL_INLINE void
ravel_bits_strip(unsigned char *to, const unsigned char *s, int64_t y, int64_t rows,
                 int64_t cols, int64_t sq, int bits)
{
    if (cols * bits <= 64)
        ravel_bits_sided(to, s, y, rows, cols, sq, 8, bits);
    else
        ravel_bits_sided(to, s, y, rows, cols, sq, 16, bits);
}

/* The same by code that is there once: three calls of a tile would each have their own. */
__attribute__((noinline)) static void
ravel_bits_strip1(unsigned char *to, const unsigned char *s, int64_t y, int64_t rows,
                  int64_t cols, int64_t sq)
{
    ravel_bits_strip(to, s, y, rows, cols, sq, 1);
}

__attribute__((noinline)) static void
ravel_bits_strip2(unsigned char *to, const unsigned char *s, int64_t y, int64_t rows,
                  int64_t cols, int64_t sq)
{
    ravel_bits_strip(to, s, y, rows, cols, sq, 2);
}

__attribute__((noinline)) static void
ravel_bits_strip4(unsigned char *to, const unsigned char *s, int64_t y, int64_t rows,
                  int64_t cols, int64_t sq)
{
    ravel_bits_strip(to, s, y, rows, cols, sq, 4);
}

RAVEL_INLINE void
ravel_bits_strip_of(unsigned char *to, const unsigned char *s, int64_t y, int64_t rows,
                    int64_t cols, int64_t sq, int bits)
{
    if (bits == 4)
        ravel_bits_strip4(to, s, y, rows, cols, sq);
    else if (bits == 2)
        ravel_bits_strip2(to, s, y, rows, cols, sq);
    else
        ravel_bits_strip1(to, s, y, rows, cols, sq);
}

/* The same where columns are shorter than a vector and nothing from `end` on may be read: the
 * last columns, whose vectors reach beyond it, are copied first. */
RAVEL_INLINE void
ravel_bits_short(unsigned char *to, const unsigned char *src, int64_t s, int64_t rows,
                 int64_t cols, int64_t sq, const unsigned char *end, int bits)
{
    enum { WIDE = RAVEL_BITS_WIDE };
    unsigned char in[128 * WIDE];
    const unsigned char *const last = src + (s + (cols - 1) * sq) * bits / 8;
    if (sq >= 0 && end - last > WIDE) {
        ravel_bits_strip_of(to, src, s * bits, rows, cols, sq * bits, bits);
        return;
    }
    ravel_bits_run(in, 0, src, s, cols, rows, WIDE * 8 / bits, sq, bits);
    ravel_bits_strip_of(to, in, 0, rows, cols, 8 * WIDE, bits);
}

/* Transposes r rows of c columns.  The last vectors of the columns overlap those before. */
RAVEL_INLINE void
ravel_bits_tile(unsigned char *to, const unsigned char *src, int64_t s, int64_t r, int64_t c,
                int64_t sq, int bits)
{
    const int64_t m = RAVEL_STRIP_BITS / bits, tall = RAVEL_BITS_WIDE * 8 / bits;
    const unsigned char *const end = src + ((s + r + (c - 1) * sq) * bits - 1) / 8 + 1;
#ifdef RAVEL_BITS_NARROW
    if (sq > 0 && sq * bits <= RAVEL_NEAR_BITS) {
        ravel_near_tile(to, src, s, r, c, sq, end, bits);
        return;
    }
#endif
    for (int64_t k = 0; k < c; k += m, to += 16) {
        const int64_t left = c - k < m ? c - k : m;
        if (r < tall)
            ravel_bits_short(to, src, s + k * sq, r, left, sq, end, bits);
        for (int64_t i = 0; i < r && r >= tall; i += tall) {
            i = i + tall > r ? r - tall : i;
            ravel_bits_strip_of(to + i * RAVEL_BITS_PITCH, src, (s + i + k * sq) * bits, tall,
                                left, sq * bits, bits);
        }
    }
}
#endif
