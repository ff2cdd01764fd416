/* Transposes tiles by vectors through shared memory.  Lanes run along the source in loads
 * and along the destination in stores.
 *
 * A thread loads m vectors of m elements from m rows, transposes them in registers and
 * writes m vectors to shared memory.  Shared memory holds vectors along the destination,
 * so that both phases access whole vectors.  The place of a vector is x * rows + y, xored
 * by a swizzle.  swizzle.h finds the swizzle and proves that neither phase has bank
 * conflicts.  If x and y are smaller than a tile, it contains several planes. */
#include "grid_tile.h"

/* By bits of an element: m, the elements of a vector; the m by m blocks of a thread.  The
 * second tile for the same bits has a quarter of the size of the first. */
static const struct { int bits, m, each; } micro[] = {
    {4, 8, 4}, {8, 4, 4}, {16, 4, 1}, {32, 4, 1}, {64, 2, 1},
    {4, 8, 1}, {8, 4, 1}, {16, 2, 1}, {32, 2, 1},
};

/* True if runs of n elements fill sectors, alone or with adjacent runs: those along the
 * tile's other dimension or, if a run has at least half a sector, those of the planes.
 * `other` and `plane` are the strides of these loops. */
static bool
fills_sectors(const GridTile *t, i64 n, i64 other, i64 plane)
{
    enum { SECTOR_BITS = 8 * SECTOR_BYTES };
    i64 bits = n * t->b->bits;
    return bits >= SECTOR_BITS || other == n || (2 * bits >= SECTOR_BITS && plane == n);
}

/* True if the runs of the tile fill sectors; required if another row applies. */
static bool
is_filled(const GridTile *t, const GridLoop *z)
{
    if (t->b->bits < 8 * t->b->u->most.access)
        return true;
    return fills_sectors(t, t->x->n, t->y->ss, z ? z->ss : 0) &&
           fills_sectors(t, t->y->n, t->x->ds, z ? z->ds : 0);
}

/* Sets z to the longest suitable loop of the others. */
static void
find_planes(GridTile *t)
{
    for (int i = 0; i < t->b->nloops; i++) {
        const GridLoop *l = &t->b->loop[i];
        if (l != t->x && l != t->y && !l->residual && (!t->z || l->n > t->z->n) &&
            is_filled(t, l))
            t->z = l;
    }
}

/* True if runs, strides and bases are multiples of a vector. */
static bool
is_whole(const GridTile *t)
{
    for (int i = 0; i < t->b->nloops; i++) {
        const GridLoop *l = &t->b->loop[i];
        if ((l != t->x && l->ss % t->m) || (l != t->y && l->ds % t->m))
            return false;
    }
    return grid_ends_inside(t->b, t->x, t->m) && t->y->n % t->m == 0 &&
           grid_aligned(t->b, t->b->src) % t->m == 0 &&
           grid_aligned(t->b, t->b->dst) % t->m == 0;
}

/* Chooses the shape of the tile: square or, if the box is narrow, narrow with several
 * planes. */
static bool
choose_sides(GridTile *t)
{
    i64 units = (i64)GRID_THREADS * t->each, edge = 1;
    while (edge * edge < units)
        edge *= 2;
    i64 x = tile_power(int_ceil_div(t->x->n, t->m), 1 << TILE_BITS_MAX);
    i64 y = tile_power(int_ceil_div(t->y->n, t->m), 1 << TILE_BITS_MAX);
    t->ty = y < edge ? y : edge;
    t->tx = x < units / t->ty ? x : units / t->ty;
    t->ty = y < units / t->tx ? y : units / t->tx;
    t->tz = 1;
    if (!is_filled(t, NULL)) {
        t->tx = x < edge ? x : edge;
        t->ty = y < edge ? y : edge;
    }
    if (t->tx * t->ty < units)
        find_planes(t);
    if (!is_filled(t, t->z))
        return false;
    while (t->z && t->tz < t->z->n && t->tx * t->ty * t->tz < units)
        t->tz *= 2;
    while (t->each > 1 && t->tx * t->ty * t->tz <= (i64)GRID_THREADS * t->each / 2)
        t->each /= 2;
    t->nx = grid_ceil(t->b, t->x->ex.n, t->m * t->tx);
    t->ny = grid_ceil(t->b, t->y->ex.n, t->m * t->ty);
    return t->tx * t->ty * t->tz == (i64)GRID_THREADS * t->each;
}

/* The word addresses of the lanes in shared memory, as linear maps: when they write vector
 * 0 of m (keep), and when they read vectors for the destination (take). */
