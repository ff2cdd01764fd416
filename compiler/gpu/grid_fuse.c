/* Transposes of several short loops.  The loops that are contiguous in the source are fused
 * to runs, and so are those of the destination; a loop may be in both.  Lanes run along
 * the source's runs in loads and along the destination's in stores.  The position of a
 * lane in its run is the same in all of its iterations. */
#include "grid_fuse.h"
#include "grid_tile.h"

static int
last_of(const Fuse *f, int side)
{
    return f->chain[side][f->depth[side] - 1];
}

/* A loop of which a tile takes a chunk. */
typedef struct {
    int loop;
    const char *name;     /* of the chunk's index */
    const Ex *n, *above;  /* chunks; blocks with the same chunk */
} Chunk;
enum { CHUNKS = 3 };

static int
find_chunks(const Fuse *f, Chunk *out)
{
    const Chunk all[CHUNKS] = {
        {.loop = last_of(f, SPACE_DST), .name = "j"},
        {.loop = last_of(f, SPACE_SRC), .name = "i"}, {.loop = f->planes, .name = "l"},
    };
    int n = 0;
    for (int i = 0; i < CHUNKS; i++) {
        int l = all[i].loop, k = 0;
        while (k < n && out[k].loop != l)
            k++;
        if (l < 0 || k < n)
            continue;
        out[n] = all[i];
        out[n].n = grid_ceil(f->b, f->b->loop[l].ex.n, f->chunk[l]);
        n += !ex_is(out[n].n, 1);
    }
    return n;
}

/* Computes the number of blocks, and the tile of a block.  The tiles of one run of the
 * destination have consecutive blocks. */
static void
find_place(Fuse *f)
{
    GridBox *b = f->b;
    const GridLoop *mine[MAX_LOOPS];
    Chunk chunk[CHUNKS];
    int n = find_chunks(f, chunk);
    for (int k = 0; k < f->n; k++)
        mine[k] = &b->loop[f->order[0][k]];
    const Ex *blocks = grid_others(b, mine, f->n);
    for (int i = n - 1; i >= 0; i--) {
        chunk[i].above = blocks;
        blocks = grid_times(b, blocks, chunk[i].n);
    }
    grid_blocks(b, blocks);
    GridDigits d = {ex_of_var(b->e, b->block), 1};
    for (const Chunk *p = chunk; p < chunk + n; p++) {
        const Ex *at = grid_digit(b, &d, p->name, p->n, INF, ex_is(p->above, 1));
        f->number[p->loop] = grid_let(b, p->name, at);
        f->start[p->loop] = ex_scale(b->e, f->number[p->loop], f->chunk[p->loop]);
    }
    grid_batch(b, d, mine, f->n, &f->src, &f->dst);
}

static const Ex *
place(const Fuse *f, int loop, const Ex *const *digit)
{
    return f->start[loop] ? ex_add(f->b->e, f->start[loop], digit[loop]) : digit[loop];
}

/* Defines b->at for loops from..to-1 of a side's order, and opens a G_WHEN for those that
 * may be outside the box.  Pass the result to grid_close. */
static GridStmt **
open_loops(Fuse *f, int side, const Ex *const *digit, int from, int to)
{
    GridBox *b = f->b;
    GridStmt **outer = NULL, **guard = NULL;
    for (int k = from; k < to; k++) {
        int l = f->order[side][k];
        const GridLoop *loop = &b->loop[l];
        const Ex *at = place(f, l, digit);
        b->at[l] = f->whole ? grid_within(b, loop->name, at, loop->ex.n)
                            : grid_index(b, loop->name, at, loop->ex.n, &guard);
        outer = outer ? outer : guard;
    }
    return outer;
}

/* The address of the tile on a side: its loops may be in the residual. */
static const Ex *
base_of(const Fuse *f, int side)
{
    const GridBox *b = f->b;
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(b->e));
    for (int k = 0; k < f->n; k++)
        to[b->loop[f->order[side][k]].var] = b->at[f->order[side][k]];
    return ex_subst(b->e, side == SPACE_SRC ? f->src : f->dst, to);
}

