/* Runs of elements, contiguous on both sides; with padding after each. */
#include <string.h>

#include "../../templates/c/copy_fill_size.h"
#include "../../templates/c/copy_size.h"
#include "kernel_family.h"

/* Every address that a run can start at is a whole byte. */
static bool
byte_aligned(const Nest *n, i64 per, int run)
{
    if (!kernel_multiple(n->src, per) || !kernel_multiple(n->dst, per) ||
        (run < 0 ? 1 : n->loop[run].n) % per)
        return false;
    for (int i = 0; i < n->nloops; i++)
        if (i != run && (n->loop[i].ss % per || n->loop[i].ds % per))
            return false;
    return true;
}

static bool
copy_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = kernel_run_loop(n);
    role[ROW] = kernel_last_loop(n, role[COL]);
    kernel_batch(n, role);
    return (role[COL] >= 0 || n->nloops == 0) &&
           byte_aligned(n, bits < 8 ? 8 / bits : 1, role[COL]);
}

/* Nanoseconds of the moves of a run.  Stores past the caches are for whole lines: others
 * only prefetch, run by run. */
static double
start_of(const Nest *n, double bytes)
{
    enum { SHORT = 32 };
    i64 run = nest_tile(n, COL);
    if ((run & (run - 1)) == 0)
        return bytes <= SHORT ? 0.6 : 2.0;
    if (bytes > RAVEL_MOVED_BYTES)
        return 2;
    return n->stream ? 1.0 : 0.4 + kernel_overlap((i64)bytes);
}

/* PLANE_NS: for the rows of a plane. */
static double
copy_work(const Nest *n, int bits)
{
    enum { PLANE_NS = 3 };
    double run = (double)nest_tile(n, COL), bytes = run * bits / 8;
    double runs = (double)n->elements / run, rows = (double)nest_tile(n, ROW);
    return runs * (start_of(n, bytes) + 0.02 * bytes + PLANE_NS / rows);
}

static void
swap_before(Nest *n, int j)
{
    Loop l = n->loop[j];
    n->loop[j] = n->loop[j - 1];
    n->loop[j - 1] = l;
}

/* Whether loop i takes longer steps than loop j, which a residual has: inside of j it would
 * pass over all it covers again for each iteration of j. */
static bool
encloses(const Nest *n, int i, int j)
{
    const Loop *a = &n->loop[i], *b = &n->loop[j];
    return !a->residual && b->residual && int_abs(a->ss) >= int_abs(b->ss) &&
           int_abs(a->ds) >= int_abs(b->ds);
}

/* The longest loops but the columns become the last two of the first m: a call then does as
 * much as it can. */
static void
longest_last(Nest *n, int m)
{
    for (int to = m - 1; to > 0 && to > m - 3; to--) {
        int best = to;
        for (int i = to - 1; i >= 0; i--)
            if (!n->loop[i].residual && (n->loop[best].residual || n->loop[i].n > n->loop[best].n))
                best = i;
        for (int i = best + 1; i <= to; i++)
            swap_before(n, i);
    }
}

/* The loops but the columns in this order, the last two of them rows and planes. */
static void
take_rows(Nest *n, Order order, bool small)
{
    int m = n->nloops - (n->role[COL] >= 0);
    for (int i = 1; i < m; i++)
        for (int j = i; j > 0 && outer_precedes(n, j, j - 1, order); j--)
            swap_before(n, j);
    for (int i = 1; i < m - 1; i++)
        for (int j = i; j > 0 && encloses(n, j, j - 1); j--)
            swap_before(n, j);
    if (small)
        longest_last(n, m);
    n->role[ROW] = m > 0 && !n->loop[m - 1].residual ? m - 1 : -1;
    n->role[BATCH] = n->role[ROW] > 0 && !n->loop[m - 2].residual ? m - 2 : -1;
    n->inner = n->nloops - m + (n->role[ROW] >= 0) + (n->role[BATCH] >= 0);
}

/* Past the caches, in the order of reads: writes of whole lines can go anywhere. */
static const struct {
    const char *what;
    int stream;
    Order order;
} copies[] = {
    {"in order of reads, past the caches",  1, BY_SRC},
    {in_order_of_writes,                    0, BY_DST},
    {"in order of writes, past the caches", 1, BY_DST},
    {"in order of reads",                   0, BY_SRC},
};

/* Runs that lie side by side in the destination, a few at a time, along the source: runs
 * so far apart there that they share banks of the memory are written together.  Shorter
 * runs, and those that do not begin at words, took 2 to 10 times as long as in order of
 * reads (8 to 40 MB, Emerald Rapids). */
