/* The kernel shuffle: permutes bytes and parts of bytes within a tile (shuffle.h). */
#include <math.h>
#include <string.h>

#include "nest_made.h"

static bool
shuffle_applies(const Nest *n, int bits, int role[ROLES])
{
    role[BATCH] = role[ROW] = role[COL] = -1;
    bool pads = !n->pad.n || (bits <= 64 && ex_is_const(n->pad.ex));
    if (kernel_count(n, kernel_run_loop(n)) * bits >= 8 * LANE || !pads)
        return false;
    ProgramMade *room = made_room(n);
    const Program *p = shuffle_make(n, bits, room);
    role[ROW] = p ? p->tile.loop[TILE_ROW] : -1;
    role[COL] = p ? p->tile.loop[TILE_COL] : -1;
    const bool has = p != NULL;
    made_leave(n, room);
    return has;
}

/* The tiles that a call does together, row by row of the program: along the longer of its
 * loops, as many as have TOGETHER bytes. */
static double
tiles_together(const Nest *n, const Program *p)
{
    enum { TOGETHER = 8192 };
    double rows = (double)(nest_tile(n, ROW) / p->tile.chunk[TILE_ROW]);
    double cols = (double)(nest_tile(n, COL) / p->tile.chunk[TILE_COL]);
    double most = TOGETHER / (double)(QUAD * LANE * p->most * p->tile.repeats);
    return (double)p->tile.repeats * fmax(1, fmin(most, fmax(rows, cols)));
}

/* The most words of a program, and of the sum of its tables. */
static i64
most_words(const Program *p)
{
    i64 words = 2;
    for (int i = 0; i < p->passes; i++)
        words += shuffle_words(&p->bits[i], &p->terms[i], p->tile.repeats);
    return words;
}

static bool
is_short(const Nest *n, const Program *p)
{
    enum { SUM_MOST = 4096 };
    TableScalars s;
    return shuffle_scalars(n, &p->tile, &s) && (s.n == 0 || most_words(p) <= SUM_MOST);
}

/* How often an element is written: a last tile overlaps the one before. */
static double
times_written(const Nest *n, const ShuffleTile *t)
{
    double times = 1;
    for (int i = TILE_ROW; i <= TILE_COL; i++) {
        const i64 all = t->loop[i] < 0 ? 1 : n->loop[t->loop[i]].n;
        times *= (double)(int_ceil_div(all, t->chunk[i]) * t->chunk[i]) / (double)all;
    }
    return times;
}

/* START_NS: for each row of the program, to read its constants; terms of 16 bytes hide it.
 * MEASURED: the time of programs over the sum of their steps (median of 300 for whole bytes in the caches,
 * Zen 4). */
static double
program_work(const Nest *n, const Program *p)
{
    enum { CALL_NS = 15, START_NS = 8 };
    static const double MEASURED = 1.35;
    double start = n->permutes ? START_NS * p->rows / tiles_together(n, p) : 0;
    double each = MEASURED * p->cost + start;
    return CALL_NS + times_written(n, &p->tile) * (double)n->elements * each / p->elements;
}

static double
shuffle_work(const Nest *n, int bits)
{
    ProgramMade *room = made_room(n);
    const Program *p = shuffle_make(n, bits, room);
    const double work = p && is_short(n, p) ? program_work(n, p) : INFINITY;
    made_leave(n, room);
    return work;
}

/* Rows and columns of which a tile has one become the longest loops around the call: then
 * many tiles are done together. */
static bool
take_longest(Nest *n)
{
    bool taken = false;
    for (int role = ROW; role <= COL; role++) {
        int best = n->role[role];
        for (int i = 0; i < n->nloops - n->inner; i++)
            if (best >= 0 && n->least[role] == 1 && !n->loop[i].residual &&
                n->loop[i].n > n->loop[best].n)
                best = i;
        if (best == n->role[role])
            continue;
        Loop l = n->loop[best];
        n->loop[best] = n->loop[n->role[role]];
        n->loop[n->role[role]] = l;
        taken = true;
    }
    return taken;
}

static bool
shuffle_orders(const Plan *p, Nest *n, int k)
{
    n->order = k == 0 ? in_order_of_writes : "along the longest loops";
    if (k > 0 && !take_longest(n))
        return false;
    outer_add_loops(n, BY_DST, false);
    n->stream = outer_may_stream(p, n);
    return k <= 1;
}

static void
shuffle_table(const Nest *n, int bits, const int role[ROLES], TableLoops *out)
{
    ProgramMade *room = made_room(n);
    ShuffleTile tile = *shuffle_begin(n, bits, room, NULL);
    (void)role;
    made_leave(n, room);
    shuffle_repeat(n, bits, &tile);
    shuffle_tile_table(&tile, out);
}

/* The chunks and the passes, with strips where the program has them; the words. */
static i64
put_program(const Nest *n, const Program *p, int bits, int32_t *out)
{
    i64 words = 2;
    out[0] = (int32_t)p->tile.chunk[TILE_ROW];
    out[1] = (int32_t)p->tile.chunk[TILE_COL];
    for (int i = 0; i < p->passes; i++) {
        int32_t *pass = out + words;
        TileStarts s;
        shuffle_starts(n, p, bits, i, &s);
        const i64 more = shuffle_pass(&p->bits[i], &p->terms[i], &s, pass);
        pass[RAVEL_PASS_NEXT] = i + 1 < p->passes ? (int32_t)more : 0;
        words += more;
    }
    return words;
}

static const int32_t *
words_of(Arena *a, const Nest *n, const Program *p, int bits, i64 *words)
{
    TableScalars s;
    shuffle_scalars(n, &p->tile, &s);
    int32_t *made = arena_array(a, int32_t, most_words(p));
    const i64 each = put_program(n, p, bits, made);
    *words = each * (1 + s.n);
    if (!s.n)
        return made;
    int32_t *out = arena_array(a, int32_t, *words);
    for (int i = 0; i <= s.n; i++)
        strips_place(n, p, bits, i ? s.of[i - 1] : NULL, made, each, out + i * each);
    return out;
}

static const int32_t *
shuffle_program(Arena *a, const Nest *n, int bits, i64 *words)
{
    ProgramMade *room = made_room(n);
    const int32_t *out = words_of(a, n, shuffle_make(n, bits, room), bits, words);
    made_leave(n, room);
    return out;
}

static int
scalars_of(const Nest *n, int bits, const Ex *out[TABLE_SCALARS])
{
    ShuffleTile t;
    TableScalars s;
    shuffle_tile(n, bits, &t);
    shuffle_scalars(n, &t, &s);
    return table_scalars_list(n, &s, out);
}

static const Ex *
near_of(const Nest *n, int bits)
{
    ShuffleTile t;
    i64 taken[MAX_LOOPS];
    shuffle_tile(n, bits, &t);
    shuffle_repeat(n, bits, &t);
    for (int i = 0; i < n->nloops; i++)
        taken[i] = shuffle_taken(n, &t, i);
    return table_near(n, taken, bits < 8 ? 1 : bits / 8);
}

const Family shuffle_family = {
    .kind = NEST_COPY,
    .elements = OF_ANY,
    .args = "dxsytrcikjlHbv",
    .what = "bytes and parts of them that change places within a tile",
    .pads = 0.85,
    .by = &(const Method){
        .applies = shuffle_applies,
        .work = shuffle_work,
        .floor = 0.01,
        .speeds = AS_TILES,
        .rows_inside = true,
        .orders = shuffle_orders,
        .table = shuffle_table,
        .program = shuffle_program,
        .scalars = scalars_of,
        .near = near_of,
    },
};
