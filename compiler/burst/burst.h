/* burst.h: plans for machines without threads.  Such a machine has a local memory,
 * transfers of whole bursts between it and the buffers, and moves within it.  An example
 * is Ascend (CopyIn, Compute, CopyOut, in blocks of 32 bytes).
 *
 * Each box of a plan is cut into tiles that fit the local memory.  A tile fetches the
 * bursts that contain its part of the source, moves the elements within the local memory,
 * and writes the bursts that contain its part of the destination.  If these bursts also
 * contain other elements, they are fetched first.  Tiles are executed one after another,
 * so a burst that several boxes share is correct.  The function emit_plan in the table of
 * the target writes the text for the tiles (templates/README.md). */
#ifndef RAVEL_BURST_H
#define RAVEL_BURST_H

#include "../gpu/gpu.h"

/* The machine, from the numbers of the table; in bytes, except counts. */
typedef struct {
    i64 burst;            /* a power of two; addresses and sizes are multiples */
    i64 memory;           /* size of the local memory */
    i64 counts;           /* the largest number of transfers in one instruction */
} BurstMachine;

/* A loop of n iterations, with strides in bytes. */
typedef struct {
    i64 n, memory, local; /* strides in the buffer and in local memory */
} BurstStep;

/* One side of a tile: transfers of `bytes` from (to) the buffer's byte `at` on. */
typedef struct {
    const Ex *at, *bytes; /* multiples of a burst */
    const Ex *skip;       /* bytes from `at` to the tile's lowest element */
    int nsteps;
    BurstStep step[MAX_LOOPS];     /* outermost first */
    i64 local, room;      /* offset and size in local memory */
    i64 transfers, most;  /* number of transfers, and bytes of the largest */
    i64 hull;             /* bytes from the lowest element to the end of the highest, in
                           * one transfer */
    bool whole;           /* the bursts contain only elements of the tile */
} BurstSide;

typedef struct { i64 n, to, from; } BurstMove;     /* n iterations, strides in bytes */

typedef struct BurstTile {
    const Nest *nest;
    int nloops;
    struct { const char *name; i64 n; } loop[MAX_LOOPS];
    i64 tiles;            /* the number of iterations of all loops */
    BurstSide side[2];    /* source (unused for fills), destination */
    i64 item;             /* size of a moved item in bytes: 1 2 4 8 16 */
    int nmoves;
    BurstMove move[MAX_LOOPS];     /* outermost first */
    i64 nstarts;          /* the moves are made from each start; .n is unused */
    const BurstMove *start;
    i64 elements;         /* the number of items */
    struct BurstTile *next;
} BurstTile;

typedef struct {
    const Plan *plan;
    BurstMachine m;
    BurstTile *tile;
} BurstPlan;

/* burst.c: the machine of a target; all tiles of a plan.  diag_fatal if the machine
 * cannot execute the plan. */
BurstMachine burst_machine(const Target *t);
BurstPlan *burst_make(const Plan *p, const BurstMachine *m);
/* Print how many bytes the transfers move. */
void burst_explain(Buf *b, const BurstPlan *p, const char *target);

/* burst_lua.c: the text that the target's emit_plan returns. */
const char *burst_emit(const Target *t, const BurstPlan *p, const char *name,
                       const char *command);

/* burst_tile.c: a part of a loop of a box: `n` iterations inside the tile; there are
 * `tiles` of these, `step` apart, from `first` on. */
typedef struct {
    i64 n, step, tiles, first;
} BurstPart;

enum { SOURCE, DESTINATION };
typedef struct {
    const BurstMachine *m;
    GridBox box;
    i64 item;
    /* The loops that occur in the residual of an address are all inside the tile, where each
     * of their iterations is a start, or all outside. */
    bool inside;
    i64 nstarts;
    BurstMove *start;     /* offsets of the starts */
    i64 least[2], most[2];         /* least and greatest offset, by side */
} BurstBox;

/* Choose the extents of the tile that move the fewest bytes; false if no tile fits the
 * local memory. */
bool burst_choose(const BurstBox *b, i64 *extent);
/* Compute a side of a tile, except at, skip, bytes and local.  moves[i] is the stride of
 * loop i in local memory.  False if the transfers are too many for an instruction. */
bool burst_side(const BurstBox *b, const BurstPart *part, int side, BurstSide *out,
                i64 *moves);
/* The stride of loop i in bytes. */
i64 burst_stride(const BurstBox *b, int i, int side);
/* Cut a loop of n iterations in parts of this extent; `tail`: the part that remains. */
BurstPart burst_part(i64 n, i64 extent, bool tail);

#endif
