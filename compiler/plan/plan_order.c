/* The order of a nest's loops around its kernel, how much a call takes, how it stores,
 * and what threads share: a few candidates, of which the model's best is taken. */
#include <stdint.h>
#include <string.h>

#include "plan.h"

/* Destinations from which on stores go past the caches, and threads share the work. */
enum { SPLIT_BYTES = 1 << 20 };

i64
nest_tile(const Nest *n, int role)
{
    int loop = n->role[role];
    if (loop < 0)
        return 1;
    int turn = nest_turn(n, loop);
    return turn < 0 ? n->loop[loop].n : n->turn[turn].step;
}

int
nest_turn(const Nest *n, int loop)
{
    for (int i = 0; i < n->nturns; i++)
        if (n->turn[i].loop == loop)
            return i;
    return -1;
}

static i64
magnitude(i64 v)
{
    return v < 0 ? -v : v;
}

typedef enum { BY_DST, BY_SRC } Order;

static i64
key(const Loop *l, Order order)
{
    return magnitude(order == BY_DST ? l->ds : l->ss);
}

/* Whether loop i belongs outside of loop j. */
static bool
outside(const Nest *n, int i, int j, Order order)
{
    const Loop *a = &n->loop[i], *b = &n->loop[j];
    if (a->rest != b->rest)
        return a->rest;
    i64 x = key(a, order), y = key(b, order);
    return x != y ? x > y : i < j;
}

/* The loops that are not the kernel's, and its planes where `planes` says so: then a
 * call does one. */
static void
add_loops(Nest *n, Order order, bool planes)
{
    int at = n->nturns;
    for (int i = 0; i < n->nloops; i++) {
        if (i >= n->nloops - n->inner && !(planes && i == n->role[BATCH]))
            continue;
        int j = n->nturns++;
        for (; j > at && outside(n, i, n->turn[j - 1].loop, order); j--)
            n->turn[j] = n->turn[j - 1];
        n->turn[j] = (Turn){i, 1};
    }
}

/* A call takes at most so many bytes of the kernel's loop. */
static void
add_tile(Nest *n, int role, i64 bytes, i64 size)
{
    int loop = n->role[role];
    i64 tile = bytes / size;
    if (loop >= 0 && tile > 0 && tile < n->loop[loop].n)
        n->turn[n->nturns++] = (Turn){loop, tile};
}

/* The innermost turn, a whole loop, becomes the planes of one call. */
static void
take_planes(Nest *n)
{
    int to = n->role[BATCH];
    if (n->nturns == 0 || to < 0)
        return;
    const Turn *last = &n->turn[n->nturns - 1];
    int from = last->loop;
    if (last->step > 1 || n->loop[from].rest)
        return;
    n->nturns--;
    if (from == to)
        return;
    Loop l = n->loop[from];
    n->loop[from] = n->loop[to];
    n->loop[to] = l;
    for (int i = 0; i < n->nturns; i++)
        if (n->turn[i].loop == to)
            n->turn[i].loop = from;
}

/* A turn, a whole loop whose columns go on in the destination where those of the last
 * iteration end for every shape, becomes the kernel's; false where there is none. */
static bool
take_sides(Nest *n)
{
    i64 cols = nest_tile(n, COL);
    if (nest_turn(n, n->role[COL]) < 0 && !ex_is_const(n->loop[n->role[COL]].ex.n))
        return false;
    int k = 0, to = n->nloops - n->inner - 1;
    while (k < n->nturns && (n->turn[k].step > 1 || n->loop[n->turn[k].loop].rest ||
                             n->loop[n->turn[k].loop].ds != cols ||
                             !ex_is_const(n->loop[n->turn[k].loop].ex.ds)))
        k++;
    if (k == n->nturns || n->turn[k].loop == n->role[BATCH])
        return false;
    int from = n->turn[k].loop;
    Loop l = n->loop[from];
    memmove(&n->loop[from], &n->loop[from + 1], (size_t)(to - from) * sizeof l);
    n->loop[to] = l;
    memmove(&n->turn[k], &n->turn[k + 1], (size_t)(--n->nturns - k) * sizeof n->turn[0]);
    for (int i = 0; i < n->nturns; i++)
        n->turn[i].loop -= n->turn[i].loop > from && n->turn[i].loop <= to;
    n->role[SIDE] = to;
    n->inner++;
    return true;
}

/* Tiles of a transpose in bytes of the destination's lines; the loops around. */
typedef struct {
    const char *what;
    int stream;
    Order order;
    enum { TILE_INNER, TILE_OUTER, TILE_BETWEEN } place;
    i64 cols;
    bool sides;           /* more planes' columns a call: few of one make short writes */
} Schedule;