/* The offset of the iterations of the tile's loops, in accesses of a side.  No intermediate
 * value is negative. */
static const Ex *
global(const Fuse *f, int side, const Ex *const *digit)
{
    const GridBox *b = f->b;
    const Ex *x = base_of(f, side);
    for (int k = 0; k < f->n; k++) {
        int l = f->order[side][k];
        const Ex *stride = side == SPACE_SRC ? b->loop[l].ex.ss : b->loop[l].ex.ds;
        const Ex *at = stride->f.min < 0 ? b->at[l] : place(f, l, digit);
        x = ex_add(b->e, x, ex_times(b->e, at, stride));
    }
    return ex_div(b->e, x, f->word[side]);
}

/* An access of a thread: from element x of a run on, in a row of threads, in a turn. */
typedef struct {
    const Ex *x, *row, *k;
} Turn;

/* The place in shared memory of the element `more` after x. */
static const Ex *
shared(const Fuse *f, int side, const Turn *t, int more)
{
    Exprs *e = f->b->e;
    const Ex *digit[MAX_LOOPS], *row, *column;
    fuse_digits(f, side, ex_add(e, t->x, ex_const(e, more)), t->row, t->k, digit);
    fuse_place(f, digit, &row, &column);
    return ex_add(e, ex_scale(e, row, f->pitch), column);
}

/* Adds an access of a side, at these iterations. */
static void
move(Fuse *f, int side, const Turn *t, const Ex *const *digit)
{
    GridBox *b = f->b;
    bool load = side == SPACE_SRC, whole = side == f->major;
    int size = b->bits / 8, n = f->word[side], each = whole ? n : 1;
    const char *part[4] = {"v"}, *value = "v";
    if (load)
        grid_load_or_fill(b, "v", true, n * size, global(f, side, digit));
    for (int i = 0; i < n / each; i++) {
        const Ex *at = ex_div(b->e, shared(f, side, t, i), each);
        if (!whole)
            part[i] = load ? tile_part(b, "v", size, i)
                           : arena_printf(b->arena, "A%d", i);
        if (load)
            grid_store(b, SPACE_SHARED, each * size, at, &part[i], 1);
        else
            grid_load(b, part[i], true, SPACE_SHARED, each * size, at);
    }
    if (!load && !whole)
        value = tile_joined(b, part, size, n);
    if (!load)
        grid_store(b, SPACE_DST, n * size, global(f, side, digit), &value, 1);
}

/* Adds a G_WHEN for turns in which some threads have no row.  NULL: there are none. */
static GridStmt *
when_row(const Fuse *f, int side, const Turn *t, const Ex *const *digit)
{
    GridBox *b = f->b;
    const Ex *at[MAX_RANK] = {fuse_row(f, side, t->row, t->k)};
    const Ex *end[MAX_RANK] = {ex_const(b->e, f->rows[side])};
    int n = 0;
    if (!f->spread[side])
        return grid_when(b, at, end, 1);
    for (int k = f->depth[side]; k < f->n; k++) {
        int l = f->order[side][k];
        if (f->chunk[l] % ((i64)1 << f->bits[side][l]) == 0)
            continue;
        at[n] = digit[l];
        end[n++] = ex_const(b->e, f->chunk[l]);
    }
    return grid_when(b, at, end, n);
}

/* Adds `count` turns of all threads, from turn `first` on. */
static void
add_turns(Fuse *f, int side, const Ex *x, i64 first, i64 count)
{
    GridBox *b = f->b;
    Exprs *e = b->e;
    GridStmt **outer;
    const Ex *digit[MAX_LOOPS], *k = grid_for(b, "k", count, &outer);
    Turn t = {x, ex_div(e, ex_of_var(e, b->u->thread), f->lanes[side]),
              ex_add(e, k, ex_const(e, first))};
    fuse_digits(f, side, x, t.row, t.k, digit);
    GridStmt *when = when_row(f, side, &t, digit);
    GridStmt **rows = when ? grid_open(b, when) : NULL;
    GridStmt **tails = open_loops(f, side, digit, f->depth[side], f->n);
    move(f, side, &t, digit);
    grid_close(b, tails);
    grid_close(b, rows);
    grid_close(b, outer);
}

