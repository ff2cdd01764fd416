/* decide_gf2.h: linear algebra over GF(2), on rows of up to 64 bits. */
#ifndef RAVEL_DECIDE_GF2_H
#define RAVEL_DECIDE_GF2_H

#include <stdint.h>

/* Gauss-Jordan elimination in place, without swaps: pivot[c] is the one row that has bit
 * c then, -1 where there is none; all other rows are zero.  Returns the rank.  Whenever row
 * `from` is added to row `to`, `added` is told, so that right sides of any kind can
 * follow; NULL: there are none. */
typedef void Gf2Added(void *arg, int to, int from);
int gf2_eliminate(uint64_t *row, int rows, int columns, int *pivot, Gf2Added *added,
                  void *arg);

#endif
