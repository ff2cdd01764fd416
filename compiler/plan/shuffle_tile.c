/* The tile of a nest: the loops over 64 contiguous bytes of the destination, and those over
 * 64 contiguous bytes of the source. */
#include "kernel_family.h"
#include "shuffle.h"

enum { LINE_BITS = 512 };

static i64
stride(const Loop *l, bool source)
{
    return int_abs(source ? l->ss : l->ds);
}

typedef struct {
    const Nest *n;
    int bits;
    i64 elements;
    Tile *t;
} Growth;

static bool
fits(const Growth *g, i64 more)
{
    return more <= TILE_ELEMENTS / g->elements &&
           more <= 8 * RAVEL_SHUFFLE_BYTES / g->bits / g->elements;
}

/* The iterations of a loop; in that with stride 1 in the destination, with the padding
 * after them. */
static i64
elements_of(const Nest *n, int loop)
{
    return n->loop[loop].n + (n->loop[loop].ds == 1 ? n->pad : 0);
}

static bool
is_chunked(const Tile *t, int loop)
{
    return loop == t->loop[TILE_ROW] || loop == t->loop[TILE_COL];
}

/* The iterations that the loop has at least, at every shape at which it has any; 0: its
 * strides depend on the shape. */
static i64
least_of(const Loop *l)
{
    if (!ex_is_const(l->ex.ss) || !ex_is_const(l->ex.ds))
        return 0;
    if (ex_is_const(l->ex.n))
        return l->n;
    return l->ex.n->f.rem == 0 ? l->ex.n->f.mod : 1;
}

/* The loop that continues a run of `run` elements; -1: there is none. */
static int
next_loop(const Growth *g, i64 run, bool source)
{
    for (int i = 0; i < g->n->nloops; i++) {
        const Loop *l = &g->n->loop[i];
        if (!g->t->in[i] && !l->rest && least_of(l) > 1 && stride(l, source) == run)
            return i;
    }
    return -1;
}

/* The iterations that extend the run to a multiple of a line or, if those are too many, of
 * a half or a quarter of one; 0: none fit. */
static i64
chunk_of(const Growth *g, i64 run, i64 n)
{
    i64 bits = run * g->bits;
    for (i64 unit = LINE_BITS; unit >= 8 * LANE; unit /= 2) {
        i64 chunk = unit / int_gcd(unit, bits);
        if (chunk <= n && fits(g, chunk))
            return chunk;
    }
    return 0;
}

/* The elements that the loops of the tile read (write) contiguously. */
static i64
run_of(const Growth *g, bool source)
{
    i64 run = 1;
    for (int i = 0; i < g->n->nloops;) {
        const Loop *l = &g->n->loop[i++];
        if (g->t->in[i - 1] && l->n > 1 && stride(l, source) == run) {
            run *= source ? l->n : elements_of(g->n, i - 1);
            i = 0;
        }
    }
    return run;
}

/* Adds the loop, or a chunk of it, to the tile; false if neither fits.  Of a loop whose
 * count depends on the shape it adds a chunk. */
static bool
join(Growth *g, int loop, i64 run)
{
    Tile *t = g->t;
    const Loop *l = &g->n->loop[loop];
    i64 n = elements_of(g->n, loop), chunk;
    int role = t->loop[TILE_ROW] < 0 ? TILE_ROW : TILE_COL;
    if (kernel_is_known(l) && fits(g, n) && run * n * g->bits <= 2 * LINE_BITS) {
        t->in[loop] = true;
        g->elements *= n;
        return true;
    }
    if (n != l->n || t->loop[role] >= 0 || (chunk = chunk_of(g, run, least_of(l))) < 2)
        return false;
    t->loop[role] = loop;
    t->chunk[role] = chunk;
    g->elements *= chunk;
    return true;
}

/* Adds loops until a line of the side is contiguous. */
static void
grow(Growth *g, bool source)
{
    i64 run;
    int next;
    while ((run = run_of(g, source)) * g->bits < LINE_BITS &&
           (next = next_loop(g, run, source)) >= 0 && !is_chunked(g->t, next) &&
           join(g, next, run))
        ;
}

/* The loop outside the tile with the smallest stride in the destination. */
static int
loop_outside(const Nest *n, const Tile *t)
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++)
        if (!t->in[i] && !n->loop[i].rest && !is_chunked(t, i) &&
            (best < 0 || stride(&n->loop[i], false) < stride(&n->loop[best], false)))
            best = i;
    return best;
}

/* Completes rows and columns by loops outside the tile.  Rows are those with the smaller
 * stride in the destination. */
static void
take_outside(const Nest *n, Tile *t)
{
    for (int i = TILE_ROW; i <= TILE_COL; i++)
        if (t->loop[i] < 0)
            t->loop[i] = loop_outside(n, t);
    int row = t->loop[TILE_ROW], col = t->loop[TILE_COL];
    if (col < 0 || stride(&n->loop[row], false) <= stride(&n->loop[col], false))
        return;
    i64 chunk = t->chunk[TILE_ROW];
    t->loop[TILE_ROW] = col;
    t->loop[TILE_COL] = row;
    t->chunk[TILE_ROW] = t->chunk[TILE_COL];
    t->chunk[TILE_COL] = chunk;
}

/* True if the strides of all loops outside the tile are whole bytes. */
static bool
moves_bytes(const Nest *n, const Tile *t, i64 per)
{
    for (int i = 0; i < n->nloops; i++)
        if (!t->in[i] && (!kernel_multiple(n->loop[i].ex.ss, per) ||
                          !kernel_multiple(n->loop[i].ex.ds, per)))
            return false;
    return kernel_remainder(n->src, per) >= 0 && kernel_remainder(n->dst, per) >= 0;
}

/* True if the loop that padding follows is in the tile. */
static bool
has_padding(const Nest *n, const Tile *t)
{
    for (int i = 0; i < n->nloops; i++)
        if (t->in[i] && n->loop[i].ds == 1 && n->loop[i].n > 1)
            return true;
    return false;
}

bool
shuffle_tile(const Nest *n, int bits, Tile *t)
{
    Growth g = {n, bits, 1, t};
    *t = (Tile){.loop = {-1, -1}, .chunk = {1, 1}};
    grow(&g, false);
    grow(&g, true);
    take_outside(n, t);
    return (!n->pad || has_padding(n, t)) && g.elements * bits >= 8 * LANE &&
           moves_bytes(n, t, bits < 8 ? 8 / bits : 1);
}
