/* plan_in_place.h: the conversion of a buffer within itself, in at most 3 passes. */
#ifndef RAVEL_PLAN_IN_PLACE_H
#define RAVEL_PLAN_IN_PLACE_H

#include "plan_model.h"

enum { IN_PLACE_PASSES = 3, PASS_DIGITS = MAX_LOOPS + 4 };
/* The largest block, in bytes.  A thread needs scratch memory of this size. */
enum { IN_PLACE_BYTES = 512 << 10 };
typedef struct {
    i64 n;                /* the number of parts of the buffer, which are done one by one */
    i64 bytes;            /* of a part */
    enum {
        PASS_BLOCKS,      /* a part is converted by way of scratch */
        PASS_CYCLES,      /* its items are permuted, by the cycles of the permutation */
        PASS_MATRIX       /* ... which transposes extent[1] rows of extent[0] items: by rows and
                           * columns, of which each fits the scratch */
    } kind;
    /* The conversion of a part: */
    const char *from, *to;
    int rank;
    const i64 *shape;
    /* The permutation: the place of an item, as digits, outermost first; stride[] leads to the
     * place where the item was before, in items. */
    i64 item;             /* bytes */
    int digits;
    i64 extent[PASS_DIGITS], stride[PASS_DIGITS];
} InPlacePass;
typedef struct {
    int n;
    InPlacePass pass[IN_PLACE_PASSES];
} InPlace;
/* By the digits of both sides.  False if they are not digits that fill the storage, or if items
 * of the permutation would not be whole bytes.  *out and its texts are in p's arena. */
bool plan_in_place(const Plan *p, InPlace *out);
/* The bytes of scratch memory: at least 8. */
i64 in_place_room(const InPlace *how);
/* Whether each slot of the destination is written. */
bool plan_writes_all(const Plan *p);

#endif
