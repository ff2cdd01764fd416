/* bank_walk.h: the accesses of warps to a tile, one after the other. */
#ifndef RAVEL_BANK_WALK_H
#define RAVEL_BANK_WALK_H

#include "bank_tile.h"
#include "frag.h"

/* Registers that a lane accesses together, by ascending address. */
typedef struct {
    int bytes, n, reg[FRAG_VECTOR_MAX];
} RegisterLoad;

typedef struct {
    int n;
    bool transposed;      /* of ldmatrix */
    RegisterLoad load[FRAG_REGISTERS_MAX];
} RegisterLoads;

typedef struct {
    Arena *arena;
    const BankTile *t;
    const TileAccess *access;
    /* The current access of a warp: the first element of each active lane, and its address
     * in bytes. */
    int n, bytes;
    uint64_t active;
    i64 element[WARP], addr[WARP];
    i64 fragment;
    bool done;
    /* Along the dims. */
    int rank, order[MAX_RANK];     /* dims, the fastest first */
    int along;                     /* the place of the access's dim in `order` */
    i64 extent[MAX_RANK];          /* by order; that of `along` in vectors */
    i64 step[MAX_RANK];            /* by order; row-major strides in elements */
    i64 x[MAX_RANK], vector;       /* vector: elements for each lane */
    /* Of a fragment: what is next. */
    const RegisterLoads *loads;
    i64 f;
    int load, lane;
} WarpWalk;

/* bank_walk.c */
WarpWalk walk_start(Arena *a, const BankTile *t, const TileAccess *access);
/* Moves to the next access of a warp; false after the last. */
bool walk_next(WarpWalk *w);

/* bank_lane.c */
_Noreturn void walk_no_vector(const WarpWalk *w, const char *why, i64 first, i64 other);
/* Adds a lane to the current access, which begins at this element. */
void walk_lane(WarpWalk *w, int lane, i64 element);
/* The coordinates of an element of the tile. */
void walk_point(const BankTile *t, i64 element, i64 *x);

/* bank_frag.c */
i64 fragment_count(const TileFragment *f);
void fragment_start(WarpWalk *w);
bool fragment_next(WarpWalk *w);

#endif