static void
lanes(const GridTile *t, int words, LaneMap *keep, LaneMap *take)
{
    keep->v = take->v = words == 4 ? 2 : words == 2 ? 1 : 0;
    for (int j = 0; j < BANK_BITS; j++) {
        i64 lane = 1 << j, x = lane % t->tx, y = lane / t->tx % t->ty;
        x += lane / (t->tx * t->ty) * t->tx;
        keep->lane[j] = (uint32_t)((x * t->m * t->ty + y) * words);
        take->lane[j] = (uint32_t)(lane * words);
    }
}

/* Converts the masks of a swizzle to terms (c >> shift) & mask of a vector's place c. */
static void
add_swizzle(GridTile *t, const Swizzle *w, int v)
{
    for (int shift = 1; shift < TILE_BITS_MAX; shift++) {
        i64 mask = 0;
        for (int i = v; i < BANK_BITS; i++)
            if (i + shift < 32 && w->mask[i] >> (i + shift) & 1)
                mask |= 1 << (i - v);
        if (mask) {
            t->shift[t->nswizzles] = shift;
            t->mask[t->nswizzles++] = mask;
        }
    }
}

static bool
find_swizzle(GridTile *t)
{
    int words = t->width / 4, v;
    i64 size = t->tx * t->ty * t->tz * t->m * words;
    LaneMap keep, take;
    lanes(t, words, &keep, &take);
    v = keep.v;
    Swizzler *s = swizzler_new(t->b->arena, int_log2(size), v);
    swizzler_add_lanes(s, 0, &keep);
    swizzler_add_lanes(s, 1, &take);
    SwizzleFound f = swizzler_find(s);
    if (f.answer != SWIZZLE_FOUND)
        return false;
    add_swizzle(t, &f.swizzle, v);
    return true;
}

static const Ex *
swizzled(const GridTile *t, const Ex *c)
{
    Exprs *e = t->b->e;
    const Ex *x = c;
    for (int i = 0; i < t->nswizzles; i++)
        x = ex_xor(e, x, ex_and(e, ex_div(e, c, (i64)1 << t->shift[i]),
                                ex_const(e, t->mask[i])));
    return x;
}

/* Word w of transposed vector c, which has element c of each of the vectors A0, A1, ...;
 * small: those of bytes and nibbles. */
static const char *
across(GridTile *t, int c, int w, const char *const *small)
{
    GridBox *b = t->b;
    int bits = b->bits, per = 32 / bits;
    if (bits < 16)
        return small[c];
    if (bits == 64)
        return tile_word(b, arena_printf(b->arena, "A%d", w / 2), 16, 2 * c + w % 2);
    if (bits == 32)
        return tile_word(b, arena_printf(b->arena, "A%d", w), t->width, c);
    const char *x = arena_printf(b->arena, "A%d", w * per);
    const char *y = arena_printf(b->arena, "A%d", w * per + 1);
    x = tile_word(b, x, t->width, c / per);
    y = tile_word(b, y, t->width, c / per);
    return tile_permute(b, arena_printf(b->arena, "W%d%d", c, w), x, y,
                   c % per ? 0x7632 : 0x5410);
}

/* Opens a G_WHEN that limits the positions x, y and z (plane) of a thread in the block's tile
 * to the box.  Pass the result to grid_close.  Only the limits are over variables: in an
 * address, what the unrolled loop adds stands apart. */
static GridStmt **
open_place(GridTile *t, const Ex *x, const Ex *y, const Ex *z, const Ex *nx, const Ex *ny)
{
    GridBox *b = t->b;
    const Ex *planes = t->z ? t->z->ex.n : ex_const(b->e, 1);
    const Ex *at[] = {grid_let(b, "x", x), grid_let(b, "y", y), grid_let(b, "z", z)};
    GridStmt *when = grid_when(b, at, (const Ex *[]){nx, ny, planes}, 3);
    return when ? grid_open(b, when) : NULL;
}

static const Ex *
in_vectors(const GridTile *t, const Ex *stride)
{
    return ex_div(t->b->e, stride, t->m);
}

/* The plane that is number z of the block's tile. */
static const Ex *
plane_at(const GridTile *t, const Ex *z)
{
    return t->z ? ex_add(t->b->e, ex_scale(t->b->e, t->l, t->tz), z) : z;
}

/* The offset of plane z, in vectors. */
static const Ex *
plane(const GridTile *t, const Ex *z, bool source)
{
    Exprs *e = t->b->e;
    const Ex *at = source ? t->src : t->dst;
    at = ex_div(e, at, t->m);
    if (!t->z)
        return at;
    return ex_add(e, at, ex_times(e, z, in_vectors(t, source ? t->z->ex.ss
                                                          : t->z->ex.ds)));
}