/* Large transposes: 256 bytes of columns by 4 KB of rows a call, prefetching along the
 * rows or, of short ones, the next line of columns; or a line or two of
 * columns, and on and on along the rows of the source, which are 16 streams, over the
 * innermost loop or all; or by way of the kernel's buffer.  Of elements of 1 and 2 bytes
 * the rows are 64 and 32, more than a processor follows by itself: they are fetched
 * earlier (u8 NCHW to NHWC 1.24 to 0.97 of memcpy, u16 1.39 to 0.85, Zen 3).  Blocks of
 * several sides write longer pieces (TTC 40: 192 bytes to 384, 2.2 to 2.0). */
static const Schedule large[] = {
    {"tiles",                   1, BY_DST,  TILE_INNER,   256,       false},
    {"lines along a loop",      1, BY_SRC,  TILE_BETWEEN, 64,        false},
    {"lines along the source",  1, BY_SRC,  TILE_OUTER,   64,        false},
    {"buffer",                  2, BY_SRC,  TILE_INNER,   INT64_MAX, false},
    {"buffer of several sides", 2, BY_SRC,  TILE_INNER,   INT64_MAX, true},
};

static const char in_cache[] = "in order of writes";

/* Where only a shape tells the size, a scalar says it there. */
static bool
may_stream(const Plan *p)
{
    return !ex_is_const(p->to->size) || layout_bytes(p->dst) >= STREAM_BYTES;
}

static bool
order_transpose(const Plan *p, Nest *n, int k)
{
    i64 size = p->dst->dtype->bits / 8;
    if (!may_stream(p) && k == 0) {
        n->order = in_cache;
        add_loops(n, BY_DST, true);
        take_planes(n);
        return true;
    }
    n->spare = !may_stream(p);
    k -= n->spare;
    if (k >= LEN(large) || (large[k].stream == 2 && size == 16))
        return false;               /* no buffers are made for those */
    const Schedule *s = &large[k];
    n->order = s->what;
    n->stream = s->stream;
    n->ahead = n->stream == 1 ? size < 4 ? 512 : 256 : 0;
    if (s->place == TILE_OUTER)
        add_tile(n, COL, s->cols, size);
    add_loops(n, s->order, true);
    if (s->place == TILE_BETWEEN && n->nturns > 0) {
        Turn inner = n->turn[--n->nturns];
        add_tile(n, COL, s->cols, size);
        n->turn[n->nturns++] = inner;
    }
    if (s->place == TILE_INNER)
        add_tile(n, COL, s->cols, size);
    if (s->stream == 1)
        add_tile(n, ROW, 4096, size);
    take_planes(n);
    if (s->sides && (!nest_joins(nest_tile(n, COL), size) || !take_sides(n)))
        return false;
    const Loop *col = &n->loop[n->role[COL]];
    if (n->ahead && ex_is_const(col->ex.ss) &&
        nest_chain(n, nest_tile(n, ROW), true) * size < 1024)
        n->ahead = 64 * col->ss;
    return true;
}

static void
swap_before(Nest *n, int j)
{
    Loop l = n->loop[j];
    n->loop[j] = n->loop[j - 1];
    n->loop[j - 1] = l;
}

/* Whether loop i takes longer steps than loop j, which a rest has: inside of j it would
 * pass over all it covers again for each turn of j. */
static bool
encloses(const Nest *n, int i, int j)
{
    const Loop *a = &n->loop[i], *b = &n->loop[j];
    return !a->rest && b->rest && magnitude(a->ss) >= magnitude(b->ss) &&
           magnitude(a->ds) >= magnitude(b->ds);
}

/* The loops but the columns in this order, the last two of them rows and planes. */
static void
take_rows(Nest *n, Order order)
{
    int m = n->nloops - (n->role[COL] >= 0);
    for (int i = 1; i < m; i++)
        for (int j = i; j > 0 && outside(n, j, j - 1, order); j--)
            swap_before(n, j);
    for (int i = 1; i < m - 1; i++)
        for (int j = i; j > 0 && encloses(n, j, j - 1); j--)
            swap_before(n, j);
    n->role[ROW] = m > 0 && !n->loop[m - 1].rest ? m - 1 : -1;
    n->role[BATCH] = n->role[ROW] > 0 && !n->loop[m - 2].rest ? m - 2 : -1;
    n->inner = n->nloops - m + (n->role[ROW] >= 0) + (n->role[BATCH] >= 0);
}

