/* grid_fuse.h: tiles of a transpose whose sides are several loops each, fused: what lies
 * together in the source, and what does in the destination. */
#ifndef RAVEL_GRID_FUSE_H
#define RAVEL_GRID_FUSE_H

#include "grid.h"

enum { FUSE_WORD = 4 };            /* bytes */

/* Sides are SPACE_SRC and SPACE_DST; loops are numbers of the box's. */
typedef struct {
    GridBox *b;
    int chain[2][MAX_LOOPS];       /* of each side: those near one another, inner first */
    int nchain[2];
    int depth[2];                  /* so many of them are the side's runs */
    int planes;                    /* a loop of neither of which a tile has some; or -1 */
    i64 chunk[MAX_LOOPS];          /* of a loop in a tile, 0: it is not in there; only
                                    * the last one of a chain and planes are in parts */
    int order[2][MAX_LOOPS];       /* all loops of a tile: those of runs, then the rest */
    int n;
    i64 run[2], rows[2];           /* elements, of which so many are a tile */
    int word[2];                   /* elements of an access */
    i64 lanes[2];                  /* threads in a row, a power of two */
    int major;            /* the side whose runs are rows of shared memory, */
    i64 pitch, turn;      /* so many elements apart; turn rows of the other side's words
                           * are not neighbours */
    double cost;          /* sectors of both sides, a copy's are 2, and effort */
    const Ex *start[MAX_LOOPS];    /* of the block's tile; NULL: 0 */
    const Ex *src, *dst;  /* where that begins but for start, elements */
} Fuse;

/* grid_fuse_tile.c */
/* Chooses the tile and its place in shared memory; false where none is of use. */
bool fuse_tile(Fuse *f);

/* grid_fuse_bank.c */
/* Elements of a word, at least one. */
int fuse_word(const Fuse *f);
/* Elements that shared memory has room for. */
i64 fuse_room(const Fuse *f);
/* Turns of a thread. */
i64 fuse_turns(const Fuse *f, int side);
/* Rows of shared memory; the least pitch of such, whole words. */
i64 fuse_rows(const Fuse *f);
i64 fuse_pitch(const Fuse *f);
/* Where each loop of the tile is at element x of run number r of a side. */
void fuse_digits(const Fuse *f, int side, const Ex *x, const Ex *r, const Ex **digit);
/* The row and the column of shared memory for such. */
void fuse_place(const Fuse *f, const Ex *const *digit, const Ex **row, const Ex **column);
/* Chooses major, pitch and turn; false where there is no room. */
bool fuse_pitches(Fuse *f);

#endif
