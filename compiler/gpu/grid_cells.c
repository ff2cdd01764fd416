/* Permutes elements that are narrower than a word between words that are not adjacent: layouts
 * of packed weights.
 *
 * A cell is whole words of the source and of the destination with the same elements: the loops
 * of a word of either side, multiplied.  A thread loads the words of a cell, composes those of
 * the destination, and stores them.  The cells of a warp follow the loops with short steps on
 * either side, so that together they access whole sectors. */
#include "grid_tile.h"
#include "grid_unit.h"

typedef struct {
    Words u;
    GridBox *b;
    bool in[2][MAX_LOOPS];         /* the loops of a word of this side */
    const Ex *at[2][UNIT_WORDS];   /* of its words: from that of the cell's first, in words */
    int vector[2];        /* words of an access */
} Cells;

static i64
stride_of(const GridLoop *l, int side)
{
    return side == SPACE_SRC ? l->ss : l->ds;
}

static const Ex *
step_of(const GridLoop *l, int side)
{
    return side == SPACE_SRC ? l->ex.ss : l->ex.ds;
}

static bool
in_cell(const Cells *c, int loop)
{
    return c->in[SPACE_SRC][loop] || c->in[SPACE_DST][loop];
}

/* Makes two loops of one: the second has n iterations of each of the first.  False if they do not
 * divide it. */
static bool
split(GridBox *b, GridLoop *l, i64 n)
{
    Exprs *e = b->e;
    if (b->nloops == MAX_LOOPS || grid_divisor(l->ex.n) % n)
        return false;
    GridLoop *inner = &b->loop[b->nloops++];
    *inner = *l;
    inner->n = inner->real = n;
    inner->ex.n = inner->ex.real = ex_const(e, n);
    l->n = l->real = l->n / n;
    l->ex.n = l->ex.real = ex_div(e, l->ex.n, n);
    l->ex.ss = ex_scale(e, l->ex.ss, n);
    l->ex.ds = ex_scale(e, l->ex.ds, n);
    l->ss *= n;
    l->ds *= n;
    return true;
}

/* The loop with that step on a side; -1: none. */
static int
loop_with(const GridBox *b, int side, i64 step)
{
    for (int i = 0; i < b->nloops; i++)
        if (ex_is(step_of(&b->loop[i], side), step) && b->loop[i].n > 1)
            return i;
    return -1;
}

/* Finds the loops whose elements are a word of a side. */
static bool
find_word(Cells *c, int side)
{
    GridBox *b = c->b;
    for (i64 n = 1, per = WORD_BITS / b->bits; n < per;) {
        int i = loop_with(b, side, n);
        if (i < 0)
            return false;
        bool longer = !ex_is_const(b->loop[i].ex.n) || per / n % b->loop[i].n;
        if (longer && !split(b, &b->loop[i], per / n))
            return false;
        for (int s = 0; s < 2 && longer; s++)
            c->in[s][b->nloops - 1] = c->in[s][i];
        i = longer ? b->nloops - 1 : i;
        c->in[side][i] = true;
        n *= b->loop[i].n;
    }
    return true;
}

/* The loops of the cell, those with long steps on a side first; returns their number. */
static int
order(const Cells *c, int side, int *out)
{
    int n = 0;
    for (int i = 0; i < c->b->nloops; i++) {
        if (!in_cell(c, i))
            continue;
        int k = n++;
        i64 step = stride_of(&c->b->loop[i], side);
        for (; k > 0 && stride_of(&c->b->loop[out[k - 1]], side) < step; k--)
            out[k] = out[k - 1];
        out[k] = i;
    }
    return n;
}

/* The place of an element in the cell's words of a side, for iterations x of its loops; sets the
 * address of its word. */
static int
place(const Cells *c, int side, const i64 *x, const Ex **word)
{
    Exprs *e = c->b->e;
    int loop[MAX_LOOPS], n = order(c, side, loop);
    i64 number = 0, element = 0, per = WORD_BITS / c->u.bits;
    *word = ex_const(e, 0);
    for (int k = 0; k < n; k++) {
        const GridLoop *l = &c->b->loop[loop[k]];
        i64 i = x[loop[k]];
        if (c->in[side][loop[k]]) {
            element += i * stride_of(l, side);
            continue;
        }
        number = number * l->n + i;
        *word = ex_add(e, *word, ex_scale(e, ex_div(e, step_of(l, side), per), i));
    }
    return (int)(number * per + element);
}

/* Finds the words of the cell and the order of its elements. */
static bool
find_cell(Cells *c)
{
    GridBox *b = c->b;
    i64 n = 1, x[MAX_LOOPS];
    for (int i = 0; i < b->nloops; i++)
        if (in_cell(c, i) && (!int_mul(n, b->loop[i].n, &n) || n * b->bits > UNIT_BITS))
            return false;
    c->u.n = (int)n;
    for (int s = 0; s < 2; s++)
        c->u.words[s] = (int)n * b->bits / WORD_BITS;
    for (i64 i = 0; i < n; i++) {
        const Ex *from, *to;
        for (i64 k = b->nloops - 1, rest = i; k >= 0; k--) {
            i64 all = in_cell(c, (int)k) ? b->loop[k].n : 1;
            x[k] = rest % all;
            rest /= all;
        }
        int s = place(c, SPACE_SRC, x, &from), d = place(c, SPACE_DST, x, &to);
        c->u.from[d] = (short)s;
        c->at[SPACE_SRC][s * b->bits / WORD_BITS] = from;
        c->at[SPACE_DST][d * b->bits / WORD_BITS] = to;
    }
    return true;
}

