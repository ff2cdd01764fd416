/* Finds the unit of a box: the innermost loops, and a part of the next one, that cover
 * whole words on both sides.  The order of the elements in it is known, whatever it is. */
#include "grid_unit.h"

static i64
stride_of(const GridLoop *l, int side)
{
    return side == SPACE_SRC ? l->ss : l->ds;
}

/* The first loop of the unit. */
static GridLoop *
outermost(const Words *w)
{
    return &w->b->loop[w->b->nloops - w->nloops];
}

static i64
count_of(const Words *w, const GridLoop *l)
{
    return l == outermost(w) ? w->chunk : l->n;
}

/* What iterations x add to the address of a side at iterations 0.  False if it depends on
 * loops outside the unit. */
static bool
offset_of(const Words *w, int side, const i64 *x, i64 *out)
{
    const GridBox *b = w->b;
    Exprs *e = b->e;
    const Ex *base = side == SPACE_SRC ? b->src : b->dst;
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(e));
    const Ex **zero = arena_array(b->arena, const Ex *, ex_nvars(e));
    bool residual = false;
    *out = 0;
    for (int i = 0; i < w->nloops; i++) {
        const GridLoop *l = &outermost(w)[i];
        *out += x[i] * stride_of(l, side);
        to[l->var] = ex_const(e, x[i]);
        zero[l->var] = ex_const(e, 0);
        residual |= l->residual;
    }
    if (!residual)
        return true;
    const Ex *more = ex_sub(e, ex_subst(e, base, to), ex_subst(e, base, zero));
    *out += more->base;
    return ex_is_const(more);
}

/* Sets x to the iterations of element number i of the unit; true if it is no padding. */
static bool
iterations(const Words *w, int i, i64 *x)
{
    bool real = true;
    for (int k = w->nloops - 1; k >= 0; k--) {
        const GridLoop *l = &outermost(w)[k];
        i64 n = count_of(w, l);
        x[k] = i % n;
        i /= (int)n;
        real &= x[k] < l->real;
    }
    return real;
}

/* The base of a side at iterations 0 of the unit, in elements. */
static const Ex *
base_of(const Words *w, int side)
{
    const GridBox *b = w->b;
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(b->e));
    for (int i = 0; i < w->nloops; i++)
        to[outermost(w)[i].var] = ex_const(b->e, 0);
    const Ex *x = ex_subst(b->e, side == SPACE_SRC ? b->src : b->dst, to);
    return ex_add(b->e, x, ex_const(b->e, w->first[side]));
}

/* True if the addresses of the source have gaps of that period, which no element of the box is
 * in: loops with lesser strides are in the unit, and all others begin at its multiples.  The
 * gaps are read with the elements, so half of a period is used, or it is short and words are
 * better than parts of words. */
static bool
has_period(const Words *w, i64 period)
{
    enum { SHORT_BITS = 128 };
    const GridBox *b = w->b;
    i64 used = 1, more;
    for (const GridLoop *l = b->loop; l < b->loop + b->nloops; l++) {
        if (ex_is(ex_mod(b->e, l->ex.ss, period), 0) && !l->residual)
            continue;
        if (l < outermost(w) || l->residual || !ex_is_const(l->ex.n) ||
            count_of(w, l) < l->n || !int_mul(l->real - 1, int_abs(l->ss), &more) ||
            !int_add(used, more, &used))
            return false;
    }
    const Ex *phase = ex_mod(b->e, base_of(w, SPACE_SRC), period);
    return ex_is_const(phase) && phase->base + used <= period &&
           (2 * used >= period || (b->bits < WORD_BITS && period * b->bits <= SHORT_BITS));
}

/* The period of the source's gaps; 1: none is known. */
static i64
period_of(const Words *w)
{
    for (const GridLoop *l = outermost(w); l < w->b->loop + w->b->nloops; l++)
        if (l->ss > 1 && l->ss <= UNIT_BITS && has_period(w, l->ss))
            return l->ss;
    return 1;
}

