/* cli_blocks_work.h: the threads of a conversion in blocks. */
#ifndef RAVEL_CLI_BLOCKS_WORK_H
#define RAVEL_CLI_BLOCKS_WORK_H

#include <pthread.h>

#include "cli_blocks.h"
#include "cli_progress.h"

/* What a thread has for itself. */
typedef struct {
    unsigned char *src, *dst;      /* buffers */
    const BlockKind *last;         /* whose holes in dst are zero */
    int cold;                      /* blocks whose runs are not in memory, by those before */
    i64 first[MAX_RANK];           /* of the blocks that it converts now */
} BlockWorker;

/* What all threads share.  A thread uses what follows `lock` only while it has the lock. */
typedef struct {
    Cli *c;
    const BlocksJob *job;
    BlockKind *kind;               /* by the bits of blocks_extents */
    BlockWorker *worker;           /* blocks->threads of them */
    int fd;
    unsigned char *map;            /* the new file, for --verify and for what is stored there;
                                    * NULL: not mapped */
    bool stores;                   /* runs are so short that a call for each takes longer */
    size_t map_len;
    i64 unproven;                  /* bytes of a proof that was left out */
    pthread_mutex_t lock;
    i64 next[MAX_RANK];            /* the first block that no thread has */
    bool more;                     /* there is one, and it shall be converted */
    i64 row, row_at, begun;        /* blocks_work: what is given to the disk */
    i64 done;                      /* elements */
    int error;                     /* an errno */
    i64 wrong;                     /* --verify: the lowest slot found to differ; INF: none */
    bool no_memory;                /* for --verify */
    Progress progress;
} BlocksRunner;

/* Convert all blocks; returns 0 or an errno.  r->fd and r->map are set. */
int blocks_work(BlocksRunner *r);
/* Write to a place of a file; 0 or an errno. */
int blocks_write_at(int fd, const void *data, size_t len, i64 at);

#endif
