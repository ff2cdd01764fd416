/* Converts between planes and blocked layouts whose innermost run has 32 to 64 bytes, one
 * or two sectors.  A thread moves pieces of 16 bytes of the blocks, and pixels of as many
 * planes as a piece has elements.  Lanes run over pixels and pieces, so that source and
 * destination are accessed in whole sectors, without shared memory and barriers. */
#include "grid_tile.h"

enum { PIECE_BITS = 128, RUN_LEAST = SECTOR_BYTES, RUN_MOST = 64, LANE_BYTES = 4 };
enum { PIXELS_MOST = 4 };             /* for elements of a byte */

typedef struct {
    GridBox *b;
    const GridLoop *pixel, *run;   /* adjacent in planes; adjacent in blocks */
    bool in;                       /* the source has the blocks, else the destination */
    i64 each;                      /* elements of a piece */
    int pixels, width;             /* pixels of a thread in a plane; their bytes */
    const Ex *y;                   /* the piece's first element in the run */
    const Ex *blocks, *planes;     /* start addresses of the thread, in elements */
} Pieces;

static i64
in_blocks(const Pieces *p, const GridLoop *l)
{
    return p->in ? l->ss : l->ds;
}

static i64
in_planes(const Pieces *p, const GridLoop *l)
{
    return p->in ? l->ds : l->ss;
}

static bool
find_loops(Pieces *p, bool in)
{
    p->in = in;
    p->pixel = p->run = NULL;
    for (int i = 0; i < p->b->nloops; i++) {
        const GridLoop *l = &p->b->loop[i];
        p->run = in_blocks(p, l) == 1 && !l->residual ? l : p->run;
        p->pixel = in_planes(p, l) == 1 && !l->residual ? l : p->pixel;
    }
    if (!p->run || !p->pixel || p->run == p->pixel)
        return false;
    i64 bytes = in_blocks(p, p->pixel) * p->b->bits / 8;
    const Ex *apart = p->in ? p->pixel->ex.ss : p->pixel->ex.ds;
    if (!ex_is_const(apart) || !ex_is_const(p->run->ex.n))
        return false;
    return bytes >= RUN_LEAST && bytes <= RUN_MOST &&
           p->run->n <= in_blocks(p, p->pixel) &&
           p->pixel->n * p->b->bits / 8 >= SECTOR_BYTES;
}

/* True if pieces are aligned to their size and contain elements of the box only. */
static bool
is_whole(const Pieces *p)
{
    const GridBox *b = p->b;
    for (int i = 0; i < b->nloops; i++)
        if (&b->loop[i] != p->run && in_blocks(p, &b->loop[i]) % p->each)
            return false;
    return grid_aligned(b, p->in ? b->src : b->dst) % p->each == 0 &&
           (p->in ? grid_ends_inside(b, p->run, p->each) : p->run->n % p->each == 0);
}

/* True if accesses of p->pixels pixels are aligned in the planes. */
static bool
is_aligned(const Pieces *p)
{
    const GridBox *b = p->b;
    for (int i = 0; i < b->nloops; i++)
        if (&b->loop[i] != p->pixel && in_planes(p, &b->loop[i]) % p->pixels)
            return false;
    return p->pixel->n % p->pixels == 0 && p->pixel->real % p->pixels == 0 &&
           grid_aligned(b, p->in ? b->dst : b->src) % p->pixels == 0;
}

static void
choose_pixels(Pieces *p)
{
    p->pixels = 8 * LANE_BYTES / p->b->bits;
    while (p->pixels > 1 && !is_aligned(p))
        p->pixels /= 2;
    p->pixels += p->pixels == 0;
    p->width = p->pixels * p->b->bits / 8;
}

/* True if another row is faster, as measured on an H200: tiles where warps would access many
 * planes by single sectors (of a copy, 8 bits and 64 bytes a block 0.90 and not 0.79, 32 bytes
 * 0.94 and not 0.85, 16 bits and 64 bytes 0.96 and not 0.89), and whole words where pixels of
 * planes would be loaded one by one (16 bits, 45 x 45: 0.99 and not 0.89).  By the estimate the
 * latter is slower for planes of less than about PLANE bytes. */
