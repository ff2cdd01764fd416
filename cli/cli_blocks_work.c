/* convert in blocks: each thread takes the next blocks, reads their slabs, converts them and
 * writes them to their places.  No block waits for another, so a thread that the system does
 * not run holds up only what it has taken. */
#define _GNU_SOURCE
#include "cli_blocks_work.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
    const BlocksRunner *r;
    const BlockWorker *w;
    const unsigned char *from;     /* the slab's first byte in the source */
    i64 at;                        /* that in the destination, as an offset in its file */
} BlockPlace;

static int
read_run(void *arg, i64 whole, i64 part, i64 bytes)
{
    const BlockPlace *p = arg;
    memcpy(p->w->src + part, p->from + whole, (size_t)bytes);
    return 0;
}

/* Have the system begin to read a run. */
static int
expect_run(void *arg, i64 whole, i64 part, i64 bytes)
{
    const BlockPlace *p = arg;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)p->from + (uintptr_t)whole;
    uintptr_t start = at / page * page;
    (void)part;
    madvise((void *)start, at + (uintptr_t)bytes - start, MADV_WILLNEED);
    return 0;
}

/* The accesses of this thread that waited for the disk. */
static long
waits(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) ? 0 : u.ru_majflt;
}

/* Runs of a file that is not in memory would each wait for the disk, and read all that is
 * around them.  So where a block did more than a few times, the disk is given the runs of
 * the next blocks at once, and only them.  In a file that is in memory that takes time, so it is
 * tried again without. */
static void
read_runs(const BlocksRunner *r, BlockWorker *w, const SlabRuns *runs, const unsigned char *from)
{
    enum { SHORT = 1 << 16, FEW = 4, COLD = 100 };
    const FileView *view = r->job->view;
    BlockPlace p = {r, w, from, 0};
    long before = waits();
    if (w->cold)
        slab_each(runs, expect_run, &p);
    slab_each(runs, read_run, &p);
    if (w->cold && --w->cold == 0)
        madvise(view->data, view->len, MADV_NORMAL);
    else if (!w->cold && view->mapped && runs->run < SHORT && waits() - before > FEW) {
        w->cold = COLD;
        madvise(view->data, view->len, MADV_RANDOM);
    }
}

