/* composite.h: tiles for the kernels composite, which do any permutation of digits of whole
 * elements.
 *
 * The source run of a tile is some loops that move on and on through the source, the last
 * of them in part; the destination run is the same on the other side.  The tile is their
 * union.  A block of it is as many elements of the source in a row, its rows, as columns
 * of elements in a row in the destination: a network turns it in registers.  The method:
 * blocks that are contiguous on both sides, as in P. Springer, T. Su and P. Bientinesi,
 * "HPTT" (2017), by offsets in tables, so that rows and columns may be of several loops. */
#ifndef RAVEL_COMPOSITE_H
#define RAVEL_COMPOSITE_H

#include "plan.h"

/* Loops of a run, in order of their stride; elements that they make in a row; of them
 * the loops that a block's rows, or columns, are, and how many these are. */
typedef struct {
    int n, loop[MAX_LOOPS];
    i64 run;
    int used;
    i64 count;
} TileSide;

typedef struct {
    int kept;             /* bytes that stay together */
    int kept_loop;        /* -1: they are one element */
    i64 taken[MAX_LOOPS]; /* iterations of each loop in a tile */
    TileSide side[2];     /* SRC: rows; DST: columns */
    i64 elements, inner;  /* of a tile; blocks of rows and columns */
    i64 pitch;            /* bytes from a run to the next in the buffer; 0: no buffer */
    int role[ROLES];      /* of which loops the kernel runs the tiles, or -1 */
    double cost;          /* nanoseconds an element in registers, roughly */
} Composite;

/* composite_tile.c: whether so many bytes that stay together are moved one run at a time,
 * and not turned in registers as elements of 1, 2, 4 or 8 bytes. */
bool composite_moves(int kept);
/* Bytes that stay together; 0: other kernels have longer runs. */
int composite_kept(const Nest *n, int bits);
/* The tile of elements of `bits` bits, by way of a buffer or not; false
 * where there is none. */
bool composite_make(const Nest *n, int bits, bool buffer, Composite *c);

/* composite_table.c: the words of a tile, as templates/c/composite_tile.h reads them. */
i64 composite_words(const Composite *c);
void composite_table(const Nest *n, int bits, const Composite *c, int32_t *out);

#endif
