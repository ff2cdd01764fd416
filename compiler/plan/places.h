/* places.h: the rows of a kernel that reads an index array for each: which loops they are, and how
 * their places follow from their numbers. */
#ifndef RAVEL_PLACES_H
#define RAVEL_PLACES_H

#include "kernel_family.h"

/* Loops along which the numbers of all arrays that vary with them follow each other at one
 * distance: the first is the innermost. */
typedef struct {
    int n, loop[MAX_LOOPS];
    i64 each;             /* the iterations of all but the last */
} NumberLoops;
/* By rows whose numbers vary with as few loops as make a call worth its time; false: by none. */
bool places_loops(const Nest *n, NumberLoops *out);
/* Those that a nest of the kernel has: the last is its rows, the others are its table.  A search
 * would not find the same again, as two arrays can vary with different loops alike. */
NumberLoops places_given(const Nest *n);

/* What is added to the place of a row: `first` times a number, or, of numbers that an array has,
 * their distance in it; and for each quotient its weight times (number + more) / div. */
enum { QUOTIENTS = 16 };
typedef struct {
    i64 first;
    int n;
    i64 most;             /* the numbers are at most this */
    struct { i64 more, div, weight; } quotient[QUOTIENTS];
} PlacePart;
/* Of each side: of the row itself, of its numbers in the first and in the second array. */
enum { PLACE_PARTS = 1 + ROW_LOOKUPS };
/* By quotients of numbers of 32 bits, weights in bytes; false: the places are not such sums.
 * Without terms in `leave`, of both sides, which a table has; NULL: there are none. */
bool places_parts(const Nest *n, const NumberLoops *l, int bits, const Ex *const leave[2],
                  PlacePart out[2][PLACE_PARTS]);
/* Adds a quotient times a weight; false if there is no room. */
bool places_add(PlacePart *p, i64 more, i64 div, i64 weight);
/* The words of a part as templates/c/places.h has them: their number; after those at `out`. */
i64 places_words(const PlacePart *p);
int32_t *places_put(const PlacePart *p, int32_t *out);
/* Whether the places of all rows of a call have 32 bits on that side, in bytes. */
bool places_are_near(const Nest *n, const NumberLoops *l, int side, int bits);
/* Rows in the order of writes, as many in a call as the caches hold. */
bool places_orders(const Plan *p, Nest *n, int k);

#endif