int
blocks_write_at(int fd, const void *data, size_t len, i64 at)
{
    const unsigned char *p = data;
    while (len > 0) {
        ssize_t n = pwrite(fd, p, len, (off_t)at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            p += n;
            at += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

static int
write_run(void *arg, i64 whole, i64 part, i64 bytes)
{
    const BlockPlace *p = arg;
    if (p->r->stores) {
        memcpy(p->r->map + p->at + whole, p->w->dst + part, (size_t)bytes);
        return 0;
    }
    return blocks_write_at(p->r->fd, p->w->dst + part, (size_t)bytes, p->at + whole);
}

/* The address where a block in place counts from: its storage is that of the whole tensor, so
 * it may begin in front of the file's. */
static void *
from_start(const unsigned char *whole, i64 start)
{
    return (void *)((uintptr_t)whole + (uintptr_t)start);
}

/* Run the plan of a block.  The places of a block in place are part of its buffers, which may
 * overlap on paper: ravel_run would refuse them. */
static void
run_block(const BlockKind *k, void *dst, const void *src)
{
    const ravel_plan *p = k->plan;
    plan_share(p, p->steps, p->extent, p->threads.most, dst, src);
}

/* What the conversion of the block at x reads: the file, or for a slab that is not contiguous
 * there a buffer. */
static const unsigned char *
read_block(const BlocksRunner *r, BlockWorker *w, const BlockKind *k, const i64 *x)
{
    const BlockSide *s = &r->job->blocks->src;
    const unsigned char *from = from_start(r->job->src, blocks_start(s, &k->block.from, x));
    if (s->in_place || k->block.from.runs.n == 0)
        return from;
    read_runs(r, w, &k->block.from.runs, from);
    return w->src;
}

static i64
place_of(const BlocksRunner *r, const BlockKind *k, const i64 *x)
{
    return (i64)r->job->head_len + blocks_start(&r->job->blocks->dst, &k->block.to, x);
}

/* Convert what is at `src` to the block at x. */
static int
write_block(const BlocksRunner *r, BlockWorker *w, const BlockKind *k, const i64 *x,
            const unsigned char *src)
{
    i64 at = place_of(r, k, x);
    if (r->job->blocks->dst.in_place) {
        run_block(k, from_start(r->map, at), src);
        return 0;
    }
    if (k != w->last)
        memset(w->dst, 0, (size_t)k->block.to.bytes);
    w->last = k;
    run_block(k, w->dst, src);
    return slab_each(&k->block.to.runs, write_run, &(BlockPlace){r, w, NULL, at});
}

/* Blocks in place leave no pages behind. */
static void
let_go(const BlocksRunner *r)
{
    const BlocksJob *j = r->job;
    if (j->blocks->src.in_place && j->view->mapped)
        madvise(j->view->data, j->view->len, MADV_DONTNEED);
    if (j->blocks->dst.in_place)
        madvise(r->map, r->map_len, MADV_DONTNEED);
}

/* Compared at once, in bytes: the tables of a comparison take time. */
static const i64 ENOUGH = (i64)1 << 22;

/* Whether the blocks up to x, of which the storage has `bytes` bytes, are a box, and no more should
 * be compared with them. */
static bool
are_enough(const BlocksRunner *r, const i64 *x, const i64 *extent, i64 bytes)
{
    const Blocks *b = r->job->blocks;
    int rank = b->p->dst->rank, d;
    int i = blocks_joined(b, r->kind->block.to.bytes, ENOUGH);
    if (!rank || b->src.in_place || b->dst.in_place)
        return true;
    for (int inner = i + 1; inner < rank; inner++) {
        d = b->order[inner];
        if (x[d] + extent[d] < b->n[d])
            return false;
    }
    d = b->order[i];
    return bytes >= ENOUGH || x[d] + extent[d] == b->n[d];
}

/* Keep what a comparison came to: of the slots that differ the lowest. */
static void
keep_result(BlocksRunner *r, bool ok, i64 slot)
{
    pthread_mutex_lock(&r->lock);
    r->no_memory |= !ok;
    if (ok && slot >= 0 && slot < r->wrong)
        r->wrong = slot;
    pthread_mutex_unlock(&r->lock);
}

/* Compare the box of the worker's blocks, of which the last is at x, with the layouts of the whole
 * tensor, as the file has them. */
static bool
boxes_right(BlocksRunner *r, const BlockWorker *w, const i64 *x)
{
    const Blocks *b = r->job->blocks;
    i64 hi[MAX_RANK], extent[MAX_RANK], slot = -1;
    const BlockKind *k = &r->kind[blocks_extents(b, x, extent)];
    for (int d = 0; d < b->p->dst->rank; d++)
        hi[d] = x[d] + extent[d] < b->n[d] ? x[d] + extent[d] : b->p->dst->dim[d].padded;
    bool ok = reference_differs_in(b->p, &k->plan->threads, w->first, hi,
                                   r->map + r->job->head_len, r->job->src, &slot);
    keep_result(r, ok, slot);
    return ok && slot < 0;
}

/* Compare the holes of a block too, of which the worker has the storage. */
static bool
holes_right(BlocksRunner *r, const BlockWorker *w, const BlockKind *k, const unsigned char *src)
{
    i64 slot = -1;
    if (!k->holes || r->job->blocks->dst.in_place)
        return true;
    bool ok = reference_differs(k->plan->plan, &k->plan->threads, w->dst, src, &slot);
    keep_result(r, ok, slot);
    return ok && slot < 0;
}

static int
convert_block(BlocksRunner *r, BlockWorker *w, const i64 *x)
{
    const Blocks *b = r->job->blocks;
    i64 extent[MAX_RANK], elements = 1;
    const BlockKind *k = &r->kind[blocks_extents(b, x, extent)];
    const unsigned char *src = read_block(r, w, k, x);
    int e = write_block(r, w, k, x, src);
    if (e == 0 && r->job->verify && !holes_right(r, w, k, src))
        e = ECANCELED;
    let_go(r);
    for (int d = 0; d < b->p->dst->rank; d++)
        elements *= extent[d];
    pthread_mutex_lock(&r->lock);
    r->done += elements;
    pthread_mutex_unlock(&r->lock);
    return e;
}

/* The bytes of the file before those of the block at x, the next one, that are complete and not
 * given to the disk yet.  Blocks come in the order of the destination, as far as it has one: a row
 * is those along all dims but the outermost.  Other threads may still write the row before. */
static bool
is_complete(BlocksRunner *r, const i64 *x, i64 *from, i64 *end)
{
    enum { LEAST = 1 << 20 };
    const Blocks *b = r->job->blocks;
    i64 extent[MAX_RANK];
    if (b->p->dst->rank == 0 || b->dst.in_place || x[b->order[0]] == r->row)
        return false;
    *from = r->begun;
    *end = r->row_at;
    r->row = x[b->order[0]];
    r->row_at = place_of(r, &r->kind[blocks_extents(b, x, extent)], x);
    if (*end - *from < LEAST)
        return false;
    r->begun = *end;
    return true;
}

/* Take the next blocks: one, or with --verify those of a box.  Returns their number. */
static i64
take(BlocksRunner *r, BlockWorker *w)
{
    const Blocks *b = r->job->blocks;
    i64 n = 0, bytes = 0, from, end, extent[MAX_RANK];
    pthread_mutex_lock(&r->lock);
    bool complete = r->more && is_complete(r, r->next, &from, &end);
    memcpy(w->first, r->next, sizeof w->first);
    for (bool enough = !r->more; !enough; n++) {
        const BlockKind *k = &r->kind[blocks_extents(b, r->next, extent)];
        bytes += k->block.to.bytes;
        enough = !r->job->verify || are_enough(r, r->next, extent, bytes);
        r->more = blocks_next(b, r->next);
    }
    pthread_mutex_unlock(&r->lock);
    if (complete)
        sync_file_range(r->fd, from, end - from, SYNC_FILE_RANGE_WRITE);
    return n;
}

/* Convert and compare the n blocks that the worker has taken. */
static int
convert_taken(BlocksRunner *r, BlockWorker *w, i64 n)
{
    i64 x[MAX_RANK];
    memcpy(x, w->first, sizeof x);
    for (i64 i = 0; i < n; i++) {
        int e = convert_block(r, w, x);
        if (e)
            return e;
        if (i < n - 1)
            blocks_next(r->job->blocks, x);
    }
    return r->job->verify && !boxes_right(r, w, x) ? ECANCELED : 0;
}

static void
work(void *arg, int part, int parts)
{
    BlocksRunner *r = arg;
    const Blocks *b = r->job->blocks;
    double all = (double)layout_points(b->p->dst, false);
    double bytes = (double)layout_bytes(b->dst.whole) + (double)layout_bytes(b->src.whole);
    BlockWorker *w = &r->worker[part];
    (void)parts;
    for (i64 n; (n = take(r, w)) > 0;) {
        int e = convert_taken(r, w, n);
        pthread_mutex_lock(&r->lock);
        r->error = r->error ? r->error : e;
        r->more &= e == 0;
        progress_at(&r->progress, (double)r->done, all, bytes);
        pthread_mutex_unlock(&r->lock);
    }
}

int
blocks_work(BlocksRunner *r)
{
    const Blocks *b = r->job->blocks;
    memset(r->next, 0, sizeof r->next);
    r->more = true;
    r->row = r->row_at = r->begun = 0;
    r->done = 0;
    r->error = 0;
    for (int i = 0; i < b->threads; i++)
        r->worker[i].last = NULL;
    threads_share(&(Threads){.most = b->threads}, work, r);
    return r->error;
}
