/* The kernels composite and unpacked: any permutation of digits, by tiles (composite.h). */
#include <math.h>
#include <string.h>

#include "../../templates/c/unpack_size.h"
#include "composite.h"

/* Bytes of 1, 2, 4 and 8 are transposed in registers, other runs moved one at a time. */
static bool
composite_keeps(const Nest *n, int bits, int size)
{
    if (size && bits > 8 * size)
        return false;
    int kept = composite_kept(n, bits);
    return size ? kept == size : kept && composite_moves(kept);
}

static bool
composite_applies(const Nest *n, int bits, int role[ROLES])
{
    Composite c;
    if (!composite_make(n, bits, true, &c))
        return false;
    memcpy(role, c.role, sizeof c.role);
    return true;
}

/* START_NS: to read the table. */
enum { START_NS = 30 };
static double
composite_work(const Nest *n, int bits)
{
    Composite c;
    if (!composite_make(n, bits, n->stream, &c))
        return INFINITY;
    return START_NS + (double)n->elements * composite_cost(&c);
}

/* PARTS_NS: for a byte in memory that a tile of several parts transposes without a buffer: the
 * lines of the destination are written a part at a time. */
static double
parts_of(const Nest *n, const Composite *c, int bits)
{
    static const double PARTS_NS = 0.05;
    double bytes = (double)n->elements * bits / 8;
    bool large = !n->below && (n->near || bytes > CACHED_BYTES);
    return c->residual.n && !c->from && large ? PARTS_NS * bytes : 0;
}

static Runs
composite_runs(const Nest *n, int bits)
{
    Composite c;
    if (!composite_make(n, bits, n->stream, &c))
        return (Runs){.read = 1, .written = 1};
    double from = c.whole == SRC ? 1 : bits / 8.0, to = c.whole == DST ? 1 : bits / 8.0;
    double run = (double)c.side[SRC].whole * from;
    Runs r = nest_runs(n, bits);
    if (r.read_gaps > 0)
        run = fmax(run, fmin(r.read, 32));
    return (Runs){.rows = n->stream ? composite_count(&c, SRC) : 0, .along = run,
                  .read = run, .read_gaps = r.read_gaps,
                  .written = (double)c.side[DST].whole * to, .apart = 64,
                  .more = parts_of(n, &c, bits)};
}

/* A kernel that transposes whole elements or bytes of the destination.  Its tiles go past the caches
 * where the nearer ones do not hold all data: columns then come from far, and whole lines go out
 * (5 to 8 MB, Zen 4: 1.2 to 2.2 times as fast). */
static bool
transposes(const Nest *n, int bits)
{
    Composite c;
    bool whole = n->kernel->family->elements == OF_BYTES ||
                 (composite_make(n, bits, true, &c) && c.whole == DST);
    return whole && n->kernel->size > 0;
}

/* The tile has loops in the residual: without a buffer if it is of bytes. */
static bool
takes_residual(const Nest *n)
{
    for (int i = n->nloops - n->inner; i < n->nloops; i++)
        if (n->loop[i].residual)
            return true;
    return false;
}

static bool
composite_orders(const Plan *p, Nest *n, int k)
{
    n->order = "by tiles";
    outer_add_loops(n, BY_SRC, false);
    bool buffer = n->kernel->family->elements == OF_BITS || !takes_residual(n);
    n->stream = buffer && nest_may_have(p, n, transposes(n, p->dst->dtype->bits) ? CACHED_BYTES
                                                                     : STREAM_BYTES);
    return k == 0;
}

static void
composite_table_loops(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    Composite c;
    composite_make(n, bits, true, &c);
    for (int i = 0; i < n->nloops; i++) {
        i64 taken = c.taken[i] * composite_each(&c, i);
        out->in[i] = taken > 1 && taken == n->loop[i].n && ex_is_const(n->loop[i].ex.n);
    }
    for (int r = BATCH; r <= COL; r++)
        out->least[r] = role[r] < 0 ? 0 : c.taken[role[r]] * composite_each(&c, role[r]);
}

static const int32_t *
composite_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    Composite c;
    composite_make(n, bits, n->stream, &c);
    Nest half;
    const Nest *of = composite_of(n, &c, &half);
    const i64 head = bits < 8 ? RAVEL_PAIR_HEAD : 0, each = head + composite_words(&c);
    *words = each * (1 + c.scalars.n);
    int32_t *out = arena_array(a, int32_t, *words);
    for (int i = 0; i <= c.scalars.n; i++, out += each) {
        for (int k = 0; k < head; k++)
            out[k] = c.whole == (k == RAVEL_PAIR_FROM ? DST : SRC) && !i ? (int32_t)c.apart : 0;
        if (c.coupled)
            out[RAVEL_PAIR_FROM] = RAVEL_PAIR_TABLE;
        composite_table(of, &c, i ? c.scalars.of[i - 1] : NULL, out + head);
    }
    return out - *words;
}

static int
scalars_of(const Nest *n, int bits, const Ex *out[TABLE_SCALARS])
{
    Composite c;
    composite_make(n, bits, n->stream, &c);
    return table_scalars_list(n, &c.scalars, out);
}

static const Ex *
near_of(const Nest *n, int bits)
{
    Composite c;
    composite_make(n, bits, n->stream, &c);
    return table_near(n, c.taken, c.unit);
}

static const Method tiles = {
    .keeps = composite_keeps,
    .applies = composite_applies,
    .work = composite_work,
    .floor = 0.02,
    .orders = composite_orders,
    .runs = composite_runs,
    .speeds = AS_TILES,
    .table = composite_table_loops,
    .program = composite_program,
    .scalars = scalars_of,
    .near = near_of,
};

const Family composite_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DStnrcNMPQpqHvB",
    .what = "digits in any order, by tiles whose offsets a table holds",
    .by = &tiles,
    .pads = 1.0,
};

const Family unpacked_family = {
    .kind = NEST_COPY,
    .elements = OF_BITS,
    .args = "dxsytnrcIKikjlHb",
    .what = "digits in any order, by tiles in which an element below a byte has a byte",
    .by = &tiles,
};
