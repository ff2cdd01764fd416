/* butterfly.h: programs of the kernel butterfly, which exchanges address bits of a tile.
 *
 * Where the elements of a tile are a power of two, and each bit of their number adds a constant
 * to both addresses, these bits are the tile's axes.  A vector of 64 bytes holds some of them:
 * those that are contiguous on a side, and more if these have less than 64 bytes.  The others
 * number the vectors.  A stage takes two vectors that differ in one axis, and exchanges this
 * axis with one inside the vectors, as in a butterfly network: after so many stages as
 * the two sides' vectors have different axes, vectors of the source are vectors of the
 * destination.  The first stages exchange bits within bytes, the others bytes; the last one also
 * orders these. */
#ifndef RAVEL_BUTTERFLY_H
#define RAVEL_BUTTERFLY_H

#include "../../templates/c/butterfly_size.h"
#include "shuffle.h"

enum {
    STAGES = RAVEL_STAGES,
    PLACES = 9,           /* address bits of a vector, of which BYTE_PLACES in a byte */
    BYTE_PLACES = 3,
    PIECE_PLACES = 7,     /* of the shortest run: 16 bytes */
    AXES_MAX = 14,
    NO_AXIS = -1,
    VECTOR = 64           /* bytes */
};

/* The axis `out` leaves the vectors, `in` gets its place. */
typedef struct {
    int out, in, place;
} Stage;

typedef struct {
    ShuffleTile tile;
    i64 elements, start[2], axis[2][AXES_MAX];     /* SRC and DST, in bits */
    int axes, unit;                    /* unit: places within an element */
    int at[2][PLACES], run[2];         /* axes of a vector; the places that are contiguous */
    int ordered[PLACES];               /* ... and as the stages leave them */
    Stage stage[STAGES];
    int stages, mixes;                 /* mixes: of these within bytes */
} Butterfly;

/* False if the nest has no such program. */
bool butterfly_make(const Nest *n, int bits, Butterfly *f);
/* The words of the program as templates/c/butterfly.c reads them; their number. */
i64 butterfly_words(const Butterfly *f);
void butterfly_put(const Butterfly *f, int32_t *out);
/* Whether the vectors of a side have an axis. */
bool butterfly_has(const Butterfly *f, int side, int axis);
/* log2 of the pieces that a vector has on a side. */
int butterfly_pieces(const Butterfly *f, int side);

#endif