/* True if no unit of so many elements of the source ends outside the buffer. */
static bool
ends_inside(const Words *w, i64 span)
{
    const GridBox *b = w->b;
    Exprs *e = b->e;
    const Ex *end = ex_add(e, base_of(w, SPACE_SRC), ex_const(e, span));
    for (const GridLoop *l = b->loop; l <= outermost(w); l++)
        if (l->ex.ss->f.max > 0)
            end = ex_add(e, end, ex_times(e, l->ex.ss, ex_sub(e, l->ex.n, ex_const(e,
                                          l == outermost(w) ? w->chunk : 1))));
    return ex_sub(e, b->slots, end)->f.min >= 0;
}

/* True if each period of the first n has an element. */
static bool
is_dense(const bool *seen, i64 n, i64 period)
{
    for (i64 i = 0, last = -1; i < n; i++) {
        last = seen[i] ? i / period : last;
        if (i % period == period - 1 && last < i / period)
            return false;
    }
    return true;
}

/* Sets the words of a side's unit, with whole periods; at: the addresses of its elements.  False
 * if they are no whole words, or have other gaps. */
static bool
is_whole(Words *w, int side, const bool *wanted, const i64 *at, i64 period)
{
    bool seen[UNIT_BITS] = {false};
    i64 span = 0;
    if (period > 1)
        w->first[side] -= ex_mod(w->b->e, base_of(w, side), period)->base;
    for (int i = 0; i < w->n; i++) {
        if (!wanted[i])
            continue;
        i64 x = at[i] - w->first[side];
        if (x >= UNIT_BITS || seen[x])
            return false;
        seen[x] = true;
        span = x >= span ? (x / period + 1) * period : span;
    }
    i64 bits = span * w->b->bits;
    w->words[side] = (int)(bits / WORD_BITS);
    return bits > 0 && bits <= UNIT_BITS && bits % WORD_BITS == 0 &&
           is_dense(seen, span, period) && (period == 1 || ends_inside(w, span));
}

/* Sets at[i] to the address of element i on a side, from the unit's first on, for those that
 * are `wanted`.  False unless they are whole words, without gaps but the source's. */
static bool
addresses(Words *w, int side, const bool *wanted, i64 *at)
{
    i64 x[MAX_LOOPS], least = INF;
    for (int i = 0; i < w->n; i++) {
        iterations(w, i, x);
        if (wanted[i] && !offset_of(w, side, x, &at[i]))
            return false;
        least = wanted[i] && at[i] < least ? at[i] : least;
    }
    w->first[side] = least;
    i64 period = side == SPACE_SRC && least < INF ? period_of(w) : 1;
    bool whole = is_whole(w, side, wanted, at, period);
    if (!whole && period > 1) {
        w->first[side] = least;
        whole = is_whole(w, side, wanted, at, 1);
    }
    for (int i = 0; i < w->n; i++)
        at[i] -= wanted[i] ? w->first[side] : at[i];
    return whole;
}

/* The order of the elements; false if the unit is not whole words on both sides. */
static bool
find_order(Words *w)
{
    bool all[UNIT_BITS], real[UNIT_BITS];
    i64 src[UNIT_BITS], dst[UNIT_BITS], x[MAX_LOOPS];
    for (int i = 0; i < w->n; i++) {
        all[i] = true;
        real[i] = iterations(w, i, x);
    }
    if (!addresses(w, SPACE_DST, all, dst) || !addresses(w, SPACE_SRC, real, src))
        return false;
    for (int i = 0; i < w->n; i++)
        w->from[dst[i]] = (short)(real[i] ? src[i] : -1);
    return true;
}

/* True if f divides x for all shapes. */
static bool
divides(const Ex *x, i64 f)
{
    return grid_divisor(x) % f == 0;
}

/* True if every unit begins at a word, and no loop around it has padding. */
static bool
begins_at_words(const Words *w)
{
    const GridBox *b = w->b;
    i64 per = WORD_BITS / b->bits;
    for (const GridLoop *l = b->loop; l < outermost(w); l++)
        if (!divides(l->ex.ss, per) || !divides(l->ex.ds, per) || l->real < l->n)
            return false;
    for (int s = 0; s < 2; s++)
        if (grid_aligned(b, base_of(w, s)) % per ||
            stride_of(outermost(w), s) * w->chunk % per)
            return false;
    return true;
}

