/* Permutes the bytes and parts of bytes of tiles by a table.  The tiles are rows times
 * columns, in chunks; there is at least one chunk each way, and the last chunk may overlap
 * the one before.  d and s are elements of `bits` bits from the start of the buffers; di
 * (sk) is the stride of rows, dj (sl) that of columns.  All chunks begin at whole bytes.
 *
 * The table has words of 4 bytes: rows of a chunk, columns of a chunk, the start of the
 * second pass (0: there is one pass); then the passes.  The first of two writes to a
 * buffer.  A pass:
 *      rows of four lanes of 16 bytes; terms w of whole bytes, terms m with a mask;
 *      whether the four lanes are 64 contiguous bytes in the destination; whether some bytes
 *      are fill, whose bits are in v;
 *      for each row: the offsets of its lanes in the destination, 4; a mask of the bytes
 *      that are fill, 16, if there are any; for each w the offsets that it reads, 4, whether
 *      these are 64 contiguous bytes, and the indices of its bytes, 16; for each m the same,
 *      a mask, 16, and the bits to shift to the left. */
#ifdef RAVEL_SHUFFLES
/* The lanes of a row that are in one vector. */
RAVEL_INLINE void
ravel_shuffle_lanes(unsigned char *d, const unsigned char *s, const int32_t *t,
                    int32_t whole, int32_t masked, int32_t lines, int64_t stream,
                    const unsigned char *fill, int lane)
{
    const int32_t *const to = t + lane;
    ravel_lanes v = {0};
    t += 4 + lane;
    if (fill) {
        v = ravel_constant(fill) & ravel_constant(t + 3 * lane);
        t += 16;
    }
    for (int32_t i = 0; i < whole; i++, t += 21)
        v |= ravel_pick(ravel_windows(s, t, (t - lane)[4]),
                        ravel_constant(t + 5 + 3 * lane));
    for (int32_t i = 0; i < masked; i++, t += 38) {
        const ravel_lanes w = ravel_pick(ravel_windows(s, t, (t - lane)[4]),
                                         ravel_constant(t + 5 + 3 * lane));
        v |= ravel_shifted(w, (t - lane)[37]) & ravel_constant(t + 21 + 3 * lane);
    }
    ravel_put(d, to, v, lines, stream);
}

RAVEL_INLINE void
ravel_shuffle_terms(unsigned char *d, const unsigned char *s, const int32_t *pass,
                    int32_t whole, int32_t masked, const unsigned char *fill,
                    int64_t stream)
{
    const int32_t each = 4 + (fill ? 16 : 0) + 21 * whole + 38 * masked;
    const int32_t *t = pass + 5;
    for (int32_t g = 0; g < pass[0]; g++, t += each) {
        const int64_t past = stream && pass[3] && !((uintptr_t)(d + t[0]) & 63);
        for (int lane = 0; lane < 4; lane += RAVEL_LANES)
            ravel_shuffle_lanes(d, s, t, whole, masked, pass[3], past, fill, lane);
    }
}
#else
static void
ravel_shuffle_lane(unsigned char *d, const unsigned char *s, const int32_t *t,
                   int32_t whole, int32_t masked, const unsigned char *fill, int lane)
{
    unsigned char v[16] = {0};
    unsigned char *const to = d + t[lane];
    t += 4;
    if (fill) {
        for (int k = 0; k < 16; k++)
            v[k] = (unsigned char)(fill[k] & ((const unsigned char *)(t + 4 * lane))[k]);
        t += 16;
    }
    for (int32_t i = 0; i < whole + masked; i++) {
        const unsigned char *const from = s + t[lane];
        const unsigned char *const at = (const unsigned char *)(t + 5 + 4 * lane);
        const unsigned char *const mask = at + 64;
        for (int k = 0; k < 16; k++) {
            if (at[k] > 15)
                continue;
            if (i < whole) {
                v[k] = from[at[k]];
                continue;
            }
            const int left = t[37];
            const unsigned w = from[at[k]];
            v[k] = (unsigned char)(v[k] | ((left < 0 ? w >> -left : w << left) & mask[k]));
        }
        t += i < whole ? 21 : 38;
    }
    memcpy(to, v, 16);
}

