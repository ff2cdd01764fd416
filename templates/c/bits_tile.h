/* Tiles of elements of 1, 2 or 4 bits, transposed into a buffer.
 *
 *     a vector of each column, shifted to whole bytes --mix--> bytes that hold elements of as
 *     many columns --zip--> rows of the buffer
 *
 * Of many columns the lanes that are zipped are 16 bytes of vectors 16 apart, and become a vector
 * of a row; of few the lanes of a vector, which become 16 bytes of as many rows. */
#ifdef RAVEL_BITS_TILES
/* What a block has at most: bytes of columns that share these in the destination. */
enum { RAVEL_BITS_SIDE = 16 * RAVEL_LANES };

/* Such columns: where the first of each begins, and the bits before it.  `step`: bytes from one
 * to the next; `cols`: all that are left.  Nothing from `end` on is read. */
typedef struct {
    const unsigned char *s[8], *end;
    int64_t by[8], cols, step;
    int whole;
} ravel_bits_columns;

/* The first bytes of a vector, `left` of them or none; the others are 0. */
#if RAVEL_LANES == 4
RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_first(const unsigned char *s, int64_t left)
{
    const RAVEL_ALL(1) none = {0};
    return left > 0 ? (RAVEL_ALL(1))_mm512_maskz_loadu_epi8(~(__mmask64)0 >> (64 - left), s) : none;
}
#else
RAVEL_CALLED RAVEL_ALL(1)
ravel_bits_first(const unsigned char *s, int64_t left)
{
    RAVEL_ALL(1) v;
    unsigned char part[RAVEL_BITS_WIDE] = {0};
    for (int64_t i = 0; i < left; i++)
        part[i] = s[i];
    memcpy(&v, part, sizeof v);
    return v;
}
#endif

/* What there is before `end` of a vector that begins at s. */
RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_before(const unsigned char *s, const unsigned char *end)
{
    const int64_t left = end - s;
    return left >= RAVEL_BITS_WIDE ? ravel_bits_load(s) : ravel_bits_first(s, left);
}

/* A vector from bit `by` of s on. */
RAVEL_INLINE RAVEL_ALL(1)
ravel_bits_shifted_before(const unsigned char *s, int64_t by, const unsigned char *end)
{
    return ravel_bits_joined_bytes(ravel_bits_before(s, end), ravel_bits_before(s + 1, end), by);
}

/* `groups` vectors for each element of a byte: of the columns of as many bytes.  `inside`: all
 * columns are there, and vectors end before the end of the source.  Prefetches what tiles after
 * the next read of them. */
RAVEL_INLINE void
ravel_bits_gather(RAVEL_ALL(1) *mixed, const ravel_bits_columns *at, int64_t groups, int whole,
                  int inside, int bits)
{
    enum { SIDE = RAVEL_BITS_SIDE, AHEAD = 192 };
    const int per = 8 / bits;
    for (int64_t j = 0; j < groups; j++) {
        const int64_t to = j * at->step;
        RAVEL_ALL(1) v[8];
        RAVEL_UNROLL for (int i = 0; i < per; i++) {
            const unsigned char *const s = at->s[i] + (j * per + i < at->cols ? to : 0);
            __builtin_prefetch(s + AHEAD);
            v[i] = inside && whole ? ravel_bits_load(at->s[i] + to)
                   : inside        ? ravel_bits_shift_all(at->s[i] + to, at->by[i])
                                   : ravel_bits_shifted_before(s, at->by[i], at->end);
        }
        ravel_bits_mix(v, bits);
        RAVEL_UNROLL for (int i = 0; i < per; i++)
            mixed[i * SIDE + j] = v[i];
    }
}

/* Zips the bytes at 16 * part of the vectors of an element; `few`: of 16 of them, all bytes. */
RAVEL_INLINE void
ravel_bits_zipped(unsigned char *to, int64_t pitch, const RAVEL_ALL(1) *mixed, int64_t part,
                  int few)
{
    enum { ZIP = 16, WIDE = RAVEL_BITS_WIDE };
    const unsigned char *const from = (const unsigned char *)mixed + 16 * part;
    const unsigned char *const lane[] = {from, from + ZIP * WIDE, from + 2 * ZIP * WIDE,
                                         from + 3 * ZIP * WIDE};
    RAVEL_ALL(1) v[ZIP];
    RAVEL_UNROLL for (int j = 0; j < ZIP; j++)
        v[j] = few ? mixed[j] : RAVEL_ALL_ROWS(lane, j * WIDE);
    ravel_bits_zip(v, ZIP, 4);
    RAVEL_UNROLL for (int j = 0; j < ZIP; j++)
        if (!few)
            RAVEL_ALL_STORE(to + j * pitch, v[j], 0);
        else
            RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
                memcpy(to + (ZIP * k + j) * pitch, (const unsigned char *)&v[j] + 16 * k, 16);
}

/* Transposes a block, r rows of which are wanted. */
RAVEL_INLINE void
ravel_bits_block(unsigned char *to, int64_t pitch, const ravel_bits_columns *at, int64_t r,
                 int bits)
{
    enum { SIDE = RAVEL_BITS_SIDE };
    const int64_t per = 8 / bits, bytes = (at->cols + per - 1) / per;
    const int64_t groups = bytes < SIDE ? bytes : (int64_t)SIDE;
    const int64_t far = at->step > 0 ? (groups - 1) * at->step : 0;
    int inside = at->cols >= groups * per;
    RAVEL_ALL(1) mixed[8 * SIDE];
    for (int64_t i = 0; i < per; i++)
        inside &= at->end - at->s[i] > far + RAVEL_BITS_WIDE;
    if (!inside)
        ravel_bits_gather(mixed, at, groups, 0, 0, bits);
    else if (at->whole)
        ravel_bits_gather(mixed, at, groups, 1, 1, bits);
    else
        ravel_bits_gather(mixed, at, groups, 0, 1, bits);
    for (int64_t i = 0; i < per; i++)
        if (groups <= 16)
            ravel_bits_zipped(to + i * pitch, per * pitch, mixed + i * SIDE, 0, 1);
        else
            for (int64_t part = 0; part < RAVEL_LANES && part * 16 * per < r; part++)
                ravel_bits_zipped(to + (part * 16 * per + i) * pitch, per * pitch,
                                  mixed + i * SIDE, part, 0);
}
#endif
