/* grid.h: plans as kernels for blocks of threads: CUDA, HIP, OpenCL and similar targets.
 *
 * One kernel, in a grid of one dimension, executes all boxes of a plan.  A contiguous range
 * of the blocks executes a box, with code from a row of grid.def.  The kernel is a tree of
 * statements over Ex; the table of a target (templates/) has the text of each kind.  Values
 * pass a barrier only in shared memory, so a target without threads (`blocks`, in plain C)
 * executes a phase as a loop over the threads.
 *
 * The choice of rows and tiles follows the transposes of PyTorch (pull request 194310) and
 * TransformerEngine, and NVIDIA's matrix transpose sample (2009). */
#ifndef RAVEL_GRID_H
#define RAVEL_GRID_H

#include "../plan/plan.h"
#include "swizzle.h"

enum { GRID_THREADS = 256, GRID_VECTOR = 16, BLOCKS_MAX = INT32_MAX };

/* The limits of a target, from fields of its table. */
typedef struct {
    int access;           /* bytes of the narrowest access: 1, 2 or 4 */
    int bits;             /* bits of the widest index: 32 or 64 */
    i64 shared;           /* bytes of shared memory */
    i64 side;             /* the most blocks in a row of the grid */
    bool rows;            /* the grid may have several rows */
    bool runtime;         /* it supports extents left to run time */
} GridLimits;

/* SPACE_TILE: the tile of a fragment (frag.h), in shared or global memory. */
typedef enum { SPACE_SRC, SPACE_DST, SPACE_SHARED, SPACE_TILE } Space;

typedef enum {
    G_BOX,                /* blocks first <= b < end execute body; name: the box as text */
    G_PHASE,              /* all threads of a block execute body */
    G_BARRIER,            /* all threads wait until all have finished the phase */
    G_FOR,                /* executes body for name = 0..count - 1; unrolled */
    G_WHEN,               /* executes body if value[i] < bound[i] for all i and same[0] is
                           * equal to same[1] */
    G_LET,                /* defines the index name = value[0] */
    G_DIVIDE,             /* defines the index name = value[0] // value[1], a scalar */
    G_ARRAY,              /* defines the array name[count] of `width` bytes each */
    G_LOAD,               /* name = space[value[0]], in units of width */
    G_STORE,              /* space[value[0]] = word[0..nwords), in units of width */
    G_WORD,               /* defines the variable name, of one or more words, as 0 or as the
                           * `width` bytes of space at value[0], zero-extended; if value[1],
                           * as the bits `pattern` of these from bit value[1] on */
    G_SET,                /* assigns word[0..nwords) to the variable name */
    G_PUT,                /* replaces the bits `pattern` << value[0] of name by word[0] or
                           * by the byte value[1] of src, from bit value[2] on */
    G_PERMUTE,            /* name = four bytes of word[0], word[1], selected by `pattern` */
    G_NIBBLES             /* name = the low (pattern 0) or high (1) halves of the bytes of
                           * word[0] in its low half, of word[1] in its high half */
} GridKind;

typedef struct GridStmt {
    GridKind kind;
    const char *name;
    const struct GridRow *row;     /* G_BOX: the row that made it */
    int var;              /* G_BOX: the variable of the block's number in the box;
                           * G_LET, G_FOR: the variable with this name */
    int guarded;          /* G_LET: its variable inside a G_WHEN that limits its range */
    i64 count;
    const Ex *first, *end, *blocks;        /* G_BOX: 0 blocks at shapes without the box */
    int width;            /* bytes: 1 2 4 8 16 */
    Space space;
    const Ex *value[MAX_RANK], *bound[MAX_RANK], *same[2];
    int nvalues;
    bool declares;        /* G_LOAD: defines name; else assigns to it */
    const char *word[4];  /* variables, or terms of their bits with C's operators */
    int nwords;
    uint32_t pattern;
    struct GridStmt *body, *next;
} GridStmt;

/* A scalar that the host computes.  Divisors come first. */
typedef struct {
    const char *name;
    const Ex *value;      /* over the plan's scalars */
    bool plain;           /* it is also used other than as a divisor */
} GridArg;

