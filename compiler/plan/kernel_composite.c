/* The kernels composite and unpacked: any permutation of digits, by tiles (composite.h). */
#include <math.h>
#include <string.h>

#include "composite.h"

/* True if `wanted` bytes are contiguous on both sides; wanted 0: a number of bytes that is
 * moved by runs. */
static bool
takes(const Nest *n, int bits, int role[ROLES], int wanted)
{
    Composite c;
    int kept = composite_kept(n, bits);
    if (!kept || (wanted ? kept != wanted : !composite_moves(kept)) ||
        !composite_make(n, bits, true, &c))
        return false;
    memcpy(role, c.role, sizeof c.role);
    return true;
}

static bool
applies_moves(const Nest *n, int bits, int role[ROLES])
{
    return takes(n, bits, role, 0);
}

static bool
applies1(const Nest *n, int bits, int role[ROLES])
{
    return bits <= 8 && takes(n, bits, role, 1);
}

static bool
applies2(const Nest *n, int bits, int role[ROLES])
{
    return bits <= 16 && takes(n, bits, role, 2);
}

static bool
applies4(const Nest *n, int bits, int role[ROLES])
{
    return bits <= 32 && takes(n, bits, role, 4);
}

static bool
applies8(const Nest *n, int bits, int role[ROLES])
{
    return bits <= 64 && takes(n, bits, role, 8);
}

/* START_NS: to read the table. */
enum { START_NS = 30 };
static double
composite_work(const Nest *n, int bits)
{
    Composite c;
    if (!composite_make(n, bits, n->stream, &c))
        return INFINITY;
    return START_NS + (double)n->elements * c.cost;
}

static Runs
composite_runs(const Nest *n, int bits)
{
    Composite c;
    if (!composite_make(n, bits, n->stream, &c))
        return (Runs){.read = 1, .written = 1};
    double size = bits / 8.0, run = (double)c.side[SRC].run * size;
    Runs r = nest_runs(n, bits);
    if (r.read_gaps > 0)
        run = fmax(run, fmin(r.read, 32));
    return (Runs){.rows = n->stream ? c.elements / c.side[SRC].run : 0, .along = run,
                  .read = run, .read_gaps = r.read_gaps,
                  .written = (double)c.side[DST].run * size, .apart = 64};
}

/* A kernel that transposes whole elements.  Its tiles go past the caches where the nearer
 * ones do not hold all data: columns then come from far, and whole lines go out (5 to 8 MB,
 * Zen 4: 1.2 to 2.2 times as fast). */
static bool
transposes(const Nest *n)
{
    const Family *f = n->kernel->family;
    return f->elements == OF_BYTES && f != &composite_family;
}

static bool
composite_orders(const Plan *p, Nest *n, int k)
{
    n->order = "by tiles";
    outer_add_loops(n, BY_SRC, false);
    n->stream = plan_may_have(p, transposes(n) ? CACHED_BYTES : STREAM_BYTES);
    return k == 0;
}

static void
composite_table_loops(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    Composite c;
    composite_make(n, bits, true, &c);
    for (int i = 0; i < n->nloops; i++)
        out->in[i] = c.taken[i] > 1 && composite_takes_all(n, &c, i);
    for (int r = BATCH; r <= COL; r++)
        out->least[r] = role[r] < 0 ? 0 : c.taken[role[r]];
}

static const int32_t *
composite_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    Composite c;
    composite_make(n, bits, n->stream, &c);
    i64 each = composite_words(&c);
    *words = each * (1 + c.scalars.n);
    int32_t *out = arena_array(a, int32_t, *words);
    for (int i = 0; i <= c.scalars.n; i++)
        composite_table(n, &c, i ? c.scalars.of[i - 1] : NULL, out + i * each);
    return out;
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

/* What all kernels here have; those for whole bytes; those for elements smaller than a byte. */
#define TILES .kind = NEST_COPY, .orders = composite_orders, .speeds = AS_TILES, .floor = 0.02
#define COST .work = composite_work, .runs = composite_runs
#define TABLE .table = composite_table_loops, .program = composite_program
#define WORDS .scalars = scalars_of, .near = near_of
#define COMPOSITE .elements = OF_BYTES, .args = "DStnrcNMPQpqH", .what = in_any_order
#define UNPACKED .elements = OF_BITS, .args = "dxsytnrcIKikjlHb", .what = of_small_elements
static const char in_any_order[] =
    "digits in any order, by tiles whose offsets a table holds";
static const char of_small_elements[] =
    "the same for elements smaller than a byte, which tiles have a byte for";

/* Files of the kernels for moves, and of those for blocks of n bytes. */
#define MOVES "prefetch.h stream.h move.h "
#define LANES(n) "vector.h " MOVES "lanes.h network" n ".h turn" n ".h composite_size.h "
#define BLOCK(n) "composite_lanes.h composite_block" n ".h "
#define RUNS "composite_size.h composite_tile.h composite_run.h "
#define UNPACK "unpack_word.h unpack_line.h unpack.h unpack_size.h unpack_tile.h "
#define BITS "bits_into.h bits_vector.h " UNPACK
#define COMPOSITE_OF(n) LANES(n) "composite_tile.h composite_run.h " BLOCK(n) "composite" n ".h"
#define UNPACKED_OF(n) LANES(n) "composite_tile.h " BLOCK(n) BITS "unpacked" n ".h"

const Family composite_family = {TILES, COST, TABLE, WORDS, COMPOSITE, .applies = applies_moves,
    .text = MOVES RUNS "composite_moves.c composite.c"};
const Family composite1_family = {TILES, COST, TABLE, WORDS, COMPOSITE, .applies = applies1,
    .text = COMPOSITE_OF("1")};
const Family composite2_family = {TILES, COST, TABLE, WORDS, COMPOSITE, .applies = applies2,
    .text = COMPOSITE_OF("2")};
const Family composite4_family = {TILES, COST, TABLE, WORDS, COMPOSITE, .applies = applies4,
    .text = COMPOSITE_OF("4")};
const Family composite8_family = {TILES, COST, TABLE, WORDS, COMPOSITE, .applies = applies8,
    .text = COMPOSITE_OF("8")};
const Family unpacked_family = {TILES, COST, TABLE, WORDS, UNPACKED, .applies = applies_moves,
    .text = "vector.h " MOVES "composite_size.h composite_tile.h composite_moves.c " BITS
            "unpacked.c"};
const Family unpacked1_family = {TILES, COST, TABLE, WORDS, UNPACKED, .applies = applies1,
    .text = UNPACKED_OF("1")};
const Family unpacked2_family = {TILES, COST, TABLE, WORDS, UNPACKED, .applies = applies2,
    .text = UNPACKED_OF("2")};
const Family unpacked4_family = {TILES, COST, TABLE, WORDS, UNPACKED, .applies = applies4,
    .text = UNPACKED_OF("4")};
const Family unpacked8_family = {TILES, COST, TABLE, WORDS, UNPACKED, .applies = applies8,
    .text = UNPACKED_OF("8")};
