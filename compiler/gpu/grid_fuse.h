/* grid_fuse.h: tiles of a transpose of several short loops.  One set of loops, fused, is
 * contiguous in the source; another set is contiguous in the destination. */
#ifndef RAVEL_GRID_FUSE_H
#define RAVEL_GRID_FUSE_H

#include "grid_parts.h"

enum { FUSE_WORD = 4 };            /* bytes */

/* In arrays of two, the index is SPACE_SRC or SPACE_DST (`side`).  Loops are indices in
 * b->loop. */
typedef struct {
    GridBox *b;
    int chain[2][MAX_LOOPS];       /* the loops that are nearly contiguous, inner first */
    int nchain[2];
    int depth[2];                  /* the first `depth` loops of the chain are the runs */
    int planes;                    /* a loop in no run of which a tile has a part; or -1 */
    i64 chunk[MAX_LOOPS];          /* iterations of each loop in a tile; 0: not in the tile.
                                    * Only planes and the last loop of a run are partial */
    int order[2][MAX_LOOPS];       /* all loops of a tile: those of runs, then the rest */
    int n;                         /* number of loops in a tile */
    i64 run[2], rows[2];           /* elements of a run; runs of a tile */
    int word[2];                   /* elements of an access */
    i64 lanes[2];                  /* threads along a run, a power of two */
    bool spread[2];       /* threads share each loop of the rows, by powers of two: of loop l
                           * 2^bits[l].  Else they share the rows, in their order */
    signed char bits[2][MAX_LOOPS];
    i64 turns[2];         /* accesses of a thread */
    int major;            /* the runs of this side are rows in shared memory */
    i64 pitch, period;    /* elements from one row to the next; the rows of runs r with the
                           * same r % period are adjacent */
    double cost;          /* sectors of both sides (2 for a copy) plus effort */
    const Ex *start[MAX_LOOPS];    /* the first iteration in the block's tile; NULL: 0 */
    const Ex *number[MAX_LOOPS];   /* of the block's chunk of the loop; NULL: it has one */
    bool whole;           /* the statements are for blocks whose chunks are whole */
    const Ex *src, *dst;  /* addresses of the tile without `start`, in elements */
} Fuse;

/* grid_fuse_tile.c */
/* Chooses the tile and its place in shared memory.  False if no tile is useful; `any`: if none
 * is possible. */
bool fuse_tile(Fuse *f, bool any);

/* grid_fuse_bank.c */
/* The elements of a word, at least one. */
int fuse_word(const Fuse *f);
/* The elements that fit shared memory. */
i64 fuse_room(const Fuse *f);
/* Decides how threads share the rows of a side, whose chunks, runs and lanes are known. */
void fuse_spread(Fuse *f, int side);
/* The rows in shared memory; their least pitch, a multiple of a word. */
i64 fuse_rows(const Fuse *f);
i64 fuse_pitch(const Fuse *f);
/* The iteration of each loop of the tile at element x of a run of a side: the one of the
 * threads' row number `row` in turn k. */
void fuse_digits(const Fuse *f, int side, const Ex *x, const Ex *row, const Ex *k,
                 const Ex **digit);
/* The row of these, counted in their order; for rows that are not spread. */
const Ex *fuse_row(const Fuse *f, int side, const Ex *row, const Ex *k);
/* The row and the column in shared memory for these iterations. */
void fuse_place(const Fuse *f, const Ex *const *digit, const Ex **row, const Ex **column);
/* Chooses major, pitch and period.  False if shared memory is too small. */
bool fuse_pitches(Fuse *f);

#endif
