/* bank_tile.h: a layout as a tile in shared memory, and the warps that walk over it. */
#ifndef RAVEL_BANK_TILE_H
#define RAVEL_BANK_TILE_H

#include "../layout/layout.h"
#include "swizzle.h"

/* Larger than any shared memory there is, and elements that are looked at. */
enum { TILE_BYTES_MAX = 256 << 10, TILE_ELEMENTS_MAX = 1 << 22 };

/* Each lane takes so many elements along dim, side by side, or the byte in which one
 * smaller than that is.  Lanes go on along dim, then along the other dims, the last one
 * first; every 32 of them are a warp, and the last warp may have fewer. */
typedef struct {
    const char *text;     /* for messages: K:16 */
    int dim, bytes;       /* bytes: 1 2 4 8 16 */
    i64 elements;
} TileAccess;

typedef struct {
    const Layout *l;
    i64 elements;         /* logical ones */
    i64 *addr;            /* of each, in row-major order: in elements, as written */
} Tile;

typedef struct {
    i64 warps, wavefronts, ideal;
    /* Where wavefronts are above ideal: of the first such warp two lanes with different
     * words of one bank, and the elements at which they begin. */
    i64 warp, word[2], x[2][MAX_RANK];
    int lane[2], bank;
} TileCount;

/* The tile lives in a and keeps l; diag_fatal when it is too large. */
Tile *tile_new(Arena *a, const Layout *l);
/* diag_fatal, with the elements, where what a lane takes is no aligned vector. */
TileCount tile_count(Arena *a, const Tile *t, const TileAccess *access);
/* The passes of all warps, as access number `number` of the problem. */
void tile_add_passes(Arena *a, const Tile *t, const TileAccess *access, int number,
                     Swizzler *s);
/* A swizzler for the tile; NULL: its storage is no whole number of rows of all banks. */
Swizzler *tile_swizzler(Arena *a, const Tile *t);
/* The bit of an address in elements that is bit 0 of one in words; below 0: 64-bit
 * elements and larger. */
int tile_word_shift(const Layout *l);

#endif
