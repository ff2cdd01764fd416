/* shuffle.h: programs for the kernel shuffle, which permutes the bytes, and the parts of
 * bytes, of a tile.
 *
 * A tile is some loops of a nest, among them all that are in the residual of an address, and
 * chunks of two more, its rows and columns.  Its part
 * of the destination is cut into lanes of 16 bytes.  A lane is the union of terms: 16
 * bytes of the source, the window, of which a byte shuffle (PSHUFB, TBL) picks some; of
 * elements smaller than a byte then shifted and masked.  The method: byte shuffles whose
 * control is a table, as in D. Lemire and L. Boytsov, "Decoding billions of integers per
 * second through vectorization" (2015). */
#ifndef RAVEL_SHUFFLE_H
#define RAVEL_SHUFFLE_H

#include "../../templates/c/shuffle_size.h"
#include "kernel_family.h"

enum {
    LANE = 16,            /* bytes */
    QUAD = 4,             /* lanes of a row of the program: 64 bytes */
    TILE_ELEMENTS = 2048,
    LANES_MAX = RAVEL_SHUFFLE_BYTES / LANE,
    SHIFTS = 15,          /* -7 to 7 bits */
    WORD = LANE / 4,      /* words of a lane */
    WINDOWS = 8,          /* for a row of the program */
    PASSES = 3
};

/* Numbers that are all sums of a multiple of each step, below `n` of it; steps rise. */
typedef struct {
    int nsteps;
    struct { i64 n, step; } of[MAX_LOOPS];
} Sums;

/* The loops in the residual of an address, as one list of what all their values add to the
 * addresses, in elements; it rises in the destination. */
typedef struct {
    int n;                /* 1: no loop is in the residual */
    i64 to;               /* in the destination: the first, and from that on ... */
    Sums side[2];         /* ... these; in the source none where it has no such form */
    int32_t src[TILE_ELEMENTS];
} Residual;

/* One side of a tile has a strip for each iteration of its loops whose strides depend on the
 * shape.  The program has strip k at k times APART bytes; at a shape, the sum of tables puts
 * it where it is (nest_scalars). */
enum { APART = 1 << 16, STRIPS = 128 };
/* Bits that strides which are numbers add up to in a strip, and values of the residual. */
enum { STRIP_MOST = 2 * APART - 1024 };
typedef struct {
    int n, loop[MAX_LOOPS];
    i64 taken[MAX_LOOPS]; /* iterations in the tile */
    i64 count;            /* 1: all strides are numbers */
} Strips;

/* Which loops of a nest a tile does whole; and the loops of which it does a chunk, which
 * the kernel runs, rows inside columns; -1: there is no such loop, its chunk is 1. */
enum { TILE_ROW, TILE_COL, REPEATS = 64 };
typedef struct {
    bool in[MAX_LOOPS];
    int loop[2];
    i64 chunk[2];
    bool limited;         /* smaller than others: only windows make it worth its time */
    i64 repeats;          /* how often the table has the tile, at most REPEATS ... */
    int nrepeats;         /* ... along these loops, each time `step` iterations on, at the end less */
    struct { int loop; i64 step; } repeat[MAX_LOOPS];
    Strips strips[2];
    Residual residual;
} ShuffleTile;

/* The elements of a tile in rising order in the destination, both sides in bits from the
 * byte in which the tile starts; of padding the source is FILL.  The lanes, in bytes from
 * there. */
#define FILL INT32_MIN
typedef struct {
    int bits, n, nlanes;
    int32_t dst[TILE_ELEMENTS], src[TILE_ELEMENTS];
    int strips;           /* of the source; 0 is 1 */
    struct { int32_t first, end; } strip[STRIPS];  /* bytes that are read, not the end */
    int32_t lane[LANES_MAX];
    int16_t element[LANES_MAX];    /* the first of the lane */
    bool fills;           /* some are padding */
    bool lines;           /* the four lanes of a row of the program are contiguous */
    bool turns;           /* then the bits of each eight bytes are transposed */
} Bits;

/* The number of terms of the four lanes of a row of the program. */
typedef struct {
    int whole, masked;    /* terms of whole bytes; terms with a mask */
    uint8_t shifted[SHIFTS];       /* of these: shifted by index - 7 bits to the left */
    int windows;          /* windows; 0: the row is not read by windows */
    int parts;            /* a register has so many of them: 1, of 64 bytes, or 4, of 16 */
} Row;
typedef struct {
    Row row[LANES_MAX / QUAD];
} Terms;

/* shuffle_strip.c: whether a tile can have the whole loop; its strides depend on the shape only if the nest
 * assumes that offsets are near. */
bool shuffle_is_plain(const Nest *n, const Loop *l);
/* Adds the strips of a loop of which the tile has `taken` iterations; false: there are
 * too many. */
