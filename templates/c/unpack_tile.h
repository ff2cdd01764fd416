/* Tiles of elements of 1, 2 or 4 bits: the source's runs are unpacked to a byte an element,
 * these are permuted as a tile of bytes, the destination's runs are packed.  The table has,
 * after RAVEL_PAIR_HEAD words, offsets in elements: those of runs in the destination and the
 * source, all others in the buffers. */

/* Where a tile begins in both buffers, in elements, and the one after it in the source; -1: it is
 * the last.  Of elements that share bytes, as RAVEL_PAIR_FROM and RAVEL_PAIR_TO say, those bytes. */
typedef struct {
    unsigned char *dst;
    const unsigned char *src;
    int64_t d, s, soon, stream, bits, from, to;
} ravel_unpacked_at;

/* Writes the destination's runs from the buffer. */
static void
ravel_unpacked_out(const ravel_unpacked_at *a, const unsigned char *turned, const int32_t *t,
                   const int32_t *run)
{
    const int64_t runs = t[RAVEL_T_RUNS], n = t[RAVEL_T_BYTES], pitch = t[RAVEL_T_PITCH];
    ravel_soon none = {turned, t, 0, 0, 0};
    if (a->from == RAVEL_PAIR_TABLE)
        ravel_put_runs(a->dst, a->d, run, runs, turned, pitch, n);
    for (int64_t i = 0; i < runs && a->from > 0; i++)
        ravel_tile_run(a->dst + a->d / 2 + run[i], turned + i * pitch, n, a->stream, &none);
    for (int up = 0; up <= (a->to ? 4 : 0) && !a->from; up += 4)
        ravel_pack(a->dst, a->d + (up ? a->to : 0), run, runs, turned, pitch, n, a->stream, up,
                   a->bits);
}

/* A part of a tile, through the buffers `wide` and `turned`; a side
 * whose bytes are the elements of the tile has no buffer. */
static void
ravel_unpacked_part(const ravel_unpacked_at *a, unsigned char *wide, unsigned char *turned,
                    const int32_t *t, ravel_tile_function *tile)
{
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    const int64_t n = t[RAVEL_T_FROM_BYTES], runs = t[RAVEL_T_FROM], pitch = t[RAVEL_T_FROM_PITCH];
    const int64_t ahead = a->soon < 0 ? 0 : (a->soon - a->s) * a->bits / 8;
    ravel_soon soon = {a->src + a->s / 2 + ahead, from, a->to && a->soon >= 0 ? runs : 0, n, 0};
    if (a->from)
        ravel_unpack_pairs(wide, pitch, a->src, a->s, from, runs, n, a->from, ahead);
    else if (!a->to)
        ravel_unpack(wide, pitch, a->src, a->s, from, runs, n, ahead, a->bits);
    tile(t[RAVEL_T_RUNS] ? turned : a->dst + a->d / 2, a->to ? a->src + a->s / 2 : wide, t, &soon);
    ravel_unpacked_out(a, turned, t, run);
}

/* As ravel_tiles_run, for elements of `bits` bits. */
RAVEL_FRAME static void
ravel_unpacked_run(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                   const int32_t *table, ravel_tiles *at, int64_t stream, int64_t bits,
                   ravel_tile_function *tile)
{
    enum { SPACE = RAVEL_UNPACKED_BYTES + RAVEL_LINE };
    unsigned char room[2 * SPACE + RAVEL_LINE];
    unsigned char *const wide = room + (-(uintptr_t)room & (RAVEL_LINE - 1));
    unsigned char *const turned = wide + SPACE;
    const int32_t *const t = table + RAVEL_PAIR_HEAD;
    for (int more = 1; more;) {
        ravel_unpacked_at a = {dst, src, d + at->d, s + at->s, -1, stream, bits,
                               table[RAVEL_PAIR_FROM], table[RAVEL_PAIR_TO]};
        more = ravel_tiles_next(at);
        a.soon = more ? s + at->s : -1;
        const int32_t *part = t;
        for (ravel_unpacked_part(&a, wide, turned, part, tile); part[RAVEL_T_NEXT];) {
            part += part[RAVEL_T_NEXT];
            ravel_unpacked_part(&a, wide, turned, part, tile);
        }
    }
}
