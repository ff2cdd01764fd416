/* burst.h: plans for machines without threads: a local memory that is filled and emptied
 * by transfers of whole bursts, and that permutes what is in it; Ascend's, for one
 * (CopyIn, Compute, CopyOut, in blocks of 32 bytes).
 *
 * Each box of a plan is cut into tiles that fit the local memory.  A tile fetches the
 * bursts that its part of the source lies in, moves the elements within the local
 * memory, and writes the bursts of its part of the destination; where these hold more
 * than the tile's elements they are fetched first.  Tiles are done one after another,
 * so what boxes share stays right.  What a target makes of the tiles is its emit_plan's,
 * a function in its table (templates/README.md). */
#ifndef RAVEL_BURST_H
#define RAVEL_BURST_H

#include "../gpu/grid.h"
#include "../emit/emit.h"

/* The machine, of the table's numbers: in bytes but for counts. */
typedef struct {
    i64 burst;            /* a power of two; addresses and sizes are multiples */
    i64 memory;           /* local */
    i64 counts;           /* transfers of one instruction at most */
} BurstMachine;

/* n times, so many bytes on. */
typedef struct {
    i64 n, memory, local; /* of transfers: in memory, in local memory */
} BurstStep;

/* One side of a tile: transfers of `bytes` from (to) the buffer's byte `at` on. */
typedef struct {
    const Ex *at, *bytes; /* multiples of a burst */
    const Ex *skip;       /* bytes of it before the tile's lowest element */
    int nsteps;
    BurstStep step[MAX_LOOPS];     /* outermost first */
    i64 local, room;      /* where in local memory, and how much of it */
    i64 transfers, most;  /* how many, of so many bytes at most */
    i64 hull;             /* bytes from the lowest element to the end of the highest, in
                           * one transfer */
    bool whole;           /* nothing but the tile's elements is in it */
} BurstSide;

typedef struct { i64 n, to, from; } BurstMove;     /* n times, bytes on */

typedef struct BurstTile {
    const Nest *nest;
    int nloops;
    struct { const char *name; i64 n; } loop[MAX_LOOPS];
    i64 tiles;            /* all turns of the loops */
    BurstSide side[2];    /* the source's (not of fills), the destination's */
    i64 item;             /* bytes that are moved at once: 1 2 4 8 16 */
    int nmoves;
    BurstMove move[MAX_LOOPS];     /* outermost first */
    i64 nstarts;          /* from each of these: .n is nothing */
    const BurstMove *start;
    i64 elements;         /* items */
    struct BurstTile *next;
} BurstTile;

typedef struct {
    const Plan *plan;
    BurstMachine m;
    BurstTile *tile;
} BurstPlan;

/* burst.c: the machine of a target; all tiles of a plan.  diag_fatal where the machine
 * cannot do it. */
BurstMachine burst_machine(const Target *t);
BurstPlan *burst_make(const Plan *p, const BurstMachine *m);
/* What the transfers move, for people. */
void burst_explain(Buf *b, const BurstPlan *p, const char *target);

/* burst_lua.c: what the target's emit_plan returns. */
const char *burst_emit(const Target *t, const BurstPlan *p, const char *name,
                       const char *command);

/* burst_tile.c: a box, and how its loops are cut: in the tile the extent `n`, outside
 * `turns` by `step` from `first` on. */
typedef struct {
    i64 n, step, turns, first;
} BurstPart;

enum { SOURCE, DESTINATION };
typedef struct {
    const BurstMachine *m;
    GridBox box;
    i64 item;
    /* The loops that occur in the rest of an address are all inside the tile, where
     * each of their turns is a start, or all outside. */
    bool inside;
    i64 nstarts;
    BurstMove *start;     /* offsets, as the addresses say */
    i64 least[2], most[2];         /* of these */
} BurstBox;

/* The extents in the tile that move the least bytes; false where the local memory holds
 * none. */
bool burst_choose(const BurstBox *b, i64 *extent);
/* The side of a tile, but for at, skip, bytes and local; *moves[i] is what loop i steps
 * by in local memory.  False where an instruction cannot have as many transfers. */
bool burst_side(const BurstBox *b, const BurstPart *part, int side, BurstSide *out,
                i64 *moves);
/* Bytes that loop i moves on by. */
i64 burst_stride(const BurstBox *b, int i, int side);
/* The loops that are cut, in parts of that extent. */
BurstPart burst_part(i64 n, i64 extent, bool tail);

#endif
