/* grid_unit.h: a part of a box that is whole words in the source and in the destination, and
 * whose elements a thread moves between these words in registers. */
#ifndef RAVEL_GRID_UNIT_H
#define RAVEL_GRID_UNIT_H

#include "grid_parts.h"

enum { UNIT_BITS = 512 };

typedef struct {
    GridBox *b;
    int nloops;           /* the loops of the unit are the last ones of the box */
    i64 chunk;            /* iterations of the outermost of them that a unit has */
    i64 first[2];         /* the least address in the unit minus that of iteration 0, by
                           * SPACE_SRC and SPACE_DST, in elements */
    int words[2];         /* of the unit */
    int n;                /* elements of the unit in the destination */
    short from[UNIT_BITS];         /* for each: the element of the source; -1: the fill */
} Words;

/* Finds the unit, and changes the box to a box of units: its loops are those around the
 * unit, and addresses count words.  False, and nothing changes, if there is none. */
bool unit_find(Words *w);

#endif
