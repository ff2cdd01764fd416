/* Runs at offsets that a table holds: addresses that are not affine, and those of many
 * small loops. */
#include "kernel_rows.h"

/* Entries of a table: so many where only loops in the rest are in it, which have to;
 * more loops join while there are fewer than these. */
enum { MOST = 4096, ENOUGH = 512, FEWEST = 8 };

/* All offsets in bytes fit 32 bits. */
static bool
near(const Nest *n, int bits)
{
    const Ex *x[] = {n->src, n->dst};
    for (int s = 0; s < 2; s++) {
        double far = 0, least = (double)x[s]->f.min, most = (double)x[s]->f.max;
        for (int i = 0; i < n->nloops; i++) {
            double stride = (double)(s ? n->loop[i].ds : n->loop[i].ss);
            far += (stride < 0 ? -stride : stride) * (double)n->loop[i].n;
        }
        if ((far - least) * bits / 8 > INT32_MAX || (far + most) * bits / 8 > INT32_MAX)
            return false;
    }
    return true;
}

i64
kernel_table(const Nest *n, int run, bool in[MAX_LOOPS])
{
    i64 entries = 1;
    for (int i = 0; i < n->nloops; i++) {
        in[i] = n->loop[i].rest;
        entries *= in[i] && entries <= MOST ? n->loop[i].n : 1;
    }
    for (int i = n->nloops - 1; i >= 0; i--) {
        if (in[i] || i == run)
            continue;
        if (entries * n->loop[i].n > ENOUGH)
            break;
        in[i] = true;
        entries *= n->loop[i].n;
    }
    return entries;
}

/* The run is a loop by one on both sides, or one element. */
bool
gather_applies(const Nest *n, int bits, int role[ROLES])
{
    bool in[MAX_LOOPS];
    role[BATCH] = role[ROW] = role[COL] = -1;
    for (int i = n->nloops - 1; i >= 0 && role[COL] < 0; i--)
        if (!n->loop[i].rest && n->loop[i].ss == 1 && n->loop[i].ds == 1)
            role[COL] = i;
    i64 entries = kernel_table(n, role[COL], in);
    for (int i = n->nloops - 1; i >= 0 && role[ROW] < 0; i--)
        if (i != role[COL] && !in[i])
            role[ROW] = i;
    return !n->now && bits >= 8 && entries >= FEWEST && entries <= MOST && near(n, bits);
}

/* Other kernels leave loops in the rest outside, and walk all of memory for each. */
double
gather_cost(const Nest *n, int bits, const int role[ROLES])
{
    bool in[MAX_LOOPS], rest = false;
    double run = (double)kernel_count(n, role[COL]);
    double call = run * (double)kernel_count(n, role[ROW]) *
                  (double)kernel_table(n, role[COL], in);
    for (int i = 0; i < n->nloops; i++)
        rest |= n->loop[i].rest;
    return (0.12 * bits / 8 + 1.2 / run) * (rest ? 0.5 : 1) + 5.0 / call;
}