static bool
order_abreast(const Plan *p, Nest *n)
{
    enum { STRETCH = 512, SHORT = 32, WORD = 8 };
    i64 run = n->role[COL] < 0 ? 1 : n->loop[n->role[COL]].n;
    int m = n->nloops - (n->role[COL] >= 0), side = -1;
    i64 bytes = run * p->dst->dtype->bits / 8;
    if (bytes < SHORT || bytes % WORD != 0 || bytes >= RAVEL_LONG_BYTES)
        return false;
    take_rows(n, BY_SRC, false);
    for (int i = 0; i < m - 1; i++)
        if (!n->loop[i].residual && n->loop[i].ds == run)
            side = i;
    if (side < 0 || n->role[ROW] < 0)
        return false;
    Loop l = n->loop[side];
    memmove(n->loop + side, n->loop + side + 1, (size_t)(m - 1 - side) * sizeof l);
    n->loop[m - 1] = l;
    n->role[BATCH] = m - 2;
    n->inner = n->nloops - m + 2;
    n->order = "runs abreast, past the caches";
    n->stream = 1;
    outer_add_loops(n, BY_SRC, false);
    outer_add_tile(n, ROW, STRETCH, bytes);
    return true;
}

/* Reads a source with gaps, each of its lines once, and still writes lines. */
static bool
skips(Runs r)
{
    return r.read_gaps > 0 && r.written >= RAVEL_LINE;
}

/* Whether runs of two lines and more, written in turn, are read from places near each other. */
static bool
reads_near(const Nest *n, int bits)
{
    enum { LINES = 128, NEAR = 4 << 20 };
    i64 run = nest_tile(n, COL), all;
    bool near = run >= LINES * 8 / bits;
    for (int i = n->nloops - 1; near && i >= 0 && int_abs(n->loop[i].ss) != run; i--)
        near = int_mul(n->loop[i].n, int_abs(n->loop[i].ss), &all) && all <= (i64)NEAR * 8 / bits;
    return near;
}

static bool
copy_orders(const Plan *p, Nest *n, int k)
{
    int best = !outer_may_stream(p, n);
    Nest abreast;
    nest_copy(&abreast, n);
    if (!best && order_abreast(p, &abreast) && k-- == 0) {
        nest_copy(n, &abreast);
        return true;
    }
    if (k >= LEN(copies))
        return false;
    int row = k < 2 ? k ^ best : k;
    n->order = copies[row].what;
    n->stream = copies[row].stream;
    take_rows(n, copies[row].order, !n->stream && kernel_is_small(n, p->dst->dtype->bits));
    for (int i = 0; i < n->nloops - n->inner; i++)
        n->outer[n->nouter++] = (OuterLoop){i, 1};
    int bits = p->dst->dtype->bits;
    bool good = n->stream ? !best && copies[row].order == BY_DST && reads_near(n, bits)
                          : skips(nest_runs(n, bits));
    n->spare = k > 0 && !good;
    return true;
}

const Family copy_family = {
    .kind = NEST_COPY,
    .elements = OF_ANY,
    .args = "DSnrRNMPQH",
    .what = "runs of elements, contiguous on both sides",
    .by = &(const Method){
        .applies = copy_applies,
        .work = copy_work,
        .orders = copy_orders,
        .speeds = AS_COPIES,
    },
};

static bool
copy_fill_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = kernel_unit_loop(n, false);
    role[ROW] = role[COL] < 0 ? -1 : kernel_last_loop(n, role[COL]);
    kernel_batch(n, role);
    return n->pad.n && role[COL] >= 0 && n->loop[role[COL]].ss == 1 &&
           n->pad.ex->f.max <= RAVEL_PAD_BYTES / (bits / 8);
}

static double
copy_fill_work(const Nest *n, int bits)
{
    double run = (double)nest_tile(n, COL);
    return (double)n->elements * (0.02 * bits / 8 + 4.0 / run);
}

static bool
copy_fill_orders(const Plan *p, Nest *n, int k)
{
    n->stream = outer_may_stream(p, n);
    return outer_in_order(p, n, k);
}

const Family copy_fill_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSnrRwNMPQHvB",
    .what = "runs of elements, each followed by padding",
    .pads = 1.5,
    .by = &(const Method){
        .applies = copy_fill_applies,
        .work = copy_fill_work,
        .orders = copy_fill_orders,
    },
};
