/* convert in blocks: read the slab of a block, convert it, write it to its place. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli_blocks.h"
#include "cli_progress.h"

typedef struct {
    Cli *c;
    const BlocksJob *job;
    BlockKind *kind;               /* by the bits of blocks_extents */
    unsigned char *src, *dst;      /* buffers */
    const BlockKind *last;         /* whose holes in dst are zero */
    int fd;
    unsigned char *map;            /* the new file, for --verify and for what is stored there;
                                    * NULL: not mapped */
    bool stores;                   /* runs are so short that a call for each takes longer */
    size_t map_len;
    i64 first[MAX_RANK], gathered; /* for --verify: the first block that is not compared yet;
                                    * bytes of all of them */
    i64 done;                      /* bytes of the destination */
    i64 unproven;                  /* bytes of a proof that was left out */
    bool differs, no_memory;       /* what --verify came to */
    int cold;                      /* blocks whose runs are not in memory, by those before */
    Progress progress;
} Runner;

typedef struct {
    const Runner *r;
    const unsigned char *from;     /* the slab's first byte in the source */
    i64 at;                        /* that in the destination, as an offset in its file */
} Place;

static int
read_run(void *arg, i64 whole, i64 part, i64 bytes)
{
    const Place *p = arg;
    memcpy(p->r->src + part, p->from + whole, (size_t)bytes);
    return 0;
}

/* Have the system begin to read a run. */
static int
expect_run(void *arg, i64 whole, i64 part, i64 bytes)
{
    const Place *p = arg;
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
read_runs(Runner *r, const SlabRuns *runs, const unsigned char *from)
{
    enum { SHORT = 1 << 16, FEW = 4, COLD = 100 };
    const FileView *view = r->job->view;
    Place p = {r, from, 0};
    long before = waits();
    if (r->cold)
        slab_each(runs, expect_run, &p);
    slab_each(runs, read_run, &p);
    if (r->cold && --r->cold == 0)
        madvise(view->data, view->len, MADV_NORMAL);
    else if (!r->cold && view->mapped && runs->run < SHORT && waits() - before > FEW) {
        r->cold = COLD;
        madvise(view->data, view->len, MADV_RANDOM);
    }
}

static int
write_at(int fd, const void *data, size_t len, i64 at)
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
    const Place *p = arg;
    if (p->r->stores) {
        memcpy(p->r->map + p->at + whole, p->r->dst + part, (size_t)bytes);
        return 0;
    }
    return write_at(p->r->fd, p->r->dst + part, (size_t)bytes, p->at + whole);
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
read_block(Runner *r, const BlockKind *k, const i64 *x)
{
    const BlockSide *s = &r->job->blocks->src;
    const unsigned char *from = from_start(r->job->src, blocks_start(s, &k->block.from, x));
    if (s->in_place || k->block.from.runs.n == 0)
        return from;
    read_runs(r, &k->block.from.runs, from);
    return r->src;
}

/* Convert what is at `src` to the block at x. */
static int
write_block(Runner *r, const BlockKind *k, const i64 *x, const unsigned char *src)
{
    const BlockSide *s = &r->job->blocks->dst;
    i64 at = (i64)r->job->head_len + blocks_start(s, &k->block.to, x);
    if (s->in_place) {
        run_block(k, from_start(r->map, at), src);
        return 0;
    }
    if (k != r->last)
        memset(r->dst, 0, (size_t)k->block.to.bytes);
    r->last = k;
    run_block(k, r->dst, src);
    return slab_each(&k->block.to.runs, write_run, &(Place){r, NULL, at});
}

/* Blocks in place leave no pages behind. */
static void
let_go(const Runner *r)
{
    const BlocksJob *j = r->job;
    if (j->blocks->src.in_place && j->view->mapped)
        madvise(j->view->data, j->view->len, MADV_DONTNEED);
    if (j->blocks->dst.in_place)
        madvise(r->map, r->map_len, MADV_DONTNEED);
}

/* Compare the box of the blocks at r->first to x, which follow each other along one dim, with
 * the layouts of the whole tensor, as the file has them. */
static bool
boxes_right(Runner *r, const BlockKind *k, const i64 *x, const i64 *extent, i64 *slot)
{
    const Blocks *b = r->job->blocks;
    i64 hi[MAX_RANK];
    for (int d = 0; d < b->p->dst->rank; d++)
        hi[d] = x[d] + extent[d] < b->n[d] ? x[d] + extent[d] : b->p->dst->dim[d].padded;
    return reference_differs_in(b->p, &k->plan->threads, r->first, hi,
                                r->map + r->job->head_len, r->job->src, slot);
}

/* Compared at once, in bytes: the tables of a comparison take time. */
static const i64 ENOUGH = (i64)1 << 22;

/* Whether the blocks at r->first to x are a box, and no more should be compared with them. */
static bool
are_enough(const Runner *r, const i64 *x, const i64 *extent)
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
    return r->gathered >= ENOUGH || x[d] + extent[d] == b->n[d];
}

