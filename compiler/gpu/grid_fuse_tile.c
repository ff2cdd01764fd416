/* Chooses the tile of a box with several short loops.  For each side it takes loops that
 * are contiguous, or nearly, until runs fill sectors.  It tries all such tiles; the cost is
 * the number of sectors and accesses. */
#include "grid_fuse.h"

enum { RUN_LEAST = 128, RUN_MOST = 512, TILE_BYTES = 8 << 10, TURNS_MAX = 64 };

/* The absolute stride of a loop on a side, in elements. */
static i64
stride_of(const Fuse *f, int side, int loop)
{
    const GridLoop *l = &f->b->loop[loop];
    return int_abs(side == SPACE_SRC ? l->ss : l->ds);
}

static i64
size_of(const Fuse *f)
{
    return f->b->bits / 8;
}

/* The loop with the least stride above 0 that is not in the side's chain; or -1. */
static int
next_loop(const Fuse *f, int side)
{
    int best = -1;
    for (int i = f->b->nloops - 1; i >= 0; i--) {
        i64 s = stride_of(f, side, i);
        bool has = f->b->loop[i].rest || s == 0;
        for (int k = 0; k < f->nchain[side]; k++)
            has |= f->chain[side][k] == i;
        if (!has && (best < 0 || s < stride_of(f, side, best)))
            best = i;
    }
    return best;
}

/* Sets the chain: loops such that each begins less than a sector after the end of the
 * loops before it. */
static bool
find_chain(Fuse *f, int side)
{
    i64 span = 1, sector = SECTOR_BYTES / size_of(f), most = RUN_LEAST / size_of(f);
    while (span < most) {
        int i = next_loop(f, side);
        if (i < 0 || stride_of(f, side, i) - span >= sector)
            break;
        const GridLoop *l = &f->b->loop[i];
        f->chain[side][f->nchain[side]++] = i;
        span = stride_of(f, side, i) * (side == SPACE_SRC ? l->real : l->n);
    }
    return f->nchain[side] > 0;
}

/* The first `depth` loops of a chain, the last of them in chunks. */
typedef struct {
    int depth;
    i64 chunk;
} Option;
enum { OPTIONS_MAX = 256 };

/* The parts of n to be tried: small numbers, powers of two, equal parts. */
static bool
is_fair(i64 c, i64 n)
{
    return c <= 8 || c == n || (c % 4 == 0 && c <= 64) || c % 32 == 0 ||
           (n / c < 8 && c == int_ceil_div(n, int_ceil_div(n, c)));
}

static int
find_options(const Fuse *f, int side, Option *out)
{
    i64 inner = 1, most = RUN_MOST / size_of(f);
    int n = 0;
    for (int d = 0; d < f->nchain[side] && inner <= most; d++) {
        i64 all = f->b->loop[f->chain[side][d]].n;
        for (i64 c = d ? 2 : 1; c <= all && c <= most / inner && n < OPTIONS_MAX; c++)
            if (is_fair(c, all))
                out[n++] = (Option){d + 1, c};
        inner = all > most ? most + 1 : inner * all;
    }
    return n;
}

/* The tile's loops for a side: its own, the other's, planes. */
static void
find_order(Fuse *f, int side)
{
    f->n = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0, who = s ? !side : side; i < f->depth[who]; i++) {
            int l = f->chain[who][i], k = 0;
            while (k < f->n && f->order[side][k] != l)
                k++;
            if (k == f->n)
                f->order[side][f->n++] = l;
        }
    if (f->planes >= 0)
        f->order[side][f->n++] = f->planes;
}

/* What the side's base and its strides are multiples of, but those of so many loops. */
static i64
gcd_of_loops(const Fuse *f, int side, int first)
{
    i64 g = grid_divisor(side == SPACE_SRC ? f->b->src : f->b->dst);
    for (int i = 0; i < f->b->nloops; i++) {
        int k = 0;
        while (k < first && f->chain[side][k] != i)
            k++;
        if (k == first)
            g = int_gcd(g, stride_of(f, side, i));
    }
    return g;
}

/* Elements that lie together and begin at multiples of their number on a side, up to a
 * word. */
