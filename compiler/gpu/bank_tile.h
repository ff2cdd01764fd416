/* bank_tile.h: a layout as a tile in shared memory, and the accesses of warps to it. */
#ifndef RAVEL_BANK_TILE_H
#define RAVEL_BANK_TILE_H

#include "../layout/layout.h"
#include "swizzle.h"

/* Limits: bytes of a tile, above any existing shared memory; elements of a tile. */
enum { TILE_BYTES_MAX = 256 << 10, TILE_ELEMENTS_MAX = 1 << 22 };

typedef struct TileFragment TileFragment;

/* An access of all lanes.  Each lane accesses `elements` adjacent elements along dim, or
 * the byte that contains an element smaller than a byte.  Consecutive lanes continue along
 * dim, then along the other dims, the last dim first.  32 lanes are a warp; the last warp
 * may have fewer.
 *
 * By ldmatrix, a lane gives a row of 16 bytes along dim, and consecutive lanes continue along
 * the other dims first.
 *
 * Of a fragment: each lane loads its registers, adjacent ones by one access of up to 16 bytes;
 * by ldmatrix each word of a lane's registers is one of a matrix of 8 rows of 16 bytes. */
typedef struct {
    const char *text;     /* for messages: K:16 */
    int dim, bytes;       /* bytes: 1 2 4 8 16; of a fragment as counted: the widest */
    i64 elements;
    bool by_matrix;       /* ldmatrix or stmatrix */
    const TileFragment *fragment;      /* instead of dim; NULL: none */
} TileAccess;

typedef struct {
    const Layout *l;
    i64 elements;         /* the number of elements, without padding */
    i64 *addr;            /* the address of each, in row-major order, in elements */
} BankTile;

enum { TILE_WIDTHS = 5 };

typedef struct {
    i64 warps, wavefronts, ideal;      /* warps: accesses of one */
    /* If wavefronts > ideal: two lanes of the first warp with conflicts, with different
     * words of one bank, and the first element of each. */
    i64 warp, word[2], x[2][MAX_RANK];
    int lane[2], bank;
    /* Of a fragment: their number, that of the witness, and how many of a lane's accesses to
     * one have 1, 2, 4, 8 and 16 bytes.  transposed: by ldmatrix.trans. */
    i64 fragments, fragment;
    int loads[TILE_WIDTHS];
    bool transposed;
} TileCount;

/* The tile is allocated in a and refers to l.  diag_fatal if it is too large. */
BankTile *tile_new(Arena *a, const Layout *l);
/* bank_frag.c: the registers of a fragment of the tile; dim d of frag is dim map[d] of the
 * tile's layout.  diag_fatal if frag is no fragment or is too large. */
const TileFragment *tile_fragment(Arena *a, const BankTile *t, const Layout *frag,
                                  const int *map);
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
