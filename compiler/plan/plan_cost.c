/* Estimates the time of a nest by a kernel in an order: the one model by which both are
 * chosen.
 *
 * The work is the time of the kernel with its data in the first cache.  The transfer is the
 * bytes read divided by the read speed plus the bytes written divided by the write speed.
 * In the caches both depend on the size of the data and the length of the runs (plan_runs.c).
 * In memory, where stores past the caches go whatever the size, the write speed depends on their
 * distance also, and the read speed on how many runs are read in turn.  Schedules with
 * extents left to run time are chosen for data in memory.
 * Work and transfer overlap for the most part, and each call takes a constant time.
 * cost.def has the numbers for processors. */
#include <stdint.h>
#include <string.h>

#include "kernel_family.h"

typedef struct {
    int64_t bytes;
    double read, written[3];
} Memory;

typedef struct {
    int64_t bytes;
    double read, write;
} CacheLevel;

/* Of the kernels with the same speeds: stores that do not go past the caches; reads in the
 * shared cache; the part that work or transfer does not hide of the other. */
typedef struct {
    double plain, shared, overlap;
} Class;

enum { LEVELS = 3, RUNS = 8 };
enum { PLAIN, WITHOUT, WITH, NAMES };      /* the name; by what the instructions can */
struct Processor {
    const char *name[NAMES];
    CacheLevel level[LEVELS];
    Memory memory[CLASSES][RUNS];  /* the last ones may be empty */
    Class of[CLASSES];
    struct {
        double work, overlap, block, staged, brief;
        i64 shared, followed, even;
        bool permutes;
    } core;
};

enum {
#define PROCESSOR(id, ...) id,
#include "cost.def"
};

static const Processor processors[] = {
#define PROCESSOR(id, n) [id].name = {n, n " without VBMI", n " with VBMI"},
#define CORE(id, ...) [id].core = {__VA_ARGS__},
#define CLASS(id, as, ...) [id].of[as] = {__VA_ARGS__},
#define LEVEL(id, i, ...) [id].level[i] = {__VA_ARGS__},
#define SPEEDS(id, as, i, bytes, read, ...) [id].memory[as][i] = {bytes, read, {__VA_ARGS__}},
#include "cost.def"
};

PlanMachine
machine_named(const char *name)
{
    for (int i = 0; i < LEN(processors); i++)
        if (!strcmp(processors[i].name[PLAIN], name))
            return (PlanMachine){&processors[i], processors[i].core.permutes};
    return (PlanMachine){0};
}

const char *
machine_names(void)
{
#define PROCESSOR(id, name) " " name
    return
#include "cost.def"
        "";
}

static const Processor *
costs_of(PlanMachine m)
{
    return m.costs ? m.costs : &processors[ANY];
}

const char *
machine_name(PlanMachine m)
{
    const Processor *c = costs_of(m);
    return c->name[m.permutes == c->core.permutes ? PLAIN : m.permutes ? WITH : WITHOUT];
}

/* CALL_NS: nanoseconds of a call from jitted code.  AGAIN: how many times longer a nest takes
 * whose calls walk the same memory again. */
enum { CALL_NS = 6, AGAIN = 2 };

/* The last row of the table for at most `bytes`; the first row if there is none. */
static const Memory *
row_of(const Memory *row, double bytes)
{
    int i = 0;
    while (i + 1 < RUNS && row[i + 1].bytes && bytes >= (double)row[i + 1].bytes)
        i++;
    return &row[i];
}

static double
part_of_line(double run)
{
    return run < 8 ? 8.0 / RAVEL_LINE : run < RAVEL_LINE ? run / RAVEL_LINE : 1;
}

/* A hardware prefetcher follows a few rows that are read in turn to their ends.  Smaller
 * data is read from a cache that cores share (`shares`), one more line for each run. */
static double
read_speed(const Processor *c, int as, bool shares, const Runs *r)
{
    double run = r->rows && r->rows <= c->core.followed ? r->along : r->read;
    double speed = row_of(c->memory[as], run)->read * part_of_line(run);
    double shared = c->of[as].shared * run / (run + RAVEL_LINE);
    return shares && speed < shared ? shared : speed;
}

