/* cli_blocks.h: a conversion in blocks, within a limit of memory. */
#ifndef RAVEL_CLI_BLOCKS_H
#define RAVEL_CLI_BLOCKS_H

#include "cli.h"

/* The blocks of a conversion: boxes of the tensor, each of which has a slab of the storage
 * of both sides.  Dims are those of the destination. */
typedef struct {
    Exprs *e;
    const Plan *p;                 /* of the whole tensor */
    Layout *src, *dst;             /* whole, in e */
    i64 n[MAX_RANK];               /* extents */
    i64 unit[MAX_RANK];            /* a block begins at a multiple of it; 0: dim is not cut */
    i64 step[MAX_RANK];            /* extents of a block; n: dim is not cut */
    int order[MAX_RANK];           /* dims, outermost first */
} Blocks;

/* A layout of both sides for the extents of a block. */
typedef struct {
    Layout *src, *dst;
    SlabRuns from, to;
} Block;

/* The largest blocks that need at most `memory` bytes, with few and long runs in both files.
 * `proven`: their code is proven too.  *least is the memory that they need; NULL: that
 * is more. */
Blocks *blocks_new(Cli *c, const Plan *p, i64 memory, bool proven, i64 *least);
/* Whether the runs of both files are long enough to be read and written one by one. */
bool blocks_run_long(const Blocks *b);
/* The block with these extents.  False: its runs are not whole bytes. */
bool blocks_make(const Blocks *b, const i64 *extent, Block *out);
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

/* cli_blocks_run.c: what a conversion in blocks reads and writes. */
typedef struct {
    const Blocks *blocks;
    const ravel_request *rq;
    const unsigned char *src;      /* the source's storage */
    const void *head;              /* what stands before the data in OUT */
    size_t head_len;
    bool verify;
} BlocksJob;
/* Convert and write OUT.  False: --verify has found a flaw, which is printed, and OUT is
 * unchanged. */
bool blocks_run(Cli *c, const BlocksJob *j);

#endif