static int
word_of(const Fuse *f, int side)
{
    const int *chain = f->chain[side];
    i64 inner = 1, g = 0;
    int n = fuse_word(f);
    for (int k = 0; k < f->depth[side]; k++) {
        const GridLoop *l = &f->b->loop[chain[k]];
        if ((side == SPACE_SRC ? l->ss : l->ds) != inner)
            break;
        g = int_gcd(inner * l->n, inner * f->chunk[chain[k]]);
        if (side == SPACE_SRC)
            g = int_gcd(g, inner * l->real);
        g = int_gcd(g, gcd_of_loops(f, side, k + 1));
        inner *= l->n;
        if (side == SPACE_SRC && l->real < l->n)
            break;
    }
    while (n > 1 && (g == 0 || g % n))
        n /= 2;
    return n;
}

/* The longest of the other loops, for tiles that are small without. */
static void
add_planes(Fuse *f)
{
    i64 all = 1, most = TILE_BYTES / size_of(f), best = 1;
    f->planes = -1;
    for (int i = 0; i < f->b->nloops; i++) {
        const GridLoop *l = &f->b->loop[i];
        all *= f->chunk[i] ? f->chunk[i] : 1;
        if (!f->chunk[i] && !l->rest && l->n > best) {
            best = l->n;
            f->planes = i;
        }
    }
    if (all > most / 2)
        f->planes = -1;
    else if (f->planes >= 0)
        f->chunk[f->planes] = int_ceil_div(best, int_ceil_div(best, most / all));
}

/* ... which is all of a loop but the last one's. */
static void
set_chunks(Fuse *f, const Option *const o[2])
{
    for (int i = 0; i < f->b->nloops; i++)
        f->chunk[i] = 0;
    for (int s = 0; s < 2; s++) {
        f->depth[s] = o[s]->depth;
        for (int k = 0; k < o[s]->depth; k++) {
            i64 *c = &f->chunk[f->chain[s][k]];
            i64 n = k < o[s]->depth - 1 ? f->b->loop[f->chain[s][k]].n : o[s]->chunk;
            *c = n > *c ? n : *c;
        }
    }
}

static void
set_tile(Fuse *f, const Option *src, const Option *dst)
{
    set_chunks(f, (const Option *[]){src, dst});
    add_planes(f);
    for (int s = 0; s < 2; s++) {
        find_order(f, s);
        f->word[s] = word_of(f, s);
        f->run[s] = f->rows[s] = 1;
        for (int k = 0; k < f->n; k++)
            *(k < f->depth[s] ? &f->run[s] : &f->rows[s]) *= f->chunk[f->order[s][k]];
        for (f->lanes[s] = 1; f->lanes[s] * f->word[s] < f->run[s];)
            f->lanes[s] *= 2;
    }
    f->major = f->word[SPACE_DST] > f->word[SPACE_SRC];
}

/* Sectors that so many bytes touch, wherever multiples of `at` bytes may begin. */
static double
sectors(i64 bytes, i64 at)
{
    if (at % SECTOR_BYTES == 0)
        return (double)int_ceil_div(bytes, SECTOR_BYTES);
    at = int_gcd(at, SECTOR_BYTES);
    return (double)(bytes - at) / SECTOR_BYTES + 1;
}

/* Those of runs of so many loops of a side's chain, of as few as there might be. */
static double
sectors_of_runs(const Fuse *f, int side, int depth)
{
    int last = f->chain[side][depth - 1];
    i64 c = f->chunk[last], n = f->b->loop[last].n, size = size_of(f), inner = 1;
    i64 each = stride_of(f, side, last) * size, at = gcd_of_loops(f, side, depth);
    for (int k = 0; k < depth - 1; k++)
        inner *= f->chunk[f->chain[side][k]];
    if (c < n)
        at = int_gcd(at, c * each / size);
    double all = (double)(n / c) * sectors(c * each, at * size);
    if (n % c)
        all += sectors(n % c * each, at * size);
    return all * SECTOR_BYTES / ((double)n * (double)(inner * size));
}

/* Those of its lanes' runs, half of which the caches spare where the tile has more of the
 * chain. */
