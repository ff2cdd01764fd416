/* reference_bits.h: comparisons of elements below a byte, many at once. */
#ifndef RAVEL_REFERENCE_BITS_H
#define RAVEL_REFERENCE_BITS_H

#include "reference.h"

/* Whether a patch is contiguous along one dim in the destination and along the other in the
 * source, in whole bytes. */
bool bits_turn(const ReferencePatch *r, int bits);
/* Whether the elements of such a patch are the same. */
bool bits_turned_same(const unsigned char *dst, const unsigned char *src,
                      const ReferencePatch *r, int bits);
/* reference_grid.c */
/* Whether the elements of a grid are.  `bytes` of dst can be read.  False where nothing is known
 * too. */
bool bits_grid_same(const unsigned char *dst, i64 bytes, const unsigned char *src,
                    const ReferenceGrid *r, int bits);

#endif
