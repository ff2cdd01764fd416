/* Tiles of elements of four bits of which one side has whole bytes only: two iterations of the loop
 * that is contiguous there share a byte.  The tile has that byte as its element.  The runs of the other
 * side hold a half of each: two of them become bytes when they are read, or bytes become two
 * when they are written. */
#include "composite.h"

enum { HALVES = 2 };

/* Of a nest in numbers; -1: there is none. */
static int
pair_loop(const Nest *n, int side)
{
    int pair = -1;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        i64 stride = kernel_stride(l, side);
        if (l->residual || !kernel_is_known(l) || (stride % HALVES && (stride != 1 || pair >= 0)))
            return -1;
        pair = stride == 1 ? i : pair;
    }
    if (pair < 0 || n->loop[pair].n % HALVES || kernel_stride(&n->loop[pair], !side) < 1)
        return -1;
    return kernel_multiple(side == SRC ? n->src : n->dst, HALVES) ? pair : -1;
}

static void
set_stride(Exprs *e, Loop *l, int side, i64 stride)
{
    *(side == SRC ? &l->ss : &l->ds) = stride;
    *(side == SRC ? &l->ex.ss : &l->ex.ds) = ex_const(e, stride);
}

bool
composite_pair(const Nest *n, int side, Nest *half, Composite *c)
{
    const int pair = pair_loop(n, side);
    if (pair < 0)
        return false;
    c->whole = side;
    c->pair = pair;
    c->apart = kernel_stride(&n->loop[pair], !side);
    composite_of(n, c, half);
    return true;
}

const Nest *
composite_of(const Nest *n, const Composite *c, Nest *half)
{
    if (c->whole < 0)
        return n;
    nest_copy(half, n);
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &half->loop[i];
        if (i == c->pair) {
            l->n /= HALVES;
            l->ex.n = ex_const(n->e, l->n);
            set_stride(n->e, l, c->whole, 1);
            set_stride(n->e, l, !c->whole, HALVES * c->apart);
        } else {
            set_stride(n->e, l, c->whole, kernel_stride(l, c->whole) / HALVES);
        }
    }
    return half;
}

int
composite_each(const Composite *c, int loop)
{
    return c->whole >= 0 && loop == c->pair ? HALVES : 1;
}

double
composite_cost(const Composite *c)
{
    return c->whole < 0 ? c->cost : c->cost / HALVES;
}

i64
composite_chunk(const Composite *c, int role)
{
    const int loop = c->role[role];
    return loop < 0 ? 1 : c->taken[loop] * composite_each(c, loop);
}

/* Whether one run of the source has both elements of a byte of the destination. */
static bool
is_within(const Composite *c)
{
    const TileSide *s = &c->side[SRC];
    bool in = false;
    for (int i = 0; i < s->n; i++)
        in |= c->whole == DST && s->loop[i] == c->pair;
    return in;
}

bool
composite_couple(const Nest *n, Composite *c)
{
    c->coupled = c->per == HALVES && c->kept_loop < 0 && !c->residual.n && !n->pad.n && kernel_knows(n);
    return c->coupled;
}

i64
composite_columns(i64 cols, const Composite *c)
{
    return c->coupled ? int_ceil_div(cols, HALVES) : cols;
}

i64
composite_count(const Composite *c, int side)
{
    if (c->coupled)
        return c->inner * (side == SRC ? composite_columns(c->side[DST].count, c) : c->side[SRC].count);
    return c->elements / c->parts * (side == SRC && is_within(c) ? HALVES : 1) / c->side[side].held;
}

i64
composite_read(const Composite *c)
{
    return c->coupled ? c->side[SRC].count : c->side[SRC].run - (is_within(c) ? c->apart : 0);
}
