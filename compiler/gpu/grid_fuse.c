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
        f->start[p->loop] = ex_scale(b->e, grid_let(b, p->name, at), f->chunk[p->loop]);
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
    GridStmt **outer = NULL, **guard;
    for (int k = from; k < to; k++) {
        int l = f->order[side][k];
        const GridLoop *loop = &b->loop[l];
        b->at[l] = grid_index(b, loop->name, place(f, l, digit), loop->ex.n, &guard);
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

/* The place of element x of run r of a side in shared memory. */
static const Ex *
shared(const Fuse *f, int side, const Ex *x, const Ex *r)
{
    const Ex *digit[MAX_LOOPS], *row, *column;
    fuse_digits(f, side, x, r, digit);
    fuse_place(f, digit, &row, &column);
    return ex_add(f->b->e, ex_scale(f->b->e, row, f->pitch), column);
}

/* Adds an access of a side, from element x of run r on, at these iterations. */
static void
move(Fuse *f, int side, const Ex *x, const Ex *r, const Ex *const *digit)
{
    GridBox *b = f->b;
    bool load = side == SPACE_SRC, whole = side == f->major;
    int size = b->bits / 8, n = f->word[side], each = whole ? n : 1;
    const char *part[4] = {"v"}, *value = "v";
    if (load)
        grid_load_or_fill(b, "v", true, n * size, global(f, side, digit));
    for (int i = 0; i < n / each; i++) {
        const Ex *at = shared(f, side, ex_add(b->e, x, ex_const(b->e, i)), r);
        at = ex_div(b->e, at, each);
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

/* Adds `count` iterations of all threads, from iteration `first` on. */
static void
add_iterations(Fuse *f, int side, const Ex *x, i64 first, i64 count)
{
    GridBox *b = f->b;
    Exprs *e = b->e;
    i64 lanes = f->lanes[side];
    GridStmt **outer, **rows;
    const Ex *digit[MAX_LOOPS], *t = ex_of_var(e, b->u->thread);
    const Ex *k = grid_for(b, "k", count, &outer);
    k = ex_add(e, k, ex_const(e, first));
    const Ex *r = ex_add(e, ex_div(e, t, lanes), ex_scale(e, k, GRID_THREADS / lanes));
    r = grid_index(b, "q", r, ex_const(e, f->rows[side]), &rows);
    fuse_digits(f, side, x, r, digit);
    GridStmt **tails = open_loops(f, side, digit, f->depth[side], f->n);
    move(f, side, x, r, digit);
    grid_close(b, tails);
    grid_close(b, rows);
    grid_close(b, outer);
}

/* Adds a phase.  Only in the last iteration some threads may be idle, so only that one has
 * a condition. */
static void
phase(Fuse *f, int side)
{
    GridBox *b = f->b;
    Exprs *e = b->e;
    i64 lanes = f->lanes[side], all = fuse_iterations(f, side);
    i64 whole = f->rows[side] * lanes / GRID_THREADS, first = whole > 1 ? whole : 0;
    GridStmt **idle, **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *digit[MAX_LOOPS], *p = ex_mod(e, ex_of_var(e, b->u->thread), lanes);
    const Ex *words = ex_const(e, f->run[side] / f->word[side]);
    p = grid_index(b, "p", p, words, &idle);
    const Ex *x = ex_scale(e, p, f->word[side]);
    fuse_digits(f, side, x, ex_const(e, 0), digit);
    GridStmt **ends = open_loops(f, side, digit, 0, f->depth[side]);
    if (first)
        add_iterations(f, side, x, 0, first);
    if (all > first)
        add_iterations(f, side, x, first, all - first);
    grid_close(b, ends);
    grid_close(b, idle);
    grid_close(b, outer);
}

bool
grid_fuse(GridBox *b)
{
    Fuse f = {.b = b};
    grid_widen(b, 64);
    if (b->bits < 8 || b->bits > 64 || b->nest->kind != NEST_COPY || !fuse_tile(&f))
        return false;
    grid_shared(b, fuse_rows(&f) * f.pitch * b->bits / 8);
    find_place(&f);
    phase(&f, SPACE_SRC);
    grid_add(b, G_BARRIER);
    phase(&f, SPACE_DST);
    return true;
}
