/* The tile of a nest: the loops that make 64 bytes of the destination in a row, and
 * those that make 16 bytes of the source. */
#include "kernel_family.h"
#include "shuffle.h"

/* Bits in a row that the destination, the source should have. */
enum { LINE_BITS = 512, WINDOW_BITS = 128 };

static bool
is_known(const Loop *l)
{
    return ex_is_const(l->ex.n) && ex_is_const(l->ex.ss) && ex_is_const(l->ex.ds);
}

static i64
stride(const Loop *l, bool source)
{
    i64 s = source ? l->ss : l->ds;
    return s < 0 ? -s : s;
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
           more <= 8 * TILE_BYTES / g->bits / g->elements;
}

/* The loop that goes on where a run of so many elements ends. */
static int
next_loop(const Growth *g, i64 run, bool source)
{
    for (int i = 0; i < g->n->nloops; i++) {
        const Loop *l = &g->n->loop[i];
        if (!g->t->in[i] && i != g->t->row && !l->rest && is_known(l) &&
            stride(l, source) == run)
            return i;
    }
    return -1;
}

/* Rows that make the run a multiple of whole lines or, where those are too many, of
 * lanes; 0: neither fits. */
static i64
chunk_of(const Growth *g, i64 run, i64 n, bool source)
{
    i64 bits = run * g->bits;
    if (source) {
        i64 enough = int_ceil_div(WINDOW_BITS, bits);
        return enough <= n && fits(g, enough) ? enough : 0;
    }
    for (i64 unit = LINE_BITS; unit >= 8 * LANE; unit /= 2) {
        i64 chunk = unit / int_gcd(unit, bits);
        if (chunk <= n && fits(g, chunk))
            return chunk;
    }
    return 0;
}

/* Loops join until the side has so many bits in a row. */
static void
grow(Growth *g, bool source, i64 enough)
{
    Tile *t = g->t;
    i64 run = 1;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < g->n->nloops; i++)
            if (t->in[i] && stride(&g->n->loop[i], source) == run) {
                run *= g->n->loop[i].n;
                more = true;
            }
        if (t->row >= 0 && stride(&g->n->loop[t->row], source) == run)
            return;
        int next = more || run * g->bits >= enough ? -1 : next_loop(g, run, source);
        if (next < 0)
            continue;
        const Loop *l = &g->n->loop[next];
        if (fits(g, l->n)) {
            t->in[next] = more = true;
            g->elements *= l->n;
            run *= l->n;
        } else if (t->row < 0 && (t->chunk = chunk_of(g, run, l->n, source)) > 1) {
            t->row = next;
            g->elements *= t->chunk;
        } else if (t->row < 0) {
            t->chunk = 1;
        }
    }
}

/* A loop outside for the rows: the one that moves the destination the least. */
static int
rows_outside(const Nest *n, const Tile *t)
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++)
        if (!t->in[i] && !n->loop[i].rest &&
            (best < 0 || stride(&n->loop[i], false) < stride(&n->loop[best], false)))
            best = i;
    return best;
}

/* All that is outside the tile moves by whole bytes. */
static bool
moves_bytes(const Nest *n, const Tile *t, i64 per)
{
    for (int i = 0; i < n->nloops; i++)
        if (!t->in[i] && !n->loop[i].rest &&
            (!kernel_multiple(n->loop[i].ex.ss, per) ||
             !kernel_multiple(n->loop[i].ex.ds, per)))
            return false;
    return kernel_remainder(n->src, per) >= 0 && kernel_remainder(n->dst, per) >= 0;
}

bool
shuffle_tile(const Nest *n, int bits, Tile *t)
{
    Growth g = {n, bits, 1, t};
    *t = (Tile){.row = -1, .chunk = 1};
    grow(&g, false, LINE_BITS);
    grow(&g, true, WINDOW_BITS);
    if (t->row < 0)
        t->row = rows_outside(n, t);
    return g.elements * bits >= 8 * LANE && moves_bytes(n, t, bits < 8 ? 8 / bits : 1);
}

typedef struct {
    i64 n, ss, ds;
} Step;

/* The tile's loops, and its rows as the last, by falling stride of the destination, all of
 * which rise there: *at is the source of the first element and *to the destination. */