static double
write_speed(const Processor *c, int as, double run, i64 apart)
{
    enum { NEAR = 2 << 20 };       /* the bytes of a page: addresses in it are physical */
    bool near = apart > -NEAR && apart < NEAR;
    int kind = near && apart % 512 == 0 ? 0 : near && apart % c->core.even == 0 ? 1 : 2;
    return row_of(c->memory[as], run)->written[kind] * part_of_line(run);
}

static double
calls_of(const Nest *n)
{
    double calls = 1;
    for (int i = 0; i < n->nouter; i++)
        calls *= (double)int_ceil_div(n->loop[n->outer[i].loop].n, n->outer[i].step);
    return calls;
}

/* Lines are read (written) again if a run ends within them. */
static double
lines_of(double bytes, double run)
{
    return bytes / RAVEL_LINE * (1 + (run > 32 ? 32 / run : 1));
}

static double
transfer_in_caches(const Processor *c, double bytes, const Runs *r)
{
    const CacheLevel *l = c->level;
    double read = bytes * (1 + r->read_gaps), written = bytes * (1 + r->written_gaps);
    while (read + written > (double)l->bytes)
        l++;
    return lines_of(read, r->read) * l->read + lines_of(written, r->written) * l->write;
}

/* Whether a cache that cores share holds the data: if its size is not known it does, as most
 * tensors are smaller than that cache. */
static bool
is_shared(const Processor *c, const Plan *p, double bytes)
{
    return c->core.shared > 0 &&
           (!ex_is_const(p->to->size) || bytes < (double)c->core.shared);
}

static double
transfer_in_memory(const Processor *c, const Nest *n, double bytes, bool shares, const Runs *r)
{
    int as = n->kernel->family->by->speeds;
    double write = write_speed(c, as, r->written, r->apart);
    if (!n->stream && write > c->of[as].plain)
        write = c->of[as].plain;
    double staged = r->rows ? bytes * c->core.staged + r->blocks * c->core.block +
                              r->brief * c->core.brief : 0;
    return bytes * (1 + r->read_gaps) / read_speed(c, as, shares, r) +
           bytes * (1 + r->written_gaps) / write + staged + r->more;
}

double
nest_cost(const Plan *p, const Nest *n)
{
    const Family *f = n->kernel->family;
    const Processor *c = costs_of(p->machine);
    int bits = p->dst->dtype->bits;
    double bytes = (double)n->elements * bits / 8;
    Runs r = f->by->runs ? f->by->runs(n, bits) : nest_runs(n, bits);
    bool large = nest_may_have(p, n, CACHED_BYTES);
    double work = f->by->work(n, bits) * (large && !n->stream ? c->core.work : 1);
    double transfer = large || n->stream
                      ? transfer_in_memory(c, n, bytes, is_shared(c, p, bytes), &r)
                      : transfer_in_caches(c, bytes, &r);
    double less = work < transfer ? work : transfer;
    double overlap = large ? c->of[f->by->speeds].overlap : c->core.overlap;
    double all = work + transfer - (1 - overlap) * less;
    return all * (nest_walks_again(n) ? AGAIN : 1) + calls_of(n) * CALL_NS;
}

/* RUN_NS, WALKED_NS: by how much a run and a call of the interpreter take longer than those of
 * machine code. */
bool
plan_is_coarse(const Plan *p)
{
    enum { RUN_NS = 20, WALKED_NS = 12, PERCENT = 100 };
    double all = 0, more = RUN_NS;
    for (int i = 0; i < p->n; i++) {
        all += p->nest[i]->merged ? 0 : p->nest[i]->cost;
        more += p->nest[i]->merged ? 0 : calls_of(p->nest[i]) * WALKED_NS;
    }
    return plan_is_fixed(p) && !plan_looks_up(p) && PERCENT * more <= all;
}
