/* Transposes elements of 1 to 32 bits that begin at any address, by whole words.
 *
 * A thread loads a word of as many rows as a word has elements, transposes them in
 * registers, and keeps the words of the columns in shared memory.  A row of the source that
 * begins inside of a word is loaded by two words a word, and a funnel shift; so is a word of
 * the destination from shared memory:
 *
 *    source     |..AAAAAA|AAAAAAAA|AA......|      words of memory
 *                 |--------|--------|             words of a thread
 *
 * A tile stores the sectors of the destination that begin inside of it, because memory reads a
 * sector of which only a part is written: an H100 then took almost twice as long.  The tiles of
 * a run of the destination overlap by one sector.  Sectors that contain an end of a run are left
 * to the second box.  Where runs are short, words take the place of sectors. */
#include "grid_tile.h"

enum { ROOM_BYTES = 32 << 10 };

typedef struct {
    GridTile t;               /* first: tile_phases passes it */
    int per;              /* elements of a word */
    i64 unit;             /* elements that one tile stores whole: those of a sector, or of a word */
    bool aligned;         /* all runs of the destination begin and end with a unit */
    i64 wide, tall;       /* the words of a tile along x; along y, which threads load */
    i64 pitch;            /* words from one column to the next in shared memory */
    GridSource from;
} Shift;

/* The squares that threads transpose for one tile at least, by bits of an element: 16 KB, and 32 KB
 * for elements of 1 and 2 bits, whose squares have up to 128 bytes.  On an H200 f16 in tiles of
 * 32 KB took a fifth longer. */
static i64
units_of(int bits)
{
    return bits > 2 ? 128 * bits : 256 * bits;
}

static i64
bytes_of(const Shift *s)
{
    return s->t.tx * s->pitch * WORD_BYTES;
}

/* Devices with OpenCL have at least 32 KB. */
static i64
room_of(const Shift *s)
{
    i64 most = s->t.b->u->most.shared;
    return most < ROOM_BYTES ? most : ROOM_BYTES;
}

/* Chooses what a tile stores whole.  False: what begins and ends where another run does cannot
 * be left to a second box. */
static bool
choose_unit(Shift *s)
{
    enum { SECTORS = 8 };               /* of a run at least, so that few are left */
    GridBox *b = s->t.b;
    i64 sector = 8 * SECTOR_BYTES / b->bits;
    bool words = grid_has_words(b, s->t.y, s->per), seams = grid_has_seams(b);
    s->aligned = grid_has_words(b, s->t.y, sector);
    s->unit = s->aligned || (seams && s->t.y->n >= SECTORS * sector) ? sector : s->per;
    s->aligned |= words && s->unit == s->per;
    return s->aligned || seams;
}

/* Rows of the source have 128 bytes, or 256 where units are many: an H200 needs whole lines of the
 * source, but sectors alone of the destination.  Both sides are powers of two, at least
 * GRID_THREADS together, until a tile gets the sector more that it loads.  A tile stores a
 * multiple of a unit, and at least half of what it loads. */
static void
choose_sides(Shift *s)
{
    i64 units = units_of(s->t.b->bits), x = int_ceil_div(s->t.x->n, s->per);
    i64 more = s->aligned ? 0 : s->unit / s->per;
    i64 y = int_ceil_div(s->t.y->n, s->per) + more;
    i64 room = room_of(s) / WORD_BYTES / s->per;
    s->wide = tile_power(x, units > WARP * WARP ? 2 * WARP : WARP);
    s->tall = tile_power(y, units / s->wide < GRID_THREADS ? units / s->wide : GRID_THREADS);
    s->wide = tile_power(x, units / s->tall < GRID_THREADS ? units / s->tall : GRID_THREADS);
    if (s->tall <= more) {
        s->tall = WARP;
        s->wide = tile_power(x, units / s->tall);
    }
    while (s->wide * s->tall < GRID_THREADS)
        s->tall *= 2;
    while (s->wide * s->tall > room && s->wide * s->tall > GRID_THREADS)
        *(s->tall > s->wide ? &s->tall : &s->wide) /= 2;
    while (s->tall < 4 * more && s->wide * s->tall * 2 <= room)
        s->tall *= 2;
    bool longer = more > 1 && s->wide % WARP == 0 && s->wide * (s->tall + more + 1) <= room;
    if (longer)
        s->tall += more;
    s->pitch = s->tall + (longer || (s->wide >= WARP && s->tall >= WARP &&
                                     s->wide * (s->tall + 1) <= room));
    s->t.tx = s->wide * s->per;
    s->t.ty = (s->tall - more) * s->per;
    s->t.overlap = more * s->per;
    s->t.margin = s->per;
    s->t.nx = grid_ceil(s->t.b, s->t.x->ex.n, s->t.tx);
    s->t.ny = grid_ceil(s->t.b, s->t.y->ex.n, s->t.ty);
}

