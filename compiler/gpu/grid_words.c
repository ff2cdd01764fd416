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

enum { TERMS_MAX = 10, FILL_WORD = -1 };

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

static const char *
source_word(const Mover *m, int i)
{
    int v = access_of(m, SPACE_SRC);
    return tile_word(m->b, arena_printf(m->b->arena, "A%d", i / v), 4 * v, i % v);
}

/* The word and the bit of the source that bit `bit` of the destination is: FILL_WORD and
 * the same bit for the fill. */
static int
origin(const Mover *m, int bits, int bit, int *from)
{
    int k = m->u.from[bit / bits];
    *from = k < 0 ? bit % WORD_BITS : (k * bits + bit % bits) % WORD_BITS;
    return k < 0 ? FILL_WORD : k * bits / WORD_BITS;
}

/* The bits of destination word d that are bit + shift of word w. */
static uint32_t
mask_of(const Mover *m, int bits, int d, int w, int shift)
{
    uint32_t mask = 0;
    for (int i = 0, from; i < WORD_BITS; i++)
        if (origin(m, bits, WORD_BITS * d + i, &from) == w && from == i + shift)
            mask |= UINT32_C(1) << i;
    return mask;
}

/* Adds "| (A0 & mask) << shift"; the mask is for the bits in the destination. */
static void
add_term(Buf *b, const char *word, uint32_t mask, int shift)
{
    buf_add(b, b->len ? " | " : "");
    if (mask == UINT32_MAX)
        buf_add(b, word);
    else if (shift == 0)
        buf_printf(b, "(%s & 0x%xu)", word, mask);
    else if (shift < 0)
        buf_printf(b, "((%s & 0x%xu) << %d)", word, mask >> -shift, -shift);
    else
        buf_printf(b, "((%s >> %d) & 0x%xu)", word, shift, mask);
}

static const char *
word_named(const Mover *m, int w)
{
    const char *fill[4];
    if (w != FILL_WORD)
        return source_word(m, w);
    grid_pattern(m->b, WORD_BITS, fill);
    return fill[0];
}

/* Destination word d by shifts and masks; NULL if that takes too many. */
static const char *
by_terms(const Mover *m, int bits, int d)
{
    Buf b = buf_new(m->b->arena);
    int n = 0;
    for (int w = FILL_WORD; w < m->u.words[SPACE_SRC]; w++)
        for (int shift = 1 - WORD_BITS; shift < WORD_BITS; shift++) {
            uint32_t mask = mask_of(m, bits, d, w, shift);
            if (mask)
                add_term(&b, word_named(m, w), mask, shift);
            n += mask != 0;
        }
    return n > TERMS_MAX ? NULL : b.s;
}

/* The byte of a word of the source that byte i of destination word d is; false if it is no
 * whole byte. */
static bool
byte_from(const Mover *m, int bits, int d, int i, int *word, int *byte)
{
    int from, first;
    *word = origin(m, bits, WORD_BITS * d + 8 * i, &first);
    *byte = first / 8;
    for (int k = 0; k < 8; k++)
        if (origin(m, bits, WORD_BITS * d + 8 * i + k, &from) != *word || from != first + k)
            return false;
    return first % 8 == 0;
}

/* Destination word d by permutations of bytes, of two words at a time; NULL if bits leave
 * their bytes. */
static const char *
by_bytes(const Mover *m, int bits, int d)
{
    int word[4], byte[4];
    const char *value = NULL;
    for (int i = 0; i < 4; i++)
        if (!byte_from(m, bits, d, i, &word[i], &byte[i]))
            return NULL;
    for (int i = 0; i < 4; i++) {
        uint32_t pattern = 0;
        bool again = false, same = true;
        for (int k = 0; k < i; k++)
            again |= word[k] == word[i];
        if (again)
            continue;
        for (int k = 0; k < 4; k++) {
            int pick = word[k] == word[i] ? byte[k] + 4 * (value != NULL) : k;
            pattern |= (uint32_t)pick << 4 * k;
            same &= pick == k;
        }
        const char *next = word_named(m, word[i]);
        if (!value && same)
            value = next;
        else
            value = tile_permute(m->b, arena_printf(m->b->arena, "W%d_%d", d, i),
                                 value ? value : next, next, pattern);
    }
    return value;
}

/* False if a word takes too many terms. */
static bool
has_few_terms(const Mover *m, int bits)
{
    int word, byte;
    for (int d = 0; d < m->u.words[SPACE_DST]; d++) {
        bool bytes = true;
        for (int i = 0; i < 4; i++)
            bytes &= byte_from(m, bits, d, i, &word, &byte);
        if (!bytes && !by_terms(m, bits, d))
            return false;
    }
    return true;
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
is_used(const Mover *m, int bits, int from, int to)
{
    for (int i = 0; i < m->u.words[SPACE_DST] * WORD_BITS / bits; i++)
        if (m->u.from[i] >= from * WORD_BITS / bits && m->u.from[i] < to * WORD_BITS / bits)
            return true;
    return false;
}

static void
load_unit(const Mover *m, int bits, const Ex *e)
{
    GridBox *b = m->b;
    int v = access_of(m, SPACE_SRC);
    const Ex *first = first_access(m, SPACE_SRC, e);
    for (int i = 0; i < m->u.words[SPACE_SRC] / v; i++)
        if (is_used(m, bits, i * v, (i + 1) * v))
            grid_load(b, arena_printf(b->arena, "A%d", i), true,
                      m->staged[SPACE_SRC] ? SPACE_SHARED : SPACE_SRC, 4 * v,
                      ex_add(b->e, first, ex_const(b->e, i)));
}

static void
store_unit(const Mover *m, int bits, const Ex *e)
{
    GridBox *b = m->b;
    int v = access_of(m, SPACE_DST);
    const Ex *first = first_access(m, SPACE_DST, e);
    for (int i = 0; i < m->u.words[SPACE_DST] / v; i++) {
        const char *word[4];
        for (int k = 0; k < v; k++) {
            const char *bytes = by_bytes(m, bits, i * v + k);
            word[k] = bytes ? bytes : by_terms(m, bits, i * v + k);
        }
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
by_runs(Mover *m, int bits)
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
    load_unit(&at, bits, t);
    store_unit(&at, bits, t);
    grid_close(b, guard);
    grid_close(b, outer);
    phase_of_copies(m, SPACE_DST);
}

/* Blocks of 256 units in the order of the destination. */
static void
by_units(Mover *m, int bits)
{
    GridBox *b = m->b;
    GridStmt **guard;
    const Ex *n = grid_others(b, NULL, 0);
    grid_blocks(b, grid_ceil(b, n, GRID_THREADS));
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *e = grid_item(b, ex_of_var(b->e, b->block));
    e = grid_index(b, "e", e, n, &guard);
    grid_batch(b, (GridDigits){e, 1}, NULL, 0, &m->src, &m->dst);
    load_unit(m, bits, e);
    store_unit(m, bits, e);
    grid_close(b, guard);
    grid_close(b, outer);
}

bool
grid_words(GridBox *b)
{
    Mover m = {.b = b, .u = {.b = b}};
    int bits = b->bits;
    FillKind fill = b->u->plan->dst->ref->def->fill;
    if (b->nest->kind != NEST_COPY || (grid_is_padded(b) && fill != FILL_VALUE) ||
        !unit_find(&m.u) || !choose_ways(&m) || !has_few_terms(&m, bits))
        return false;
    if (m.run)
        by_runs(&m, bits);
    else
        by_units(&m, bits);
    return true;
}