/* Compare the block at x, of which r->dst has the storage, or remember that it is to be. */
static bool
is_right(Runner *r, const BlockKind *k, const i64 *x, const i64 *extent, const unsigned char *src)
{
    const Blocks *b = r->job->blocks;
    i64 slot = -1;
    bool ok = true;
    if (r->gathered == 0)
        memcpy(r->first, x, sizeof r->first);
    r->gathered += k->block.to.bytes;
    if (are_enough(r, x, extent)) {
        r->gathered = 0;
        ok = boxes_right(r, k, x, extent, &slot);
    }
    if (ok && slot < 0 && k->holes && !b->dst.in_place)
        ok = reference_differs(k->plan->plan, &k->plan->threads, r->dst, src, &slot);
    r->no_memory |= !ok;
    if (slot >= 0)
        fprintf(stderr, "ravel: verify: slot %lld of the result differs from the "
                "layouts\n", (long long)slot);
    return ok && slot < 0;
}

static int
convert_block(Runner *r, const i64 *x)
{
    const Blocks *b = r->job->blocks;
    i64 extent[MAX_RANK], elements = 1;
    const BlockKind *k = &r->kind[blocks_extents(b, x, extent)];
    const unsigned char *src = read_block(r, k, x);
    int e = write_block(r, k, x, src);
    if (e == 0 && r->job->verify && !is_right(r, k, x, extent, src)) {
        r->differs = !r->no_memory;
        e = ECANCELED;
    }
    let_go(r);
    for (int d = 0; d < b->p->dst->rank; d++)
        elements *= extent[d];
    r->done += elements;
    return e;
}

/* Whether runs are shorter than a page: a page then has several. */
static bool
stores_runs(const Runner *r)
{
    enum { PAGE = 4096 };
    i64 x[MAX_RANK] = {0}, extent[MAX_RANK];
    const BlockKind *k = &r->kind[blocks_extents(r->job->blocks, x, extent)];
    return k->block.to.run < PAGE;
}

/* Gives the file its length and, where the file system can, its room on the disk: one request
 * for all takes a part of the time that finding room for each block does. */
static int
give_room(int fd, size_t len)
{
    int e = fallocate(fd, 0, 0, (off_t)len) ? errno : 0;
    if (e != EOPNOTSUPP && e != ENOSYS && e != EINTR)
        return e;
    return ftruncate(fd, (off_t)len) ? errno : 0;
}

/* The place of the whole file in memory, where it is needed.  What is written there has room
 * on the disk first: a full disk would end the process at a store.  Where that cannot be, runs
 * are written by calls. */
