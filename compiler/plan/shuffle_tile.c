/* The tile of a nest: the loops over 64 contiguous bytes of the destination, and those over
 * 64 contiguous bytes of the source. */
#include <string.h>

#include "shuffle.h"

/* Bits of a line; of the source's part of a tile that is long enough. */
enum { LINE_BITS = 512, ENOUGH_BITS = 64 };

typedef struct {
    const Nest *n;
    int bits;
    i64 line;             /* bits that each side should have in a row */
    i64 elements, most;
    ShuffleTile *t;
} Growth;

/* The most elements of a tile.  Where each byte of a lane is read by a term of its own, the words
 * of all would be too many (shuffle_pass.c). */
static i64
most_elements(const Nest *n, int bits)
{
    int i = kernel_unit_loop(n, false);
    bool alone = i >= 0 && bits == 8 && n->loop[i].n >= LANE && int_abs(n->loop[i].ss) >= LANE;
    return alone ? TILE_ELEMENTS / 2 : TILE_ELEMENTS;
}

static bool
fits(const Growth *g, i64 more)
{
    bool fit = more <= TILE_ELEMENTS / g->elements &&
               more <= 8 * RAVEL_SHUFFLE_BYTES / g->bits / g->elements;
    bool small = more <= g->most / g->elements;
    g->t->limited |= fit && !small;
    return fit && small;
}

/* The iterations of a loop; in that with stride 1 in the destination, with the padding
 * after them. */
static i64
elements_of(const Nest *n, int loop)
{
    return n->loop[loop].n + kernel_padded(n, &n->loop[loop]);
}

static bool
is_chunked(const ShuffleTile *t, int loop)
{
    return loop == t->loop[TILE_ROW] || loop == t->loop[TILE_COL];
}

/* Iterations that make the run a multiple of a line or, where those are too many, of half
 * of one, and so on down to a byte; 0: none fit. */
static i64
chunk_of(const Growth *g, i64 run, i64 n)
{
    i64 bits = run * g->bits;
    for (i64 unit = g->line; unit >= 8; unit /= 2) {
        i64 chunk = unit / int_gcd(unit, bits);
        if (chunk <= n && fits(g, chunk))
            return chunk;
    }
    return 0;
}

/* Where the last of a few chunks would repeat much of the one before: shorter ones about as long as
 * each other, of whole bytes on both sides. */
static i64
even_chunk(int bits, i64 n, i64 chunk)
{
    const i64 parts = int_ceil_div(n, chunk), step = bits < 8 ? 8 / bits : 1;
    const i64 even = int_ceil_div(int_ceil_div(n, parts), step) * step;
    return 4 * parts * chunk > 5 * n && even < chunk ? even : chunk;
}

/* How often a loop of the tile goes on where a run of so many elements ends; 1: none
 * does. */
static i64
more_of(const Growth *g, i64 run, int side)
{
    const Sums *s = &g->t->residual.side[side];
    for (int i = 0; i < g->n->nloops; i++) {
        const Loop *l = &g->n->loop[i];
        const i64 count = side == SRC ? l->n : elements_of(g->n, i);
        if (g->t->in[i] && count > 1 && kernel_continues(l, side, run))
            return count;
    }
    for (int i = 0; i < s->nsteps; i++)
        if (s->of[i].step == run)
            return s->of[i].n;
    return 1;
}

/* The elements that the loops of the tile read (write) contiguously. */
static i64
run_of(const Growth *g, int side)
{
    i64 run = 1;
    for (i64 more; (more = more_of(g, run, side)) > 1;)
        run *= more;
    return run;
}

/* The iterations that a loop of the tile has at least; 0: the tile cannot have it. */
static i64
fewest(const Nest *n, const Loop *l)
{
    return n->near ? kernel_fewest(l) : kernel_least(l);
}

/* Adds the loop, or a chunk of it, to the tile; false if neither fits.  Of a loop whose
 * count depends on the shape it adds a chunk. */
