/* The outer loops of a nest: functions that add them, and the lengths of contiguous reads
 * and writes that result. */
#include "kernel_family.h"

const char in_order_of_writes[] = "in order of writes";

i64
nest_tile(const Nest *n, int role)
{
    int loop = n->role[role];
    if (loop < 0)
        return 1;
    int outer = nest_outer(n, loop);
    return outer < 0 ? n->loop[loop].n : n->outer[outer].step;
}

int
nest_outer(const Nest *n, int loop)
{
    for (int i = 0; i < n->nouter; i++)
        if (n->outer[i].loop == loop)
            return i;
    return -1;
}

bool
outer_may_stream(const Plan *p, const Nest *n)
{
    return nest_may_have(p, n, STREAM_BYTES);
}

static i64
key(const Loop *l, Order order)
{
    return int_abs(order == BY_DST ? l->ds : l->ss);
}

bool
outer_precedes(const Nest *n, int i, int j, Order order)
{
    const Loop *a = &n->loop[i], *b = &n->loop[j];
    if (a->residual != b->residual)
        return a->residual;
    i64 x = key(a, order), y = key(b, order);
    return x != y ? x > y : i < j;
}

void
outer_add_loops(Nest *n, Order order, bool planes)
{
    int at = n->nouter;
    for (int i = 0; i < n->nloops; i++) {
        if (i >= n->nloops - n->inner && !(planes && i == n->role[BATCH]))
            continue;
        int j = n->nouter++;
        for (; j > at && outer_precedes(n, i, n->outer[j - 1].loop, order); j--)
            n->outer[j] = n->outer[j - 1];
        n->outer[j] = (OuterLoop){i, 1};
    }
}

void
outer_add_tile(Nest *n, int role, i64 bytes, i64 size)
{
    int loop = n->role[role];
    i64 tile = bytes / size;
    if (loop >= 0 && tile > 0 && tile < n->loop[loop].n)
        n->outer[n->nouter++] = (OuterLoop){loop, (int)tile};
}

bool
outer_in_order(const Plan *p, Nest *n, int k)
{
    (void)p;
    n->order = in_order_of_writes;
    outer_add_loops(n, BY_DST, false);
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
    const Loop *walk[MAX_OUTER + 2];
    const int planes[2] = {n->role[source ? GROUP : BATCH],
                           n->role[source ? BATCH : GROUP]};
    int m = 0;
    for (int i = 0; i < n->nouter; i++)
        walk[m++] = n->outer[i].step > 1 ? NULL : &n->loop[n->outer[i].loop];
    for (int i = 0; i < 2; i++)
        if (planes[i] >= 0 && nest_outer(n, planes[i]) < 0)
            walk[m++] = n->loop + planes[i];
    while (m-- > 0 && walk[m]) {
        i64 more, step = source ? walk[m]->ss : walk[m]->ds;
        if (step != run || !int_mul(run, walk[m]->n, &more))
            break;
        run = more;
    }
    return run;
}

/* True if no two steps of the outer loop write to the same byte.  The tile of a loop is not
 * considered: a byte at its end is only whole if the loop itself fills whole bytes. */
bool
nest_outer_apart(const Nest *n, int outer, i64 bits)
{
    const Loop *l = &n->loop[n->outer[outer].loop];
    i64 per = bits < 8 ? 8 / bits : 1, moved;
    return l->ds % per == 0 || (int_mul(l->ds, n->outer[outer].step, &moved) &&
                                moved % per == 0 && l->n % per == 0);
}