/* Past the caches, in the order of reads: writes of whole lines can go anywhere. */
static const struct {
    const char *what;
    int stream;
    Order order;
} copies[] = {
    {"in order of reads, past the caches",  1, BY_SRC},
    {in_cache,                              0, BY_DST},
    {"in order of writes, past the caches", 1, BY_DST},
    {"in order of reads",                   0, BY_SRC},
};

/* Runs that lie side by side in the destination, a few at a time, along the source: runs
 * so far apart there that they share banks of the memory are written together. */
static bool
order_abreast(const Plan *p, Nest *n)
{
    enum { STRETCH = 512 };
    i64 run = n->role[COL] < 0 ? 1 : n->loop[n->role[COL]].n;
    int m = n->nloops - (n->role[COL] >= 0), side = -1;
    i64 bytes = run * p->dst->dtype->bits / 8;
    if (bytes == 0 || bytes >= STRETCH / 2)
        return false;
    take_rows(n, BY_SRC);
    for (int i = 0; i < m - 1; i++)
        if (!n->loop[i].rest && n->loop[i].ds == run)
            side = i;
    if (side < 0 || n->role[ROW] < 0)
        return false;
    Loop l = n->loop[side];
    memmove(n->loop + side, n->loop + side + 1, (size_t)(m - 1 - side) * sizeof l);
    n->loop[m - 1] = l;
    n->role[BATCH] = m - 2;
    n->inner = n->nloops - m + 2;
    n->order = "runs abreast, past the caches";
    n->stream = 1;
    add_loops(n, BY_SRC, false);
    add_tile(n, ROW, STRETCH, bytes);
    return true;
}

static bool
order_copy(const Plan *p, Nest *n, int k)
{
    int best = !may_stream(p);
    if (k == LEN(copies) && !best)
        return order_abreast(p, n);
    if (k >= LEN(copies))
        return false;
    int row = k < 2 ? k ^ best : k;
    n->order = copies[row].what;
    n->spare = k > 0;
    n->stream = copies[row].stream;
    take_rows(n, copies[row].order);
    for (int i = 0; i < n->nloops - n->inner; i++)
        n->turn[n->nturns++] = (Turn){i, 1};
    return true;
}

/* Small planes of `bytes` each, so many a call that a kilobyte is written, in the order
 * of the source: what is left of a line there is read soon after. */
static bool
order_planes(Nest *n, i64 bytes)
{
    enum { STRETCH = 1024 };
    int batch = n->role[BATCH];
    if (batch < 0 || bytes >= STRETCH)
        return false;
    add_loops(n, BY_SRC, true);
    Turn *t = &n->turn[nest_turn(n, batch)];
    t->step = STRETCH / bytes < n->loop[batch].n ? STRETCH / bytes : n->loop[batch].n;
    return true;
}

/* Planes of whole lines in the destination, of 2, 4 or 8 bytes a row, nothing padded:
 * what kernels store past the caches without a buffer. */
static bool
whole_planes(const Nest *n, i64 bytes, i64 size)
{
    enum { LINE = 64, MOST = 8 };
    int batch = n->role[BATCH], row = n->role[ROW];
    i64 cols = nest_tile(n, COL), each = cols * size;
    return kernel_weaves(n->kernel) && !n->pad && batch >= 0 && bytes % LINE == 0 &&
           n->loop[batch].ds * size % LINE == 0 && n->loop[row].ds == cols &&
           cols > 1 && each <= MOST && (each & (each - 1)) == 0;
}

/* Of a few columns or rows: the long loop in parts of whole lines, enough of them for
 * threads to share; small planes together.  Rows woven on the way to a buffer were slower
 * past the caches than not (1.23 to 1.07 of memcpy, 64 MB, Zen 3). */
static bool
order_narrow(const Plan *p, Nest *n, int k)
{
    enum { LINE = 64, LEAST = 4096, MOST = 64 << 10 };
    i64 size = p->dst->dtype->bits / 8;
    int role = kernel_weaves(n->kernel) ? ROW : COL;
    i64 whole = n->loop[n->role[role]].n;
    i64 part = int_ceil_div(whole, 32 * LINE) * LINE * size;
    i64 row = role == COL ? 64 : (nest_tile(n, COL) + n->pad) * size;
    n->stream = row % LINE == 0 && may_stream(p);
    if (k == 1) {
        i64 plane = whole * nest_tile(n, role == ROW ? COL : ROW) * size;
        n->order = "planes along the source";
        n->stream |= whole_planes(n, plane, size) && may_stream(p);
        return order_planes(n, plane);
    }
    n->order = "parts of the long loop";
    add_loops(n, BY_DST, false);
    add_tile(n, BATCH, int_ceil_div(MOST / size, 16 * whole), 1);
    add_tile(n, role, part < LEAST ? LEAST : part < MOST ? part : MOST, size);
    return k == 0;
}