static int
map_file(Runner *r)
{
    bool in_place = r->job->blocks->dst.in_place, stored = in_place || r->stores;
    r->map_len = r->job->head_len + (size_t)layout_bytes(r->job->blocks->dst.whole);
    int e = stored ? posix_fallocate(r->fd, 0, (off_t)r->map_len)
                   : give_room(r->fd, r->map_len);
    if (e == 0 && (r->job->verify || stored)) {
        int may = PROT_READ | (stored ? PROT_WRITE : 0);
        void *p = mmap(NULL, r->map_len, may, MAP_SHARED, r->fd, 0);
        r->map = p == MAP_FAILED ? NULL : p;
        e = r->map ? 0 : errno;
    }
    if (e == 0 || in_place || !r->stores)
        return e;
    r->stores = false;
    return map_file(r);
}

static int
fill(void *arg, int fd)
{
    Runner *r = arg;
    const Blocks *b = r->job->blocks;
    i64 x[MAX_RANK] = {0};
    double all = (double)layout_points(b->p->dst, false);
    double bytes = (double)layout_bytes(b->dst.whole) + (double)layout_bytes(b->src.whole);
    r->fd = fd;
    r->done = 0;
    r->stores = stores_runs(r);
    int e = map_file(r);
    if (e == 0)
        e = write_at(fd, r->job->head, r->job->head_len, 0);
    do {
        if (e == 0)
            e = convert_block(r, x);
        progress_at(&r->progress, (double)r->done, all, bytes);
    } while (e == 0 && blocks_next(b, x));
    if (r->map)
        munmap(r->map, r->map_len);
    r->map = NULL;
    return e;
}

static void
allocate(Runner *r)
{
    const Blocks *b = r->job->blocks;
    i64 src = 1, dst = 1;
    for (unsigned i = 0; i < blocks_kinds(b); i++) {
        const BlockPart *from = &r->kind[i].block.from, *to = &r->kind[i].block.to;
        if (!r->kind[i].plan)
            continue;
        src = !b->src.in_place && from->runs.n && from->bytes > src ? from->bytes : src;
        dst = !b->dst.in_place && to->bytes > dst ? to->bytes : dst;
    }
    r->src = malloc((size_t)src);
    r->dst = malloc((size_t)dst);
    if (!r->dst || !r->src)
        cli_no_memory(r->c, src + dst, "a block");
}

/* Write to an unnamed file, and map it. */
static ravel_status
fill_spool(Runner *r, FileView *v, ravel_error *err)
{
    int fd = r->job->fits ? memfd_create("ravel", MFD_CLOEXEC) : -1;
    fd = fd < 0 ? file_spool(err) : fd;
    return fd < 0 ? RAVEL_ERR_FILE : file_spool_view(fd, fill(r, fd), v, err);
}

typedef struct {
    Runner r;
    bool ok;
} BlocksRun;

static void
run(void *arg)
{
    BlocksRun *u = arg;
    Runner *r = &u->r;
    const Blocks *b = r->job->blocks;
    ravel_error err;
    r->kind = arena_array(r->c->arena, BlockKind, blocks_kinds(b));
    blocks_compile(r->c, r->job, r->kind);
    if (r->job->verify && !blocks_prove(r->c, r->job, r->kind, &r->unproven))
        return;
    allocate(r);
    r->progress = progress_begin("converting", NULL);
    ravel_status s = r->job->spool ? fill_spool(r, r->job->spool, &err)
                   : file_write_by(r->c->o.arg[1], fill, r, &err);
    progress_end(&r->progress);
    if (r->no_memory)
        cli_no_memory(r->c, reference_bytes(b->p), "a comparison");
    u->ok = !r->differs;
    if (u->ok)
        cli_check(r->c, s, &err);
}

bool
blocks_run(Cli *c, const BlocksJob *j, i64 *unproven)
{
    Diag d;
    BlocksRun u = {.r = {.c = c, .job = j}};
    bool ended = arena_run(c->arena, &d, run, &u);
    for (unsigned i = 0; u.r.kind && i < blocks_kinds(j->blocks); i++)
        ravel_plan_free(u.r.kind[i].plan);
    free(u.r.src);
    free(u.r.dst);
    *unproven = u.r.unproven;
    if (!ended)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return u.ok;
}
