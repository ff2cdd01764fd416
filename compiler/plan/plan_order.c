/* Chooses the schedule of a nest: the order of the outer loops, the tile of a call, the
 * kind of stores, the loop that threads share.  There are a few candidates; the model
 * selects the best. */
#include <math.h>
#include <stdint.h>

#include "nest_made.h"

/* True if each loop with a stride at least as large moves past all that this loop moves. */
static bool
passes(const Nest *n, const Loop *l)
{
    i64 all;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *m = &n->loop[i];
        if (m != l && m->ds >= l->ds && (!int_mul(l->ds, l->n, &all) || m->ds < all))
            return false;
    }
    return true;
}

/* Threads may share the loop if each step writes a contiguous range that starts and ends at
 * byte boundaries: loops with smaller strides stay within a step, and a loop with a larger
 * stride passes all that they write.  For a nest whose runs end within bytes, to which no
 * other nest writes. */
static bool
owns_bytes(const Nest *n, int outer, i64 per)
{
    const Loop *l = &n->loop[n->outer[outer].loop];
    i64 moved, far, reach = 1;
    if (!int_mul(l->ds, n->outer[outer].step, &moved) || moved <= 0 || moved % per ||
        !kernel_multiple(n->dst, per))
        return false;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *m = &n->loop[i];
        if (m->residual || !kernel_is_known(m) || m->ds < 0 || !int_mul(m->n - 1, m->ds, &far))
            return false;
        if (m->ds < l->ds && !int_add(reach, far, &reach))
            return false;
        if (m->ds >= l->ds && ((m != l && m->ds % per) || !passes(n, m)))
            return false;
    }
    return reach <= l->ds;
}

/* The outer loop that threads share: the first that gives threads about equal parts. */
static int
split_of(const Plan *p, const Nest *n)
{
    i64 bits = p->dst->dtype->bits;
    bool shares = nest_shares_bytes(p, n);
    int best = -1;
    double least = 1.3;
    for (int i = 0; i < n->nouter; i++) {
        const Loop *l = &n->loop[n->outer[i].loop];
        i64 steps = int_ceil_div(l->n, n->outer[i].step);
        double uneven = steps < 2 ? 2 : steps % 2 ? 1 + 1 / (double)steps : 1;
        if (uneven < least - 0.02 &&
            (shares ? owns_bytes(n, i, 8 / bits) : nest_outer_apart(n, i, bits))) {
            least = uneven;
            best = i;
        }
    }
    return best;
}

/* The iterations of a part if a loop is cut into about 32 parts, more of a very long one, a
 * multiple of `unit`.  0 if a part would have fewer than `least` iterations. */
static i64
part_of(i64 n, i64 unit, i64 least)
{
    enum { PARTS = 32, STEP_MOST = 1 << 29 };
    i64 about = int_ceil_div(n, PARTS);
    i64 part = int_ceil_div(about < STEP_MOST ? about : STEP_MOST, unit) * unit;
    for (i64 last = 2 * part; part <= last; part += unit)
        if (n % part == 0 || n % part >= least)
            return part;
    return 0;
}

/* Used if no outer loop can be shared: cuts one of the kernel's loops into about 32 parts,
 * each long enough for long reads and writes.  Blocks through buffers and tiles of tables
 * run along the rows; therefore the rows are cut last.  Groups are never cut. */
static int
share_call(const Plan *p, Nest *n)
{
    i64 bits = p->dst->dtype->bits;
    enum { ENOUGH = 4, STRETCH = 8 * 1024 };
    static const int roles[][3] = {{BATCH, ROW, COL}, {BATCH, COL, ROW}};
    bool rows_last = n->stream == 2 || n->kernel->family->by->table;
    for (int i = 0; i < LEN(roles[0]); i++) {
        int role = roles[rows_last][i], loop = n->role[role], split;
        bool whole = role == COL && (n->pad.n || n->role[GROUP] >= 0);
        if (loop < 0 || whole || nest_outer(n, loop) >= 0)
            continue;
        const Loop *l = &n->loop[loop];
        if (!ex_is_const(l->ex.n) || l->n > INT64_MAX / 16)     /* exceeds memory */
            continue;
        i64 unit = l->ss == 1 || l->ds == 1 ? STRETCH / bits : 1;
        unit = unit < n->least[role] ? n->least[role] : unit;
        i64 part = part_of(l->n, unit, n->least[role]);
        if (!part || int_ceil_div(l->n, part) < ENOUGH)
            continue;
        n->outer[n->nouter++] = (OuterLoop){loop, (int)part};
        if ((split = split_of(p, n)) >= 0)
            return split;
        n->nouter--;
    }
    return -1;
}