/* True if every word begins at one: all steps of loops outside of a word are words. */
static bool
begins_at_words(const Cells *c, int side)
{
    const GridBox *b = c->b;
    i64 per = WORD_BITS / b->bits;
    for (int i = 0; i < b->nloops; i++)
        if (!c->in[side][i] && grid_divisor(step_of(&b->loop[i], side)) % per)
            return false;
    return grid_aligned(b, side == SPACE_SRC ? b->src : b->dst) % per == 0;
}

static i64
lesser_step(const GridLoop *l)
{
    return l->ss < l->ds ? l->ss : l->ds;
}

/* Replaces the loops by those around cells, the ones with short steps on either side last, and
 * counts words. */
static void
make_cells(Cells *c)
{
    GridBox *b = c->b;
    Exprs *e = b->e;
    GridLoop outer[MAX_LOOPS];
    i64 per = WORD_BITS / b->bits;
    int n = 0;
    for (int i = 0; i < b->nloops; i++) {
        GridLoop l = b->loop[i];
        if (in_cell(c, i) || ex_is(l.ex.n, 1))
            continue;
        l.ex.ss = ex_div(e, l.ex.ss, per);
        l.ex.ds = ex_div(e, l.ex.ds, per);
        l.ss /= per;
        l.ds /= per;
        int k = n++;
        for (; k > 0 && lesser_step(&outer[k - 1]) < lesser_step(&l); k--)
            outer[k] = outer[k - 1];
        outer[k] = l;
    }
    b->nloops = n;
    for (int i = 0; i < n; i++)
        b->loop[i] = outer[i];
    b->src = ex_div(e, b->src, per);
    b->dst = ex_div(e, b->dst, per);
    b->elements /= c->u.n;
    b->bits = WORD_BITS;
}

/* True if accesses of v words of a side are aligned vectors. */
static bool
is_vector(const Cells *c, int side, int v)
{
    const GridBox *b = c->b;
    for (int i = 0; i < b->nloops; i++)
        if (grid_divisor(step_of(&b->loop[i], side)) % v)
            return false;
    for (int i = 0; i < c->u.words[side]; i++) {
        const Ex *first = c->at[side][i - i % v];
        if (grid_divisor(first) % v || !ex_is(ex_sub(b->e, c->at[side][i], first), i % v))
            return false;
    }
    return c->u.words[side] % v == 0 &&
           grid_aligned(b, side == SPACE_SRC ? b->src : b->dst) % v == 0;
}

static void
find_vectors(Cells *c)
{
    for (int s = 0; s < 2; s++)
        for (c->vector[s] = 4; !is_vector(c, s, c->vector[s]);)
            c->vector[s] /= 2;
    int v = c->vector[SPACE_SRC];
    for (int i = 0; i < c->u.words[SPACE_SRC]; i++)
        c->u.word[i] = tile_word(c->b, arena_printf(c->b->arena, "A%d", i / v), 4 * v, i % v);
}

/* Adds the accesses of a cell that begins there. */
static void
move(const Cells *c, const Ex *src, const Ex *dst)
{
    GridBox *b = c->b;
    Exprs *e = b->e;
    int v = c->vector[SPACE_SRC];
    for (int i = 0; i < c->u.words[SPACE_SRC]; i += v)
        grid_load(b, arena_printf(b->arena, "A%d", i / v), true, SPACE_SRC, 4 * v,
                  ex_div(e, ex_add(e, src, c->at[SPACE_SRC][i]), v));
    v = c->vector[SPACE_DST];
    for (int i = 0; i < c->u.words[SPACE_DST]; i += v) {
        const char *word[4];
        for (int k = 0; k < v; k++)
            word[k] = unit_word(&c->u, i + k);
        grid_store(b, SPACE_DST, 4 * v, ex_div(e, ex_add(e, dst, c->at[SPACE_DST][i]), v), word, v);
    }
}

/* True if all loops are forward steps over elements. */
static bool
is_simple(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].residual)
            return false;
    return b->nest->kind == NEST_COPY && b->bits < WORD_BITS && grid_is_forward(b);
}

bool
grid_cells(GridBox *b)
{
    Cells c = {.b = b, .u = {.b = b, .bits = b->bits}};
    GridStmt **guard;
    if (!is_simple(b) || !find_word(&c, SPACE_SRC) || !find_word(&c, SPACE_DST) ||
        !find_cell(&c) || !begins_at_words(&c, SPACE_SRC) || !begins_at_words(&c, SPACE_DST))
        return false;
    make_cells(&c);
    find_vectors(&c);
    if (!unit_has_few_terms(&c.u))
        return false;
    const Ex *src, *dst, *n = grid_others(b, NULL, 0);
    grid_blocks(b, grid_ceil(b, n, GRID_THREADS));
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *e = grid_index(b, "e", grid_item(b, ex_of_var(b->e, b->block)), n, &guard);
    grid_batch(b, (GridDigits){e, 1}, NULL, 0, &src, &dst);
    move(&c, src, dst);
    grid_close(b, guard);
    grid_close(b, outer);
    return true;
}
