/* Tiles of elements of 1, 2 or 4 bits: the source's runs are unpacked to a byte an element,
 * these are permuted as a tile of bytes, the destination's runs are packed.  The table has
 * offsets in elements: those of runs in the destination and the source, all others in the
 * buffers. */
static void
ravel_unpack(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
             const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int64_t bits)
{
    if (bits == 4)
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 4);
    else if (bits == 2)
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 2);
    else
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 1);
}

static void
ravel_pack(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
           const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int64_t bits)
{
    if (bits == 4)
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 4);
    else if (bits == 2)
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 2);
    else
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 1);
}

/* Where a tile begins in both buffers, in elements, and the one after it in the source; -1: it is
 * the last. */
typedef struct {
    unsigned char *dst;
    const unsigned char *src;
    int64_t d, s, soon, stream, bits;
} ravel_unpacked_at;

/* A part of a tile, through the buffers `wide` and `turned`. */
static void
ravel_unpacked_part(const ravel_unpacked_at *a, unsigned char *wide, unsigned char *turned,
                    const int32_t *t, ravel_tile_function *tile)
{
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    const int64_t n = t[RAVEL_T_FROM_BYTES], runs = t[RAVEL_T_FROM];
    ravel_soon none = {a->src, t, 0, 0, 0};
    const int64_t ahead = a->soon < 0 ? 0 : (a->soon - a->s) * a->bits / 8;
    ravel_unpack(wide, t[RAVEL_T_FROM_PITCH], a->src, a->s, from, runs, n, ahead, a->bits);
    tile(turned, wide, t, &none);
    ravel_pack(a->dst, a->d, run, t[RAVEL_T_RUNS], turned, t[RAVEL_T_PITCH], t[RAVEL_T_BYTES],
               a->stream, a->bits);
}

/* As ravel_tiles_run, for elements of `bits` bits. */
RAVEL_FRAME static void
ravel_unpacked_run(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                   const int32_t *t, ravel_tiles *at, int64_t stream, int64_t bits,
                   ravel_tile_function *tile)
{
    enum { SPACE = RAVEL_UNPACKED_BYTES + 64 };
    unsigned char room[2 * SPACE + 64];
    unsigned char *const wide = room + (-(uintptr_t)room & 63), *const turned = wide + SPACE;
    for (int more = 1; more;) {
        ravel_unpacked_at a = {dst, src, d + at->d, s + at->s, -1, stream, bits};
        more = ravel_tiles_next(at);
        a.soon = more ? s + at->s : -1;
        const int32_t *part = t;
        for (ravel_unpacked_part(&a, wide, turned, part, tile); part[RAVEL_T_NEXT];) {
            part += part[RAVEL_T_NEXT];
            ravel_unpacked_part(&a, wide, turned, part, tile);
        }
    }
}
