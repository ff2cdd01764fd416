/* Estimates the time of a nest by a kernel in an order: the one model by which both are
 * chosen.
 *
 * The work is the time of the kernel with its data in the first cache.  The transfer is the
 * bytes read divided by the read speed plus the bytes written divided by the write speed.
 * In the caches both depend on the size of the data and the length of the runs.  In memory,
 * where stores past the caches go whatever the size, the write speed depends on their
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
} Level;

/* Of the kernels with the same speeds: stores that do not go past the caches; reads in the
 * shared cache; the part that work or transfer does not hide of the other. */
typedef struct {
    double plain, shared, overlap;
} Class;

enum { LEVELS = 3, RUNS = 8 };
enum { PLAIN, WITHOUT, WITH, NAMES };      /* the name; by what the instructions can */
struct Processor {
    const char *name[NAMES];
    Level level[LEVELS];
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
    return run < 8 ? 8.0 / 64 : run < 64 ? run / 64 : 1;
}

/* A hardware prefetcher follows a few rows that are read in turn to their ends.  Smaller
 * data is read from a cache that cores share (`shares`), one more line for each run. */
static double
read_speed(const Processor *c, int as, bool shares, const Runs *r)
{
    double run = r->rows && r->rows <= c->core.followed ? r->along : r->read;
    double speed = row_of(c->memory[as], run)->read * part_of_line(run);
    double shared = c->of[as].shared * run / (run + 64);
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

/* What is walked so far, from the innermost loop outward: the elements that are contiguous;
 * the places at which so many were; the elements from one to the next of these, 0 if there
 * is only one.  `first` elements were walked at each of `turns` places before one of these went
 * on.  A run may have gaps that are shorter than a cache line, of whose lines all are
 * transferred: `piece` elements of every `every` are walked. */
typedef struct {
    i64 run, places, apart, first, turns;
    int bits;             /* of an element */
    i64 piece, every;     /* every 0: no gaps */
} CostWalk;

enum { LINE_BITS = 512 };

/* A loop that makes a run with gaps, or that fills gaps while the first cache holds the
 * lines.  Wider gaps take as long as runs that are apart (part_of_line). */
static bool
walk_gaps(CostWalk *w, i64 stride, i64 count, i64 held)
{
    enum { WIDEST = 16 };
    bool close = stride < LINE_BITS / w->bits && stride <= WIDEST * w->run;
    if (w->places == 1 && !w->every && close && stride > w->run && count > 1) {
        w->piece = w->run;
        w->every = stride;
        if (!int_mul(stride, count, &w->run))
            w->run = INF;
        return true;
    }
    if (!w->every || stride != w->piece || w->places > 1 || count > w->every / w->piece ||
        w->run > held * LINE_BITS / w->bits)
        return false;
    w->piece *= count;
    return true;
}

/* One more loop.  It goes on where the run ends, as long as the first cache holds the lines
 * of all places; else those lines are read again.  Places that are pages apart share a set
 * of the cache. */
static void
walk_loop(CostWalk *w, i64 stride, i64 count)
{
    enum { HELD = 256, HELD_OF_A_SET = 8, PAGE_BITS = 8 * 4096 };
    bool pages = w->apart && w->apart % PAGE_BITS * w->bits % PAGE_BITS == 0;
    i64 held = pages ? HELD_OF_A_SET : HELD;
    bool on = int_abs(stride) == w->run && w->places <= held;
    if (!on && walk_gaps(w, int_abs(stride), count, held))
        return;
    i64 *more = on ? &w->run : &w->places;
    if (count > 1 && !on && !w->apart)
        w->apart = stride;
    if (count > 1 && !on && !w->first)
        w->first = w->run;
    if (count > 1 && on && w->places > 1 && !w->turns)
        w->turns = w->places;
    if (count > 1 && !int_mul(*more, count, more))
        *more = INF;
}

/* The loop of a table, or of the columns, that goes on where a run ends; else the one with
 * the shortest stride in the residual of an address: loops there permute a compact set in most
 * layouts.  -1: there is none. */
static int
next_of_table(const Nest *n, bool source, i64 run, const bool walked[MAX_LOOPS])
{
    int first = n->nloops - n->inner, end = first + n->table, best = -1;
    i64 least = 0;
    for (int i = first; i <= end; i++) {
        int at = i < end ? i : n->role[COL];
        if (at < 0 || walked[at])
            continue;
        i64 stride = int_abs(source ? n->loop[at].ss : n->loop[at].ds);
        if (stride == run)
            return at;
        if (n->loop[at].residual && (best < 0 || stride < least)) {
            best = at;
            least = stride;
        }
    }
    return best;
}

/* The loops of a table and the columns, in any order; sets walked[] to those that make the
 * run. */
static void
walk_table(CostWalk *w, const Nest *n, bool source, bool walked[MAX_LOOPS])
{
    int first = n->nloops - n->inner, end = first + n->table;
    for (int at; (at = next_of_table(n, source, w->run, walked)) >= 0;) {
        walked[at] = true;
        walk_loop(w, w->run, at == n->role[COL] ? nest_tile(n, COL) : n->loop[at].n);
    }
    for (int i = first; i < end; i++)
        if (!walked[i])
            walk_loop(w, 0, n->loop[i].n);
}

/* Runs of the source that no loop continues, in whatever order: the line of each is read for
 * the run alone. */
static void
walk_sparse(CostWalk *w, const Nest *n)
{
    i64 half = LINE_BITS / 2 / w->bits, next = INF;
    for (int i = 0; i < n->nloops; i++) {
        i64 stride = int_abs(n->loop[i].ss);
        if (n->loop[i].residual)
            return;
        if (n->loop[i].n > 1 && stride >= w->run && stride < next)
            next = stride;
    }
    if (w->every || w->run >= half || next < half)
        return;
    w->piece = w->run;
    w->run = w->every = half;
}

/* What a nest reads (writes) contiguously. */
static CostWalk
walk_of(const Nest *n, int bits, bool source)
{
    CostWalk w = {.run = 1, .places = 1, .bits = bits, .piece = 1};
    bool walked[MAX_LOOPS] = {false};
    if (n->table)
        walk_table(&w, n, source, walked);
    for (int i = n->nloops - 1; i >= n->nloops - n->inner + n->table; i--) {
        const Loop *l = &n->loop[i];
        int outer = nest_outer(n, i);
        if (!walked[i])
            walk_loop(&w, source ? l->ss : l->ds, outer < 0 ? l->n : n->outer[outer].step);
    }
    for (int i = n->nouter - 1; i >= 0; i--) {
        const Loop *l = &n->loop[n->outer[i].loop];
        i64 step = n->outer[i].step, stride = source ? l->ss : l->ds;
        if (!int_mul(stride, step, &stride))
            break;
        walk_loop(&w, l->residual ? 0 : stride, int_ceil_div(l->n, step));
    }
    if (source)
        walk_sparse(&w, n);
    if (!w.turns)
        w.turns = w.places;
    return w;
}

/* Whether a loop in the residual is outside of the call, and no tile of one of the kernel's:
 * each of its iterations then walks all that the call covers again. */
static bool
walks_again(const Nest *n)
{
    for (int i = 0; i < n->nouter; i++)
        if (n->loop[n->outer[i].loop].residual && n->outer[i].loop < n->nloops - n->inner)
            return true;
    return false;
}

/* The nanoseconds of rows past the caches that are not whole cache lines: those at their ends
 * are read first, or are still in a cache if the next row continues them soon.  Copies of rows
 * of less than a line take a bit longer too, unless the next row touches. */
static double
ends_of(const Nest *n, const CostWalk *to, int bits)
{
    enum { JOINED_NS = ENDS_NS / 2, SHORT_NS = 3, LEAST_BITS = 192 };
    i64 cols = nest_tile(n, COL), row = cols;
    if (n->table || walks_again(n))
        return 0;
    if (nest_stride(n, ROW, false) == cols && !int_mul(row, nest_tile(n, ROW), &row))
        return 0;
    double rows = (double)n->elements / (double)row;
    bool whole = row % 512 * bits % 512 == 0 && to->apart % 512 * bits % 512 == 0;
    bool copies = n->kernel->family->by->speeds == AS_COPIES;
    if (row < 512 && row * bits < 512)
        return copies && to->turns > 1 && row * bits >= LEAST_BITS ? rows * SHORT_NS : 0;
    return whole || !n->stream ? 0 : rows * (to->run > row ? JOINED_NS : ENDS_NS);
}

/* The nanoseconds of runs that are copied from more places in turn than a hardware prefetcher
 * follows, until one of the places goes on. */
static double
starts_of(const Nest *n, const CostWalk *from, int bits)
{
    enum { FOLLOWED = 32, START_NS = 2, SHORT = 16, LONG = 1024 };
    double bytes = (double)from->first * bits / 8;
    bool copies = n->kernel->family->by->speeds == AS_COPIES;
    if (!copies || from->turns <= FOLLOWED || bytes < SHORT || bytes > LONG)
        return 0;
    return (double)n->elements / (double)from->first * START_NS;
}

static double
gaps_of(const CostWalk *w)
{
    return w->every ? (double)(w->every - w->piece) / (double)w->piece : 0;
}

/* A fill has no source: it is charged with a read of what it writes. */
Runs
nest_runs(const Nest *n, int bits)
{
    CostWalk to = walk_of(n, bits, false);
    CostWalk from = n->kind == NEST_FILL ? to : walk_of(n, bits, true);
    double size = (double)bits / 8;
    i64 apart;
    return (Runs){.read = (double)from.run * size, .written = (double)to.run * size,
                  .read_gaps = gaps_of(&from), .written_gaps = gaps_of(&to),
                  .apart = int_mul(to.apart, bits, &apart) ? apart / 8 : INF,
                  .more = ends_of(n, &to, bits) + starts_of(n, &from, bits)};
}

/* Lines are read (written) again if a run ends within them. */
static double
lines_of(double bytes, double run)
{
    return bytes / 64 * (1 + (run > 32 ? 32 / run : 1));
}

static double
transfer_in_caches(const Processor *c, double bytes, const Runs *r)
{
    const Level *l = c->level;
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
    bool large = plan_may_have(p, CACHED_BYTES);
    double work = f->by->work(n, bits) * (large && !n->stream ? c->core.work : 1);
    double transfer = large || n->stream
                      ? transfer_in_memory(c, n, bytes, is_shared(c, p, bytes), &r)
                      : transfer_in_caches(c, bytes, &r);
    double less = work < transfer ? work : transfer;
    double overlap = large ? c->of[f->by->speeds].overlap : c->core.overlap;
    double all = work + transfer - (1 - overlap) * less;
    return all * (walks_again(n) ? AGAIN : 1) + calls_of(n) * CALL_NS;
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