static bool
join(Growth *g, int loop, i64 run)
{
    ShuffleTile *t = g->t;
    const Loop *l = &g->n->loop[loop];
    i64 n = elements_of(g->n, loop), chunk;
    int role = t->loop[TILE_ROW] < 0 ? TILE_ROW : TILE_COL;
    if (shuffle_is_plain(g->n, l) && fits(g, n) && run * n * g->bits <= 2 * g->line) {
        t->in[loop] = true;
        g->elements *= n;
        return true;
    }
    if (n != l->n || t->loop[role] >= 0 || (chunk = chunk_of(g, run, fewest(g->n, l))) < 2)
        return false;
    t->loop[role] = loop;
    t->chunk[role] = kernel_is_known(l) ? even_chunk(g->bits, l->n, chunk) : chunk;
    g->elements *= t->chunk[role];
    return true;
}

/* Adds loops until a line of the side is contiguous. */
static void
grow(Growth *g, int side)
{
    i64 run;
    int next;
    while ((run = run_of(g, side)) * g->bits < g->line &&
           (next = kernel_next_loop(g->n, g->t->in, side, run)) >= 0 &&
           (fewest(g->n, &g->n->loop[next]) > 1 || elements_of(g->n, next) > 1) && !is_chunked(g->t, next) &&
           join(g, next, run))
        ;
}

/* By stride in the destination; the same in any order of the loops. */
static bool
is_before(const Loop *a, const Loop *b)
{
    i64 one = int_abs(a->ds), other = int_abs(b->ds);
    return one < other || (one == other && a->var < b->var);
}

/* The loop outside the tile with the smallest stride in the destination. */
static int
loop_outside(const Nest *n, const ShuffleTile *t)
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++)
        if (!t->in[i] && !is_chunked(t, i) && (best < 0 || is_before(&n->loop[i], &n->loop[best])))
            best = i;
    return best;
}

/* Rows are those with the smaller stride in the destination. */
void
shuffle_take_outside(const Nest *n, ShuffleTile *t)
{
    for (int i = TILE_ROW; i <= TILE_COL; i++)
        if (t->loop[i] < 0)
            t->loop[i] = loop_outside(n, t);
    int row = t->loop[TILE_ROW], col = t->loop[TILE_COL];
    if (col < 0 || (row >= 0 && int_abs(n->loop[row].ds) <= int_abs(n->loop[col].ds)))
        return;
    i64 chunk = t->chunk[TILE_ROW];
    t->loop[TILE_ROW] = col;
    t->loop[TILE_COL] = row;
    t->chunk[TILE_ROW] = t->chunk[TILE_COL];
    t->chunk[TILE_COL] = chunk;
}

/* Chunks of a loop begin at whole bytes; the last one too, which ends with the loop. */
static bool
chunks_move_bytes(const Loop *l, i64 chunk, i64 per)
{
    i64 odd = kernel_remainder(l->ex.n, per);
    return kernel_least(l) > 0 && odd >= 0 && chunk * l->ss % per == 0 &&
           chunk * l->ds % per == 0 && odd * l->ss % per == 0 && odd * l->ds % per == 0;
}

/* True if the strides of all loops outside the tile are whole bytes. */
static bool
moves_bytes(const Nest *n, const ShuffleTile *t, i64 per)
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (t->in[i] || (kernel_multiple(l->ex.ss, per) && kernel_multiple(l->ex.ds, per)))
            continue;
        i64 chunk = t->chunk[i == t->loop[TILE_ROW] ? TILE_ROW : TILE_COL];
        if (!is_chunked(t, i) || !chunks_move_bytes(l, chunk, per))
            return false;
    }
    return kernel_remainder(shuffle_outside(n, t->in, true), per) >= 0 &&
           kernel_remainder(shuffle_outside(n, t->in, false), per) >= 0;
}

/* The loop whose iterations padding follows is in the tile, and is its innermost. */
static bool
has_padding(const Nest *n, const ShuffleTile *t)
{
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].residual)
            return false;
    for (int i = 0; i < n->nloops; i++)
        if (t->in[i] && n->loop[i].ds == 1)
            return true;
    return false;
}