bool shuffle_add_strips(const Nest *n, int loop, i64 taken, Strips strips[2]);
/* A loop's stride in the program, in elements. */
i64 strips_stride(const Strips *s, const Nest *n, int loop, int side, int bits);
/* The number of the strip that a byte of the program selects; `strips` is their number. */
int strip_of(int strips, int32_t byte);

/* shuffle_residual.c: sets in[] to the loops in the residual, whose strips are added; false
 * where they cannot be listed, as they are too many, not numbers, or occur together with
 * others. */
bool shuffle_residual(const Nest *n, int bits, bool in[MAX_LOOPS], Strips strips[2],
                      Residual *r);
/* The part of an address that is the same all over the tile. */
const Ex *shuffle_outside(const Nest *n, const bool in[MAX_LOOPS], bool source);
/* shuffle_tile.c: false where there is no tile. */
bool shuffle_tile(const Nest *n, int bits, ShuffleTile *t);
/* The loops of a tile, as a Method's `table` gives them. */
void shuffle_tile_table(const ShuffleTile *t, TableLoops *out);
/* Completes rows and columns by loops outside the tile. */
void shuffle_take_outside(const Nest *n, ShuffleTile *t);
/* The scalars in its strides; false: there are too many. */
bool shuffle_scalars(const Nest *n, const ShuffleTile *t, TableScalars *s);
/* The iterations of a loop in a tile. */
i64 shuffle_taken(const Nest *n, const ShuffleTile *t, int loop);
/* shuffle_bits.c: the elements and lanes of the tile; false if it has no whole lanes. */
bool shuffle_bits(const Nest *n, const ShuffleTile *t, int bits, Bits *out);
/* The lanes of elements that are listed, in the order of the destination. */
bool shuffle_lanes(Bits *b);
/* Puts them in the order in which they begin in the source. */
void shuffle_by_source(Bits *b);

/* shuffle_window.c: sets r's windows to those that hold all bytes of a row of the program; to
 * none if there are too many, or its terms are as fast. */
void shuffle_windows(const Bits *b, int row, Row *r);
/* The registers that they fill; the nanoseconds of the row, roughly. */
int shuffle_registers(const Row *r);
double shuffle_windows_cost(const Row *r);
/* The pairs of a row, and the words of the constants of one. */
int shuffle_pairs_of(const Row *r);
int shuffle_paired(const Row *r);
/* Their constants and their offsets, as templates/c/shuffle_row.c reads them. */
void shuffle_pairs(const Bits *b, int row, const Row *r, int32_t *out, int32_t *offset);

/* shuffle_pass.c: the terms; false if there are too many. */
bool shuffle_terms(const Bits *b, Terms *out);
/* What the tile's repeats add to the offsets of a pass, in bytes; nothing for the first. */
typedef struct {
    i64 n;
    int32_t at[2][REPEATS];
} TileStarts;
/* The most words of a pass: those it has if each row is a group. */
i64 shuffle_words(const Bits *b, const Terms *t, i64 repeats);
/* The words of a pass, as templates/c/shuffle_row.c reads it; their number. */
i64 shuffle_pass(const Bits *b, const Terms *t, const TileStarts *s, int32_t *out);

/* shuffle_turn.c: the same as a pass over parts of bytes, in three of whole bytes; false
 * where there are none. */
bool shuffle_turns(const Bits *b, Bits pass[PASSES]);

/* shuffle_program.c: a tile in one pass.  For elements smaller than a byte also in two or
 * three if that is faster.  Of two the first assembles the bytes of the destination in the
 * order of the source, the second permutes them; three are those of shuffle_turns. */
typedef struct {
    ShuffleTile tile;
    Bits bits[PASSES];
    Terms terms[PASSES];
    int passes, elements;
    int rows, most;       /* of four lanes: in all passes; in that with most */
    double cost;          /* nanoseconds a tile, roughly, without the start of each row */
} Program;
/* shuffle_repeat.c: adds repeats to a tile of which a call would have few. */
void shuffle_repeat(const Nest *n, int bits, ShuffleTile *t);
void shuffle_starts(const Nest *n, const Program *p, int bits, int pass, TileStarts *s);
struct ProgramMade;       /* nest_made.h */
/* NULL if the nest has none; else it is in n->made or, if that is NULL, in `room`. */
const Program *shuffle_make(const Nest *n, int bits, struct ProgramMade *room);
/* The same of its tile alone, and of the tile's elements (NULL: they are not asked for). */
const ShuffleTile *shuffle_begin(const Nest *n, int bits, struct ProgramMade *room,
                                 const Bits **elements);
/* shuffle_strip.c: the words of a program as they are at a shape: those that are multiplied
 * with the scalar; NULL: those without scalars. */
void strips_place(const Nest *n, const Program *p, int bits, const Atom *scalar,
                  const int32_t *words, i64 count, int32_t *out);

#endif