/* The same where the shape says how long loops are, for data that the caches hold: a part of the
 * longest loop is a quarter of what it has at the example shape, so that more data has more parts. */
static int
share_small(const Plan *p, Nest *n)
{
    enum { PARTS = 4, STRETCH = 8 * 256 };
    int best = -1;
    for (int role = BATCH; role <= COL; role++) {
        int loop = n->role[role];
        bool whole = role == COL && (n->pad.n || n->role[GROUP] >= 0);
        if (loop >= 0 && !whole && nest_outer(n, loop) < 0 && n->least[role] <= 1 &&
            (best < 0 || n->loop[loop].n > n->loop[best].n))
            best = loop;
    }
    if (best < 0 || !n->below)
        return -1;
    const Loop *l = &n->loop[best];
    i64 unit = l->ss == 1 || l->ds == 1 ? STRETCH / p->dst->dtype->bits : 1;
    i64 part = int_ceil_div(int_ceil_div(l->n, PARTS), unit) * unit;
    if (part >= l->n || part > INT32_MAX)
        return -1;
    n->outer[n->nouter++] = (OuterLoop){best, (int)part};
    int split = split_of(p, n);
    n->nouter -= split < 0;
    return split;
}

int
nest_share(const Plan *p, Nest *n)
{
    i64 bits = p->dst->dtype->bits;
    bool anywhere = n->at[DST][0];
    if (!p->split || (p->n > 1 && nest_shares_bytes(p, n)))
        return -1;
    if (anywhere && bits < 8)      /* two places may have one byte */
        return -1;
    int split = split_of(p, n);
    if (split < 0)
        split = share_call(p, n);
    return split >= 0 ? split : share_small(p, n);
}

bool
plan_candidate(const Plan *p, const Nest *n, int k, Nest *out)
{
    nest_copy(out, n);
    out->nouter = 0;
    out->stream = 0;
    out->ahead = 0;
    out->spare = false;
    out->picked = false;
    if (!n->kernel->family->by->orders(p, out, k))
        return false;
    out->cost = nest_cost(p, out);
    return true;
}

/* Of orders with the same stores and cost, the first. */
static bool
is_better(const Nest *n, const Nest *best)
{
    static const double TIE = 0.999;
    return !n->spare && n->cost < (n->stream == best->stream ? TIE : 1) * best->cost;
}

void
nest_order(const Plan *p, Nest *n)
{
    Nest best, other;
    plan_candidate(p, n, 0, &best);
    for (int k = 1; plan_candidate(p, n, k, &other); k++)
        if (is_better(&other, &best))
            nest_copy(&best, &other);
    nest_copy(n, &best);
}

bool
nest_schedule(const Plan *p, Nest *n)
{
    int bits = p->dst->dtype->bits;
    double bytes = (double)n->elements * bits / 8;
    Nest best, with;
    NestMade *made = made_begin(n);
    n->made = made;
    best.cost = INFINITY;
    for (int i = 0; i < nkernels; i++) {
        if (kernels[i].family->by->floor * bytes >= best.cost ||
            !kernel_use(n, &kernels[i], bits, &with))
            continue;
        nest_order(p, &with);
        if (with.cost < best.cost)
            nest_copy(&best, &with);
    }
    if (best.cost < INFINITY)
        nest_copy(n, &best);
    n->made = NULL;
    made_end(n, made);
    return best.cost < INFINITY;
}

void
plan_split(Plan *p)
{
    p->split = plan_may_have(p, SPLIT_BYTES);
    for (int i = 0; i < p->n; i++)
        p->nest[i]->split = nest_share(p, p->nest[i]);
}

i64
plan_turns(const Plan *p)
{
    enum { TURN_BYTES = 512 * 1024, MOST = 32, SMALL = 64 };
    const Ex *bytes = plan_bytes(p, p->to);
    i64 large = 0, other = 0;
    for (int i = 0; i < p->n; i++) {
        const Nest *n = p->nest[i];
        i64 elements = n->merged || n->split < 0 ? 0 : n->elements;
        if (elements > large) {
            other = large;
            large = elements;
        } else if (elements > other) {
            other = elements;
        }
    }
    if (!ex_is_const(bytes) || other <= large / SMALL)
        return 1;
    i64 turns = bytes->base / TURN_BYTES;
    return turns < 1 ? 1 : turns > MOST ? MOST : turns;
}
