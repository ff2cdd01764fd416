/* Permutes elements that are narrower than a word inside of words, in registers: other orders
 * of the channels of a pixel, more channels with padding, byte swaps, orders of the nibbles
 * and bits of a word.
 *
 * A thread makes one unit (grid_unit.h): it loads the words of the source, permutes their
 * bytes, or shifts and masks their bits, and stores the words of the destination.  If the
 * words of a unit are one vector, lanes access adjacent vectors.  If not, the units of a
 * block go through shared memory, where their words are accessed as whole vectors. */
#include "grid_tile.h"
#include "grid_unit.h"

typedef struct {
    Words u;
    GridBox *b;
    bool staged[2];       /* this side goes through shared memory */
    int vector[2];        /* words of an access to global memory */
    const GridLoop *run;  /* along the units of a block; NULL: along all loops */
    const Ex *i, *src, *dst;       /* the block's tile of the run; addresses in words */
} Mover;

/* The words of an access of a unit: of its side, or of shared memory. */
static int
access_of(const Mover *m, int side)
{
    int n = m->u.words[side];
    return !m->staged[side] ? m->vector[side] : n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
}

/* The words in shared memory before those of the destination. */
static int
other_words(const Mover *m)
{
    return m->staged[SPACE_SRC] ? GRID_THREADS * m->u.words[SPACE_SRC] : 0;
}

/* The words of the widest access of a side: it divides `all` words, the base, and the
 * strides of all loops but `run`. */
static int
vector_of(const Mover *m, int side, const Ex *all, const GridLoop *run)
{
    const GridBox *b = m->b;
    int v = 4;
    i64 g = int_gcd(grid_divisor(all), grid_aligned(b, side == SPACE_SRC ? b->src : b->dst));
    for (int i = 0; i < b->nloops; i++)
        if (&b->loop[i] != run)
            g = int_gcd(g, grid_divisor(side == SPACE_SRC ? b->loop[i].ex.ss
                                                          : b->loop[i].ex.ds));
    while (v > 1 && g % v)
        v /= 2;
    return v;
}

/* The longest loop along which units are adjacent on a side. */
static const GridLoop *
run_of(const Mover *m, int side)
{
    const GridLoop *best = NULL;
    for (int i = 0; i < m->b->nloops; i++) {
        const GridLoop *l = &m->b->loop[i];
        const Ex *stride = side == SPACE_SRC ? l->ex.ss : l->ex.ds;
        if (ex_is_const(stride) && stride->base == m->u.words[side] && !l->residual &&
            (!best || l->n > best->n))
            best = l;
    }
    return best;
}

/* Decides how each side is accessed; false if the destination would be accessed by parts
 * of sectors. */
static bool
choose_ways(Mover *m)
{
    enum { FEWEST = 32 };
    for (int s = SPACE_DST; s >= SPACE_SRC; s--) {
        const Ex *words = ex_const(m->b->e, m->u.words[s]);
        m->vector[s] = vector_of(m, s, words, NULL);
        if (m->vector[s] == m->u.words[s])
            continue;
        const GridLoop *run = m->run ? m->run : run_of(m, s);
        m->staged[s] = run && run->n >= FEWEST && run == run_of(m, s);
        if (!m->staged[s] && s == SPACE_DST && m->u.words[s] != 2 * m->vector[s])
            return false;
        if (!m->staged[s])
            continue;
        m->run = run;
        m->vector[s] = vector_of(m, s, ex_scale(m->b->e, run->ex.n, m->u.words[s]), run);
    }
    return true;
}

/* Names the words of the source. */
static void
name_words(Mover *m)
{
    int v = access_of(m, SPACE_SRC);
    Arena *a = m->b->arena;
    for (int i = 0; i < m->u.words[SPACE_SRC]; i++)
        m->u.word[i] = tile_word(m->b, arena_printf(a, "A%d", i / v), 4 * v, i % v);
}

/* The address of the words of unit e on its side or, in a block, in shared memory. */
static const Ex *
first_access(const Mover *m, int side, const Ex *e)
{
    Exprs *x = m->b->e;
    int v = access_of(m, side);
    i64 before = side == SPACE_DST ? other_words(m) : 0;
    if (!m->staged[side])
        return ex_div(x, side == SPACE_SRC ? m->src : m->dst, v);
    return ex_add(x, ex_scale(x, e, m->u.words[side] / v), ex_const(x, before / v));
}

/* True if one of the source's words from..to-1 of a unit is in the destination; others are gaps. */
static bool
is_used(const Mover *m, int from, int to)
{
    for (int i = 0, bits = m->u.bits; i < m->u.words[SPACE_DST] * WORD_BITS / bits; i++)
        if (m->u.from[i] >= from * WORD_BITS / bits && m->u.from[i] < to * WORD_BITS / bits)
            return true;
    return false;
}

static void
load_unit(const Mover *m, const Ex *e)
{
    GridBox *b = m->b;
    int v = access_of(m, SPACE_SRC);
    const Ex *first = first_access(m, SPACE_SRC, e);
    for (int i = 0; i < m->u.words[SPACE_SRC] / v; i++)
        if (is_used(m, i * v, (i + 1) * v))
            grid_load(b, arena_printf(b->arena, "A%d", i), true,
                      m->staged[SPACE_SRC] ? SPACE_SHARED : SPACE_SRC, 4 * v,
                      ex_add(b->e, first, ex_const(b->e, i)));
}

