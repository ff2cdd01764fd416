/* Transposes of tiles by elements, by way of shared memory, where strides or extents do
 * not allow vectors; and what both kinds of tiles have in common: which loops they are
 * of, and which tile a block does. */
#include "grid_tile.h"

bool
tile_loops(Tile *t)
{
    for (int i = 0; i < t->b->nloops; i++) {
        const GridLoop *l = &t->b->loop[i];
        t->x = l->ss == 1 && !l->rest ? l : t->x;
        t->y = l->ds == 1 && !l->rest ? l : t->y;
    }
    return t->x && t->y && t->x != t->y && t->b->nest->kind == NEST_COPY;
}

/* Which tile of which batch a block does: tiles of one row of the destination follow one
 * another. */
static void
find_place(Tile *t)
{
    GridBox *b = t->b;
    i64 inner = t->nx * t->ny;
    const Ex *n = ex_of_var(b->e, b->block);
    t->j = grid_let(b, "j", ex_dig(b->e, n, 1, t->ny));
    t->i = grid_let(b, "i", ex_dig(b->e, n, t->ny, inner));
    t->l = grid_let(b, "l", ex_dig(b->e, n, inner, inner * t->nz));
    grid_batch(b, n, inner * t->nz, t->x, t->y, t->z, &t->src, &t->dst);
}

i64
tile_phases(Tile *t, i64 bytes, void (*load)(Tile *), void (*store)(Tile *))
{
    GridBox *b = t->b;
    i64 planes = t->z ? t->z->n : 1, tiles = t->nx * t->ny;
    t->nz = t->z ? int_ceil_div(planes, t->tz) : 1;
    i64 blocks = tiles * t->nz * (b->elements / (t->x->n * t->y->n * planes));
    b->u->shared = bytes > b->u->shared ? bytes : b->u->shared;
    grid_blocks(b, blocks);
    find_place(t);
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    load(t);
    grid_close(b, outer);
    grid_add(b, G_BARRIER);
    outer = grid_open(b, grid_add(b, G_PHASE));
    store(t);
    grid_close(b, outer);
    return blocks;
}

/* Elements of a row of 128 bytes, 32 banks, by as many rows; shorter rows of bytes share
 * the banks with the next, so that the xor changes with every other. */
static const Ex *
place(const Tile *t, const Ex *x, const Ex *y)
{
    Exprs *e = t->b->e;
    int per = t->b->bits < 32 ? 32 / t->b->bits : 1;
    i64 words = t->ty / per, rows = words < 32 ? 32 / words : 1;
    const Ex *word = ex_xor(e, ex_div(e, y, per), ex_dig(e, x, rows, rows * words));
    return ex_add(e, ex_scale(e, x, t->ty),
                  ex_add(e, ex_scale(e, word, per), ex_mod(e, y, per)));
}

/* Both phases of a transpose by elements: lanes along x as they load, else along y. */
static void
by_elements(Tile *t, bool load)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer, **guard;
    i64 side = load ? t->tx : t->ty;
    const Ex *k = grid_for(b, "k", t->each, &outer), *q = grid_turn(b, k);
    const Ex *p = ex_dig(e, q, 1, side), *r = ex_div(e, q, side);
    const Ex *px = load ? p : r, *py = load ? r : p;
    const Ex *x = grid_let(b, "x", ex_add(e, ex_scale(e, t->i, t->tx), px));
    const Ex *y = grid_let(b, "y", ex_add(e, ex_scale(e, t->j, t->ty), py));
    GridStmt *when = grid_when(b, (const Ex *[]){x, y}, (i64[]){t->x->n, t->y->n}, 2);
    guard = when ? grid_open(b, when) : NULL;
    const Ex *global = load
        ? ex_add(e, t->src, ex_add(e, x, ex_scale(e, y, t->y->ss)))
        : ex_add(e, t->dst, ex_add(e, y, ex_scale(e, x, t->x->ds)));
    const Ex *shared = place(t, px, py);
    b->at[t->x - b->loop] = x;
    b->at[t->y - b->loop] = y;
    if (load)
        grid_load_or_fill(b, "v", true, t->width, global);
    else
        grid_load(b, "v", true, SPACE_SHARED, t->width, shared);
    grid_store(b, load ? SPACE_SHARED : SPACE_DST, t->width, load ? shared : global,
             (const char *[]){"v"}, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
load_elements(Tile *t)
{
    by_elements(t, true);
}

static void
store_elements(Tile *t)
{
    by_elements(t, false);
}

i64
grid_tile_edge(GridBox *b)
{
    enum { FEWEST = 8 };
    grid_widen(b, 64);
    Tile t = {.b = b, .m = 1, .width = b->bits / 8};
    if (b->bits < 8 || b->bits > 64 || !tile_loops(&t) || t.x->n < FEWEST ||
        t.y->n < FEWEST)
        return 0;
    t.tx = t.ty = b->bits == 32 || b->bits == 64 ? 32 : 64;
    t.each = (int)(t.tx * t.ty / GRID_THREADS);
    t.nx = int_ceil_div(t.x->n, t.tx);
    t.ny = int_ceil_div(t.y->n, t.ty);
    return tile_phases(&t, t.tx * t.ty * t.width, load_elements, store_elements);
}
