/* in_place.h: permutations of items within a buffer. */
#ifndef RAVEL_IN_PLACE_H
#define RAVEL_IN_PLACE_H

#include <stdint.h>

#define IN_PLACE_INLINE static inline __attribute__((always_inline))

/* in_place_cycles.c */
/* Permutes items of which `size` bytes are moved, and which lie `item` bytes apart.  The place of
 * an item, as digits of these extents, outermost first, gives by their strides the place where it
 * was before.  `seen` has a bit for each place, all 0; `hold` has room for an item. */
typedef struct {
    unsigned char *at, *hold;
    uint64_t *seen;
    int64_t items, item, size;
    int digits;
    const int64_t *extent, *stride;
} Cycles;
void cycles_run(const Cycles *c);

/* in_place_matrix.c */
/* Transposes a matrix of rows x cols items of `size` bytes, 1, 2, 4, 8 or 16.  `hold` has room
 * for a row and for a column: of `bytes`. */
typedef struct {
    unsigned char *at, *hold;
    int64_t bytes, rows, cols, size;
} Matrix;
void matrix_run(const Matrix *m);

#endif
