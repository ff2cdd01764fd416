/* The kernel butterfly: exchanges address bits of a tile (butterfly.h). */
#include <math.h>
#include <string.h>

#include "butterfly.h"
#include "nest_made.h"

static bool
butterfly_applies(const Nest *n, int bits, int role[ROLES])
{
    Butterfly f;
    role[BATCH] = role[ROW] = role[COL] = -1;
    if (kernel_count(n, kernel_run_loop(n)) * bits >= 8 * LANE ||
        !butterfly_make(n, bits, &f))
        return false;
    role[ROW] = f.tile.loop[TILE_ROW];
    role[COL] = f.tile.loop[TILE_COL];
    return true;
}

/* The tiles that follow one another in a call. */
static double
tiles_along(const Nest *n, const Butterfly *f)
{
    double rows = (double)(nest_tile(n, ROW) / f->tile.chunk[TILE_ROW]);
    double cols = (double)(nest_tile(n, COL) / f->tile.chunk[TILE_COL]);
    return rows >= 8 ? rows : fmax(rows, cols);
}

/* Whether pieces of a side begin at other places than multiples of their size, so that two lines
 * hold one. */
static bool
is_across(const Nest *n, int bits, const Butterfly *f, int side)
{
    i64 piece = 8 * (VECTOR >> butterfly_pieces(f, side));
    bool across = false;
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].n > 1 && !f->tile.in[i])
            across |= kernel_stride(&n->loop[i], side) * bits *
                          shuffle_taken(n, &f->tile, i) % piece != 0;
    for (int i = 0; i < f->axes; i++)
        across |= !butterfly_has(f, side, i) && f->axis[side][i] % piece;
    return across;
}

/* A vector is loaded and stored in pieces; without such registers each byte is moved by itself.
 * START_NS: to read the constants; group_ns: of the vectors that cross one another; many_ns, part_ns: of
 * one of 16 of these, which take all registers, and of each piece that it is put together from. */
static double
butterfly_work(const Nest *n, int bits)
{
    enum { CALL_NS = 15, START_NS = 12, MANY = 4 };
    const double group_ns = 3.5, each = 0.35, many_ns = 0.5, part_ns = 0.4;
    Butterfly f;
    if (!butterfly_make(n, bits, &f))
        return INFINITY;
    if (!n->permutes)
        return CALL_NS + (double)n->elements * bits / 8 * (1 + f.stages);
    int loads = 1 << butterfly_pieces(&f, SRC), pieces = loads + (1 << butterfly_pieces(&f, DST));
    int across = is_across(n, bits, &f, SRC) + is_across(n, bits, &f, DST);
    double vectors = (double)n->elements * bits / (8 * VECTOR);
    double tiles = (double)n->elements / (double)f.elements;
    return CALL_NS + tiles * START_NS / tiles_along(n, &f) +
           vectors * (each * (pieces + f.stages) + across + group_ns / (1 << f.stages) +
                      (f.stages == MANY ? many_ns + part_ns * (loads - 1) : 0));
}

/* Tiles that follow one another in the source continue its rows: a prefetcher follows a few. */
static Runs
butterfly_runs(const Nest *n, int bits)
{
    enum { FOLLOWED = 16 };
    Butterfly f;
    Runs r = nest_runs(n, bits);
    if (!butterfly_make(n, bits, &f))
        return r;
    const i64 run = (i64)1 << f.run[SRC];
    for (int role = ROW; role <= COL && f.elements * bits / run <= FOLLOWED; role++)
        if (nest_stride(n, role, true) * f.tile.chunk[role - ROW] * bits == run)
            r.read = fmax(r.read, (double)run / 8 * (double)nest_tile(n, role));
    return r;
}

static bool
butterfly_orders(const Plan *p, Nest *n, int k)
{
    n->order = in_order_of_writes;
    outer_add_loops(n, BY_DST, false);
    n->stream = outer_may_stream(p, n);
    return k == 0;
}

static void
butterfly_table(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    ProgramMade *room = made_room(n);
    (void)role;
    shuffle_tile_table(shuffle_begin(n, bits, room, NULL), out);
    made_leave(n, room);
}

static const int32_t *
butterfly_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    Butterfly f;
    butterfly_make(n, bits, &f);
    *words = butterfly_words(&f);
    int32_t *out = arena_array(a, int32_t, *words);
    butterfly_put(&f, out);
    return out;
}

const Family butterfly_family = {
    .kind = NEST_COPY,
    .elements = OF_ANY,
    .args = "dxsytrcikjlHb",
    .what = "address bits that change places within a tile",
    .by = &(const Method){
        .applies = butterfly_applies,
        .work = butterfly_work,
        .floor = 0.01,
        .speeds = AS_TILES,
        .orders = butterfly_orders,
        .runs = butterfly_runs,
        .table = butterfly_table,
        .program = butterfly_program,
    },
};
