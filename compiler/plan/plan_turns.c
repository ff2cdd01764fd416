/* The turns around a nest's kernel: what orders are made of, and how far one then reads
 * and writes at a stretch. */
#include "kernel_family.h"

const char in_order_of_writes[] = "in order of writes";

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

bool
turns_may_stream(const Plan *p)
{
    return !ex_is_const(p->to->size) || layout_bytes(p->dst) >= STREAM_BYTES;
}

static i64
key(const Loop *l, Order order)
{
    return int_abs(order == BY_DST ? l->ds : l->ss);
}

bool
turns_outside(const Nest *n, int i, int j, Order order)
{
    const Loop *a = &n->loop[i], *b = &n->loop[j];
    if (a->rest != b->rest)
        return a->rest;
    i64 x = key(a, order), y = key(b, order);
    return x != y ? x > y : i < j;
}

void
turns_add_loops(Nest *n, Order order, bool planes)
{
    int at = n->nturns;
    for (int i = 0; i < n->nloops; i++) {
        if (i >= n->nloops - n->inner && !(planes && i == n->role[BATCH]))
            continue;
        int j = n->nturns++;
        for (; j > at && turns_outside(n, i, n->turn[j - 1].loop, order); j--)
            n->turn[j] = n->turn[j - 1];
        n->turn[j] = (Turn){i, 1};
    }
}

void
turns_add_tile(Nest *n, int role, i64 bytes, i64 size)
{
    int loop = n->role[role];
    i64 tile = bytes / size;
    if (loop >= 0 && tile > 0 && tile < n->loop[loop].n)
        n->turn[n->nturns++] = (Turn){loop, tile};
}

bool
turns_in_order(const Plan *p, Nest *n, int k)
{
    (void)p;
    n->order = in_order_of_writes;
    turns_add_loops(n, BY_DST, false);
    return k == 0;
}

i64
nest_stride(const Nest *n, int role, bool source)
{
    return n->role[role] < 0 ? 0 : source ? n->loop[n->role[role]].ss
                                          : n->loop[n->role[role]].ds;
}

i64
nest_chain(const Nest *n, i64 run, bool source)
{
    const Loop *walk[MAX_TURNS + 2];
    const int planes[2] = {n->role[source ? SIDE : BATCH],
                           n->role[source ? BATCH : SIDE]};
    int m = 0;
    for (int i = 0; i < n->nturns; i++)
        walk[m++] = n->turn[i].step > 1 ? NULL : &n->loop[n->turn[i].loop];
    for (int i = 0; i < 2; i++)
        if (planes[i] >= 0 && nest_turn(n, planes[i]) < 0)
            walk[m++] = n->loop + planes[i];
    while (m-- > 0 && walk[m]) {
        i64 more, step = source ? walk[m]->ss : walk[m]->ds;
        if (step != run || !int_mul(run, walk[m]->n, &more))
            break;
        run = more;
    }
    return run;
}
