/* Transposes of tiles by way of shared memory: lanes follow the source as they load and
 * the destination as they store.
 *
 * By vectors: a thread loads m vectors of m elements, one below the other, transposes
 * them in registers and keeps m vectors across; shared memory holds vectors along the
 * destination, so that both its accesses are whole.  Their place is x * rows + y, xored
 * by a swizzle that swizzle.h finds, and proves free of conflicts of banks, for the lanes
 * of both.  By elements, where strides or extents do not allow vectors. */
#include "grid.h"

/* Vectors for elements of so many bits: m of them; how many of a tile a thread does. */
static const struct { int bits, m, each; } micro[] = {
    {4, 8, 4}, {8, 4, 4}, {16, 4, 1}, {32, 4, 1}, {64, 2, 1},
};

/* A tile of vectors; x along the source's runs, y along the destination's. */
typedef struct {
    GridBox *b;
    const GridLoop *x, *y;
    int m, each, width;            /* elements and bytes of a vector */
    i64 tx, ty;                    /* vectors of a tile */
    i64 nx, ny;                    /* tiles */
    const Ex *i, *j;               /* which */
    const Ex *src, *dst;           /* where the block's x = y = 0 is, elements */
    int shift[TILE_BITS_MAX];      /* the swizzle: xor (c >> shift) & mask, each */
    i64 mask[TILE_BITS_MAX];
    int nswizzles;
} Tile;

static bool
find_loops(Tile *t)
{
    for (int i = 0; i < t->b->nloops; i++) {
        const GridLoop *l = &t->b->loop[i];
        t->x = l->ss == 1 && !l->rest ? l : t->x;
        t->y = l->ds == 1 && !l->rest ? l : t->y;
    }
    return t->x && t->y && t->x != t->y && t->b->nest->kind == NEST_COPY;
}

/* The least power of two from n on, or one that is more than any tile has a use for. */
static i64
power_above(i64 n)
{
    i64 p = 1;
    while (p < n && p < 1 << TILE_BITS_MAX)
        p *= 2;
    return p;
}

/* Runs, strides and bases are whole vectors. */
static bool
is_whole(const Tile *t)
{
    for (int i = 0; i < t->b->nloops; i++) {
        const GridLoop *l = &t->b->loop[i];
        if ((l != t->x && l->ss % t->m) || (l != t->y && l->ds % t->m))
            return false;
    }
    return t->x->n % t->m == 0 && t->y->n % t->m == 0 &&
           grid_divisor(t->b->src) % t->m == 0 && grid_divisor(t->b->dst) % t->m == 0;
}

/* The sides of the tile: square, or as narrow as the box is. */
static bool
choose_sides(Tile *t)
{
    i64 units = (i64)GRID_THREADS * t->each, side = 1;
    while (side * side < units)
        side *= 2;
    i64 x = power_above(int_ceil_div(t->x->n, t->m));
    i64 y = power_above(int_ceil_div(t->y->n, t->m));
    t->ty = y < side ? y : side;
    t->tx = x < units / t->ty ? x : units / t->ty;
    t->ty = y < units / t->tx ? y : units / t->tx;
    while (t->each > 1 && t->tx * t->ty <= (i64)GRID_THREADS * t->each / 2)
        t->each /= 2;
    t->nx = int_ceil_div(t->x->n, t->m * t->tx);
    t->ny = int_ceil_div(t->y->n, t->m * t->ty);
    return t->tx * t->ty == (i64)GRID_THREADS * t->each;
}

/* What lanes add to a word's address in shared memory as they keep vector 0 of m, and as
 * they take vectors to the destination. */
static void
lanes(const Tile *t, int words, LaneMap *keep, LaneMap *take)
{
    keep->v = take->v = words == 4 ? 2 : words == 2 ? 1 : 0;
    for (int j = 0; j < BANK_BITS; j++) {
        i64 lane = 1 << j, x = lane % t->tx, y = lane / t->tx;
        keep->lane[j] = (uint32_t)((x * t->m * t->ty + y) * words);
        take->lane[j] = (uint32_t)(lane * words);
    }
}