static double
sectors_of(const Fuse *f, int side)
{
    const int *chain = f->chain[side];
    int k = f->depth[side];
    while (k < f->nchain[side] && f->chunk[chain[k]] &&
           f->chunk[chain[k - 1]] == f->b->loop[chain[k - 1]].n)
        k++;
    return (sectors_of_runs(f, side, f->depth[side]) + sectors_of_runs(f, side, k)) / 2;
}

/* Lanes with nothing to do, narrow accesses and what a thread does before its first
 * count, by how often a word's worth of time. */
static double
effort_of(const Fuse *f, int side)
{
    enum { BEFORE = 2, WEIGHT = 8 };
    double bytes = (double)(f->rows[side] * f->run[side] * size_of(f));
    for (int i = 0; i < f->b->nloops; i++) {
        i64 n = f->b->loop[i].n, c = f->chunk[i];
        if (c)
            bytes *= (double)n / (double)(int_ceil_div(n, c) * c);
    }
    i64 turns = fuse_turns(f, side) + BEFORE;
    return (double)(turns * GRID_THREADS * FUSE_WORD) / bytes / WEIGHT;
}

static bool
fits(const Fuse *f)
{
    i64 rows = f->rows[f->major] + f->word[!f->major];
    for (int s = 0; s < 2; s++)
        if (f->lanes[s] > GRID_THREADS || fuse_turns(f, s) > TURNS_MAX)
            return false;
    return (fuse_pitch(f) + fuse_word(f)) * rows <= fuse_room(f);
}

static double
cost_of(const Fuse *f)
{
    return sectors_of(f, SPACE_SRC) + sectors_of(f, SPACE_DST) +
           effort_of(f, SPACE_SRC) + effort_of(f, SPACE_DST);
}

/* The best of all pairs of options; false where none fits. */
static bool
choose_tile(Fuse *f)
{
    Option o[2][OPTIONS_MAX];
    int n[2];
    bool found = false;
    Fuse now = *f;
    for (int s = 0; s < 2; s++)
        n[s] = find_options(f, s, o[s]);
    for (int i = 0; i < n[SPACE_SRC]; i++)
        for (int j = 0; j < n[SPACE_DST]; j++) {
            set_tile(&now, &o[SPACE_SRC][i], &o[SPACE_DST][j]);
            if (!fits(&now))
                continue;
            now.cost = cost_of(&now);
            if (!found || now.cost < f->cost) {
                found = true;
                *f = now;
            }
        }
    return found;
}

/* What the next row would take, a transpose of two loops, in those terms; or 0. */
static double
edge_cost(const Fuse *f)
{
    enum { FEWEST = 8 };
    i64 m = RUN_LEAST / size_of(f), x = f->b->loop[f->chain[SPACE_SRC][0]].n;
    i64 y = f->b->loop[f->chain[SPACE_DST][0]].n;
    Fuse edge = *f;
    if (f->chain[SPACE_SRC][0] == f->chain[SPACE_DST][0] || x < FEWEST || y < FEWEST)
        return 0;
    set_tile(&edge, &(Option){1, x < m ? x : m}, &(Option){1, y < m ? y : m});
    return cost_of(&edge);
}

/* ... and the last one, runs one by one in the order of the destination. */
static double
gather_cost(const Fuse *f)
{
    int run = f->chain[SPACE_SRC][0];
    bool is_run = run == f->chain[SPACE_DST][0];
    i64 size = size_of(f), bytes = is_run ? f->b->loop[run].n * size : size;
    i64 at = gcd_of_loops(f, SPACE_SRC, is_run) * size;
    return 1 + sectors(bytes, at) * SECTOR_BYTES / (double)bytes;
}

/* ... by what is more than what these numbers leave out. */
static bool
is_better(const Fuse *f)
{
    const double margin = 0.85;
    double edge = edge_cost(f);
    double mine = sectors_of(f, SPACE_SRC) + sectors_of(f, SPACE_DST);
    return edge ? f->cost < margin * edge : mine < margin * gather_cost(f);
}

bool
fuse_tile(Fuse *f)
{
    if (!find_chain(f, SPACE_SRC) || !find_chain(f, SPACE_DST) || !choose_tile(f) ||
        !is_better(f))
        return false;
    return fuse_pitches(f);
}
