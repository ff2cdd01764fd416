/* Transposes tiles by elements through shared memory, if strides or extents do not allow
 * vectors.  If the source or the destination is aligned to words, it is accessed by words.
 * This file also has the parts that grid_tile.c shares: the choice of loops, and the tile
 * of a block. */
#include "grid_tile.h"

bool
tile_loops(GridTile *t)
{
    for (int i = 0; i < t->b->nloops; i++) {
        const GridLoop *l = &t->b->loop[i];
        t->x = l->ss == 1 && !l->residual ? l : t->x;
        t->y = l->ds == 1 && !l->residual ? l : t->y;
    }
    return t->x && t->y && t->x != t->y && t->b->nest->kind == NEST_COPY;
}

/* Computes the tile of a block.  The tiles of one row of the destination have consecutive
 * blocks. */
static void
find_place(GridTile *t)
{
    GridBox *b = t->b;
    const GridLoop *tile[] = {t->x, t->y, t->z};
    const Ex *above[] = {t->others, grid_times(b, t->nz, t->others), NULL};
    GridDigits n = {ex_of_var(b->e, b->block), 1};
    above[2] = grid_times(b, t->nx, above[1]);
    t->j = grid_let(b, "j", grid_digit(b, &n, "j", t->ny, INF, ex_is(above[2], 1)));
    t->i = grid_let(b, "i", grid_digit(b, &n, "i", t->nx, INF, ex_is(above[1], 1)));
    t->l = grid_let(b, "l", grid_digit(b, &n, "l", t->nz, INF, ex_is(above[0], 1)));
    grid_batch(b, n, tile, LEN(tile), &t->src, &t->dst);
}

i64
tile_power(i64 n, i64 most)
{
    i64 p = 1;
    while (p < n && p < most)
        p *= 2;
    return p;
}

const Ex *
tile_followed(GridBox *b, const Ex *n, i64 more)
{
    const Ex *left = ex_sub(b->e, n, ex_const(b->e, more));
    if (more == 0 || left->f.min >= 0)
        return left;
    return scalar_of(b->u->plan->scalars, ex_max(b->e, left, ex_const(b->e, 0)), INF);
}

typedef struct {
    GridTile *t;
    void (*put)(GridTile *);
} TilePhase;

/* Adds a G_WHEN for blocks whose tile has no place beyond the elements along x and y.  NULL,
 * and no statement, if all are so, or none, or the target has no else.  A tile by vectors has
 * few guards. */
static GridStmt *
when_whole(void *phase)
{
    const GridTile *t = ((const TilePhase *)phase)->t;
    GridBox *b = t->b;
    const Ex *nx = grid_floor(b, tile_followed(b, t->x->ex.real, t->margin), t->tx);
    const Ex *ny = grid_floor(b, tile_followed(b, t->y->ex.real, t->overlap), t->ty);
    if (!b->u->most.otherwise || t->m > 1 || ex_is(nx, 0) || ex_is(ny, 0))
        return NULL;
    return grid_when(b, (const Ex *[]){t->i, t->j}, (const Ex *[]){nx, ny}, 2);
}

/* Adds the statements of whole tiles: no guards, and no padding along x and y. */
static void
unguarded(GridTile *t, void (*put)(GridTile *))
{
    GridLoop *x = &t->b->loop[t->x - t->b->loop], *y = &t->b->loop[t->y - t->b->loop];
    GridLoop was[] = {*x, *y};
    x->ex.real = x->ex.n;
    y->ex.real = y->ex.n;
    t->whole = true;
    put(t);
    t->whole = false;
    *x = was[0];
    *y = was[1];
}

static void
put_phase(void *arg, bool whole)
{
    const TilePhase *p = arg;
    if (whole)
        unguarded(p->t, p->put);
    else
        p->put(p->t);
}

void
tile_phases(GridTile *t, i64 bytes, void (*load)(GridTile *), void (*store)(GridTile *))
{
    GridBox *b = t->b;
    t->nz = t->z ? grid_ceil(b, t->z->ex.n, t->tz) : ex_const(b->e, 1);
    t->others = grid_others(b, (const GridLoop *[]){t->x, t->y, t->z}, 3);
    const Ex *tiles = grid_times(b, grid_times(b, t->nx, t->ny), t->nz);
    grid_blocks(b, grid_times(b, tiles, t->others));
    grid_shared(b, bytes);
    find_place(t);
    grid_phase(b, when_whole, put_phase, &(TilePhase){t, load});
    grid_add(b, G_BARRIER);
    grid_phase(b, when_whole, put_phase, &(TilePhase){t, store});
}

/* The place of element x, y of the tile in shared memory.  Source or destination may have
 * accesses of several elements; these run along the rows of shared memory.  For the other
 * one each element is in a different row, and the lanes access consecutive rows in an
 * iteration.  Several rows of less than 32 words share the banks once; the xor is constant
 * for these. */
static const Ex *
place(const GridTile *t, const Ex *x, const Ex *y)
{
    enum { BANKS = 1 << BANK_BITS };
    Exprs *e = t->b->e;
    bool by_y = t->wx >= t->wy;
    const Ex *row = by_y ? y : x, *column = by_y ? x : y;
    i64 rows = by_y ? t->ty : t->tx, columns = by_y ? t->tx : t->ty;
    i64 period = by_y ? t->wy : t->wx, per = t->b->bits < 32 ? 32 / t->b->bits : 1;
    i64 words = columns / per, share = words < BANKS ? BANKS / words : 1;
    row = ex_add(e, ex_scale(e, ex_mod(e, row, period), rows / period),
                 ex_div(e, row, period));
    const Ex *word = ex_xor(e, ex_div(e, column, per),
                            ex_dig(e, row, share, share * words));
    return ex_add(e, ex_scale(e, row, columns),
                  ex_add(e, ex_scale(e, word, per), ex_mod(e, column, per)));
}

