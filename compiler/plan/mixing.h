/* mixing.h: terms of an address that have the number of a row and something else that varies, as an
 * exclusive or of it and a loop. */
#ifndef RAVEL_MIXING_H
#define RAVEL_MIXING_H

#include "places.h"

typedef struct {
    bool in[MAX_LOOPS];   /* the loops that these terms have */
    i64 entries;          /* the product of their iterations */
    /* The terms are functions of these loops and of number // each % size; a number that is in
     * none of them has the size 1. */
    struct { i64 each, size; } of[2][MAX_LOOKUPS];
    i64 classes;          /* the product of the sizes */
} Mixing;
/* False if there are no such terms, or if they have more than rows and loops have. */
bool mixing_of(const Nest *n, const NumberLoops *l, Mixing *out);
/* The terms of a side that have one of those loops or are such terms. */
const Ex *mixing_terms(const Nest *n, const NumberLoops *l, const Mixing *m, int side);

#endif
