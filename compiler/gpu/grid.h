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

#include "../emit/emit.h"

enum { GRID_THREADS = 256, GRID_VECTOR = 16, BLOCKS_MAX = INT32_MAX };
/* The pairs of buffers that a batch kernel takes: 2 KB of the 4 KB of arguments that every
 * CUDA device has. */
enum { GRID_PAIRS = 128 };

/* The limits of a target, from fields of its table. */
typedef struct {
    int access;           /* bytes of the narrowest access: 1, 2 or 4 */
    int bits;             /* bits of the widest index: 32 or 64 */
    int align;            /* bytes to which the caller aligns both buffers: 1 to 16 */
    i64 shared;           /* bytes of shared memory */
    i64 row;              /* the most blocks in a row of the grid */
    bool rows;            /* the grid may have several rows */
    bool otherwise;       /* it has a G_ELSE */
    bool funnel;          /* it has a G_FUNNEL */
    bool batch;           /* the kernel takes GRID_PAIRS pairs of buffers */
} GridLimits;

/* SPACE_TILE: the tile of a fragment (frag.h), in shared or global memory.  SPACE_INDEX: the
 * index arrays. */
typedef enum { SPACE_SRC, SPACE_DST, SPACE_SHARED, SPACE_TILE, SPACE_INDEX } Space;

typedef enum {
    G_BOX,                /* blocks first <= b < end execute body; name: the box as text */
    G_PHASE,              /* all threads of a block execute body */
    G_BARRIER,            /* all threads wait until all have finished the phase */
    G_FOR,                /* executes body for name = 0..count - 1; unrolled */
    G_WHEN,               /* executes body if value[i] < bound[i] for all i and same[0] is
                           * equal to same[1] */
    G_ELSE,               /* follows a G_WHEN; executes body if that one does not */
    G_LET,                /* defines the index name = value[0] */
    G_DIVIDE,             /* defines the index name = value[0] // value[1], a scalar */
    G_LOOKUP,             /* defines the index name = number value[0] of index array `array` */
    G_MOVED,              /* executes body if value[0], the number name of a G_LOOKUP, is not
                           * -1 */
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
    G_HALVES,             /* name = the low (pattern 0) or high (1) halves of the groups of
                           * 2 * count bits of word[0] in their low half, of word[1] in
                           * their high half; count: 1, 2 or 4 */
    G_FUNNEL              /* name = the 32 bits of word[1] : word[0] from bit value[0] on,
                           * 0..31; word[0] has the low bits */
} GridKind;

typedef struct GridStmt {
    GridKind kind;
    const char *name;
    const struct GridRow *row;     /* G_BOX: the row that made it */
    int var;              /* G_BOX: the variable of the block's number in the box;
                           * G_LET, G_FOR, G_LOOKUP: the variable with this name */
    int array;            /* G_LOOKUP: GridUnit.array */
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
    const Ex *value;      /* over the plan's scalars; of bits, the lowest 32 count, or .. */
    bool upper;           /* .. the upper ones */
    bool plain;           /* it is also used other than as a divisor; */
    bool counts;          /* for the length of an index array */
    bool bits;            /* a word of the fill, no index */
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
    int fills;            /* the words of the fill that each run is given and the kernel needs */
    PlanArray array[PLAN_ARRAYS];  /* the index arrays; another kernel, with the same arguments
                           * and grid, checks their numbers first */
    int narrays;
    const char *array_note;        /* what they have, for the comment of the kernel */
    int thread;           /* the variable of the thread's number */
    Exprs *e;
    const Plan *plan;
} GridUnit;

/* grid.c */
/* diag_fatal if the request is for a batch and the target's kernels of such a plan take none. */
GridLimits grid_limits(const Target *t, const Plan *p, const Request *rq);
/* diag_fatal if no row applies to some box of the plan, or the kernel exceeds the
 * limits of the target. */
GridUnit *grid_make(const Plan *p, GridLimits most, const char *name,
                    const char *command);
/* Bytes of a buffer for the layout, rounded up to whole accesses. */
i64 grid_buffer(const GridUnit *u, const Layout *l);

/* grid_args.c: the number of 64-bit values of all arguments.  grid_room: the size of their
 * array: at least 1, as C has no empty arrays. */
int grid_values(const GridUnit *u);
int grid_room(const GridUnit *u);

/* grid_check.c: the name of the kernel that checks index arrays. */
const char *grid_check_name(const GridUnit *u);

/* grid_render.c: the field of the target that begins the kernel of a plan, of a batch. */
const char *grid_opening(const Plan *p, bool batch);
/* The complete file: head, prologue and kernel. */
const char *grid_render(const Target *t, const GridUnit *u);
/* grid_host.c: the function in C with which the host computes the kernel's arguments from
 * extents left to run time. */
const char *grid_host_text(const GridUnit *u);
/* grid_print.c: the statements of u as text: docs/ir/gridstmt.md. */
const char *grid_print(const GridUnit *u);