/* By masks to terms  (c >> shift) & mask  of a vector's place c. */
static void
add_swizzle(Tile *t, const Swizzle *w, int v)
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
find_swizzle(Tile *t)
{
    int words = t->width / 4, v;
    i64 size = t->tx * t->ty * t->m * words;
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
swizzled(const Tile *t, const Ex *c)
{
    Exprs *e = t->b->e;
    const Ex *x = c;
    for (int i = 0; i < t->nswizzles; i++)
        x = ex_xor(e, x, ex_and(e, ex_div(e, c, (i64)1 << t->shift[i]),
                                ex_const(e, t->mask[i])));
    return x;
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
    grid_batch(b, n, inner, t->x, t->y, &t->src, &t->dst);
}

static i64
blocks_of(const Tile *t)
{
    return t->nx * t->ny * (t->b->elements / (t->x->n * t->y->n));
}

static const char *
component(GridBox *b, const char *vector, int width, int word)
{
    return width == 4 ? vector : arena_printf(b->arena, "%s.%c", vector, "xyzw"[word]);
}

static const char *
permute(GridBox *b, GridKind kind, const char *name, const char *x, const char *y,
        uint32_t pattern)
{
    GridStmt *s = grid_add(b, kind);
    s->name = name;
    s->word[0] = x;
    s->word[1] = y;
    s->pattern = pattern;
    return name;
}

/* 4 words of 4 bytes, out[c] of the bytes c. */
static void
transpose_bytes(GridBox *b, const char *tag, const char *const in[4], const char *out[4])
{
    static const uint32_t first[] = {0x5140, 0x7362}, then[] = {0x5410, 0x7632};
    const char *half[4];
    for (int h = 0; h < 4; h++)
        half[h] = permute(b, G_PERMUTE, arena_printf(b->arena, "h%s%d", tag, h),
                          in[h / 2 * 2], in[h / 2 * 2 + 1], first[h % 2]);
    for (int c = 0; c < 4; c++)
        out[c] = permute(b, G_PERMUTE, arena_printf(b->arena, "w%s%d", tag, c),
                         half[c / 2], half[c / 2 + 2], then[c % 2]);
}

/* Word w of vector number c across: elements c of the vectors a0, a1, .... */
static const char *
across(Tile *t, int c, int w, const char *const *bytes)
{
    GridBox *b = t->b;
    int bits = b->bits, per = 32 / bits;
    if (bits < 16)
        return bytes[c];
    if (bits == 64)
        return component(b, arena_printf(b->arena, "a%d", w / 2), 16, 2 * c + w % 2);
    if (bits == 32)
        return component(b, arena_printf(b->arena, "a%d", w), 16, c);
    const char *x = component(b, arena_printf(b->arena, "a%d", w * per), 8, c / per);
    const char *y = component(b, arena_printf(b->arena, "a%d", w * per + 1), 8, c / per);
    return permute(b, G_PERMUTE, arena_printf(b->arena, "w%d%d", c, w), x, y,
                   c % per ? 0x7632 : 0x5410);
}

/* Bytes and nibbles, by words. */
static void
transpose_small(Tile *t, const char **out)
{
    GridBox *b = t->b;
    static const char *const a[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"};
    if (b->bits == 8) {
        transpose_bytes(b, "", a, out);
        return;
    }
    for (int half = 0; half < 2; half++) {
        const char *in[4], *columns[4];
        for (int k = 0; k < 4; k++)
            in[k] = permute(b, G_NIBBLES, arena_printf(b->arena, "n%d%d", half, k),
                            a[2 * k], a[2 * k + 1], (uint32_t)half);
        transpose_bytes(b, half ? "1" : "0", in, columns);
        for (int c = 0; c < 4; c++)
            out[2 * c + half] = columns[c];
    }
}

static void
load_and_keep(Tile *t)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer, **guard;
    const char *bytes[8];
    const Ex *k = grid_for(b, "k", t->each, &outer), *q = grid_turn(b, k);
    const Ex *p = ex_dig(e, q, 1, t->tx), *r = ex_div(e, q, t->tx);
    const Ex *x = ex_add(e, ex_scale(e, t->i, t->tx), p);
    const Ex *y = ex_scale(e, ex_add(e, ex_scale(e, t->j, t->ty), r), t->m);
    x = grid_let(b, "x", x);
    y = grid_let(b, "y", y);
    GridStmt *when = grid_when(b, (const Ex *[]){x, y},
                               (i64[]){t->x->n / t->m, t->y->n}, 2);
    guard = when ? grid_open(b, when) : NULL;
    const Ex *from = ex_add(e, ex_div(e, t->src, t->m),
                            ex_add(e, x, ex_scale(e, y, t->y->ss / t->m)));
    for (int i = 0; i < t->m; i++)
        grid_load(b, arena_printf(b->arena, "a%d", i), true, SPACE_SRC, t->width,
                ex_add(e, from, ex_const(e, i * (t->y->ss / t->m))));
    if (b->bits < 16)
        transpose_small(t, bytes);
    for (int c = 0; c < t->m; c++) {
        const char *word[4];
        const Ex *row = ex_add(e, ex_scale(e, p, t->m), ex_const(e, c));
        for (int w = 0; w < t->width / 4; w++)
            word[w] = across(t, c, w, bytes);
        grid_store(b, SPACE_SHARED, t->width,
                 swizzled(t, ex_add(e, ex_scale(e, row, t->ty), r)), word, t->width / 4);
    }
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
take_and_store(Tile *t)
{
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer, **guard;
    const Ex *k = grid_for(b, "k", t->each * t->m, &outer);
    const Ex *q = grid_let(b, "q", grid_turn(b, k));
    const Ex *p = ex_div(e, q, t->ty), *r = ex_dig(e, q, 1, t->ty);
    const Ex *x = ex_add(e, ex_scale(e, t->i, t->tx * t->m), p);
    const Ex *y = ex_add(e, ex_scale(e, t->j, t->ty), r);
    x = grid_let(b, "x", x);
    y = grid_let(b, "y", y);
    GridStmt *when = grid_when(b, (const Ex *[]){x, y},
                               (i64[]){t->x->n, t->y->n / t->m}, 2);
    guard = when ? grid_open(b, when) : NULL;
    const Ex *to = ex_add(e, ex_div(e, t->dst, t->m),
                          ex_add(e, y, ex_scale(e, x, t->x->ds / t->m)));
    grid_load(b, "v", true, SPACE_SHARED, t->width, swizzled(t, q));
    grid_store(b, SPACE_DST, t->width, to, (const char *[]){"v"}, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
need_shared(Tile *t, i64 bytes)
{
    if (bytes > t->b->u->shared)
        t->b->u->shared = bytes;
}

static i64
two_phases(Tile *t, void (*first)(Tile *), void (*second)(Tile *))
{
    GridBox *b = t->b;
    i64 blocks = blocks_of(t);
    grid_blocks(b, blocks);
    find_place(t);
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    first(t);
    grid_close(b, outer);
    grid_add(b, G_BARRIER);
    outer = grid_open(b, grid_add(b, G_PHASE));
    second(t);
    grid_close(b, outer);
    return blocks;
}

i64
grid_tile(GridBox *b)
{
    grid_widen(b, 64);
    Tile t = {.b = b};
    for (int i = 0; i < LEN(micro); i++)
        if (micro[i].bits == b->bits) {
            t.m = micro[i].m;
            t.each = micro[i].each;
        }
    if (!t.m || !find_loops(&t) || !is_whole(&t) || !choose_sides(&t))
        return 0;
    t.width = t.m * b->bits / 8;
    if (!find_swizzle(&t))
        return 0;
    need_shared(&t, t.tx * t.ty * t.m * t.width);
    return two_phases(&t, load_and_keep, take_and_store);
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
    grid_load(b, "v", true, load ? SPACE_SRC : SPACE_SHARED, t->width,
            load ? global : shared);
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
    if (b->bits < 8 || b->bits > 64 || !find_loops(&t) || t.x->n < FEWEST ||
        t.y->n < FEWEST)
        return 0;
    t.tx = t.ty = b->bits == 32 || b->bits == 64 ? 32 : 64;
    t.each = (int)(t.tx * t.ty / GRID_THREADS);
    t.nx = int_ceil_div(t.x->n, t.tx);
    t.ny = int_ceil_div(t.y->n, t.ty);
    need_shared(&t, t.tx * t.ty * t.width);
    return two_phases(&t, load_elements, store_elements);
}
