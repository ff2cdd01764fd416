/* Makes the tile of a nest, once while its kernels are compared. */
#include <string.h>

#include "nest_made.h"

/* First loops, of elements of 4 bytes and more and of smaller ones, and kept runs of so
 * many bytes or of whole lines are for other kernels. */
enum { LONG_LOOP = 64, LONG_LOOP_OF_SMALL = 256, LONG_KEPT = 512 };

/* The elements that are contiguous on both sides: those of the loop with stride 1 in both,
 * if there is one. */
static bool
find_kept(const Nest *n, int bits, Composite *c)
{
    c->per = bits < 8 ? 8 / bits : 1;
    c->unit = bits < 8 ? 1 : bits / 8;
    c->permutes = n->permutes;
    c->kept = c->unit;
    c->kept_loop = kernel_run_loop(n);
    for (int i = 0; i < n->nloops; i++)
        c->skip[i] = i == c->kept_loop || n->loop[i].residual ||
                     !composite_is_plain(n, &n->loop[i]);
    if (c->kept_loop < 0)
        return true;
    const Loop *l = &n->loop[c->kept_loop];
    i64 kept = l->n * c->kept, most = c->per > 1 ? RAVEL_LINE : LONG_KEPT;
    if (l->residual || !kernel_is_known(l) || kept >= most || kept % RAVEL_LINE == 0)
        return false;
    c->kept = (int)kept;
    return true;
}

/* The unused loop of the shortest stride in the source; -1: there is none. */
static int
nearest_unused(const Nest *n, const bool used[MAX_LOOPS])
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++)
        if (!used[i] && (best < 0 || n->loop[i].ss < n->loop[best].ss ||
                         (n->loop[i].ss == n->loop[best].ss && n->loop[i].var < n->loop[best].var)))
            best = i;
    return best;
}

/* Whether loop a, or what the tile takes of it, steps further in the source than b; -1 is after
 * all. */
static bool
steps_further(const Nest *n, const Composite *c, int a, int b)
{
    return b >= 0 && (a < 0 || n->loop[a].ss * c->taken[a] > n->loop[b].ss * c->taken[b]);
}

static void
sort_steps(const Nest *n, const Composite *c, int loop[3])
{
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && steps_further(n, c, loop[k - 1], loop[k]); k--) {
            int l = loop[k];
            loop[k] = loop[k - 1];
            loop[k - 1] = l;
        }
}

/* The loops that the kernel runs: those in part, and others that move the source least.  With
 * extents left to run time the others are outer loops, which threads can share. */
static void
find_roles(const Nest *n, Composite *c)
{
    bool used[MAX_LOOPS] = {false};
    int m = 0, loop[3];
    for (int i = 0; i < n->nloops; i++) {
        used[i] = n->loop[i].residual || composite_takes_all(n, c, i);
        if (c->taken[i] > 1 && !used[i]) {
            used[i] = true;
            loop[m++] = i;
        }
    }
    for (int best; m < 3; loop[m++] = best) {
        best = n->near ? -1 : nearest_unused(n, used);
        if (best >= 0)
            used[best] = true;
    }
    sort_steps(n, c, loop);
    c->role[GROUP] = -1;
    c->role[ROW] = loop[0];
    c->role[COL] = loop[1];
    c->role[BATCH] = loop[2];
}

/* All offsets of a tile fit 32 bits, as far as they are numbers. */
static bool
is_near(const Nest *n, const Composite *c)
{
    for (int side = SRC; side <= DST; side++) {
        double far = 0;
        for (int i = 0; i < n->nloops; i++) {
            double s = (double)kernel_stride_ex(&n->loop[i], side)->base *
                       (double)(c->taken[i] - 1);
            far += c->taken[i] > 1 ? (s < 0 ? -s : s) * c->unit : 0;
        }
        if (far > TABLE_NEAR)
            return false;
    }
    return true;
}

static bool
is_long(const Nest *n, const Composite *c)
{
    int from = composite_next(n, c, SRC, c->kept / c->unit);
    int to = composite_next(n, c, DST, c->kept / c->unit);
    bool moves = composite_moves(c->kept);
    if (to < 0 || (from < 0 && !moves))
        return true;
    i64 most = c->kept < 4 ? LONG_LOOP_OF_SMALL : LONG_LOOP;
    return !moves && c->per == 1 && n->loop[from].n * c->kept >= most &&
           n->loop[to].n * c->kept >= most;
}

/* Padding is in the buffer, which is for data that the caches do not hold; no run stays together. */
static bool
takes_padding(const Nest *n, const Composite *c)
{
    int columns = kernel_unit_loop(n, false);
    if (columns < 0 || !kernel_knows(n) || !ex_is_const(n->pad.ex) || c->kept_loop >= 0 || c->per > 1 ||
        composite_moves(c->kept) || c->residual.n)
        return false;
    i64 row = n->loop[columns].n;
    return n->elements / row * (row + n->pad.n) * c->unit >= STREAM_BYTES;
}

/* Whether rows begin within lines, and no buffer makes them whole. */
static bool
is_ragged(const Nest *n, const Composite *c)
{
    bool whole = true;
    for (int i = 0; i < n->nloops; i++)
        whole &= n->loop[i].ds == 1 || n->loop[i].ds * c->unit % RAVEL_LINE == 0;
    return !whole && !n->near && c->per == 1 && n->elements * c->unit <= CACHED_BYTES;
}

