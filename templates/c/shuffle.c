/* rows, in chunks, of tiles whose bytes and parts of bytes change places as a table says:
 * d and s count elements of `bits` bits from the start of the buffers, di and sk are from
 * one row to the next.  The table, in words of 4 bytes:
 *      rows of a chunk, groups, terms w of whole bytes, terms m with a mask, whether a
 *      group's four lanes of 16 bytes are 64 bytes in a row in dst;
 *      of each of the m the bits to shift, to the left;
 *      of each group where its lanes are in dst, 4; of each w where it reads in src, 4,
 *      and which of those bytes, 16; of each m the same and a mask, 16.
 * There are at least as many rows as make a chunk; the last chunk may lie over others. */
#ifdef RAVEL_SHUFFLES
/* Half of a group where two lanes are one vector. */
RAVEL_INLINE void
ravel_shuffle_lanes(unsigned char *d, const unsigned char *s, const int32_t *shift,
                    const int32_t *t, int32_t whole, int32_t masked, int32_t lines,
                    int64_t stream, int lane)
{
    const int32_t *const to = t + lane;
    ravel_lanes v = {0};
    t += 4 + lane;
    for (int32_t i = 0; i < whole; i++, t += 20)
        v |= ravel_pick(ravel_windows(s, t), ravel_constant(t + 4 + 3 * lane));
    for (int32_t i = 0; i < masked; i++, t += 36) {
        const ravel_lanes w = ravel_pick(ravel_windows(s, t),
                                         ravel_constant(t + 4 + 3 * lane));
        v |= ravel_shifted(w, shift[i]) & ravel_constant(t + 20 + 3 * lane);
    }
    ravel_put(d, to, v, lines, stream);
}

RAVEL_INLINE void
ravel_shuffle_tile(unsigned char *d, const unsigned char *s, const int32_t *table,
                   int32_t whole, int32_t masked, int64_t stream)
{
    const int32_t *const shift = table + 5, *t = shift + masked;
    const int32_t each = 4 + 20 * whole + 36 * masked;
    stream = stream && table[4] && !((uintptr_t)(d + t[0]) & 63);
    for (int32_t g = 0; g < table[1]; g++, t += each)
        for (int lane = 0; lane < 4; lane += RAVEL_LANES)
            ravel_shuffle_lanes(d, s, shift, t, whole, masked, table[4], stream, lane);
}
#else
static void
ravel_shuffle_lane(unsigned char *d, const unsigned char *s, const int32_t *shift,
                   const int32_t *t, int32_t whole, int32_t masked, int lane)
{
    unsigned char v[16] = {0};
    unsigned char *const to = d + t[lane];
    t += 4;
    for (int32_t i = 0; i < whole + masked; i++) {
        const unsigned char *const from = s + t[lane];
        const unsigned char *const at = (const unsigned char *)(t + 4 + 4 * lane);
        const unsigned char *const mask = at + 64;
        for (int k = 0; k < 16; k++) {
            if (at[k] > 15)
                continue;
            if (i < whole) {
                v[k] = from[at[k]];
                continue;
            }
            const int left = shift[i - whole];
            const unsigned w = from[at[k]];
            v[k] = (unsigned char)(v[k] | ((left < 0 ? w >> -left : w << left) & mask[k]));
        }
        t += i < whole ? 20 : 36;
    }
    memcpy(to, v, 16);
}

static inline void
ravel_shuffle_tile(unsigned char *d, const unsigned char *s, const int32_t *table,
                   int32_t whole, int32_t masked, int64_t stream)
{
    const int32_t *const shift = table + 5, *t = shift + masked;
    (void)stream;
    for (int32_t g = 0; g < table[1]; g++, t += 4 + 20 * whole + 36 * masked)
        for (int lane = 0; lane < 4; lane++)
            ravel_shuffle_lane(d, s, shift, t, whole, masked, lane);
}
#endif

#ifndef RAVEL_INLINE
#define RAVEL_INLINE static inline
#endif
RAVEL_INLINE void
ravel_shuffle_tiles(unsigned char *d, const unsigned char *s, const int32_t *table,
                    int64_t rows, int64_t dp, int64_t sp, int64_t stream, int32_t whole,
                    int32_t masked)
{
    const int64_t chunk = table[0], all = rows / chunk, over = all * chunk - rows;
    for (int64_t i = 0; i < all; i++, d += chunk * dp, s += chunk * sp)
        ravel_shuffle_tile(d, s, table, whole, masked, stream);
    if (over)
        ravel_shuffle_tile(d - (chunk + over) * dp, s - (chunk + over) * sp, table, whole,
                           masked, 0);
}

static void
ravel_shuffle(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
              const int32_t *table, int64_t rows, int64_t di, int64_t sk, int64_t stream,
              int64_t bits)
{
    const int64_t dp = di * bits / 8, sp = sk * bits / 8;
    dst += d * bits / 8;
    src += s * bits / 8;
#define RAVEL_CASE(w, m)                                                         \
    case 100 * m + w:                                                            \
        ravel_shuffle_tiles(dst, src, table, rows, dp, sp, stream, w, m);        \
        break
    switch (100 * table[3] + table[2]) {
    RAVEL_CASE(1, 0);
    RAVEL_CASE(2, 0);
    RAVEL_CASE(3, 0);
    RAVEL_CASE(4, 0);
    RAVEL_CASE(0, 2);
    RAVEL_CASE(0, 3);
    RAVEL_CASE(0, 4);
    default:
        ravel_shuffle_tiles(dst, src, table, rows, dp, sp, stream, table[2], table[3]);
    }
#undef RAVEL_CASE
}