/* Loads the m rows from y on; rows in padding get the fill. */
static void
load_rows(GridTile *t, const Ex *x, const Ex *y, const Ex *z, const Ex *from)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    b->at[t->x - b->loop] = ex_scale(e, x, t->m);
    if (t->z)
        b->at[t->z - b->loop] = z;
    for (int i = 0; i < t->m; i++) {
        b->at[t->y - b->loop] = ex_add(e, y, ex_const(e, i));
        grid_load_or_fill(b, arena_printf(b->arena, "A%d", i), true, t->width,
                          ex_add(e, from, ex_scale(e, in_vectors(t, t->y->ex.ss), i)));
    }
}

static void
load_and_keep(GridTile *t)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer;
    const char *small[] = {"A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7"};
    const Ex *k = grid_for(b, "k", t->each, &outer), *q = grid_item(b, k);
    const Ex *p = ex_dig(e, q, 1, t->tx), *r = ex_dig(e, q, t->tx, t->tx * t->ty);
    const Ex *pz = ex_div(e, q, t->tx * t->ty), *z = plane_at(t, pz);
    const Ex *x = ex_add(e, ex_scale(e, t->i, t->tx), p);
    const Ex *y = ex_scale(e, ex_add(e, ex_scale(e, t->j, t->ty), r), t->m);
    const Ex *vectors = grid_ceil(b, t->x->ex.n, t->m);
    GridStmt **guard = open_place(t, x, y, z, vectors, t->y->ex.n);
    load_rows(t, x, y, z, ex_add(e, plane(t, z, true),
                                 ex_add(e, x, ex_times(e, y, in_vectors(t, t->y->ex.ss)))));
    if (b->bits < 16)
        tile_transpose(b, b->bits, small);
    p = ex_scale(e, ex_add(e, ex_scale(e, pz, t->tx), p), t->m);
    for (int c = 0; c < t->m; c++) {
        const char *word[4];
        const Ex *row = ex_add(e, p, ex_const(e, c));
        for (int w = 0; w < t->width / 4; w++)
            word[w] = across(t, c, w, small);
        grid_store(b, SPACE_SHARED, t->width,
                 swizzled(t, ex_add(e, ex_scale(e, row, t->ty), r)), word, t->width / 4);
    }
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
take_and_store(GridTile *t)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer;
    i64 column = t->tx * t->m;
    const Ex *k = grid_for(b, "k", t->each * t->m, &outer);
    const Ex *q = grid_item(b, k);
    const Ex *p = ex_dig(e, q, t->ty, t->ty * column), *r = ex_dig(e, q, 1, t->ty);
    const Ex *z = plane_at(t, ex_div(e, q, t->ty * column));
    const Ex *x = ex_add(e, ex_scale(e, t->i, column), p);
    const Ex *y = ex_add(e, ex_scale(e, t->j, t->ty), r);
    GridStmt **guard = open_place(t, x, y, z, t->x->ex.n, in_vectors(t, t->y->ex.n));
    const Ex *to = ex_add(e, plane(t, z, false),
                          ex_add(e, y, ex_times(e, x, in_vectors(t, t->x->ex.ds))));
    grid_load(b, "v", true, SPACE_SHARED, t->width, swizzled(t, q));
    grid_store(b, SPACE_DST, t->width, to, (const char *[]){"v"}, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

/* Chooses the tile of a row of `micro`; false if it does not apply. */
static bool
choose(GridTile *t, int i)
{
    *t = (GridTile){.b = t->b, .m = micro[i].m, .each = micro[i].each,
                .width = micro[i].m * micro[i].bits / 8};
    return tile_loops(t) && is_whole(t) && choose_sides(t) && find_swizzle(t);
}

/* True if there are fewer tiles than keep a large GPU busy. */
static bool
are_few(const GridTile *t)
{
    i64 n = t->b->elements / (t->tx * t->m * t->ty * t->m * t->tz);
    return n < TILES_ENOUGH && grid_is_known(t->b);
}

/* Chooses the tile; false if none applies. */
static bool
find(GridTile *t, GridBox *b)
{
    GridTile smaller = {.b = b};
    bool found = false;
    *t = smaller;
    for (int i = 0; i < LEN(micro); i++) {
        if (micro[i].bits != b->bits)
            continue;
        if (!found && !choose(t, i))
            return false;
        if (found && are_few(t) && choose(&smaller, i))
            *t = smaller;
        found = true;
    }
    return found;
}

bool
grid_tiles(GridBox *b)
{
    GridTile t;
    return !grid_shifts_sectors(b) && find(&t, b);
}

bool
grid_tile(GridBox *b)
{
    GridTile t;
    if (grid_shifts_sectors(b))
        return false;
    grid_widen(b, 64);
    bool found = find(&t, b);
    if (found)
        tile_phases(&t, t.tx * t.ty * t.tz * t.m * t.width, load_and_keep, take_and_store);
    return found;
}
