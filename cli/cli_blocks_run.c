/* convert in blocks: the new file, the memory of the threads, and what --verify came to. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli_blocks_work.h"

/* Whether runs are shorter than a page: a page then has several. */
static bool
stores_runs(const BlocksRunner *r)
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
map_file(BlocksRunner *r)
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
    BlocksRunner *r = arg;
    r->fd = fd;
    r->stores = stores_runs(r);
    int e = map_file(r);
    if (e == 0)
        e = blocks_write_at(fd, r->job->head, r->job->head_len, 0);
    if (e == 0)
        e = blocks_work(r);
    if (r->map)
        munmap(r->map, r->map_len);
    r->map = NULL;
    return e;
}

/* The buffers of each thread. */
static void
allocate(BlocksRunner *r)
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
    r->worker = arena_array(r->c->arena, BlockWorker, b->threads);
    for (int i = 0; i < b->threads; i++) {
        BlockWorker *w = &r->worker[i];
        w->src = malloc((size_t)src);
        w->dst = malloc((size_t)dst);
        if (!w->dst || !w->src)
            cli_no_memory(r->c, (src + dst) * b->threads, "blocks");
    }
}

static void
release(BlocksRunner *r)
{
    const Blocks *b = r->job->blocks;
    for (unsigned i = 0; r->kind && i < blocks_kinds(b); i++)
        ravel_plan_free(r->kind[i].plan);
    for (int i = 0; r->worker && i < b->threads; i++) {
        free(r->worker[i].src);
        free(r->worker[i].dst);
    }
    pthread_mutex_destroy(&r->lock);
}

/* Write to an unnamed file, and map it. */
static ravel_status
fill_spool(BlocksRunner *r, FileView *v, ravel_error *err)
{
    int fd = r->job->fits ? memfd_create("ravel", MFD_CLOEXEC) : -1;
    fd = fd < 0 ? file_spool(err) : fd;
    return fd < 0 ? RAVEL_ERR_FILE : file_spool_view(fd, fill(r, fd), v, err);
}

/* The line of a conversion that began at `start`: with files, and with --verify. */
static void
log_all(const BlocksRunner *r, int64_t start)
{
    const Blocks *b = r->job->blocks;
    const BlockKind *k = r->kind;
    i64 blocks = 1;
    for (int d = 0; d < b->p->dst->rank; d++)
        blocks *= (b->n[d] + b->step[d] - 1) / b->step[d];
    while (!k->plan)
        k++;
    log_blocks(k->plan, b->p, r->job->rq, blocks, b->threads, start);
}

typedef struct {
    BlocksRunner r;
    bool ok;
} BlocksRun;

static void
run(void *arg)
{
    BlocksRun *u = arg;
    BlocksRunner *r = &u->r;
    const Blocks *b = r->job->blocks;
    ravel_error err;
    r->kind = arena_array(r->c->arena, BlockKind, blocks_kinds(b));
    blocks_compile(r->c, r->job, r->kind);
    if (r->job->verify && !blocks_prove(r->c, r->job, r->kind, &r->unproven))
        return;
    allocate(r);
    int64_t start = log_start(r->c->cx);
    r->progress = progress_begin("converting", NULL);
    ravel_status s = r->job->spool ? fill_spool(r, r->job->spool, &err)
                   : file_write_by(r->c->o.arg[1], fill, r, &err);
    progress_end(&r->progress);
    if (r->no_memory)
        cli_no_memory(r->c, reference_bytes(b->p) * b->threads, "a comparison");
    u->ok = r->wrong == INF;
    if (!u->ok)
        fprintf(stderr, "ravel: verify: slot %lld of the result differs from the "
                "layouts\n", (long long)r->wrong);
    if (u->ok)
        cli_check(r->c, s, &err);
    if (u->ok)
        log_all(r, start);
}

bool
blocks_run(Cli *c, const BlocksJob *j, i64 *unproven)
{
    Diag d;
    BlocksRun u = {.r = {.c = c, .job = j, .wrong = INF}};
    pthread_mutex_init(&u.r.lock, NULL);
    bool ended = arena_run(c->arena, &d, run, &u);
    release(&u.r);
    *unproven = u.r.unproven;
    if (!ended)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return u.ok;
}
