/* Chooses the tile of a box with several short loops.  For each side it takes loops that
 * are contiguous, or nearly, until runs fill sectors.  It tries all such tiles; the cost is
 * the number of sectors and accesses.  Strides in a run are known, and so are counts except
 * that of its last loop, of which a tile takes a part. */
#include "grid_fuse.h"

enum { RUN_LEAST = 128, RUN_MOST = 512, TILE_BYTES = 8 << 10, ITERATIONS_MAX = 64 };

/* The distance of two iterations of a loop on a side, in elements. */
static i64
stride_of(const Fuse *f, int side, int loop)
{
    return grid_distance(f->b, &f->b->loop[loop], side == SPACE_SRC);
}

static i64
size_of(const Fuse *f)
{
    return f->b->bits / 8;
}

/* The loop with the least known stride above 0 that is not in the side's chain; or -1. */
static int
next_loop(const Fuse *f, int side)
{
    int best = -1;
    for (int i = f->b->nloops - 1; i >= 0; i--) {
        const GridLoop *l = &f->b->loop[i];
        i64 s = stride_of(f, side, i);
        bool has = s == 0 || (l->residual && !ex_is_const(l->ex.n)) ||
                   !ex_is_const(side == SPACE_SRC ? l->ex.ss : l->ex.ds);
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
        if (!ex_is_const(l->ex.n) || !ex_is_const(l->ex.real))
            break;
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

/* True if chunks of c out of n iterations are tried: small c, multiples of 4 or 32, few
 * equal parts. */
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
        const GridLoop *l = &f->b->loop[f->chain[side][d]];
        i64 all = l->n;
        for (i64 c = d ? 2 : 1; c <= all && c <= most / inner && n < OPTIONS_MAX; c++)
            if (l->residual ? c == all : is_fair(c, all))
                out[n++] = (Option){d + 1, c};
        inner = all > most ? most + 1 : inner * all;
    }
    return n;
}

/* Sets the order of the tile's loops for a side: its own runs, the other side's, planes. */
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

/* A number that divides a loop's stride on a side, apart from what the base has of it. */
static i64
factor_of(const GridLoop *l, int side)
{
    const Ex *x = side == SPACE_SRC ? l->ex.ss : l->ex.ds;
    return ex_is_const(x) ? int_abs(x->base) : grid_divisor(x);
}

/* The greatest common divisor of a side's base and strides, without the first loops of its
 * chain. */
static i64
gcd_of_loops(const Fuse *f, int side, int first)
{
    i64 g = grid_aligned(f->b, side == SPACE_SRC ? f->b->src : f->b->dst);
    for (int i = 0; i < f->b->nloops; i++) {
        int k = 0;
        while (k < first && f->chain[side][k] != i)
            k++;
        if (k == first)
            g = int_gcd(g, factor_of(&f->b->loop[i], side));
    }
    return g;
}

/* Whether a loop moves a side's place by its stride alone, not by digits in the base too. */
static bool
is_linear(const Fuse *f, int side, const GridLoop *l)
{
    if (!l->residual)
        return true;
    bool *used = arena_array(f->b->arena, bool, ex_nvars(f->b->e));
    ex_vars(side == SPACE_SRC ? f->b->src : f->b->dst, used);
    return !used[l->var];
}

/* The elements of the widest aligned access on a side, at most a word. */
static int
word_of(const Fuse *f, int side)
{
    const int *chain = f->chain[side];
    i64 inner = 1, g = 0;
    int n = fuse_word(f);
    for (int k = 0; k < f->depth[side]; k++) {
        const GridLoop *l = &f->b->loop[chain[k]];
        if ((side == SPACE_SRC ? l->ss : l->ds) != inner || !is_linear(f, side, l))
            break;
        i64 whole = side == SPACE_SRC ? int_gcd(l->n, l->real) : l->n;
        g = inner * int_gcd(whole, f->chunk[chain[k]]);
        g = int_gcd(g, gcd_of_loops(f, side, k + 1));
        if (k == f->depth[side] - 1 || (side == SPACE_SRC && l->ex.real != l->ex.n))
            break;
        inner *= l->n;
    }
    while (n > 1 && (g == 0 || g % n))
        n /= 2;
    return n;
}

/* Adds the longest of the other loops as planes if the tile is small. */
static void
add_planes(Fuse *f)
{
    i64 all = 1, most = TILE_BYTES / size_of(f), best = 1;
    f->planes = -1;
    for (int i = 0; i < f->b->nloops; i++) {
        const GridLoop *l = &f->b->loop[i];
        all *= f->chunk[i] ? f->chunk[i] : 1;
        if (!f->chunk[i] && !l->residual && l->n > best) {
            best = l->n;
            f->planes = i;
        }
    }
    if (all > most / 2)
        f->planes = -1;
    else if (f->planes >= 0)
        f->chunk[f->planes] = int_ceil_div(best, int_ceil_div(best, most / all));
}