/* The bits of the source that the tile has in a row. */
static i64
source_bits(const Growth *g)
{
    i64 run = run_of(g, SRC);
    for (int i = TILE_ROW; i <= TILE_COL; i++) {
        int loop = g->t->loop[i];
        if (loop >= 0 && ex_is_const(g->n->loop[loop].ex.ss) &&
            int_abs(g->n->loop[loop].ss) == run)
            return run * g->t->chunk[i] * g->bits;
    }
    return run * g->bits;
}

/* Lines are shorter where whole ones of the destination leave no room for the source's. */
static void
grow_both(Growth *g)
{
    const ShuffleTile empty = *g->t;
    const i64 least = g->elements;
    const i64 lines[] = {LINE_BITS, LINE_BITS / 2, LINE_BITS / 4, LINE_BITS};
    for (int i = 0; i < LEN(lines); i++) {
        *g->t = empty;
        g->elements = least;
        g->line = lines[i];
        grow(g, DST);
        grow(g, SRC);
        if (source_bits(g) >= ENOUGH_BITS)
            return;
    }
}

i64
shuffle_taken(const Nest *n, const ShuffleTile *t, int loop)
{
    for (int i = TILE_ROW; i <= TILE_COL; i++)
        if (t->loop[i] == loop)
            return t->chunk[i];
    return t->in[loop] ? n->loop[loop].n : 1;
}

void
shuffle_tile_table(const ShuffleTile *t, TableLoops *out)
{
    memcpy(out->in, t->in, sizeof t->in);
    out->least[ROW] = t->chunk[TILE_ROW];
    out->least[COL] = t->chunk[TILE_COL];
}

bool
shuffle_scalars(const Nest *n, const ShuffleTile *t, TableScalars *s)
{
    i64 taken[MAX_LOOPS];
    for (int i = 0; i < n->nloops; i++)
        taken[i] = shuffle_taken(n, t, i);
    return table_scalars(n, taken, s);
}

/* Whether the numbers in a tile fit its strips. */
static bool
fit_strips(const Nest *n, const ShuffleTile *t, int bits)
{
    const i64 per = bits < 8 ? 8 / bits : 1, most = STRIP_MOST / bits;
    for (int side = SRC; side <= DST; side++) {
        i64 far = 0;
        for (int i = 0; i < n->nloops && t->strips[side].count > 1; i++) {
            const Ex *stride = kernel_stride_ex(&n->loop[i], side);
            i64 taken = shuffle_taken(n, t, i);
            if (taken < 2)
                continue;
            if ((!ex_is_const(stride) && !kernel_terms_multiple(stride, per)) ||
                int_abs(stride->base) > most)
                return false;
            far += ex_is_const(stride) ? (taken - 1) * int_abs(stride->base) : 0;
        }
        if (far > most)
            return false;
    }
    return true;
}

/* Strips of all loops but those in the residual, which have theirs. */
static bool
find_strips(const Nest *n, int bits, ShuffleTile *t)
{
    TableScalars s;
    for (int i = 0; i < n->nloops; i++)
        if (!n->loop[i].residual &&
            !shuffle_add_strips(n, i, shuffle_taken(n, t, i), t->strips))
            return false;
    return fit_strips(n, t, bits) && shuffle_scalars(n, t, &s);
}

bool
shuffle_tile(const Nest *n, int bits, ShuffleTile *t)
{
    *t = (ShuffleTile){.loop = {-1, -1}, .chunk = {1, 1}, .repeats = 1,
                       .strips = {{.count = 1}, {.count = 1}}};
    if (!shuffle_residual(n, bits, t->in, t->strips, &t->residual))
        return false;
    Growth g = {n, bits, LINE_BITS, t->residual.n, most_elements(n, bits), t};
    grow_both(&g);
    shuffle_take_outside(n, t);
    return (!n->pad.n || has_padding(n, t)) && g.elements * bits >= 8 * LANE &&
           moves_bytes(n, t, bits < 8 ? 8 / bits : 1) && find_strips(n, bits, t);
}