static void
store_unit(const Mover *m, const Ex *e)
{
    GridBox *b = m->b;
    int v = access_of(m, SPACE_DST);
    const Ex *first = first_access(m, SPACE_DST, e);
    for (int i = 0; i < m->u.words[SPACE_DST] / v; i++) {
        const char *word[4];
        for (int k = 0; k < v; k++)
            word[k] = unit_word(&m->u, i * v + k);
        grid_store(b, m->staged[SPACE_DST] ? SPACE_SHARED : SPACE_DST, 4 * v,
                   ex_add(b->e, first, ex_const(b->e, i)), word, v);
    }
}

/* Copies the words of a block's units between global and shared memory, by vectors. */
static void
copy_staged(const Mover *m, int side)
{
    GridBox *b = m->b;
    Exprs *e = b->e;
    int words = m->u.words[side], v = m->vector[side];
    GridStmt **outer, **guard;
    i64 each = (i64)GRID_THREADS * words / v;
    const Ex *shared = ex_const(e, side == SPACE_DST ? other_words(m) / v : 0);
    const Ex *k = grid_for(b, "k", int_ceil_div(each, GRID_THREADS), &outer);
    const Ex *q = grid_index(b, "q", grid_item(b, k), ex_const(e, each), &guard);
    const Ex *at = ex_add(e, ex_scale(e, m->i, each), q);
    const Ex *end = ex_div(e, ex_scale(e, m->run->ex.n, words), v);
    GridStmt *when = grid_when(b, &at, &end, 1);
    GridStmt **inner = when ? grid_open(b, when) : NULL;
    const Ex *global = ex_add(e, ex_div(e, side == SPACE_SRC ? m->src : m->dst, v), at);
    shared = ex_add(e, shared, q);
    grid_load(b, "v", true, side == SPACE_SRC ? SPACE_SRC : SPACE_SHARED, 4 * v,
              side == SPACE_SRC ? global : shared);
    grid_store(b, side == SPACE_SRC ? SPACE_SHARED : SPACE_DST, 4 * v,
               side == SPACE_SRC ? shared : global, (const char *[]){"v"}, 1);
    grid_close(b, inner);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
phase_of_copies(const Mover *m, int side)
{
    if (!m->staged[side])
        return;
    if (side == SPACE_DST)
        grid_add(m->b, G_BARRIER);
    GridStmt **outer = grid_open(m->b, grid_add(m->b, G_PHASE));
    copy_staged(m, side);
    grid_close(m->b, outer);
    if (side == SPACE_SRC)
        grid_add(m->b, G_BARRIER);
}

/* Blocks of 256 units of the run: source, units, destination. */
static void
by_runs(Mover *m)
{
    GridBox *b = m->b;
    Exprs *e = b->e;
    GridStmt **guard;
    GridDigits n = {NULL, 1};
    const Ex *tiles = grid_ceil(b, m->run->ex.n, GRID_THREADS);
    const Ex *others = grid_others(b, &m->run, 1);
    grid_blocks(b, grid_times(b, tiles, others));
    grid_shared(b, 4 * (i64)(other_words(m) +
                   (m->staged[SPACE_DST] ? GRID_THREADS * m->u.words[SPACE_DST] : 0)));
    n.x = ex_of_var(e, b->block);
    m->i = grid_let(b, "i", grid_digit(b, &n, "i", tiles, INF,
                                       ex_is_const(others) && others->base == 1));
    grid_batch(b, n, &m->run, 1, &m->src, &m->dst);
    phase_of_copies(m, SPACE_SRC);
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *t = ex_of_var(e, b->u->thread);
    const Ex *x = grid_index(b, "x", ex_add(e, ex_scale(e, m->i, GRID_THREADS), t),
                             m->run->ex.n, &guard);
    Mover at = *m;
    at.src = ex_add(e, m->src, ex_times(e, x, m->run->ex.ss));
    at.dst = ex_add(e, m->dst, ex_times(e, x, m->run->ex.ds));
    load_unit(&at, t);
    store_unit(&at, t);
    grid_close(b, guard);
    grid_close(b, outer);
    phase_of_copies(m, SPACE_DST);
}

/* Blocks of 256 units in the order of the destination. */
static void
by_units(Mover *m)
{
    GridBox *b = m->b;
    GridStmt **guard;
    const Ex *n = grid_others(b, NULL, 0);
    grid_blocks(b, grid_ceil(b, n, GRID_THREADS));
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *e = grid_item(b, ex_of_var(b->e, b->block));
    e = grid_index(b, "e", e, n, &guard);
    grid_batch(b, (GridDigits){e, 1}, NULL, 0, &m->src, &m->dst);
    load_unit(m, e);
    store_unit(m, e);
    grid_close(b, guard);
    grid_close(b, outer);
}

bool
grid_words(GridBox *b)
{
    Mover m = {.b = b, .u = {.b = b}};
    FillKind fill = b->u->plan->dst->ref->def->fill;
    if (b->nest->kind != NEST_COPY || (grid_is_padded(b) && fill != FILL_VALUE) ||
        !unit_find(&m.u) || !choose_ways(&m))
        return false;
    name_words(&m);
    if (!unit_has_few_terms(&m.u))
        return false;
    if (m.run)
        by_runs(&m);
    else
        by_units(&m);
    return true;
}
