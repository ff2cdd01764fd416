/* shuffle.h: programs for the kernel shuffle, which permutes the bytes, and the parts of
 * bytes, of a tile.
 *
 * A tile is some loops of a nest and a chunk of one more, its rows.  What is written of
 * it is cut into lanes of 16 bytes.  A lane is the union of terms: 16 bytes of the source,
 * its window, of which a byte shuffle (PSHUFB, TBL) picks some; of elements smaller than a
 * byte then shifted and masked.  The method: tables of shuffles, as in D. Lemire and
 * L. Boytsov, "Decoding billions of integers per second through vectorization" (2015),
 * with the shifts of oneDNN's and Marlin's packers made terms. */
#ifndef RAVEL_SHUFFLE_H
#define RAVEL_SHUFFLE_H

#include "plan.h"

enum {
    LANE = 16,            /* bytes */
    GROUP = 4,            /* lanes of a row of the program: 64 bytes */
    TILE_BYTES = 1024,
    TILE_ELEMENTS = 2048,
    LANES_MAX = TILE_BYTES / LANE,
    SHIFTS = 15           /* -7 to 7 bits */
};

/* Which loops of a nest a tile does whole; how many iterations of the loop `row` it does,
 * row -1: there is none, chunk 1. */
typedef struct {
    bool in[MAX_LOOPS];
    int row;
    i64 chunk;
} Tile;

/* The elements of a tile in rising order in the destination, both sides in bits from the
 * byte in which the tile starts; the lanes, in bytes from there. */
typedef struct {
    int bits, n, nlanes;
    int32_t dst[TILE_ELEMENTS], src[TILE_ELEMENTS];
    int32_t first, end;   /* bytes of the source that are read, end not included */
    int32_t lane[LANES_MAX];
    int16_t element[LANES_MAX];    /* the first of the lane */
    bool lines;           /* groups of lanes are 64 bytes in a row */
} Bits;

/* What all groups of lanes have: so many terms of whole bytes, and so many of each shift,
 * to the left by shift - 7 bits. */
typedef struct {
    int whole, shifted[SHIFTS], masked;
} Terms;

/* shuffle_tile.c: false where there is no tile. */
bool shuffle_tile(const Nest *n, int bits, Tile *t);
/* The elements and lanes of the tile; false where it has no whole lanes. */
bool shuffle_bits(const Nest *n, const Tile *t, int bits, Bits *out);

/* shuffle_program.c: the terms; false where there are too many. */
bool shuffle_terms(const Bits *b, Terms *out);
/* The words of the program, as templates/c/shuffle.c reads it; their number. */
i64 shuffle_words(const Bits *b, const Terms *t);
void shuffle_program(const Bits *b, const Terms *t, i64 chunk, int32_t *out);

#endif