/* Sets the chunks of the options: whole loops, except for the last loop of each. */
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
        fuse_spread(f, s);
    }
    f->major = f->word[SPACE_DST] > f->word[SPACE_SRC];
}

/* The average number of sectors that contain `bytes` bytes; the start is a multiple of `at`
 * bytes. */
static double
sectors(i64 bytes, i64 at)
{
    if (at % SECTOR_BYTES == 0)
        return (double)int_ceil_div(bytes, SECTOR_BYTES);
    at = int_gcd(at, SECTOR_BYTES);
    return (double)(bytes - at) / SECTOR_BYTES + 1;
}

/* The sectors of a side's runs of `depth` loops, relative to the fewest possible. */
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

/* The sectors of a side.  If the tile contains more loops of the chain, caches save about
 * half of the excess. */
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

/* The cost of idle lanes, narrow accesses and the computation before the first access, in
 * units of the time of a word. */
static double
effort_of(const Fuse *f, int side)
{
    enum { BEFORE = 2, WEIGHT = 8 };
    double bytes = (double)(f->rows[side] * f->run[side] * size_of(f));
    for (int i = 0; i < f->b->nloops; i++) {
        i64 n = f->b->loop[i].n, c = f->chunk[i];
        if (c)
            bytes *= (double)n / ((double)int_ceil_div(n, c) * (double)c);
    }
    i64 iterations = f->turns[side] + BEFORE;
    return (double)(iterations * GRID_THREADS * FUSE_WORD) / bytes / WEIGHT;
}

static bool
fits(const Fuse *f)
{
    i64 rows = f->rows[f->major] + f->word[!f->major];
    for (int s = 0; s < 2; s++)
        if (f->lanes[s] > GRID_THREADS || f->turns[s] > ITERATIONS_MAX)
            return false;
    return (fuse_pitch(f) + fuse_word(f)) * rows <= fuse_room(f);
}

static double
cost_of(const Fuse *f)
{
    return sectors_of(f, SPACE_SRC) + sectors_of(f, SPACE_DST) +
           effort_of(f, SPACE_SRC) + effort_of(f, SPACE_DST);
}

/* Chooses the best pair of options for the two sides; false if none fits. */
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

/* The cost, in the same units, with the row `edge`, a transpose of two loops; 0: it does
 * not apply. */
static double
edge_cost(const Fuse *f)
{
    enum { FEWEST = 8 };
    i64 m = RUN_LEAST / size_of(f), x = f->b->loop[f->chain[SPACE_SRC][0]].n;
    i64 y = f->b->loop[f->chain[SPACE_DST][0]].n;
    Fuse edge = *f;
    if (f->chain[SPACE_SRC][0] == f->chain[SPACE_DST][0] || x < FEWEST || y < FEWEST ||
        f->b->loop[f->chain[SPACE_SRC][0]].residual ||
        f->b->loop[f->chain[SPACE_DST][0]].residual)
        return 0;
    set_tile(&edge, &(Option){1, x < m ? x : m}, &(Option){1, y < m ? y : m});
    return cost_of(&edge);
}

/* The cost with the row `gather`: single runs in the order of the destination. */
static double
gather_cost(const Fuse *f)
{
    int run = f->chain[SPACE_SRC][0];
    bool is_run = run == f->chain[SPACE_DST][0];
    i64 size = size_of(f), bytes;
    if (!int_mul(is_run ? f->b->loop[run].n : 1, size, &bytes))
        bytes = INF;
    i64 at = gcd_of_loops(f, SPACE_SRC, is_run) * size;
    return 1 + sectors(bytes, at) * SECTOR_BYTES / (double)bytes;
}

/* True if a swizzle moves runs that are vectors on both sides: the row `gather` copies these
 * as they are. */
static bool
moves_vectors(const Fuse *f)
{
    int run = f->chain[SPACE_SRC][0];
    bool residual = false;
    for (int i = 0; i < f->b->nloops; i++)
        residual |= f->b->loop[i].residual;
    return residual && run == f->chain[SPACE_DST][0] &&
           f->b->loop[run].n % (GRID_VECTOR / size_of(f)) == 0;
}

/* True if the tile is cheaper than the other rows by more than the error of the model. */
static bool
is_better(const Fuse *f)
{
    const double margin = 0.85;
    if (moves_vectors(f))
        return false;
    double edge = edge_cost(f);
    double mine = sectors_of(f, SPACE_SRC) + sectors_of(f, SPACE_DST);
    return edge ? f->cost < margin * edge : mine < margin * gather_cost(f);
}

bool
fuse_tile(Fuse *f, bool any)
{
    if (!find_chain(f, SPACE_SRC) || !find_chain(f, SPACE_DST) || !choose_tile(f) ||
        !(any || is_better(f)))
        return false;
    return fuse_pitches(f);
}
