/* grid_tile.h: tiles of a transpose in shared memory, for the rows `tile` (by vectors),
 * `shift` (by words at any address) and `edge` (by elements).  Names of variables for the values of a thread begin with capitals,
 * names of loops do not. */
#ifndef RAVEL_GRID_TILE_H
#define RAVEL_GRID_TILE_H

#include "grid_parts.h"

/* x is the loop along the runs of the source, y along those of the destination.  If x and
 * y together are smaller than a tile, z is one of the other loops, else NULL. */
typedef struct {
    GridBox *b;
    const GridLoop *x, *y, *z;
    int m, each, width;            /* elements of a vector; blocks of m by m elements for
                                    * each thread; bytes of a vector */
    int wx, wy;                    /* by elements: elements of an access along x, along y */
    bool whole;                    /* the statements are for blocks whose tile is whole */
    i64 margin, overlap;           /* elements that must follow a whole tile: along x so that
                                    * words end inside the source; those along y are loaded
                                    * by two tiles */
    const char *value;             /* the variable to be stored */
    i64 tx, ty, tz;                /* vectors of a tile along x, y; elements along z */
    const Ex *nx, *ny, *nz, *others;        /* number of tiles; of iterations of the rest */
    const Ex *i, *j, *l;           /* the index of the block's tile along x, y, z */
    const Ex *src, *dst;           /* addresses of x = y = z = 0 in the block, elements */
    int shift[TILE_BITS_MAX];      /* the swizzle: a xor of terms (c >> shift) & mask */
    i64 mask[TILE_BITS_MAX];
    int nswizzles;
} GridTile;

/* grid_edge.c */
/* Finds x and y.  False if the box is no transpose. */
bool tile_loops(GridTile *t);
/* The least power of two that is at least n, and at most `most`, a power of two. */
i64 tile_power(i64 n, i64 most);
/* The iterations after which so many more follow. */
const Ex *tile_followed(GridBox *b, const Ex *n, i64 more);
/* Adds the two phases and the barrier between them; reserves `bytes` of shared memory. */
void tile_phases(GridTile *t, i64 bytes, void (*load)(GridTile *), void (*store)(GridTile *));

/* grid_shift.c */
/* True if the runs of the destination begin inside of sectors, and grid_shift stores it by whole
 * sectors nevertheless: then vectors would be slower. */
bool grid_shifts_sectors(GridBox *b);
/* True if grid_shift applies, and loads rows of the source by whole words: then loads of one
 * element would be slower. */
bool grid_shifts_rows(GridBox *b);

/* grid_tile.c */
/* True if grid_tile applies to elements of the box's size. */
bool grid_tiles(GridBox *b);
/* grid_permute.c */
/* Adds a G_PERMUTE of the words x and y that defines name. */
const char *tile_permute(GridBox *b, const char *name, const char *x, const char *y,
                         uint32_t pattern);
/* Adds a G_FUNNEL of the words x and y that defines name; x itself if `at` is 0. */
const char *tile_funnel(GridBox *b, const char *name, const char *x, const char *y,
                        const Ex *at);
/* Transposes 32 / bits words of as many elements of at most 16 bits: afterwards word c has
 * element c of each. */
void tile_transpose(GridBox *b, int bits, const char **word);
/* Element i, of `size` bytes, of a word, moved to its low bytes. */
const char *tile_part(GridBox *b, const char *word, int size, int i);
/* A word made of n such elements. */
const char *tile_joined(GridBox *b, const char *const *part, int size, int n);
/* Word number `word` of a vector. */
const char *tile_word(GridBox *b, const char *vector, int width, int word);

#endif
