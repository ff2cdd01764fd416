/* Transposes elements of 1 to 16 bits that begin at any address, by whole words.
 *
 * A thread loads a word of as many rows as a word has elements, transposes them in
 * registers, and keeps the words of the columns in shared memory.  A row of the source that
 * begins inside of a word is loaded by two words a word, and a funnel shift; so is a word of
 * the destination from shared memory:
 *
 *    source     |..AAAAAA|AAAAAAAA|AA......|      words of memory
 *                 |--------|--------|             words of a thread
 *
 * A tile stores the words that begin inside of it; the tiles of a run of the destination
 * overlap by one word.  Words that contain an end of a run are left to the second box. */
#include "grid_tile.h"

enum { WORD_BITS = 32, LANES = 32, ROOM_BYTES = 32 << 10 };

typedef struct {
    GridTile t;               /* first: tile_phases passes it */
    int per;              /* elements of a word */
    i64 wide, tall;       /* the words of a tile along x; along y, which threads load */
    i64 pitch;            /* words from one column to the next in shared memory */
    GridSource from;
} Shift;

/* The squares that threads transpose for one tile, by bits of an element: 16 KB, and 32 KB
 * for elements of less than a byte, whose squares have up to 128 bytes. */
static i64
units_of(int bits)
{
    return bits == 16 ? 2048 : bits >= 4 ? 1024 : 256 * bits;
}

static i64
bytes_of(const Shift *s)
{
    return s->t.tx * s->pitch * (WORD_BITS / 8);
}

/* Devices with OpenCL have at least 32 KB. */
static i64
room_of(const Shift *s)
{
    i64 most = s->t.b->u->most.shared;
    return most < ROOM_BYTES ? most : ROOM_BYTES;
}

static void
choose_sides(Shift *s, bool aligned)
{
    i64 units = units_of(s->t.b->bits), x = int_ceil_div(s->t.x->n, s->per);
    i64 y = int_ceil_div(s->t.y->n, s->per) + !aligned;
    i64 room = room_of(s) / (WORD_BITS / 8) / s->per;
    s->tall = tile_power(y, LANES);
    s->wide = tile_power(x, units / s->tall < GRID_THREADS ? units / s->tall : GRID_THREADS);
    s->tall = tile_power(y, units / s->wide < GRID_THREADS ? units / s->wide : GRID_THREADS);
    while (s->wide * s->tall < GRID_THREADS)
        s->tall *= 2;
    while (s->wide * s->tall > room && s->wide * s->tall > GRID_THREADS)
        *(s->tall > s->wide ? &s->tall : &s->wide) /= 2;
    s->pitch = s->tall + (s->wide >= LANES && s->tall >= LANES &&
                          s->wide * (s->tall + 1) <= room);
    s->t.tx = s->wide * s->per;
    s->t.ty = (s->tall - !aligned) * s->per;
    s->t.overlap = aligned ? 0 : s->per;
    s->t.margin = s->per;
    s->t.nx = grid_ceil(s->t.b, s->t.x->ex.n, s->t.tx);
    s->t.ny = grid_ceil(s->t.b, s->t.y->ex.n, s->t.ty);
}

/* The number that is xored with the words of column p.  In a pass of 32 lanes, those along r
 * take the low bits; columns that together are one sweep of the banks have the same number. */
static const Ex *
mask_of(const Shift *s, const Ex *p)
{
    i64 share = s->tall < LANES ? LANES / s->tall : 1;
    i64 step = s->wide < LANES ? LANES / s->wide : 1;
    i64 masks = (s->tall < LANES ? s->tall : LANES) / step;
    return ex_scale(s->t.b->e, ex_dig(s->t.b->e, p, share, share * masks), step);
}

/* The place in shared memory of word r + more of column p * per + c.  Lanes run along p in
 * one phase and along r in the other; neither has bank conflicts: the pitch is odd, or the
 * place is xored. */
static const Ex *
place(const Shift *s, const Ex *p, int c, const Ex *r, int more)
{
    Exprs *e = s->t.b->e;
    const Ex *column = ex_add(e, p, ex_const(e, c * s->wide));
    r = ex_add(e, r, ex_const(e, more));
    if (s->pitch == s->tall)
        r = ex_xor(e, r, mask_of(s, p));
    return ex_add(e, ex_scale(e, column, s->pitch), r);
}

/* Loads the word of row number i whose first element is at `from`. */
static const char *
load_row(const Shift *s, int i, const Ex *from)
{
    GridBox *b = s->t.b;
    Exprs *e = b->e;
    const Ex *word = ex_div(e, from, s->per);
    const Ex *bit = ex_scale(e, ex_mod(e, from, s->per), b->bits);
    const char *name[2];
    for (int k = 0; k < (ex_is(bit, 0) ? 1 : 2); k++) {
        const Ex *at = ex_add(e, word, ex_const(e, k));
        name[k] = arena_printf(b->arena, "%c%d", "AB"[k], i);
        if (s->t.whole)
            grid_load(b, name[k], true, SPACE_SRC, WORD_BITS / 8, at);
        else
            grid_source_word(&s->from, name[k], at);
    }
    return tile_funnel(b, arena_printf(b->arena, "F%d", i), name[0], name[1], bit);
}

