/* bank_tile.h: a layout as a tile in shared memory, and the accesses of warps to it. */
#ifndef RAVEL_BANK_TILE_H
#define RAVEL_BANK_TILE_H

#include "../layout/layout.h"
#include "swizzle.h"

/* Limits: bytes of a tile, above any existing shared memory; elements of a tile. */
enum { TILE_BYTES_MAX = 256 << 10, TILE_ELEMENTS_MAX = 1 << 22 };

/* An access of all lanes.  Each lane accesses `elements` adjacent elements along dim, or
 * the byte that contains an element smaller than a byte.  Consecutive lanes continue along
 * dim, then along the other dims, the last dim first.  32 lanes are a warp; the last warp
 * may have fewer. */
typedef struct {
    const char *text;     /* for messages: K:16 */
    int dim, bytes;       /* bytes: 1 2 4 8 16 */
    i64 elements;
} TileAccess;

typedef struct {
    const Layout *l;
    i64 elements;         /* the number of elements, without padding */
    i64 *addr;            /* the address of each, in row-major order, in elements */
} BankTile;

typedef struct {
    i64 warps, wavefronts, ideal;
    /* If wavefronts > ideal: two lanes of the first warp with conflicts, with different
     * words of one bank, and the first element of each. */
    i64 warp, word[2], x[2][MAX_RANK];
    int lane[2], bank;
} TileCount;

/* The tile is allocated in a and refers to l.  diag_fatal if it is too large. */
BankTile *tile_new(Arena *a, const Layout *l);
/* diag_fatal, with the elements, if the elements of a lane are no aligned vector. */
TileCount tile_count(Arena *a, const BankTile *t, const TileAccess *access);
/* Adds the passes of all warps to s, as access number `number`. */
void tile_add_passes(Arena *a, const BankTile *t, const TileAccess *access, int number,
                     Swizzler *s);
/* A swizzler for the tile; NULL if its storage is no multiple of a row of all banks. */
Swizzler *tile_swizzler(Arena *a, const BankTile *t);
/* The bit of an element address that is bit 0 of a word address; negative for elements of
 * 64 bits and more. */
int tile_word_shift(const Layout *l);

#endif