static inline void
ravel_shuffle_terms(unsigned char *d, const unsigned char *s, const int32_t *pass,
                    int32_t whole, int32_t masked, const unsigned char *fill,
                    int64_t stream)
{
    const int32_t each = 4 + (fill ? 16 : 0) + 21 * whole + 38 * masked;
    const int32_t *t = pass + 5;
    (void)stream;
    for (int32_t g = 0; g < pass[0]; g++, t += each)
        for (int lane = 0; lane < 4; lane++)
            ravel_shuffle_lane(d, s, t, whole, masked, fill, lane);
}
#endif

/* Makes a pass over tiles that are dp (sp) bytes apart.  Frequent numbers of terms are
 * constants. */
static void
ravel_shuffle_pass(unsigned char *d, const unsigned char *s, const int32_t *pass,
                   int64_t tiles, int64_t dp, int64_t sp, int64_t stream,
                   const unsigned char *fill)
{
    if (pass[4]) {
        for (int64_t i = 0; i < tiles; i++)
            ravel_shuffle_terms(d + i * dp, s + i * sp, pass, pass[1], pass[2], fill,
                                stream);
        return;
    }
#define RAVEL_TERMS(w, m)                                                        \
    for (int64_t i = 0; i < tiles; i++)                                          \
        ravel_shuffle_terms(d + i * dp, s + i * sp, pass, w, m, NULL, stream)
    switch (100 * pass[2] + pass[1]) {
    case 1: RAVEL_TERMS(1, 0); break;
    case 2: RAVEL_TERMS(2, 0); break;
    case 3: RAVEL_TERMS(3, 0); break;
    case 4: RAVEL_TERMS(4, 0); break;
    case 200: RAVEL_TERMS(0, 2); break;
    case 300: RAVEL_TERMS(0, 3); break;
    case 400: RAVEL_TERMS(0, 4); break;
    default: RAVEL_TERMS(pass[1], pass[2]); break;
    }
#undef RAVEL_TERMS
}

/* Permutes tiles one after another, each by both passes if there are two. */
static void
ravel_shuffle_row(unsigned char *d, const unsigned char *s, const int32_t *table,
                  int64_t tiles, int64_t dp, int64_t sp, int64_t stream,
                  const unsigned char *fill)
{
    unsigned char buffer[RAVEL_SHUFFLE_BYTES];
    if (!table[2]) {
        ravel_shuffle_pass(d, s, table + 3, tiles, dp, sp, stream, fill);
        return;
    }
    for (int64_t i = 0; i < tiles; i++) {
        ravel_shuffle_pass(buffer, s + i * sp, table + 3, 1, 0, 0, 0, NULL);
        ravel_shuffle_pass(d + i * dp, buffer, table + table[2], 1, 0, 0, stream, NULL);
    }
}

/* The byte of a bit.  A start may be negative; the tile itself lies above 0. */
static inline int64_t
ravel_shuffle_byte(int64_t bit)
{
    return (bit - (bit & 7)) / 8;
}

static void
ravel_shuffle(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
              const int32_t *table, int64_t rows, int64_t cols, int64_t di, int64_t sk,
              int64_t dj, int64_t sl, int64_t stream, int64_t bits, uint64_t v)
{
    unsigned char fill[64] = {0};
    const int64_t r = table[0], c = table[1], all = rows / r;
    const int64_t dp = r * di * bits / 8, sp = r * sk * bits / 8;
    dst += ravel_shuffle_byte(d * bits);
    src += ravel_shuffle_byte(s * bits);
    for (int64_t i = 0; i < 64 && table[7]; i += bits / 8)
        memcpy(fill + i, &v, (size_t)(bits / 8));
    for (int64_t j = 0; j < cols; j += c) {
        const int64_t col = j + c > cols ? cols - c : j;
        unsigned char *const to = dst + col * dj * bits / 8;
        const unsigned char *const from = src + col * sl * bits / 8;
        ravel_shuffle_row(to, from, table, all, dp, sp, stream, fill);
        if (rows % r)
            ravel_shuffle_row(to + (rows - r) * di * bits / 8,
                              from + (rows - r) * sk * bits / 8, table, 1, 0, 0, 0, fill);
    }
}