static void
load_and_keep(GridTile *t)
{
    const Shift *s = (const Shift *)t;
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer;
    const char *word[WORD_BITS];
    const Ex *k = grid_for(b, "k", s->wide * s->tall / GRID_THREADS, &outer);
    const Ex *q = grid_item(b, k), *p = ex_dig(e, q, 1, s->wide), *r = ex_div(e, q, s->wide);
    const Ex *at[] = {ex_add(e, ex_scale(e, t->i, t->tx), ex_scale(e, p, s->per)),
                      ex_add(e, ex_scale(e, t->j, t->ty), ex_scale(e, r, s->per))};
    const Ex *end[] = {t->x->ex.n, t->y->ex.n};
    GridStmt *when = t->whole ? NULL : grid_when(b, at, end, 2);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    for (int i = 0; i < s->per; i++) {
        const Ex *y = ex_add(e, at[1], ex_const(e, i));
        word[i] = load_row(s, i, ex_add(e, t->src, ex_add(e, at[0],
                                        ex_times(e, y, t->y->ex.ss))));
    }
    tile_transpose(b, b->bits, word);
    for (int c = 0; c < s->per; c++)
        grid_store(b, SPACE_SHARED, WORD_BITS / 8, place(s, p, c, r, 0), &word[c], 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

/* Stores word k of the columns c, c + per, ... of the tile.  The block's threads are in
 * `rows` rows; this one's is `row`, and does every rows-th of these columns. */
static void
store_columns(const Shift *s, int c, const Ex *k, const Ex *row, i64 rows)
{
    const GridTile *t = &s->t;
    GridBox *b = t->b;
    Exprs *e = b->e;
    GridStmt **outer;
    const Ex *m = grid_for(b, "k", s->wide / rows, &outer);
    const Ex *p = ex_add(e, row, ex_scale(e, m, rows)), *up = ex_const(e, s->per - 1);
    const Ex *x = ex_add(e, ex_add(e, ex_scale(e, t->i, t->tx), ex_scale(e, p, s->per)),
                         ex_const(e, c));
    const Ex *y = ex_scale(e, t->j, t->ty);
    const Ex *to = ex_add(e, ex_add(e, t->dst, y), ex_times(e, x, t->x->ex.ds));
    const Ex *first = ex_sub(e, up, ex_mod(e, ex_add(e, to, up), s->per));
    const Ex *last = ex_add(e, ex_add(e, ex_add(e, y, first), ex_scale(e, k, s->per)), up);
    GridStmt *when = t->whole ? NULL
        : grid_when(b, (const Ex *[]){x, last},
                    (const Ex *[]){t->x->ex.n, t->y->ex.n}, 2);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    const char *word[] = {arena_printf(b->arena, "V%d", c),
                          arena_printf(b->arena, "U%d", c)};
    for (int i = 0; i < (ex_is(first, 0) ? 1 : 2); i++)
        grid_load(b, word[i], true, SPACE_SHARED, WORD_BITS / 8, place(s, p, c, k, i));
    const char *v = tile_funnel(b, arena_printf(b->arena, "F%d", c), word[0], word[1],
                                ex_scale(e, first, b->bits));
    grid_store(b, SPACE_DST, WORD_BITS / 8,
               ex_add(e, ex_div(e, ex_add(e, to, up), s->per), k), &v, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
take_and_store(GridTile *t)
{
    const Shift *s = (const Shift *)t;
    GridBox *b = t->b;
    Exprs *e = b->e;
    const Ex *thread = ex_of_var(e, b->u->thread), *k = ex_mod(e, thread, s->tall);
    const Ex *end = ex_const(e, t->ty / s->per);
    GridStmt *when = grid_when(b, &k, &end, 1);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    for (int c = 0; c < s->per; c++)
        store_columns(s, c, k, ex_div(e, thread, s->tall), GRID_THREADS / s->tall);
    grid_close(b, guard);
}

bool
grid_shift(GridBox *b)
{
    enum { USE = 8 };                   /* a tile at most so many times as large as the box */
    Shift s = {.t = {.b = b, .m = 1}, .per = WORD_BITS / b->bits};
    GridUnit *u = b->u;
    if (b->bits > 16 || !u->most.otherwise || !u->most.funnel || !grid_is_forward(b) ||
        !tile_loops(&s.t) || s.t.x->n < s.per || s.t.y->n < s.per)
        return false;
    bool aligned = grid_has_words(b, s.t.y, s.per);
    if (!aligned && !grid_has_seams(b))
        return false;
    choose_sides(&s, aligned);
    if (bytes_of(&s) > room_of(&s) ||
        s.t.tx * s.t.ty / USE > s.t.x->n * s.t.y->n)
        return false;
    s.from = grid_source(b);
    tile_phases(&s.t, bytes_of(&s), load_and_keep, take_and_store);
    if (!aligned)
        b->also = grid_seams(b);
    return true;
}
