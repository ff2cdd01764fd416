/* decide_gf2.h: linear algebra over GF(2), on rows of up to 64 bits. */
#ifndef RAVEL_DECIDE_GF2_H
#define RAVEL_DECIDE_GF2_H

#include <stdint.h>

/* Gauss-Jordan elimination in place, without swaps.  Afterwards pivot[c] is the only row
 * with bit c, or -1; rows that are no pivot are zero.  Returns the rank.  `added`,
 * unless NULL, is called whenever row `from` is added to row `to`, so that the caller
 * can apply the same operation to right-hand sides. */
typedef void Gf2Added(void *arg, int to, int from);
int gf2_eliminate(uint64_t *row, int rows, int columns, int *pivot, Gf2Added *added,
                  void *arg);

#endif
