/* The program of a tile: one to three passes. */
#include <stdlib.h>
#include <string.h>

#include "nest_made.h"

/* A byte of the destination: its place, and its first element's in the source, in bits;
 * which element that is. */
typedef struct {
    int32_t dst, src, first;
} Byte;

/* By place in a byte of the source, then by the byte: neighbours have the same shift. */
static int
in_source(const void *a, const void *b)
{
    const Byte *x = a, *y = b;
    int32_t p = x->src & 7, q = y->src & 7;
    return p != q ? (p > q) - (p < q) : (x->src > y->src) - (x->src < y->src);
}

/* The first pass assembles the bytes of the destination, the second permutes them. */
static bool
in_two(const Bits *b, Bits *make, Bits *move)
{
    Byte byte[RAVEL_SHUFFLE_BYTES / 2];
    int per = 8 / b->bits, n = b->n / per;
    if (n > LEN(byte) || b->n % per)
        return false;
    for (int i = 0; i < n; i++)
        byte[i] = (Byte){b->dst[i * per], b->src[i * per], i * per};
    qsort(byte, (size_t)n, sizeof *byte, in_source);
    make->bits = b->bits;
    make->strips = b->strips;
    move->strips = 1;
    make->fills = move->fills = make->turns = move->turns = false;
    make->n = b->n;
    move->bits = 8;
    move->n = n;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < per; k++) {
            make->dst[i * per + k] = 8 * i + k * b->bits;
            make->src[i * per + k] = b->src[byte[i].first + k];
        }
        move->dst[byte[i].first / per] = byte[i].dst;
        move->src[byte[i].first / per] = 8 * i;
    }
    return shuffle_lanes(make) && shuffle_lanes(move);
}

/* The most terms that templates/c/shuffle_row.c has in registers wherever they read. */
enum { HELD = 4 };

/* Nanoseconds of a row.  A lane takes 1, each term of whole bytes 0.3 more, 0.55 where it is
 * shifted and masked; HELD_MASKED of that if the terms are in registers, LOOKED_UP times as much
 * if their constants are read again for each tile (medians of 420 programs, Zen 1). */
static double
cost_of(const Row *r)
{
    enum { HELD_SAME = 8 };        /* masked ones that may read the same bytes */
    static const double HELD_MASKED = 0.6, LOOKED_UP = 2.2;
    double terms = 0.3 * r->whole + 0.55 * r->masked;
    if (r->whole ? r->masked || r->whole > HELD : r->masked > HELD_SAME)
        return QUAD * (1 + LOOKED_UP * terms);
    return QUAD * (1 + terms) * (r->whole == 0 && r->masked <= HELD ? HELD_MASKED : 1);
}

/* Where windows are permuted: lanes that are apart take 1.2 more, terms with a mask take less. */
static double
permuted_of(const Bits *b, const Terms *t)
{
    static const double WIDE = 0.6;
    double cost = 0;
    for (int i = 0; i < b->nlanes / QUAD; i++) {
        const Row *r = &t->row[i];
        cost += r->windows ? shuffle_windows_cost(r) + (b->lines ? 0 : 1.2)
                : b->bits < 8 ? WIDE * cost_of(r) : QUAD * (0.7 + 0.2 * r->whole);
    }
    return cost;
}

static bool
has_windows(const Bits *b, const Terms *t)
{
    for (int i = 0; i < b->nlanes / QUAD; i++)
        if (!t->row[i].windows)
            return false;
    return true;
}

/* The terms of a pass.  Rows of whole bytes that have no windows get lanes that are near in
 * the source instead of the destination, if that is faster. */
static bool
find_terms(const Nest *n, Bits *b, Terms *t)
{
    if (!shuffle_terms(b, t))
        return false;
    if (!n->permutes || b->bits < 8 || has_windows(b, t))
        return true;
    Bits near = *b;
    Terms of;
    shuffle_by_source(&near);
    if (shuffle_terms(&near, &of) && permuted_of(&near, &of) < permuted_of(b, t)) {
        *b = near;
        *t = of;
    }
    return true;
}

/* Nanoseconds of a pass.  TURN_NS: of the turn of a lane. */
static double
pass_cost(const Nest *n, const Bits *b, const Terms *t)
{
    const double turn_ns = n->permutes ? 0.4 : 0.6;
    double cost = b->turns ? b->nlanes * turn_ns : 0;
    if (n->permutes)
        return cost + permuted_of(b, t);
    for (int i = 0; i < b->nlanes / QUAD; i++)
        cost += cost_of(&t->row[i]);
    return cost;
}

