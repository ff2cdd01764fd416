/* grid_tile.h: tiles of a transpose in shared memory, for the rows that do it by vectors
 * and by elements.  Several values of a thread are in variables with capitals, which no
 * loop's name has. */
#ifndef RAVEL_GRID_TILE_H
#define RAVEL_GRID_TILE_H

#include "grid.h"

/* x along the source's runs, y along the destination's; z, of tiles that are wider than
 * x and y together, is one of the other loops, or NULL. */
typedef struct {
    GridBox *b;
    const GridLoop *x, *y, *z;
    int m, each, width;            /* elements and bytes of a vector; a thread's */
    int wx, wy;                    /* by elements: so many in an access along x, y */
    const char *value;             /* what is to be stored */
    i64 tx, ty, tz;                /* vectors of a tile, along z elements */
    const Ex *nx, *ny, *nz, *others;        /* tiles; and of the other loops */
    const Ex *i, *j, *l;           /* which */
    const Ex *src, *dst;           /* where the block's x = y = z = 0 is, elements */
    int shift[TILE_BITS_MAX];      /* the swizzle: xor (c >> shift) & mask, each */
    i64 mask[TILE_BITS_MAX];
    int nswizzles;
} Tile;

/* grid_edge.c */
/* Finds x and y; false where the box is no transpose. */
bool tile_loops(Tile *t);
/* The phases, with a barrier between, by so many bytes of shared memory. */
void tile_phases(Tile *t, i64 bytes, void (*load)(Tile *), void (*store)(Tile *));

/* grid_tile.c */
/* Elements of the box that begin at multiples of m and are whole vectors, in the buffer;
 * the last one of the source's runs may have some of none. */
bool tile_ends_inside(const GridBox *b, const GridLoop *run, i64 m);
/* name = bytes of x and y, a word: G_PERMUTE, G_NIBBLES. */
const char *tile_permute(GridBox *b, GridKind kind, const char *name, const char *x,
                         const char *y, uint32_t pattern);
/* Element i of `size` bytes of a word, in its low ones; and a word of n such. */
const char *tile_part(GridBox *b, const char *word, int size, int i);
const char *tile_joined(GridBox *b, const char *const *part, int size, int n);
/* Word number `word` of a vector. */
const char *tile_word(GridBox *b, const char *vector, int width, int word);

#endif
