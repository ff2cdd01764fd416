/* frag.h: functions that load the registers of a lane from a tile in memory, or store
 * them.  Other folders use grid.h.
 *
 * A fragment is a layout with the parameters `lanes` and `registers`: its storage has the
 * dimensions fragments, lanes, registers; a register holds one element.  Register j of
 * lane t in fragment f holds the element at address (f*lanes + t)*registers + j, by the
 * inverse of the layout.  The tile's layout gives the address of that element in memory.
 * Registers with adjacent addresses, for every lane, are accessed together. */
#ifndef RAVEL_FRAG_H
#define RAVEL_FRAG_H

#include "grid_parts.h"

/* FRAG_GROUP: the lanes of a group of four warps. */
enum { FRAG_REGISTERS_MAX = 256, FRAG_LANES_MAX = 64, FRAG_GROUP = 128, FRAG_VECTOR_MAX = 128 };

typedef struct {
    int width;            /* bytes: 1 2 4 8 16 */
    const Ex *at;         /* the address, in units of width */
    const Ex *shift;      /* for a single element smaller than a byte: its first bit in the
                           * byte (width is 1); else NULL */
    int n;                /* number of elements */
    int reg[FRAG_VECTOR_MAX];      /* the register of each element, by ascending address */
    const Ex *value[MAX_RANK];     /* the access is done if value[i] < bound[i] for all i */
    i64 bound[MAX_RANK];
    int nvalues;
    int wavefronts, least_wavefronts;      /* in shared memory; all lanes, fragment 0 */
    int sectors, least_sectors;            /* in global memory */
} FragAccess;

typedef struct {
    i64 lanes, fragments;
    int registers;        /* of a lane, in elements */
} FragSize;
/* Of a layout as a fragment; diag_fatal if it is none. */
FragSize frag_size(Arena *a, const Layout *l);

struct Frag {
    bool store;
    const Layout *frag, *tile;
    Exprs *e;
    int lane, fragment;   /* variables t and f */
    i64 lanes, fragments;
    int registers, words; /* the registers of a lane, in elements and in 32-bit words */
    bool padded;          /* some registers hold padding in some lanes */
    int align;            /* required alignment of the tile, in bytes */
    int naccesses;
    FragAccess access[FRAG_REGISTERS_MAX];
};

/* frag_cost.c: sets the wavefronts and sectors of all accesses. */
void frag_cost(Frag *g);

/* frag_stmt.c: the statements of the function: its parameters are the variables f and t
 * and the register words r[0], r[1], ...; the tile is SPACE_TILE. */
GridStmt *frag_statements(const Frag *g);

#endif