static bool
is_slower(const Pieces *p)
{
    enum { SPREAD = 8 * SECTOR_BYTES, PLANE = 1024 };
    i64 bytes = in_blocks(p, p->pixel) * p->b->bits / 8;
    return (p->each * bytes > SPREAD && grid_tiles(p->b)) ||
           (!p->in && p->width < LANE_BYTES && p->pixel->n * p->b->bits / 8 >= PLANE &&
            grid_shifts_rows(p->b));
}

/* Computes the place of thread number e: first the pieces of a pixel, then the pixels. */
static void
find_place(Pieces *p, const Ex *e)
{
    GridBox *b = p->b;
    Exprs *x = b->e;
    const Ex *src, *dst;
    i64 pieces = int_ceil_div(p->run->n, p->each);
    GridDigits n = {e, 1};
    const Ex *pixels = ex_div(x, p->pixel->ex.n, p->pixels);
    const Ex *at = grid_digit(b, &n, "y", ex_const(x, pieces), INF, false);
    p->y = grid_let(b, "y", ex_scale(x, at, p->each));
    at = grid_digit(b, &n, "X", pixels, INF, b->nloops == 2);
    at = grid_let(b, "x", ex_scale(x, at, p->pixels));
    grid_batch(b, n, (const GridLoop *[]){p->pixel, p->run}, 2, &src, &dst);
    b->at[p->pixel - b->loop] = at;
    src = ex_add(x, src, ex_add(x, ex_times(x, at, p->pixel->ex.ss),
                                ex_times(x, p->y, p->run->ex.ss)));
    dst = ex_add(x, dst, ex_add(x, ex_times(x, at, p->pixel->ex.ds),
                                ex_times(x, p->y, p->run->ex.ds)));
    p->blocks = p->in ? src : dst;
    p->planes = p->in ? dst : src;
}

/* The address in its plane of element i of the piece, in accesses of a lane. */
static const Ex *
plane(const Pieces *p, i64 i)
{
    Exprs *e = p->b->e;
    const Ex *stride = ex_div(e, p->in ? p->run->ex.ds : p->run->ex.ss, p->pixels);
    return ex_add(e, ex_div(e, p->planes, p->pixels), ex_scale(e, stride, i));
}

/* The address of the piece of pixel c, in pieces. */
static const Ex *
piece(const Pieces *p, int c)
{
    Exprs *e = p->b->e;
    i64 stride = in_blocks(p, p->pixel) / p->each;
    return ex_add(e, ex_div(e, p->blocks, p->each), ex_const(e, c * stride));
}

static const char *
name(const Pieces *p, const char *tag, int i, int j)
{
    return arena_printf(p->b->arena, "%s%d_%d", tag, i, j);
}

/* Word w of the piece of pixel c, made of the values loaded from each plane. */
static const char *
gathered(const Pieces *p, int c, int w)
{
    GridBox *b = p->b;
    int per = 32 / b->bits;
    const char *half[2], *a[4];
    if (b->bits == 64)
        return arena_printf(b->arena, "A%d.%c", w / 2, "xy"[w % 2]);
    if (b->bits == 32)
        return arena_printf(b->arena, "A%d", w);
    for (int i = 0; i < per; i++)
        a[i] = arena_printf(b->arena, "A%d", per * w + i);
    if (b->bits == 16)
        return tile_permute(b, name(p, "W", c, w), a[0], a[1],
                            c ? 0x7632 : 0x5410);
    for (int i = 0; i < 2; i++) {
        half[i] = name(p, i ? "G" : "H", c / 2, w);
        if (c % 2 == 0)
            tile_permute(b, half[i], a[2 * i], a[2 * i + 1],
                         c ? 0x7362 : 0x5140);
    }
    return tile_permute(b, name(p, "W", c, w), half[0], half[1],
                        c % 2 ? 0x7632 : 0x5410);
}

