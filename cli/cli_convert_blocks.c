/* convert: whether to work in blocks, and how large they are. */
#include "cli_convert.h"

/* Blocks that stay in the caches' reach are converted faster than large ones, and those are
 * faster than a large tensor at once, if their runs are long.  BEST: for each thread.  A proof
 * takes time in proportion to a block. */
static const i64 BLOCK_BEST = (i64)4 << 20, BLOCK_MOST = (i64)64 << 20;
static const i64 PROOF_MOST = (i64)6 << 20;

/* The slots that a proof should move, so that it takes a part of the conversion's time. */
static i64
proof_work(const Plan *p)
{
    enum { LEAST = 1 << 23, MOST = 1 << 27, PARTS = 8 };
    i64 bytes;
    i64 slots = int_add(layout_bytes(p->src), layout_bytes(p->dst), &bytes) ? bytes / PARTS : MOST;
    return slots < LEAST ? LEAST : slots < MOST ? slots : MOST;
}

/* The memory that the conversion at once needs. */
static i64
whole_memory(const Cli *c, const Source *s, const Plan *p)
{
    i64 all;
    if (!int_add(layout_bytes(p->dst), cli_file_copied(&s->file), &all))
        return INF;
    return c->o.verify && proof_bytes(p) > all ? proof_bytes(p) : all;
}

/* The threads that convert blocks: with less memory for each, runs get short. */
static int
block_threads(const Source *s)
{
    enum { LEAST = 1 << 21 };
    i64 most = s->memory / LEAST;
    int n = s->plan->threads.most;
    return most < 2 ? 1 : n < most ? n : (int)most;
}

/* Blocks of about `size` bytes for each thread; of more, up to BLOCK_MOST in all, if that makes
 * their runs long. */
static Blocks *
long_blocks(Cli *c, const Plan *p, const ravel_request *rq, BlockLimits most, i64 size, i64 *least)
{
    i64 memory = most.memory;
    for (size = size * most.threads;; size *= 4) {
        most.memory = memory < size ? memory : size;
        Blocks *b = blocks_new(c, p, rq, &most, least);
        if (most.proven || size >= BLOCK_MOST || size >= memory || (b && blocks_run_long(b)))
            return b;
    }
}

Blocks *
convert_choose_blocks(Cli *c, const Source *s, const Plan *p, const ravel_request *rq)
{
    i64 memory = s->memory, whole = whole_memory(c, s, p), least = whole;
    bool fits = whole <= memory, proven = c->o.verify;
    BlockLimits most = {memory, block_threads(s), proven, proof_work(p), !fits};
    i64 best = proven ? PROOF_MOST : BLOCK_BEST * most.threads;
    bool quick = !proven || proof_slots(p) <= most.work;
    if (fits && ((whole <= best && quick) || (!out_has_place(c, s) && !proven)))
        return NULL;
    Blocks *b = long_blocks(c, p, rq, most, best / most.threads, &least);
    if (fits)
        return b && (proven || blocks_run_long(b)) ? b : NULL;
    if (!b)
        b = blocks_new(c, p, rq, &most, &least);
    if (!b && c->o.mem)
        cli_fail(c, "--mem %s allows %lld bytes, and the smallest blocks of this conversion need "
                 "%lld: give --mem %lld", c->o.mem, (long long)memory, (long long)least,
                 (long long)least);
    return b;
}

bool
convert_blocks(Cli *c, Source *s, const ravel_request *rq, const Blocks *b)
{
    const FileView *view = s->file.own.data ? &s->file.own : &s->file.view;
    const Layout *l = b->p->dst;
    BlocksJob job = {.blocks = b, .rq = rq, .src = s->from.a.data, .view = view,
                     .verify = c->o.verify, .memory = s->memory};
    if (out_has_place(c, s)) {
        job.head = out_head(c, &(Result){s, l, NULL}, 1, &job.head_len);
        return blocks_run(c, &job, &s->unproven);
    }
    job.spool = &s->spool;
    job.fits = whole_memory(c, s, b->p) <= (s->several ? job.memory / 2 : job.memory);
    bool ok = blocks_run(c, &job, &s->unproven);
    if (ok && !s->several)
        out_write(c, &(Result){s, l, s->spool.data}, 1);
    return ok;
}