/* Adds the statements of a phase.  If threads share the rows in their order, only in the last
 * turn some may be idle, so only that one has a condition. */
static void
move_side(Fuse *f, int side)
{
    GridBox *b = f->b;
    Exprs *e = b->e;
    i64 lanes = f->lanes[side], all = f->turns[side];
    i64 whole = f->rows[side] * lanes / GRID_THREADS;
    i64 first = f->spread[side] || all == whole ? all : whole > 1 ? whole : 0;
    GridStmt **idle;
    const Ex *digit[MAX_LOOPS], *p = ex_mod(e, ex_of_var(e, b->u->thread), lanes);
    const Ex *words = ex_const(e, f->run[side] / f->word[side]), *zero = ex_const(e, 0);
    p = grid_index(b, "p", p, words, &idle);
    const Ex *x = ex_scale(e, p, f->word[side]);
    fuse_digits(f, side, x, zero, zero, digit);
    GridStmt **ends = open_loops(f, side, digit, 0, f->depth[side]);
    if (first)
        add_turns(f, side, x, 0, first);
    if (all > first)
        add_turns(f, side, x, first, all - first);
    grid_close(b, ends);
    grid_close(b, idle);
}

typedef struct {
    Fuse *f;
    int side;
} FusePhase;

/* Adds a G_WHEN for blocks whose chunks are whole.  NULL: all are, or none, or the target has
 * no else. */
static GridStmt *
when_whole(void *phase)
{
    const Fuse *f = ((const FusePhase *)phase)->f;
    GridBox *b = f->b;
    Chunk chunk[CHUNKS];
    const Ex *at[CHUNKS], *end[CHUNKS];
    int n = find_chunks(f, chunk), partial = 0;
    for (int i = 0; i < n; i++) {
        int l = chunk[i].loop;
        at[i] = f->number[l];
        end[i] = grid_floor(b, b->loop[l].ex.real, f->chunk[l]);
        partial += end[i] != chunk[i].n;
        if (ex_is(end[i], 0))
            return NULL;
    }
    return partial && b->u->most.otherwise ? grid_when(b, at, end, n) : NULL;
}

/* Adds the statements of blocks whose chunks are whole: no guards, and no padding in these. */
static void
unguarded(Fuse *f, int side)
{
    GridBox *b = f->b;
    const Ex *was[MAX_LOOPS];
    for (int l = 0; l < b->nloops; l++) {
        was[l] = b->loop[l].ex.real;
        if (f->number[l])
            b->loop[l].ex.real = b->loop[l].ex.n;
    }
    f->whole = true;
    move_side(f, side);
    f->whole = false;
    for (int l = 0; l < b->nloops; l++)
        b->loop[l].ex.real = was[l];
}

static void
put_phase(void *arg, bool whole)
{
    const FusePhase *p = arg;
    (whole ? unguarded : move_side)(p->f, p->side);
}

static bool
fuse(GridBox *b, bool any)
{
    Fuse f = {.b = b};
    grid_widen(b, 64);
    if (b->bits < 8 || b->bits > 64 || b->nest->kind != NEST_COPY || !fuse_tile(&f, any))
        return false;
    grid_shared(b, fuse_rows(&f) * f.pitch * b->bits / 8);
    find_place(&f);
    grid_phase(b, when_whole, put_phase, &(FusePhase){&f, SPACE_SRC});
    grid_add(b, G_BARRIER);
    grid_phase(b, when_whole, put_phase, &(FusePhase){&f, SPACE_DST});
    return true;
}

bool
grid_fuse(GridBox *b)
{
    return fuse(b, false);
}

bool
grid_fuse_any(GridBox *b)
{
    return fuse(b, true);
}