/* Nanoseconds of all passes.  Without windows tiles of whole bytes overlap. */
static double
program_cost(const Nest *n, Program *p)
{
    const double hidden = p->bits[0].bits < 8 || p->passes > 1 || n->permutes ? 1 : 0.7;
    double cost = 0;
    p->rows = p->most = 0;
    for (int i = 0; i < p->passes; i++) {
        int rows = p->bits[i].nlanes / QUAD;
        cost += pass_cost(n, &p->bits[i], &p->terms[i]);
        p->rows += rows;
        p->most = rows > p->most ? rows : p->most;
    }
    return hidden * cost;
}

/* Takes the program of more passes if it is faster, or the only one. */
static bool
take_passes(const Nest *n, Program *more, Program *p)
{
    for (int i = 0; i < more->passes; i++)
        if (!find_terms(n, &more->bits[i], &more->terms[i]))
            return false;
    more->cost = program_cost(n, more);
    if (p->passes && more->cost >= p->cost)
        return false;
    *p = *more;
    return true;
}

static void
try_more(const Nest *n, Program *p)
{
    Arena *a = ex_arena(n->e);
    const Bits b = p->bits[0];
    Program *more = arena_new(a, Program);
    more->passes = 2;
    more->elements = p->elements;
    more->tile = p->tile;
    if (in_two(&b, &more->bits[0], &more->bits[1]))
        take_passes(n, more, p);
    more->passes = PASSES;
    if (shuffle_turns(&b, more->bits))
        take_passes(n, more, p);
    arena_drop(a, more, sizeof *more);
}

/* The most terms of a row. */
static int
terms_of(const Bits *b, const Terms *t)
{
    int most = 0;
    for (int i = 0; i < b->nlanes / QUAD; i++) {
        int terms = t->row[i].whole + t->row[i].masked;
        most = terms > most ? terms : most;
    }
    return most;
}

/* The program of the tile's elements; passes is 0 if there is none.  TERMS_FEW: with at most so
 * many, one pass is fast. */
static void
make(const Nest *n, const Bits *b, Program *p)
{
    enum { TERMS_FEW = 4 };
    p->bits[0] = *b;
    p->elements = b->n;
    p->passes = find_terms(n, p->bits, p->terms);
    p->cost = program_cost(n, p);
    if (b->bits < 8 && (!p->passes || terms_of(p->bits, p->terms) > TERMS_FEW))
        try_more(n, p);
}

/* Gives the loops of a tile the places that they have in the nest. */
static void
renumber(const int to[MAX_LOOPS], int nloops, ShuffleTile *t)
{
    bool in[MAX_LOOPS];
    memcpy(in, t->in, sizeof in);
    for (int i = 0; i < nloops; i++)
        t->in[to[i]] = in[i];
    for (int i = TILE_ROW; i <= TILE_COL; i++)
        t->loop[i] = made_place(to, t->loop[i]);
    for (int s = SRC; s <= DST; s++)
        for (int i = 0; i < t->strips[s].n; i++)
            t->strips[s].loop[i] = to[t->strips[s].loop[i]];
}

/* What is known of the program, begun. */
static ProgramMade *
begun(const Nest *n, int bits, ProgramMade *room)
{
    ProgramMade *m = n->made ? &n->made->program : room;
    ShuffleTile *t = &m->tile;
    int to[MAX_LOOPS];
    if (m == room)
        m->known = MADE_NOTHING;
    if (m->known == MADE_NOTHING) {
        bool has = shuffle_tile(n, bits, t) && shuffle_bits(n, t, bits, &m->of);
        m->known = has ? MADE_START : MADE_NONE;
        made_places(n, m->var);
    } else if (m->known != MADE_NONE && made_moved(n, m->var, to)) {
        renumber(to, n->nloops, t);
    }
    return m;
}

const ShuffleTile *
shuffle_begin(const Nest *n, int bits, ProgramMade *room, const Bits **elements)
{
    const ProgramMade *m = begun(n, bits, room);
    if (elements)
        *elements = &m->of;
    return m->known == MADE_NONE ? NULL : &m->tile;
}

const Program *
shuffle_make(const Nest *n, int bits, ProgramMade *room)
{
    ProgramMade *m = begun(n, bits, room);
    Program *p = &m->program;
    if (m->known == MADE_NONE)
        return NULL;
    p->tile = m->tile;
    if (m->known == MADE_START)
        make(n, &m->of, p);
    m->known = MADE_ALL;
    shuffle_repeat(n, bits, &p->tile);
    bool worth = !p->tile.limited || has_windows(p->bits, p->terms);
    return p->passes && worth ? p : NULL;
}
