/* The order of a nest's loops around its kernel, how much a call takes, who does what. */
#include <string.h>

#include "plan.h"

/* Destinations from which on stores go past the caches, and threads share the work. */
enum { STREAM_BYTES = 8 << 20, SPLIT_BYTES = 1 << 20 };

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
at_most(i64 n, i64 most)
{
    return n < most ? n : most;
}

/* A call takes at most so many iterations of the kernel's loop. */
static void
add_tile(Nest *n, int role, i64 tile)
{
    int loop = n->role[role];
    if (loop >= 0 && tile < n->loop[loop].n)
        n->turn[n->nturns++] = (Turn){loop, tile};
}

/* The turn that parts of the work are made of: the outermost one that shares evenly. */
static int
split_of(const Nest *n)
{
    int best = -1;
    double least = 1.06;
    for (int i = 0; i < n->nturns; i++) {
        const Loop *l = &n->loop[n->turn[i].loop];
        double turns = (double)int_ceil_div(l->n, n->turn[i].step);
        double uneven = turns < 2 ? 2 : turns < 32 ? (turns + 1) / turns : 1;
        if (uneven < least) {
            least = uneven < 1.06 ? 0 : uneven;
            best = i;
        }
    }
    return best;
}

static void
order_nest(const Plan *p, Nest *n)
{
    i64 size = p->dst->dtype->bits / 8;
    n->nturns = 0;
    n->split = -1;
    n->stream = layout_bytes(p->dst) >= STREAM_BYTES;
    n->ahead = n->stream ? 256 : 0;
    for (int i = 0; i < n->nloops - n->inner; i++)
        n->turn[n->nturns++] = (Turn){i, 1};
    if (!strncmp(n->kernel->name, "transpose", 9)) {
        add_tile(n, BATCH, 1);
        add_tile(n, COL, at_most(64 / size * 4, 256));
        add_tile(n, ROW, 1024 / size);
    }
    if (p->split)
        n->split = split_of(n);
}

void
plan_order(Plan *p)
{
    p->split = layout_bytes(p->dst) >= SPLIT_BYTES;
    for (int i = 0; i < p->n; i++)
        order_nest(p, &p->nest[i]);
}