typedef struct {
    const char *name;     /* entry point */
    const char *head;     /* lines of the comment at the top of the file */
    const char *note;     /* a line of the comment of the kernel */
    GridLimits most;
    const Ex *blocks;
    i64 across, down;     /* the grid: `down` rows of `across` blocks, the last row may be
                           * partial; 0 if the shape decides the number */
    bool rows;            /* the grid may have several rows; b is computed from the row */
    i64 shared;           /* bytes of shared memory, a multiple of the vector */
    int align;            /* required alignment of both buffers, in bytes */
    bool wide;            /* indices need 64 bits */
    GridStmt *body;
    GridArg *arg;         /* arguments if extents are left to run time */
    int nargs, ndivisors;
    int thread;           /* the variable of the thread's number */
    Exprs *e;
    const Plan *plan;
} GridUnit;

/* grid.c: diag_fatal if no row applies to some box of the plan, or the kernel exceeds the
 * limits of the target. */
GridUnit *grid_make(const Plan *p, GridLimits most, const char *name,
                    const char *command);
/* Bytes of a buffer for the layout, rounded up to whole accesses. */
i64 grid_buffer(const GridUnit *u, const Layout *l);

typedef struct {
    i64 n, ss, ds;        /* iterations; strides in elements of the box.  Nominal if `ex` is
                           * not constant: for choices and for powers of two that divide */
    i64 real;             /* iterations from here on are padding */
    int var;              /* its variable in bases and rests */
    const char *name;
    bool rest;            /* the variable occurs in a rest */
    i64 most;             /* the greatest value of the variable for any shape */
    struct { const Ex *n, *ss, *ds, *real; } ex;
} GridLoop;

/* The box that a row makes code for.  Loops are sorted by descending destination stride.
 * An element of the box has `bits` bits and may be several elements of the layouts. */
typedef struct {
    GridUnit *u;
    const Nest *nest;
    Arena *arena;
    Exprs *e;
    int bits;
    int nloops;
    GridLoop loop[MAX_LOOPS];
    const Ex *at[MAX_LOOPS];       /* the iteration of each loop; NULL: not defined yet */
    const Ex *src, *dst;  /* bases and rests, in elements */
    i64 elements;         /* nominal, like the numbers of loops */
    const Ex *blocks;     /* the number of blocks: grid_blocks */
    int block;            /* the variable of the block's number in the box */
    int quotients;        /* the number of variables of G_DIVIDE so far */
    GridStmt **tail;      /* where grid_add appends statements */
} GridBox;

/* A row of grid.def. */
typedef struct GridRow {
    const char *name;
    const char *what;     /* a line of description */
    /* Adds the statements and sets the number of blocks.  False, and nothing changes, if
     * the row does not apply. */
    bool (*emit)(GridBox *b);
} GridRow;

/* grid_box.c */
void grid_box(GridUnit *u, const Nest *n, GridBox *out);
/* Combines elements that are adjacent in both source and destination into one, as wide as
 * all strides, extents and bases allow, up to `most` bits. */
void grid_widen(GridBox *b, int most);
/* The largest power of two, up to 2^30, that divides x for all values of its variables. */
i64 grid_divisor(const Ex *x);
/* True if no extent of the plan is left to run time. */
bool grid_is_fixed(const GridBox *b);
/* Sets the expressions of the loop to its numbers. */
void grid_number(Exprs *e, GridLoop *l);
/* n / each, rounded up. */
const Ex *grid_ceil(GridBox *b, const Ex *n, i64 each);
/* The product of the iterations of all loops that are not in `tile`. */
const Ex *grid_others(GridBox *b, const GridLoop *const *tile, int ntile);
const Ex *grid_times(GridBox *b, const Ex *x, const Ex *y);
/* Sets the number of blocks of the box and makes the variable of the block's number. */
void grid_blocks(GridBox *b, const Ex *blocks);
/* Reserves bytes of shared memory.  Boxes share the same memory. */
void grid_shared(GridBox *b, i64 bytes);
/* A number that is split into digits, the innermost first.  The rest is `x` / `inner`. */
typedef struct {
    const Ex *x;
    i64 inner;
} GridDigits;
/* Takes the next digit, 0 <= digit < n, and at most `most`.  last: it is the last digit. */
const Ex *grid_digit(GridBox *b, GridDigits *d, const char *name, const Ex *n, i64 most,
                     bool last);
