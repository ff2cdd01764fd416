/* grid_unit.h: a part of a box that is whole words in the source and in the destination, and
 * whose elements a thread moves between these words in registers. */
#ifndef RAVEL_GRID_UNIT_H
#define RAVEL_GRID_UNIT_H

#include "grid_parts.h"

enum { UNIT_BITS = 512, UNIT_WORDS = UNIT_BITS / WORD_BITS };

typedef struct {
    GridBox *b;
    int bits;             /* of an element */
    int nloops;           /* the loops of the unit are the last ones of the box */
    i64 chunk;            /* iterations of the outermost of them that a unit has */
    i64 first[2];         /* the least address in the unit minus that of iteration 0, by
                           * SPACE_SRC and SPACE_DST, in elements */
    int words[2];         /* of the unit */
    int n;                /* elements of the unit in the destination */
    short from[UNIT_BITS];         /* for each: the element of the source; -1: the fill */
    const char *word[UNIT_WORDS];  /* the variables that have the source's words */
} Words;

/* Finds the unit, and changes the box to a box of units: its loops are those around the
 * unit, and addresses count words.  False, and nothing changes, if there is none. */
bool unit_find(Words *w);

/* grid_compose.c */
/* False if a word of the destination takes too many shifts. */
bool unit_has_few_terms(const Words *w);
/* Adds what word d of the destination needs, and returns it as a term of the source's words. */
const char *unit_word(const Words *w, int d);

#endif
