/* grid.h: plans for machines of blocks of threads: CUDA, HIP, OpenCL and their like.
 *
 * One kernel does all boxes of a plan, in a grid of one dimension: each box has a run of
 * the blocks, and a row of grid.def that says how its blocks work.  The kernel is a
 * small statement tree over Ex, which a target's table (templates/) spells out.  Between
 * two phases lies a barrier and no value: all state is in shared memory, so that a phase
 * is a loop over the threads where there are none (the target `blocks`, in plain C).
 *
 * Which kernel suits which box, and its tiles: the transposes of PyTorch (pull request
 * 194310) and TransformerEngine, NVIDIA's matrix transpose sample (2009). */
#ifndef RAVEL_GRID_H
#define RAVEL_GRID_H

#include "../plan/plan.h"
#include "swizzle.h"

enum { GRID_THREADS = 256, GRID_VECTOR = 16, BLOCKS_MAX = INT32_MAX };

/* What a target can do; the fields of its table. */
typedef struct {
    int access;           /* bytes of the narrowest access: 1, 2 or 4 */
    int bits;             /* of the widest index: 32 or 64 */
    i64 shared;           /* bytes of shared memory */
    i64 side;             /* blocks along a side of the grid */
    bool rows;            /* ... which may have several */
    bool runtime;         /* it takes extents at run time */
} GridLimits;

typedef enum { SPACE_SRC, SPACE_DST, SPACE_SHARED } Space;

typedef enum {
    G_BOX,                /* body, by the blocks from `first` to before `end`; name: what of
                           * the tensor */
    G_PHASE,              /* body, by every thread */
    G_BARRIER,
    G_FOR,                /* name from 0 to count - 1, unrolled: body */
    G_WHEN,               /* body, where all of value[i] < bound[i], and same[0] is
                           * same[1] */
    G_LET,                /* the index name = value[0] */
    G_DIVIDE,             /* the index name = value[0] divided by the scalar value[1] */
    G_ARRAY,              /* name[count] of `width` bytes each */
    G_LOAD,               /* name = space[value[0]], in units of width */
    G_STORE,              /* space[value[0]] = word[0], or of word[0..nwords) */
    G_WORD,               /* the variable name, a word or more, as dst has it at value[0]
                           * in `width` bytes, or 0 */
    G_SET,                /* that is word[0], or of word[0..nwords) */
    G_PUT,                /* its bits `pattern` from bit value[0] on are word[0], or those
                           * of the source's byte value[1] from bit value[2] on */
    G_PERMUTE,            /* name = bytes of word[0], word[1] by `pattern`, a word */
    G_NIBBLES             /* name = the low (pattern 0) or high (1) halves of the bytes
                           * of word[0], and above them those of word[1] */
} GridKind;

typedef struct GridStmt {
    GridKind kind;
    const char *name;
    const struct GridRow *row;     /* G_BOX: whose it is */
    int var;              /* G_BOX: of the block in it; G_LET, G_FOR: name ... */
    int guarded;          /* ... G_LET: and as it is where a G_WHEN has seen to it */
    i64 count;
    const Ex *first, *end, *blocks;        /* G_BOX: no blocks at shapes without that box */
    int width;            /* bytes: 1 2 4 8 16 */
    Space space;
    const Ex *value[MAX_RANK], *bound[MAX_RANK], *same[2];
    int nvalues;
    bool declares;        /* G_LOAD: name is new */
    const char *word[4];
    int nwords;
    uint32_t pattern;
    struct GridStmt *body, *next;
} GridStmt;

/* A scalar that the host computes: the first are divided by, too. */
typedef struct {
    const char *name;
    const Ex *value;      /* over the plan's scalars */
    bool plain;           /* it is not only divided by */
} GridArg;

typedef struct {
    const char *name;     /* entry point */
    const char *head;     /* lines of the comment on top */
    const char *note;     /* a line for the kernel's own comment */
    GridLimits most;
    const Ex *blocks;
    i64 across, down;     /* the grid: blocks in rows, the last one not always full; 0 where
                           * a shape says how many there are */
    bool rows;            /* the blocks' number is of rows, and there may be more of them */
    i64 shared;           /* bytes that the kernel declares: whole vectors */
    int align;            /* bytes that both buffers must be aligned to */
    bool wide;            /* indices need 64 bits */
    GridStmt *body;
    GridArg *arg;         /* where extents are left to run time */
    int nargs, ndivisors;
    int thread;           /* its variable */
    Exprs *e;
    const Plan *plan;
} GridUnit;

/* grid.c: diag_fatal where the plan has a box that no row can do, or needs more than the
 * target can do. */
GridUnit *grid_make(const Plan *p, GridLimits most, const char *name,
                    const char *command);
/* Bytes of a buffer that holds the layout, in whole accesses. */
i64 grid_buffer(const GridUnit *u, const Layout *l);

typedef struct {
    i64 n, ss, ds;        /* strides in elements of the box; nominal where `ex` is no
                           * number: to choose by, and for powers of two that divide it */
    i64 real;             /* from there on to n all is padding */
    int var;              /* in bases and rests */
    const char *name;
    bool rest;
    i64 most;             /* its variable, for any shape */
    struct { const Ex *n, *ss, *ds, *real; } ex;
} GridLoop;

/* A box as the rows see it: loops by falling stride of the destination; elements of
 * `bits` bits, which may be several of the layouts'. */