static int
steps_of(const Nest *n, const Tile *t, Step *out, i64 *to, i64 *at)
{
    int m = 0;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        i64 count = t->in[i] ? l->n : i == t->row ? t->chunk : 1;
        if (count < 2)
            continue;
        Step s = {count, l->ss, l->ds};
        if (l->ds < 0) {
            *to += (count - 1) * l->ds;
            *at += (count - 1) * l->ss;
            s.ss = -l->ss;
            s.ds = -l->ds;
        }
        int k = m++;
        for (; k > 0 && out[k - 1].ds < s.ds; k--)
            out[k] = out[k - 1];
        out[k] = s;
    }
    return m;
}

/* False where the elements do not rise in the destination. */
static bool
list_elements(Bits *b, const Step *s, int m, i64 to, i64 at)
{
    i64 i[MAX_LOOPS] = {0};
    for (b->n = 0;; b->n++) {
        b->dst[b->n] = (int32_t)(to * b->bits);
        b->src[b->n] = (int32_t)(at * b->bits);
        if (b->n && b->dst[b->n] < b->dst[b->n - 1] + b->bits)
            return false;
        int k = m - 1;
        for (; k >= 0 && ++i[k] == s[k].n; k--) {
            to -= (s[k].n - 1) * s[k].ds;
            at -= (s[k].n - 1) * s[k].ss;
            i[k] = 0;
        }
        if (k < 0)
            break;
        to += s[k].ds;
        at += s[k].ss;
    }
    b->n++;
    return true;
}

/* The lanes of a run of elements from `first` to before `end`: the last one may lie over
 * the one before. */
static bool
add_lanes(Bits *b, int first, int end)
{
    int32_t from = b->dst[first], to = b->dst[end - 1] + b->bits;
    if (from % 8 || to % 8 || to - from < 8 * LANE)
        return false;
    for (int32_t at = from; at < to; at += 8 * LANE) {
        if (b->nlanes == LANES_MAX)
            return false;
        int32_t start = at + 8 * LANE > to ? to - 8 * LANE : at;
        b->lane[b->nlanes] = (int32_t)int_div(start, 8);
        b->element[b->nlanes++] = (int16_t)(first + (start - from) / b->bits);
    }
    return true;
}

/* Groups are whole: the last lane as often as that takes. */
static void
fill_group(Bits *b)
{
    for (int i = b->nlanes; i % GROUP; i++) {
        b->lane[i] = b->lane[b->nlanes - 1];
        b->element[i] = b->element[b->nlanes - 1];
    }
    b->lines = true;
    for (int i = 0; i < b->nlanes; i++)
        b->lines &= b->lane[i] == b->lane[i / GROUP * GROUP] + i % GROUP * LANE;
    b->lines &= b->nlanes % GROUP == 0;
    b->nlanes = (int)int_ceil_div(b->nlanes, GROUP) * GROUP;
}

static void
find_window(Bits *b)
{
    int32_t least = b->src[0], most = b->src[0];
    for (int i = 1; i < b->n; i++) {
        least = b->src[i] < least ? b->src[i] : least;
        most = b->src[i] > most ? b->src[i] : most;
    }
    b->first = (int32_t)int_div(least, 8);
    b->end = (int32_t)int_div(most + b->bits - 1, 8) + 1;
}

/* Strides within a tile are such that all its bits have 32-bit offsets. */
static bool
is_near(const Step *s, int m, int bits)
{
    i64 far = 0;
    for (int i = 0; i < m; i++) {
        i64 most = s[i].ds > s[i].ss ? s[i].ds : s[i].ss;
        most = -s[i].ss > most ? -s[i].ss : most;
        if (most > INT32_MAX / 16 / bits / s[i].n)
            return false;
        far += most * s[i].n;
    }
    return far <= INT32_MAX / 16 / bits;
}

bool
shuffle_bits(const Nest *n, const Tile *t, int bits, Bits *b)
{
    Step s[MAX_LOOPS];
    i64 per = bits < 8 ? 8 / bits : 1;
    i64 to = kernel_remainder(n->dst, per), at = kernel_remainder(n->src, per);
    int m = steps_of(n, t, s, &to, &at), first = 0;
    b->bits = bits;
    b->nlanes = 0;
    if (!is_near(s, m, bits) || !list_elements(b, s, m, to, at))
        return false;
    for (int i = 1; i <= b->n; i++)
        if (i == b->n || b->dst[i] != b->dst[i - 1] + bits) {
            if (!add_lanes(b, first, i))
                return false;
            first = i;
        }
    fill_group(b);
    find_window(b);
    return b->end - b->first >= LANE;
}