static void
gather(Pieces *p)
{
    GridBox *b = p->b;
    for (int i = 0; i < p->each; i++) {
        b->at[p->run - b->loop] = ex_add(b->e, p->y, ex_const(b->e, i));
        grid_load_or_fill(b, arena_printf(b->arena, "A%d", i), true, p->width,
                          plane(p, i));
    }
    for (int c = 0; c < p->pixels; c++) {
        const char *word[4];
        for (int w = 0; w < LEN(word); w++)
            word[w] = gathered(p, c, w);
        grid_store(b, SPACE_DST, PIECE_BITS / 8, piece(p, c), word, LEN(word));
    }
}

/* The words for the plane of element i, from the pieces v0, v1, ...; returns their
 * number. */
static int
scattered(const Pieces *p, int i, const char **word)
{
    GridBox *b = p->b;
    int per = 32 / b->bits, w = i / (per ? per : 1);
    const char *half[2], *v[PIXELS_MOST];
    if (b->bits == 64) {
        word[0] = tile_word(b, "V0", 16, 2 * i);
        word[1] = tile_word(b, "V0", 16, 2 * i + 1);
        return 2;
    }
    for (int c = 0; c < PIXELS_MOST; c++)
        v[c] = tile_word(b, arena_printf(b->arena, "V%d", c < p->pixels ? c : 0), 16, w);
    word[0] = name(p, "W", i, 0);
    if (b->bits == 32)
        word[0] = v[0];
    else if (b->bits == 16)
        tile_permute(b, word[0], v[0], v[1], i % per ? 0x7632 : 0x5410);
    else if (p->pixels < PIXELS_MOST)
        tile_permute(b, word[0], v[0], v[1],
                     (uint32_t)(i % per * 0x11 + 0x40));
    else {
        for (int h = 0; h < 2; h++) {
            half[h] = name(p, h ? "G" : "H", w, i % per / 2);
            if (i % 2 == 0)
                tile_permute(b, half[h], v[2 * h], v[2 * h + 1],
                             i % per ? 0x7362 : 0x5140);
        }
        tile_permute(b, word[0], half[0], half[1], i % 2 ? 0x7632 : 0x5410);
    }
    return 1;
}

static void
scatter(Pieces *p)
{
    GridBox *b = p->b;
    for (int c = 0; c < p->pixels; c++)
        grid_load(b, arena_printf(b->arena, "V%d", c), true, SPACE_SRC, PIECE_BITS / 8,
                  piece(p, c));
    for (int i = 0; i < p->each; i++) {
        const char *word[4];
        const Ex *y = ex_add(b->e, p->y, ex_const(b->e, i));
        int n = scattered(p, i, word);
        GridStmt *when = grid_when(b, &y, &p->run->ex.n, 1);
        GridStmt **outer = when ? grid_open(b, when) : NULL;
        grid_store(b, SPACE_DST, p->width, plane(p, i), word, n);
        grid_close(b, outer);
    }
}

bool
grid_piece(GridBox *b)
{
    Pieces p = {.b = b};
    grid_widen(b, 64);
    p.each = PIECE_BITS / b->bits;
    if (b->bits < 8 || b->bits > 64 || b->nest->kind != NEST_COPY ||
        (!find_loops(&p, false) && (grid_is_padded(b) || !find_loops(&p, true))) ||
        !is_whole(&p))
        return false;
    choose_pixels(&p);
    if (is_slower(&p))
        return false;
    const Ex *n = grid_others(b, (const GridLoop *[]){p.pixel, p.run}, 2);
    n = grid_times(b, n, ex_div(b->e, p.pixel->ex.n, p.pixels));
    n = ex_scale(b->e, n, int_ceil_div(p.run->n, p.each));
    grid_blocks(b, grid_ceil(b, n, GRID_THREADS));
    GridStmt **guard, **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *e = grid_item(b, ex_of_var(b->e, b->block));
    find_place(&p, grid_index(b, "e", e, n, &guard));
    (p.in ? scatter : gather)(&p);
    grid_close(b, guard);
    grid_close(b, outer);
    return true;
}