/* Planes of small elements: 256 bytes of columns by 1 KB of rows a call. */
static bool
order_bits(const Plan *p, Nest *n, int k)
{
    n->order = "tiles";
    add_loops(n, BY_DST, false);
    n->stream = may_stream(p);
    add_tile(n, COL, 8 * 256, p->dst->dtype->bits);
    add_tile(n, ROW, 8 * 1024, p->dst->dtype->bits);
    return k == 0;
}

static bool
order_other(const Plan *p, Nest *n, int k)
{
    n->order = in_cache;
    n->stream = strchr(n->kernel->args, 'H') && may_stream(p);
    add_loops(n, BY_DST, false);
    return k == 0;
}

/* The turn that parts of the work are made of: the outermost one that shares evenly. */
static int
split_of(const Nest *n, i64 bits)
{
    int best = -1;
    double least = 1.3;
    for (int i = 0; i < n->nturns; i++) {
        const Loop *l = &n->loop[n->turn[i].loop];
        i64 turns = int_ceil_div(l->n, n->turn[i].step);
        double uneven = turns < 2 ? 2 : turns % 2 ? 1 + 1 / (double)turns : 1;
        if (uneven < least - 0.02 && kernel_turn_apart(n, i, bits)) {
            least = uneven;
            best = i;
        }
    }
    return best;
}

/* The kernel's own loops in parts, where no loop around it is there to be shared: some 32
 * of them, none so short that reads or writes become short.  Blocks through buffers go
 * along the rows, which are the last to be cut therefore; sides are not. */
static int
share_call(Nest *n, i64 bits)
{
    enum { PARTS = 32, ENOUGH = 4, STRETCH = 8 * 1024 };
    static const int roles[][3] = {{BATCH, ROW, COL}, {BATCH, COL, ROW}};
    for (int i = 0; i < LEN(roles[0]); i++) {
        int role = roles[n->stream == 2][i], loop = n->role[role], split;
        bool whole = role == COL && (n->pad || n->role[SIDE] >= 0);
        if (loop < 0 || !ex_is_const(n->loop[loop].ex.n) || nest_turn(n, loop) >= 0 || whole ||
            n->loop[loop].n > INT64_MAX / 16)       /* no memory holds it */
            continue;
        const Loop *l = &n->loop[loop];
        i64 least = l->ss == 1 || l->ds == 1 ? STRETCH / bits : 1;
        i64 part = int_ceil_div(l->n, PARTS);
        part = part < least ? least : int_ceil_div(part, least) * least;
        if (int_ceil_div(l->n, part) < ENOUGH)
            continue;
        n->turn[n->nturns++] = (Turn){loop, part};
        if ((split = split_of(n, bits)) >= 0)
            return split;
        n->nturns--;
    }
    return -1;
}

/* Whether threads are to share the nest, and the turn by which they can. */
static int
share(const Plan *p, Nest *n)
{
    i64 bits = p->dst->dtype->bits;
    if (!p->split || nest_shares_bytes(p, n))
        return -1;
    int split = split_of(n, bits);
    return split >= 0 ? split : share_call(n, bits);
}

bool
plan_candidate(const Plan *p, const Nest *n, int k, Nest *out)
{
    *out = *n;
    out->nturns = 0;
    out->stream = 0;
    out->ahead = 0;
    out->spare = false;
    out->picked = false;
    bool known = kernel_is_transpose(n->kernel) ? order_transpose(p, out, k)
                 : kernel_is_copy(n->kernel) ? order_copy(p, out, k)
                 : !strcmp(n->kernel->name, "bits_transpose") ? order_bits(p, out, k)
                 : kernel_is_narrow(n->kernel) ? order_narrow(p, out, k)
                                                         : order_other(p, out, k);
    if (!known)
        return false;
    out->cost = nest_cost(p, out);
    out->split = share(p, out);
    return true;
}

static void
order_nest(const Plan *p, Nest *n)
{
    Nest best, other;
    plan_candidate(p, n, 0, &best);
    for (int k = 1; plan_candidate(p, n, k, &other); k++)
        if (!other.spare && other.cost < best.cost)
            best = other;
    *n = best;
}

void
plan_order(Plan *p)
{
    p->split = !ex_is_const(p->to->size) || layout_bytes(p->dst) >= SPLIT_BYTES;
    for (int i = 0; i < p->n; i++)
        order_nest(p, &p->nest[i]);
}
