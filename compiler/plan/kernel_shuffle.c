/* Bytes and parts of bytes that change places within a tile: what shuffle.h is about. */
#include "kernel_family.h"
#include "shuffle.h"

static bool
shuffle_applies(const Nest *n, int bits, int role[ROLES])
{
    Tile t;
    Bits b;
    Terms terms;
    int run = kernel_run_loop(n);
    role[BATCH] = role[COL] = -1;
    if (kernel_count(n, run) * bits >= 8 * LANE || !shuffle_tile(n, bits, &t))
        return false;
    role[ROW] = t.row;
    return shuffle_bits(n, &t, bits, &b) && shuffle_terms(&b, &terms);
}

/* Some 0.2 ns a term of whole bytes for each lane, 0.35 where it is shifted and masked;
 * a tile is a call's least. */
static double
shuffle_cost(const Nest *n, int bits, const int role[ROLES])
{
    Tile t;
    Bits b;
    Terms terms;
    if (!shuffle_tile(n, bits, &t) || !shuffle_bits(n, &t, bits, &b) ||
        !shuffle_terms(&b, &terms))
        return 1e9;
    double lane = 0.9 + 0.2 * terms.whole + 0.35 * terms.masked;
    double calls = (double)kernel_count(n, role[ROW]) / (double)t.chunk;
    return (lane * b.nlanes + 3.0 / calls) / b.n;
}

static bool
shuffle_orders(const Plan *p, Nest *n, int k)
{
    n->order = in_order_of_writes;
    turns_add_loops(n, BY_DST, false);
    n->stream = turns_may_stream(p);
    return k == 0;
}

static i64
shuffle_table(const Nest *n, int bits, const int role[ROLES], bool in[MAX_LOOPS])
{
    Tile t;
    (void)role;
    shuffle_tile(n, bits, &t);
    for (int i = 0; i < n->nloops; i++)
        in[i] = t.in[i];
    return t.chunk;
}

static const int32_t *
shuffle_make(Arena *a, const Nest *n, int bits, i64 *words)
{
    Tile t;
    Bits b;
    Terms terms;
    shuffle_tile(n, bits, &t);
    shuffle_bits(n, &t, bits, &b);
    shuffle_terms(&b, &terms);
    *words = shuffle_words(&b, &terms);
    int32_t *out = arena_array(a, int32_t, *words);
    shuffle_program(&b, &terms, t.chunk, out);
    return out;
}

const Family shuffle_family = {
    .kind = NEST_COPY,
    .elements = OF_ANY,
    .args = "dxsytrikHb",
    .what = "bytes and parts of them that change places within a tile",
    .applies = shuffle_applies,
    .cost = shuffle_cost,
    .orders = shuffle_orders,
    .table = shuffle_table,
    .program = shuffle_make,
};