/* Copies the elements from x, y on between shared memory and the variable; in one access
 * if they are in one row there. */
static void
keep(GridTile *t, const Ex *x, const Ex *y, bool load)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    int n = load ? t->wx : t->wy, size = b->bits / 8;
    bool whole = load == (t->wx >= t->wy);
    const char *part[4];
    for (int i = 0; i < (whole ? 1 : n); i++) {
        const Ex *k = ex_const(e, i);
        const Ex *at = place(t, load ? ex_add(e, x, k) : x, load ? y : ex_add(e, y, k));
        part[i] = whole ? "v" : load ? tile_part(b, "v", size, i)
                                     : arena_printf(b->arena, "A%d", i);
        if (load)
            grid_store(b, SPACE_SHARED, whole ? n * size : size,
                       whole ? ex_div(e, at, n) : at, &part[i], 1);
        else
            grid_load(b, part[i], true, SPACE_SHARED, whole ? n * size : size,
                      whole ? ex_div(e, at, n) : at);
    }
    if (!load)
        t->value = whole ? "v" : tile_joined(b, part, size, n);
}

/* A phase of a transpose by elements: lanes run along x in loads, along y in stores. */
static void
by_elements(GridTile *t, bool load)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer;
    int n = load ? t->wx : t->wy;
    i64 side = (load ? t->tx : t->ty) / n, count = t->tx * t->ty / n / GRID_THREADS;
    const Ex *k = grid_for(b, "k", count, &outer), *q = grid_item(b, k);
    const Ex *p = ex_scale(e, ex_dig(e, q, 1, side), n), *r = ex_div(e, q, side);
    const Ex *px = load ? p : r, *py = load ? r : p;
    const Ex *xs = ex_add(e, ex_scale(e, t->i, t->tx), px), *x = grid_let(b, "x", xs);
    const Ex *ys = ex_add(e, ex_scale(e, t->j, t->ty), py), *y = grid_let(b, "y", ys);
    const Ex *end[] = {t->x->ex.n, t->y->ex.n};
    GridStmt *when = t->whole ? NULL : grid_when(b, (const Ex *[]){x, y}, end, 2);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    const Ex *global = load
        ? ex_add(e, t->src, ex_add(e, xs, ex_times(e, ys, t->y->ex.ss)))
        : ex_add(e, t->dst, ex_add(e, ys, ex_times(e, xs, t->x->ex.ds)));
    global = ex_div(e, global, n);
    b->at[t->x - b->loop] = x;
    b->at[t->y - b->loop] = y;
    if (load)
        grid_load_or_fill(b, "v", true, n * t->width, global);
    keep(t, px, py, load);
    if (!load)
        grid_store(b, SPACE_DST, n * t->width, global, &t->value, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
load_elements(GridTile *t)
{
    by_elements(t, true);
}

static void
store_elements(GridTile *t)
{
    by_elements(t, false);
}

/* The elements of the widest access, at most a word, to which all runs, strides and bases
 * in the source (destination) are aligned. */
static int
word_of(const GridTile *t, bool source)
{
    const GridBox *b = t->b;
    const GridLoop *run = source ? t->x : t->y;
    int n = b->bits < 32 ? 32 / b->bits : 1;
    i64 g = grid_aligned(b, source ? b->src : b->dst);
    for (int i = 0; i < b->nloops; i++)
        if (&b->loop[i] != run)
            g = int_gcd(g, source ? b->loop[i].ss : b->loop[i].ds);
    while (n > 1 && (g % n || (source ? !grid_ends_inside(b, run, n) : run->n % n != 0)))
        n /= 2;
    return n;
}

/* The side of a tile: 128 bytes, and 256 of elements of 32 bits if there are TILES_ENOUGH. */
static i64
edge_of(const GridTile *t)
{
    enum { SIDE = 64 };
    bool many = t->b->elements / (SIDE * SIDE) >= TILES_ENOUGH && t->x->n >= SIDE &&
                t->y->n >= SIDE && grid_is_known(t->b);
    return t->b->bits > 32 ? 32 : t->b->bits < 32 ? 1024 / t->b->bits : many ? SIDE : 32;
}

/* Chooses the tile, or a narrower and longer one if the box is narrow. */
static void
choose_sides(GridTile *t)
{
    i64 edge = edge_of(t), x = 1, y = 1;
    while (x < t->x->n && x < edge * edge)
        x *= 2;
    while (y < t->y->n && y < edge * edge)
        y *= 2;
    t->ty = y < edge ? y : edge;
    t->tx = x < edge * edge / t->ty ? x : edge * edge / t->ty;
    t->ty = y < edge * edge / t->tx ? y : edge * edge / t->tx;
    while (t->tx * t->ty < (i64)GRID_THREADS * (t->wx > t->wy ? t->wx : t->wy))
        t->ty *= 2;
    t->nx = grid_ceil(t->b, t->x->ex.n, t->tx);
    t->ny = grid_ceil(t->b, t->y->ex.n, t->ty);
}

bool
grid_tile_edge(GridBox *b)
{
    enum { FEWEST = 8 };
    grid_widen(b, 64);
    GridTile t = {.b = b, .m = 1, .width = b->bits / 8};
    if (b->bits < 8 || b->bits > 128 || !tile_loops(&t) || t.x->n < FEWEST ||
        t.y->n < FEWEST)
        return false;
    t.wx = word_of(&t, true);
    t.wy = word_of(&t, false);
    choose_sides(&t);
    tile_phases(&t, t.tx * t.ty * t.width, load_elements, store_elements);
    return true;
}