typedef struct {
    GridUnit *u;
    const Nest *nest;
    Arena *arena;
    Exprs *e;
    int bits;
    int nloops;
    GridLoop loop[MAX_LOOPS];
    const Ex *at[MAX_LOOPS];       /* where each is, in elements, as far as is known */
    const Ex *src, *dst;  /* bases and rests, in elements */
    i64 elements;         /* nominal, as of loops */
    const Ex *blocks;     /* grid_blocks */
    int block;            /* variable: the block's number within the box */
    int quotients;        /* variables of G_DIVIDE that there are */
    GridStmt **tail;      /* where statements go */
} GridBox;

/* A row of grid.def. */
typedef struct GridRow {
    const char *name;
    const char *what;     /* a line for people */
    /* Adds the statements and says how many blocks; false, and nothing done, where the row
     * does not apply. */
    bool (*emit)(GridBox *b);
} GridRow;

/* grid_box.c */
void grid_box(GridUnit *u, const Nest *n, GridBox *out);
/* Elements that lie together on both sides become one, as wide as all strides, extents
 * and bases allow, up to `most` bits. */
void grid_widen(GridBox *b, int most);
/* The largest power of two, up to 2^30, that divides x whatever its variables are. */
i64 grid_divisor(const Ex *x);
/* Whether all of the plan's extents are numbers. */
bool grid_is_fixed(const GridBox *b);
/* The loop is what its numbers say. */
void grid_number(Exprs *e, GridLoop *l);
/* n in so many at a time, rounded up; and of all loops but these. */
const Ex *grid_ceil(GridBox *b, const Ex *n, i64 each);
const Ex *grid_others(GridBox *b, const GridLoop *const *tile, int ntile);
const Ex *grid_times(GridBox *b, const Ex *x, const Ex *y);
/* A variable for the block's number, of `blocks`. */
void grid_blocks(GridBox *b, const Ex *blocks);
/* Room for so many bytes of shared memory, which boxes use in turn. */
void grid_shared(GridBox *b, i64 bytes);
/* A number of which digits are taken, the innermost first: `x` divided by `inner`. */
typedef struct {
    const Ex *x;
    i64 inner;
} GridDigits;
/* The next digit of d, of n and at most `most`; last: there are none above. */
const Ex *grid_digit(GridBox *b, GridDigits *d, const char *name, const Ex *n, i64 most,
                     bool last);
/* ... of a loop. */
const Ex *grid_digit_of(GridBox *b, GridDigits *d, const GridLoop *l, bool last);
/* The loops but the tile's as what is left of the digits, named, in b->at; and where both
 * sides start there, in elements. */
void grid_batch(GridBox *b, GridDigits d, const GridLoop *const *tile, int ntile,
                const Ex **src, const Ex **dst);
/* What thread t does in turn k: t, and then every 256th. */
const Ex *grid_turn(GridBox *b, const Ex *k);

/* grid_stmt.c: a statement at the box's tail; and a body: what is added between the
 * two goes there.  grid_close(b, NULL) is of a body that was not opened. */
GridStmt *grid_add(GridBox *b, GridKind kind);
GridStmt **grid_open(GridBox *b, GridStmt *s);
void grid_close(GridBox *b, GridStmt **outer);
/* name = x, and from then on a variable of the range that x has. */
const Ex *grid_let(GridBox *b, const char *name, const Ex *x);
/* The index name = x, and that what follows, up to grid_close, is done where it is below
 * n: a variable that is. */
const Ex *grid_index(GridBox *b, const char *name, const Ex *x, const Ex *n,
                     GridStmt ***outer);
/* A loop of the kernel's own, unrolled, for grid_close; its variable is returned.  Of
 * count 1 there is no loop, and 0 is returned. */
const Ex *grid_for(GridBox *b, const char *name, i64 count, GridStmt ***outer);
void grid_array(GridBox *b, const char *name, int width, i64 count);
/* declares: name is a new constant. */
void grid_load(GridBox *b, const char *name, bool declares, Space space, int width,
             const Ex *at);
void grid_store(GridBox *b, Space space, int width, const Ex *at,
              const char *const *word, int nwords);
/* Without the indices that nothing uses. */
void grid_drop_unused(Exprs *e, GridStmt **body);
/* Where all of n values, at most MAX_RANK, are below their bounds; those that always are
 * are left out, and with none left there is no statement: NULL. */
GridStmt *grid_when(GridBox *b, const Ex *const *value, const Ex *const *bound, int n);

/* grid_cover.c */
/* Padding next to b becomes part of it, so that what is written at once is written by
 * one; false, and nothing done, where that is not so, or gives narrower accesses. */
bool grid_cover(GridBox *b, const GridBox *padding);
/* The same where the plan has it that padding follows b's rows at every shape: the nest's
 * `pad`.  The nest of that padding is merged. */
bool grid_pad(GridBox *b);
bool grid_is_padded(const GridBox *b);
/* name = src[from], or the fill where b->at is in padding; declares: name is new. */
void grid_load_or_fill(GridBox *b, const char *name, bool declares, int width,
                       const Ex *from);
/* The fill as words of `bits` bits, at most 128; their number. */
int grid_pattern(GridBox *b, int bits, const char **word);

/* All of the plan by the inverse of dst, as the body of a box; false where there is none
 * in closed form. */
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