/* Takes the next digit as the iteration of a loop. */
const Ex *grid_digit_of(GridBox *b, GridDigits *d, const GridLoop *l, bool last);
/* Defines the iterations b->at of all loops that are not in `tile`, from the rest of the
 * digits.  Sets the addresses in source and destination there, in elements. */
void grid_batch(GridBox *b, GridDigits d, const GridLoop *const *tile, int ntile,
                const Ex **src, const Ex **dst);
/* The item of thread t in iteration k: t + 256*k. */
const Ex *grid_turn(GridBox *b, const Ex *k);

/* grid_stmt.c: appends a statement at the tail of the box. */
GridStmt *grid_add(GridBox *b, GridKind kind);
/* Statements that are added between grid_open and grid_close go to the body of s.  Pass
 * the result of grid_open to grid_close; NULL: no body is open. */
GridStmt **grid_open(GridBox *b, GridStmt *s);
void grid_close(GridBox *b, GridStmt **outer);
/* Defines name = x and returns its variable, which has the range of x. */
const Ex *grid_let(GridBox *b, const char *name, const Ex *x);
/* Defines the index name = x and opens a G_WHEN for name < n, up to grid_close(*outer).
 * Returns a variable with the range 0..n - 1. */
const Ex *grid_index(GridBox *b, const char *name, const Ex *x, const Ex *n,
                     GridStmt ***outer);
/* Opens an unrolled loop, up to grid_close(*outer), and returns its variable.  If count is
 * 1, there is no loop and it returns 0. */
const Ex *grid_for(GridBox *b, const char *name, i64 count, GridStmt ***outer);
void grid_array(GridBox *b, const char *name, int width, i64 count);
/* declares: defines name as a constant; else assigns to it. */
void grid_load(GridBox *b, const char *name, bool declares, Space space, int width,
             const Ex *at);
void grid_store(GridBox *b, Space space, int width, const Ex *at,
              const char *const *word, int nwords);
/* Sets used[v] for every variable v in the statements. */
void grid_vars(const GridStmt *s, bool *used);
/* Removes definitions of indices that no statement uses. */
void grid_drop_unused(Exprs *e, GridStmt **body);
/* Adds a G_WHEN for n conditions value[i] < bound[i], at most MAX_RANK.  Conditions that
 * always hold are left out.  NULL, and no statement, if none is left. */
GridStmt *grid_when(GridBox *b, const Ex *const *value, const Ex *const *bound, int n);

/* grid_cover.c */
/* Adds the box `padding` to b if it is adjacent, so that one block writes sectors that
 * contain parts of both.  False, and nothing changes, if they share no sectors or accesses
 * would become narrower. */
bool grid_cover(GridBox *b, const GridBox *padding);
/* The same for padding that the plan has merged into the nest (Nest.pad), which follows
 * the rows of b at every shape. */
bool grid_pad(GridBox *b);
bool grid_is_padded(const GridBox *b);
/* name = src[from], or the fill if b->at is in padding.  declares: defines name. */
void grid_load_or_fill(GridBox *b, const char *name, bool declares, int width,
                       const Ex *from);
/* The fill in `bits` bits, at most 128, as 32-bit words; returns their number. */
int grid_pattern(GridBox *b, int bits, const char **word);

/* Makes code for the whole plan from the inverse of dst, as the body of a box.  False if
 * the inverse has no closed form. */
bool grid_inverse(GridUnit *u, GridStmt *box);

/* grid_gather.c, grid_piece.c, grid_tile.c, grid_edge.c, grid_slab.c, grid_fuse.c: the
 * rows */
bool grid_gather(GridBox *b);
bool grid_piece(GridBox *b);
bool grid_tile(GridBox *b);
bool grid_tile_edge(GridBox *b);
bool grid_slab(GridBox *b);
bool grid_fuse(GridBox *b);

#endif
