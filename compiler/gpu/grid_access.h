/* grid_access.h: the cost of a kernel's accesses, computed from its expressions without a
 * device. */
#ifndef RAVEL_GRID_ACCESS_H
#define RAVEL_GRID_ACCESS_H

#include "grid.h"

/* All accesses of one block that have the same memory, direction and width. */
typedef struct {
    Space space;
    bool store;
    int width;            /* bytes for each lane */
    i64 requests;         /* instructions of warps with an active lane */
    i64 sectors, ideal;   /* global: sectors of 32 bytes, over all requests; shared:
                           * wavefronts, and wavefronts without bank conflicts */
    i64 unique;           /* global: distinct sectors of the block */
    i64 least;            /* global: the fewest sectors for the bytes of the block */
} BlockAccess;

extern const char *const grid_spaces[];        /* names, by Space */
enum { ACCESS_KINDS = 16 };
/* The accesses of block number `block` of the box; returns their number, at most max.
 * Lanes and banks are those of banks_usual. */
int grid_access(const GridUnit *u, const GridStmt *box, i64 block, BlockAccess *out,
                  int max);

/* Prints the kernel, its boxes, and the accesses of the first block of each box, and of
 * the last block if it has fewer. */
void grid_explain(Buf *b, const GridUnit *u, const char *target);

#endif