/* The number that is xored with the words of column p.  In a pass of 32 lanes, those along r
 * take the low bits; columns that together are one sweep of the banks have the same number. */
static const Ex *
mask_of(const Shift *s, const Ex *p)
{
    i64 share = s->tall < WARP ? WARP / s->tall : 1;
    i64 step = s->wide < WARP ? WARP / s->wide : 1;
    i64 masks = (s->tall < WARP ? s->tall : WARP) / step;
    return ex_scale(s->t.b->e, ex_dig(s->t.b->e, p, share, share * masks), step);
}

/* The place in shared memory of word r of column p * per + c.  Lanes run along p in
 * one phase and along r in the other; neither has bank conflicts: the pitch is odd, or the
 * place is xored.  Where rows have fewer than 32 lanes and begin anywhere, as those of 2 bits,
 * the other phase takes twice the wavefronts. */
static const Ex *
place(const Shift *s, const Ex *p, int c, const Ex *r)
{
    Exprs *e = s->t.b->e;
    const Ex *column = ex_add(e, p, ex_const(e, c * s->wide));
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
            grid_load(b, name[k], true, SPACE_SRC, WORD_BYTES, at);
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
        grid_store(b, SPACE_SHARED, WORD_BYTES, place(s, p, c, r), &word[c], 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

/* Where a column of the tile begins in the destination. */
typedef struct {
    const Ex *x, *to;     /* its number; the address of the tile's first element */
    const Ex *past;       /* elements from the begin of a unit to there, less one, modulo a unit */
} Column;

static Column
column_of(const Shift *s, const Ex *p, int c)
{
    const GridTile *t = &s->t;
    Exprs *e = t->b->e;
    const Ex *x = ex_add(e, ex_add(e, ex_scale(e, t->i, t->tx), ex_scale(e, p, s->per)),
                         ex_const(e, c));
    const Ex *y = ex_scale(e, t->j, t->ty), *up = ex_const(e, s->unit - 1);
    const Ex *to = ex_add(e, ex_add(e, t->dst, y), ex_times(e, x, t->x->ex.ds));
    return (Column){x, to, ex_mod(e, ex_add(e, to, up), s->unit)};
}

/* The word of the tile with the first element of word k that the tile stores.  It has a variable:
 * digits of differences may be below 0 on the way. */
static const Ex *
word_of(const Shift *s, const Column *column, const Ex *k, int n)
{
    GridBox *b = s->t.b;
    Exprs *e = b->e;
    const Ex *up = ex_const(e, s->unit / s->per - 1);
    const Ex *before = ex_sub(e, up, ex_div(e, column->past, s->per));
    const Ex *r = ex_add(e, k, before);
    return ex_is_const(before) ? r : grid_let(b, arena_printf(b->arena, "w%d", n), r);
}

/* True if the word is one of an element of the tile, and so are all of its unit.  NULL: of all. */
static GridStmt *
when_inside(const Shift *s, const Column *column, const Ex *k)
{
    const GridTile *t = &s->t;
    Exprs *e = t->b->e;
    const Ex *up = ex_const(e, s->unit - 1), *first = ex_sub(e, up, column->past);
    const Ex *unit = ex_scale(e, ex_div(e, k, s->unit / s->per), s->unit);
    const Ex *last = ex_add(e, ex_add(e, ex_add(e, ex_scale(e, t->j, t->ty), first), unit), up);
    return t->whole ? NULL : grid_when(t->b, (const Ex *[]){column->x, last},
                                       (const Ex *[]){t->x->ex.n, t->y->ex.n}, 2);
}

/* Loads the elements of word r of a column from shared memory and stores them as word k. */
static void
store_word(const Shift *s, const Column *column, int n, const Ex *p, const Ex *r, const Ex *k)
{
    GridBox *b = s->t.b;
    Exprs *e = b->e;
    const char *word[] = {arena_printf(b->arena, "V%d", n), arena_printf(b->arena, "U%d", n)};
    const Ex *inside = ex_sub(e, ex_const(e, s->per - 1), ex_mod(e, column->past, s->per));
    for (int i = 0; i < (ex_is(inside, 0) ? 1 : 2); i++)
        grid_load(b, word[i], true, SPACE_SHARED, WORD_BYTES,
                  place(s, p, n % s->per, ex_add(e, r, ex_const(e, i))));
    const char *v = tile_funnel(b, arena_printf(b->arena, "F%d", n), word[0], word[1],
                                ex_scale(e, inside, b->bits));
    const Ex *up = ex_add(e, column->to, ex_const(e, s->unit - 1));
    const Ex *begin = ex_scale(e, ex_div(e, up, s->unit), s->unit / s->per);
    grid_store(b, SPACE_DST, WORD_BYTES, ex_add(e, begin, k), &v, 1);
}

/* Stores word k of the columns c, c + per, ... of the tile; c is n modulo per, and n is in the
 * names.  The block's threads are in `rows` rows; this one's is `row`, and does every rows-th of
 * these columns. */
static void
store_columns(const Shift *s, int n, const Ex *k, const Ex *row, i64 rows)
{
    GridBox *b = s->t.b;
    Exprs *e = b->e;
    int c = n % s->per;
    bool alike = rows * s->per % s->unit == 0;      /* all begin at one place of a unit */
    Column column = column_of(s, row, c);
    const Ex *r = alike ? word_of(s, &column, k, n) : NULL;
    GridStmt **outer;
    const Ex *p = ex_add(e, row, ex_scale(e, grid_for(b, "k", s->wide / rows, &outer), rows));
    column = column_of(s, p, c);
    r = alike ? r : word_of(s, &column, k, n);
    GridStmt *when = when_inside(s, &column, k);
    GridStmt **guard = when ? grid_open(b, when) : NULL;
    store_word(s, &column, n, p, r, k);
    grid_close(b, guard);
    grid_close(b, outer);
}

/* The threads of a warp store adjacent words.  All columns of a thread then begin at one place
 * of a sector, if the tile is wide enough. */
static void
take_and_store(GridTile *t)
{
    const Shift *s = (const Shift *)t;
    GridBox *b = t->b;
    Exprs *e = b->e;
    i64 stored = s->t.ty / s->per, lanes = tile_power(stored, WARP);
    if (s->wide < GRID_THREADS / lanes)
        lanes = GRID_THREADS / s->wide;
    const Ex *thread = ex_of_var(e, b->u->thread), *end = ex_const(e, stored);
    for (int i = 0; i * lanes < stored; i++) {
        const Ex *k = ex_add(e, ex_mod(e, thread, lanes), ex_const(e, i * lanes));
        GridStmt *when = grid_when(b, &k, &end, 1);
        GridStmt **guard = when ? grid_open(b, when) : NULL;
        for (int c = 0; c < s->per; c++)
            store_columns(s, i * s->per + c, k, ex_div(e, thread, lanes), GRID_THREADS / lanes);
        grid_close(b, guard);
    }
}

/* Finds the loops, the unit and the tile.  False: shift does not apply. */
static bool
begin(Shift *s, GridBox *b)
{
    enum { USE = 8 };                   /* a tile at most so many times as large as the box */
    const GridUnit *u = b->u;
    *s = (Shift){.t = {.b = b, .m = 1}, .per = WORD_BITS / b->bits};
    if (b->bits > WORD_BITS || !u->most.otherwise || !u->most.funnel || !grid_is_forward(b) ||
        !tile_loops(&s->t) || s->t.x->n < s->per || s->t.y->n < s->per || !choose_unit(s))
        return false;
    choose_sides(s);
    return s->t.ty >= s->per && bytes_of(s) <= room_of(s) &&
           s->t.tx * s->t.ty / USE <= s->t.x->n * s->t.y->n;
}

/* True if shift applies to rows of the source that have a word for each lane. */
static bool
has_rows(Shift *s, GridBox *b)
{
    return b->bits <= 16 && grid_is_known(b) && begin(s, b) &&
           s->t.x->n * b->bits >= WARP * WORD_BITS;
}

bool
grid_shifts_sectors(GridBox *b)
{
    Shift s;
    return has_rows(&s, b) && !s.aligned && s.unit > s.per;
}

bool
grid_shifts_rows(GridBox *b)
{
    Shift s;
    return has_rows(&s, b);
}

bool
grid_shift(GridBox *b)
{
    Shift s;
    if (!begin(&s, b))
        return false;
    s.from = grid_source(b);
    tile_phases(&s.t, bytes_of(&s), load_and_keep, take_and_store);
    if (!s.aligned)
        b->also = grid_seams(b, s.unit * b->bits / 8);
    return true;
}
