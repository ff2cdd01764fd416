/* grid_access.h: what a kernel's accesses cost, from its expressions: no device is
 * asked. */
#ifndef RAVEL_GRID_ACCESS_H
#define RAVEL_GRID_ACCESS_H

#include "grid.h"

/* All accesses of one kind that one block makes: of one box, memory and width. */
typedef struct {
    Space space;
    bool store;
    int width;            /* bytes a lane */
    i64 requests;         /* instructions of a warp with an active lane */
    i64 sectors, ideal;   /* global: of 32 bytes, over all requests; shared: wavefronts,
                           * and as many as without conflicts of banks */
    i64 unique;           /* global: sectors of the block, each once ... */
    i64 least;            /* ... and the fewest that its bytes fill */
} BlockAccess;

extern const char *const grid_spaces[];        /* their names */
enum { ACCESS_KINDS = 16 };
/* Block number `block` of the box: the number of kinds, at most max.  Lanes and banks are
 * those of banks_usual. */
int grid_access(const GridUnit *u, const GridStmt *box, i64 block, BlockAccess *out,
                  int max);

/* For people: the kernel, its boxes, and what the first block of each does, and the last,
 * where that does less. */
void grid_explain(Buf *b, const GridUnit *u, const char *target);

#endif
