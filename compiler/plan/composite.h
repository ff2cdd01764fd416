/* composite.h: tiles for the kernels composite, which do any permutation of digits of whole
 * elements, and unpacked, which do it with elements smaller than a byte: a tile of these has
 * a byte for each, which a run is unpacked to when it is read and packed from when it is
 * written; or a byte of one side (composite_pair.c).
 *
 * The source run of a tile is a set of loops that together are contiguous in the source; of
 * the last one the tile may have a part.  The destination run is the same for the
 * destination.  The tile has the loops of both.  It is divided into square blocks: the rows
 * of a block are contiguous in the source, its columns in the destination.  A network
 * transposes a block in registers.  The method: blocks that are contiguous on both sides,
 * as in P. Springer, T. Su and P. Bientinesi, "HPTT" (2017).  Offsets are in tables, so
 * rows and columns may consist of several loops.
 *
 * Loops in the residual of an address, as those of a swizzle, are in the tile as a whole.  A
 * tile has a part, with tables of its own, for each value of those that are apart: neither rows
 * nor columns or, where runs are unpacked, in neither run. */
#ifndef RAVEL_COMPOSITE_H
#define RAVEL_COMPOSITE_H

#include "kernel_family.h"

/* A run of a tile. */
typedef struct {
    int n, loop[MAX_LOOPS];        /* its loops, in order of their stride */
    i64 run;              /* contiguous elements, with padding among them */
    i64 held;             /* those of them that the tile has */
    i64 whole;            /* contiguous elements together with loops in the residual */
    int used;             /* the first `used` of these loops are a block's rows (columns) */
    i64 count;            /* the number of rows (columns) in these */
} TileSide;

/* The loops in the residual of an address. */
typedef struct {
    int n, loop[MAX_LOOPS];        /* 0: the tile has none */
    bool varies[2][MAX_LOOPS];     /* the residual of the side varies with the loop */
    const Ex *x[2];       /* the terms of the addresses */
} TileResidual;

/* What all values of the loops that vary an address add to it, in rising order. */
enum { TILE_PLACES = 256 };
typedef struct {
    int n[2];
    i64 at[2][TILE_PLACES];
} TilePlaces;

typedef struct {
    int unit;             /* bytes of an element in a tile */
    int per;              /* elements of a byte of memory if these are smaller, else 1 */
    int whole;            /* the side whose bytes are the elements of the tile (composite_pair); -1 */
    int pair;             /* then the loop whose iterations share bytes there, two and two ... */
    i64 apart;            /* ... and how far apart the two are on the other side */
    bool ragged;          /* a tile in the caches writes rows that begin within lines */
    bool coupled;         /* columns of a block share bytes of the buffers, two and two */
    bool permutes;        /* as in PlanMachine */
    int kept;             /* bytes that are contiguous on both sides */
    int kept_loop;        /* the loop over them; -1: they are one element */
    bool skip[MAX_LOOPS]; /* this loop, and those that no tile takes */
    i64 taken[MAX_LOOPS]; /* iterations of each loop in a tile */
    TileSide side[2];     /* SRC: rows; DST: columns */
    i64 elements, inner;  /* of a tile; blocks of rows and columns of a part */
    i64 parts;            /* of a tile */
    TileResidual residual;
    i64 pitch;            /* bytes from a run to the next in the buffer; 0: no buffer */
    i64 from;             /* the same of unpacked runs of the source; 0: they stay there */
    int role[ROLES];      /* of which loops the kernel runs the tiles, or -1 */
    TableScalars scalars; /* those in the strides of its loops */
    double cost;          /* nanoseconds an element in registers, roughly */
} Composite;

/* composite_made.c: the bytes that are contiguous on both sides; 0: other kernels have longer runs. */
int composite_kept(const Nest *n, int bits);
/* Makes the tile for elements of `bits` bits, with a buffer or without; false if there is
 * none. */
bool composite_make(const Nest *n, int bits, bool buffer, Composite *c);

/* composite_tile.c: of a few runs' lengths those that take least; false if no tile fits.  places: NULL
 * if the tile has no loop in the residual. */
bool composite_find(const Nest *n, const TilePlaces *places, Composite *c);

/* composite_loops.c: a loop with numbers; or, if the nest assumes that offsets are near, with
 * strides and a count that depend on the shape. */
bool composite_is_plain(const Nest *n, const Loop *l);
/* Whether the tile takes all iterations of a loop, at every shape. */
bool composite_takes_all(const Nest *n, const Composite *c, int loop);
/* The loop that continues a run of `run` elements; -1: there is none. */
int composite_next(const Nest *n, const Composite *c, int side, i64 run);
bool composite_has(const TileResidual *r, int loop);
/* Whether the loop is one of the first n of the side. */
bool composite_among(const TileSide *s, int n, int loop);
/* Whether the tile has a part for each value of the loop. */
bool composite_apart(const Composite *c, int loop);
i64 composite_parts(const Composite *c);

/* composite_block.c: true if `kept` contiguous bytes are moved one run at a time and not
 * transposed in registers, as elements of 1, 2, 4 and 8 bytes are. */
bool composite_moves(int kept);
/* How many loops of the runs are rows and columns: what takes least. */
void composite_block(Composite *c);

/* composite_residual.c: finds the loops in the residual; false if there are none that a tile
 * can have. */
bool composite_residual(const Nest *n, TileResidual *r, TilePlaces *p);
/* The elements that are contiguous where runs of `run` elements begin at the places. */
i64 composite_reach(const TilePlaces *p, int side, i64 run);
/* What the residual adds to an address, in elements; val: the values of the variables. */
i64 composite_added(const TileResidual *r, int side, const i64 *val);

/* composite_pair.c: sets *half to the nest whose elements are the bytes of a side, which have
 * two elements of n each: the strides of that side are in bytes, those of the other one in elements
 * of n.  False if some bytes are not whole. */
bool composite_pair(const Nest *n, int side, Nest *half, Composite *c);
/* The nest of which c is a tile: n or *half. */
const Nest *composite_of(const Nest *n, const Composite *c, Nest *half);
/* How many iterations of n one of a tile is. */
int composite_each(const Composite *c, int loop);
/* Nanoseconds an element of n in registers. */
double composite_cost(const Composite *c);
/* What a tile takes of the loop with that role. */
i64 composite_chunk(const Composite *c, int role);
/* Lets columns share bytes; false if the kernel has no such tiles of the nest. */
bool composite_couple(const Nest *n, Composite *c);
/* The columns of a block that a tile of these has in the buffers: those of bytes. */
i64 composite_columns(i64 cols, const Composite *c);
/* The runs of a side in a part; those elements of a source's run that are read.  Of coupled columns:
 * two of them, as one run; a row, as one. */
i64 composite_count(const Composite *c, int side);
i64 composite_read(const Composite *c);

/* composite_table.c: the words of a tile, as templates/c/composite_tile.h reads them.  They are
 * linear in the scalars: the words without them, or those that a scalar is multiplied with. */
i64 composite_words(const Composite *c);
void composite_table(const Nest *n, const Composite *c, const Atom *scalar, int32_t *out);

#endif
