/* cli_blocks.h: a conversion in blocks, within a limit of memory. */
#ifndef RAVEL_CLI_BLOCKS_H
#define RAVEL_CLI_BLOCKS_H

#include "../compiler/compile.h"
#include "cli.h"

/* The source or the destination of a conversion in blocks. */
typedef struct {
    const char *text;              /* the layout, as a request has it */
    Layout *whole;                 /* of the tensor */
    int dim[MAX_RANK];             /* which dim d of the destination is here */
    bool in_place;                 /* a block is read or written where it lies in the storage;
                                    * else it is a slab, which a buffer has closer together */
} BlockSide;

/* The blocks of a conversion: boxes of the tensor.  Dims are those of the destination. */
typedef struct {
    Arena *arena;
    Exprs *e;
    const Known *known;
    const Plan *p;                 /* of the whole tensor */
    BlockSide src, dst;
    int threads;                   /* that each convert a block at a time */
    i64 n[MAX_RANK];               /* extents */
    i64 unit[MAX_RANK];            /* a block begins at a multiple of it; 0: dim is not cut */
    i64 step[MAX_RANK];            /* extents of a block; n: dim is not cut */
    int order[MAX_RANK];           /* dims, outermost first */
} Blocks;

/* One side of a block. */
typedef struct {
    Layout *part;                  /* the layout that its conversion reads or writes */
    const char *text;              /* as a request has it */
    SlabRuns runs;                 /* of a slab */
    i64 bytes;                     /* of memory that it takes */
    i64 run;                       /* contiguous bytes in the storage of the whole */
} BlockPart;
typedef struct {
    BlockPart from, to;
} Block;

typedef struct {
    i64 memory;                    /* bytes, of all threads */
    int threads;
    bool proven;                   /* the code of a block is proven too */
    i64 work;                      /* slots that this should move, at most */
    bool in_place;                 /* also blocks that are no slabs */
} BlockLimits;

/* The largest blocks within these limits, with few and long runs in both files.  Blocks that are
 * no slabs are converted one by one, and so are others where there is no memory for more.  rq: of p.
 * *least is the memory that they need; NULL: that is more. */
Blocks *blocks_new(Cli *c, const Plan *p, const ravel_request *rq, const BlockLimits *most,
                   i64 *least);
/* Whether the runs of both files are long enough to be read and written one by one. */
bool blocks_run_long(const Blocks *b);
/* The number of dims that are cut. */
enum { BLOCKS_CUT_MAX = 8 };
int blocks_ncut(const Blocks *b);
/* The extents of the block at x; returns which of the dims that are cut have a shorter one
 * there, as bits. */
unsigned blocks_extents(const Blocks *b, const i64 *x, i64 *extent);
/* A block with these bits; false: there is none. */
bool blocks_corner(const Blocks *b, unsigned rest, i64 *x);
/* Moves x to the next block, in the order of the destination; false after the last. */
bool blocks_next(const Blocks *b, i64 *x);

/* The place in the order of the dim along which blocks, each of `bytes` bytes, can be joined to a
 * box with all blocks along the dims after it.  All blocks along those dims have at most `most`
 * bytes together. */
int blocks_joined(const Blocks *b, i64 bytes, i64 most);

/* cli_blocks_part.c: what a block has of the storage. */
void blocks_side(const Blocks *b, const Layout *l, const char *text, const int *map,
                 BlockSide *out);
/* The block with these extents.  False: its runs are not whole bytes. */
bool blocks_make(const Blocks *b, const i64 *extent, Block *out);
/* The byte of the storage of the whole to which byte 0 of the part's storage belongs, for the
 * block at x. */
i64 blocks_start(const BlockSide *s, const BlockPart *k, const i64 *x);
/* Whether the blocks with these steps have the elements of the tensor, cover the storage of
 * a side that is of slabs, and do not overlap in the destination. */
bool blocks_are_right(const Blocks *b);

/* What a conversion in blocks reads and writes. */
typedef struct {
    const Blocks *blocks;
    const ravel_request *rq;
    const unsigned char *src;      /* the source's storage */
    const FileView *view;          /* what that lies in */
    FileView *spool;               /* write to an unnamed file and set this; NULL: to OUT */
    bool fits;                     /* that file may lie in memory */
    const void *head;              /* what stands before the data in OUT */
    size_t head_len;
    bool verify;
    i64 memory;                    /* that a proof may take */
} BlocksJob;

/* cli_blocks_kind.c */
/* The blocks with the same extents. */
typedef struct {
    Block block;
    ravel_plan *plan;              /* NULL: there are no such blocks */
    bool holes;
} BlockKind;
/* Their number: a place for each number that blocks_extents returns. */
unsigned blocks_kinds(const Blocks *b);
/* Compile all kinds. */
void blocks_compile(Cli *c, const BlocksJob *j, BlockKind *kind);
/* Prove the code of all kinds; of blocks in place, whose storage is all of the tensor's, what the
 * memory allows: *unproven becomes the bytes of the largest proof that was left out.  False, with
 * a message: it is wrong. */
bool blocks_prove(Cli *c, const BlocksJob *j, const BlockKind *kind, i64 *unproven);

/* cli_blocks_run.c */
/* Convert and write OUT.  False: --verify has found a flaw, which is printed, and OUT is
 * unchanged.  *unproven: the bytes of the largest proof that was left out; 0: none was. */
bool blocks_run(Cli *c, const BlocksJob *j, i64 *unproven);

#endif