/* What stays together, with loops in the residual if the tile can have them; runs of bytes that are
 * moved one at a time are as fast by the kernel gather. */
static bool
start(const Nest *n, int bits, TileMade *m)
{
    Composite *c = &m->tile;
    *c = (Composite){.role = {-1, -1, -1, -1}, .whole = -1};
    if (!find_kept(n, bits, c))
        return false;
    if ((c->per == 1 && composite_moves(c->kept)) ||
        !composite_residual(n, &c->residual, &m->places))
        c->residual.n = 0;
    c->ragged = is_ragged(n, c);
    return !n->pad.n || takes_padding(n, c);
}

static bool
has_tile(const Nest *n, const TilePlaces *p, Composite *c)
{
    return !is_long(n, c) && composite_find(n, p, c) && is_near(n, c) &&
           table_scalars(n, c->taken, &c->scalars);
}

/* A kernel takes all iterations of a loop, or those of a tile, but no tile ends within a byte. */
static bool
takes_pairs(const Nest *n, const Composite *c)
{
    bool takes = composite_takes_all(n, c, c->pair);
    for (int r = 0; r < ROLES; r++)
        takes |= c->role[r] == c->pair;
    return takes;
}

/* RUN_NS: to begin a run of a side. */
static double
cost_of(const Composite *c)
{
    static const double RUN_NS[] = {1, 3};
    double runs = RUN_NS[SRC] / (double)c->side[SRC].whole + RUN_NS[DST] / (double)c->side[DST].whole;
    return composite_cost(c) + (c->whole < 0 ? runs : runs / 2);
}

/* The tile of the bytes of a side, if it takes less than c. */
static bool
make_pairs(const Nest *n, int side, const Composite *started, Composite *c)
{
    Nest half;
    Composite one = *started;
    if (!composite_pair(n, side, &half, &one) || kernel_run_loop(&half) >= 0 ||
        !has_tile(&half, NULL, &one))
        return false;
    find_roles(&half, &one);
    if (!takes_pairs(&half, &one) || cost_of(&one) >= cost_of(c))
        return false;
    *c = one;
    return true;
}

/* The tile whose columns share bytes, if it takes less than c. */
static bool
make_coupled(const Nest *n, const Composite *started, Composite *c)
{
    Composite one = *started;
    if (!composite_couple(n, &one) || !has_tile(n, NULL, &one) || one.scalars.n ||
        cost_of(&one) >= cost_of(c))
        return false;
    find_roles(n, &one);
    *c = one;
    return true;
}

static bool
make(const Nest *n, TileMade *m)
{
    enum { HALVES = 2 };
    Composite *c = &m->tile;
    const Composite started = *c;
    bool found = has_tile(n, c->residual.n ? &m->places : NULL, c);
    if (!found && c->residual.n) {
        *c = started;
        c->residual.n = 0;
        found = has_tile(n, NULL, c);
    }
    if (found)
        find_roles(n, c);
    for (int side = SRC; side <= DST && found && c->per == HALVES && started.kept_loop < 0; side++)
        make_pairs(n, side, &started, c);
    if (found)
        make_coupled(n, &started, c);
    return found;
}

/* Gives the loops the places that they have in the nest. */
static void
renumber(const int to[MAX_LOOPS], int nloops, Composite *c)
{
    const Composite was = *c;
    c->kept_loop = made_place(to, was.kept_loop);
    c->pair = c->whole < 0 ? c->pair : to[was.pair];
    for (int i = 0; i < nloops; i++) {
        c->skip[to[i]] = was.skip[i];
        c->taken[to[i]] = was.taken[i];
    }
    for (int s = SRC; s <= DST; s++)
        for (int i = 0; i < was.side[s].n; i++)
            c->side[s].loop[i] = to[was.side[s].loop[i]];
    for (int i = 0; i < was.residual.n; i++) {
        const int loop = was.residual.loop[i];
        c->residual.loop[i] = to[loop];
        for (int s = SRC; s <= DST; s++)
            c->residual.varies[s][to[loop]] = was.residual.varies[s][loop];
    }
    for (int r = 0; r < ROLES; r++)
        c->role[r] = made_place(to, was.role[r]);
}

/* What is known of the tile, begun. */
static TileMade *
begun(const Nest *n, int bits, TileMade *room)
{
    TileMade *m = n->made ? &n->made->tile : room;
    int to[MAX_LOOPS];
    if (m == room)
        m->known = MADE_NOTHING;
    if (m->known == MADE_NOTHING) {
        m->known = start(n, bits, m) ? MADE_START : MADE_NONE;
        made_places(n, m->var);
    } else if (m->known != MADE_NONE && made_moved(n, m->var, to)) {
        renumber(to, n->nloops, &m->tile);
    }
    return m;
}

int
composite_kept(const Nest *n, int bits)
{
    TileMade room;
    const TileMade *m = begun(n, bits, &room);
    bool starts = m->known == MADE_ALL || (m->known == MADE_START && !is_long(n, &m->tile));
    return starts ? m->tile.kept : 0;
}

bool
composite_make(const Nest *n, int bits, bool buffer, Composite *c)
{
    TileMade room, *m = begun(n, bits, &room);
    if (m->known == MADE_START)
        m->known = make(n, m) ? MADE_ALL : MADE_NONE;
    if (m->known != MADE_ALL)
        return false;
    *c = m->tile;
    bool packs = c->per > 1 && c->whole != DST;
    c->pitch = (buffer && !c->residual.n) || packs ? c->pitch : 0;
    return true;
}