/* True if the outermost loop of the unit may be cut into chunks, and all loops of the unit
 * are known. */
static bool
is_cut(const Words *w)
{
    const GridLoop *o = outermost(w);
    bool cut = w->chunk < o->n || !ex_is_const(o->ex.n);
    if (cut && (o->residual || o->real < o->n || !divides(o->ex.n, w->chunk)))
        return false;
    for (const GridLoop *l = o; l < w->b->loop + w->b->nloops; l++)
        if (!ex_is_const(l->ex.ss) || !ex_is_const(l->ex.ds) ||
            (l > o && !ex_is_const(l->ex.n)))
            return false;
    return true;
}

/* How good a unit is: vectors of the destination before odd numbers of words, which threads
 * exchange without bank conflicts.  0: other rows do better, also where most is padding. */
static int
worth(const Words *w)
{
    static const int by_words[] = {0, 3, 6, 5, 7, 5, 6, 5, 2, 4, 0, 4, 0, 4, 0, 4, 0};
    int src = w->words[SPACE_SRC], dst = w->words[SPACE_DST], value = by_words[dst];
    if (value == 0 || dst > 3 * src)
        return 0;
    return 2 * value + (src % 2 || src == 2 || src == 4);
}

/* A copy of single words, or of vectors, which other rows do. */
static bool
is_copy(const Words *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->from[i] != w->from[0] + i)
            return false;
    return w->words[SPACE_SRC] == w->words[SPACE_DST] || w->words[SPACE_DST] % 2 == 0;
}

/* Tries the last `nloops` loops, of the first of them `chunk` iterations. */
static bool
is_unit(Words *w, int nloops, i64 chunk)
{
    i64 n = chunk;
    w->nloops = nloops;
    w->chunk = chunk;
    for (const GridLoop *l = outermost(w) + 1; l < w->b->loop + w->b->nloops; l++)
        if (n > UNIT_BITS || !int_mul(n, l->n, &n))
            return false;
    if (n * w->b->bits > UNIT_BITS)
        return false;
    w->n = (int)n;
    return is_cut(w) && find_order(w) && begins_at_words(w) && !is_copy(w);
}

/* Replaces the loops of the unit by the one around its chunks, and counts words. */
static void
make_units(const Words *w)
{
    GridBox *b = w->b;
    Exprs *e = b->e;
    GridLoop *o = outermost(w);
    i64 per = WORD_BITS / b->bits;
    b->src = ex_div(e, base_of(w, SPACE_SRC), per);
    b->dst = ex_div(e, base_of(w, SPACE_DST), per);
    o->ex.n = o->ex.real = ex_div(e, o->ex.n, w->chunk);
    o->n = o->real = o->n / w->chunk;
    o->ex.ss = ex_scale(e, o->ex.ss, w->chunk);
    o->ex.ds = ex_scale(e, o->ex.ds, w->chunk);
    o->ss *= w->chunk;
    o->ds *= w->chunk;
    for (GridLoop *l = b->loop; l <= o; l++) {
        l->ss /= per;
        l->ds /= per;
        l->ex.ss = ex_div(e, l->ex.ss, per);
        l->ex.ds = ex_div(e, l->ex.ds, per);
    }
    b->nloops -= w->nloops - !(ex_is_const(o->ex.n) && o->n == 1);
    b->elements /= w->n;
    b->bits = WORD_BITS;
}

bool
unit_find(Words *w)
{
    Words best = {.b = w->b};
    w->bits = w->b->bits;
    if (w->b->bits > WORD_BITS)
        return false;
    for (int k = 1; k <= w->b->nloops; k++) {
        const GridLoop *l = &w->b->loop[w->b->nloops - k];
        for (i64 c = 1; c <= l->n && c * w->b->bits <= UNIT_BITS; c++)
            if ((c == l->n || !(c & (c - 1))) && is_unit(w, k, c) &&
                worth(w) > worth(&best))
                best = *w;
    }
    if (!best.n)
        return false;
    *w = best;
    make_units(w);
    return true;
}