/* grid_access.c: the cost of a kernel's accesses, computed from its expressions without a
 * device. */
/* All accesses of one block that have the same memory, direction and width. */
typedef struct {
    Space space;
    bool store;
    int width;            /* bytes for each lane */
    i64 requests;         /* instructions of warps with an active lane */
    i64 sectors, ideal;   /* global: sectors of 32 bytes, over all requests; shared:
                           * wavefronts, and wavefronts without bank conflicts */
    i64 unique;           /* global: distinct sectors of the block */
    i64 bytes;            /* global: distinct bytes that the block uses */
    i64 least;            /* global: the fewest sectors for these bytes */
} BlockAccess;

extern const char *const grid_spaces[];        /* names, by Space */
enum { ACCESS_KINDS = 16 };
/* The accesses of block number `block` of the box; returns their number, at most max.
 * Lanes and banks are those of banks_usual. */
int grid_access(const GridUnit *u, const GridStmt *box, i64 block, BlockAccess *out,
                  int max);

/* grid_estimate.c: what limits the kernel on a large GPU.  All extents are numbers. */
typedef struct {
    double bytes;         /* that the kernel reads and writes, for each block */
    double sectors;       /* distinct ones of each block, of all blocks */
    double least;         /* the fewest that have the bytes of both buffers */
    double flight;        /* bytes that are loaded at once on a multiprocessor */
    double of_copy;       /* the estimate: bandwidth as a fraction of a copy */
} GridEstimate;
GridEstimate grid_estimate(const GridUnit *u);

/* grid_instructions.c: the instructions of a thread of a block of the box whose tile is whole,
 * an estimate. */
i64 grid_instructions(const GridUnit *u, const GridStmt *box);

/* grid_explain.c: prints the kernel, its boxes, and the accesses of the first block of each box, and of
 * the last block if it has fewer. */
void grid_explain(Buf *b, const GridUnit *u, const char *target);

/* frag.c: a function that loads the registers of a lane from a tile, or stores them.  Both
 * layouts are decided; dim d of the one that is written is dim map[d] of the other.
 * diag_fatal if frag is no fragment, has no inverse, or the tile cannot be written. */
typedef struct Frag Frag;
Frag *frag_make(const Layout *frag, const Verdict *v, const Layout *tile, const int *map,
                bool store);
/* frag_render.c: the complete file of a request; diag_fatal if the table of the target has
 * no text for it. */
const char *frag_render(const Target *t, const Frag *g, const Request *rq);
/* Its statements as text: docs/ir/gridstmt.md. */
const char *frag_print(const Frag *g);

/* The loops of a box, for kernels and for machines of bursts. */
typedef struct {
    i64 n, ss, ds;        /* iterations; strides in elements of the box.  Nominal if `ex` is
                           * not constant: for choices and for powers of two that divide */
    i64 real;             /* iterations from here on are padding */
    int var;              /* its variable in bases and residuals */
    const char *name;
    bool residual;        /* the variable occurs in a residual */
    i64 most;             /* the greatest value of the variable for any shape */
    struct { const Ex *n, *ss, *ds, *real; } ex;
} GridLoop;

/* The box that a row makes code for.  Loops are sorted by descending destination stride.
 * An element of the box has `bits` bits and may be several elements of the layouts. */
typedef struct GridBox {
    GridUnit *u;
    const Nest *nest;
    Arena *arena;
    Exprs *e;
    int bits;
    int nloops;
    GridLoop loop[MAX_LOOPS];
    const Ex *at[MAX_LOOPS];       /* the iteration of each loop; NULL: not defined yet */
    const Ex *src, *dst;  /* bases and residuals, in elements */
    const Ex *slots;      /* of the source, in its own elements */
    i64 elements;         /* nominal, like the numbers of loops */
    const char *what;     /* the boxes of the plan that it consists of, if several */
    const struct GridBox *more;    /* grid_period: boxes that the same blocks do, after this one */
    int nmore;
    const Ex *blocks;     /* the number of blocks: grid_blocks */
    int block;            /* the variable of the block's number in the box */
    int unrolled;         /* 1 + the variable of an unrolled loop: values of it alone are written
                           * where they are used; 0: none */
    int quotients;        /* the number of variables of G_DIVIDE so far */
    GridStmt **tail;      /* where grid_add appends statements */
    GridStmt *also;       /* a second box with what the first leaves out, or NULL */
} GridBox;

/* A row of grid.def. */
typedef struct GridRow {
    const char *name;
    /* Adds the statements and sets the number of blocks.  False, and nothing changes, if
     * the row does not apply. */
    bool (*emit)(GridBox *b);
} GridRow;

/* grid_box.c */
void grid_box(GridUnit *u, const Nest *n, GridBox *out);
/* Combines elements that are adjacent in both source and destination into one, as wide as
 * all strides, extents and bases allow, up to `most` bits. */
void grid_widen(GridBox *b, int most);

#endif
