/* Elements smaller than a byte: runs at any bit, planes transposed within bytes. */
#include "kernel_rows.h"

bool
bits_run_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = -1;
    for (int i = n->nloops - 1; i >= 0 && role[COL] < 0; i--)
        if (!n->loop[i].rest && n->loop[i].ss == 1 && n->loop[i].ds == 1)
            role[COL] = i;
    role[ROW] = role[COL] < 0 ? -1 : kernel_last_loop(n, role[COL]);
    role[BATCH] = -1;
    return bits < 8 && role[COL] >= 0;
}

double
bits_run_cost(const Nest *n, int bits, const int role[ROLES])
{
    return 0.1 * bits / 8 + 6.0 / (double)kernel_count(n, role[COL]);
}

/* A loop that goes through a byte backwards in the source, one that goes on by bytes. */
bool
bits_swap_applies(const Nest *n, int bits, int role[ROLES])
{
    i64 per = bits < 8 ? 8 / bits : 1;
    role[ROW] = role[COL] = role[BATCH] = -1;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (l->ss == -1 && l->ds == 1 && l->n == per && ex_is_const(l->ex.n) && !l->rest)
            role[COL] = i;
        else if (l->ss % per || l->ds % per)
            return false;
        else if (l->ss == per && l->ds == per && !l->rest)
            role[ROW] = i;
    }
    return per > 1 && role[COL] >= 0 && role[ROW] >= 0 &&
           kernel_multiple(n->dst, per) && kernel_remainder(n->src, per) == per - 1;
}

double
bits_swap_cost(const Nest *n, int bits, const int role[ROLES])
{
    return 0.15 * bits / 8 + 6.0 / (double)kernel_count(n, role[ROW]);
}

bool
bits_transpose_applies(const Nest *n, int bits, int role[ROLES])
{
    role[ROW] = kernel_unit_loop(n, true);
    role[COL] = kernel_unit_loop(n, false);
    role[BATCH] = -1;
    return bits < 8 && role[ROW] >= 0 && role[COL] >= 0 && role[ROW] != role[COL];
}

/* By blocks; part of one costs as much as all, and one at any bit twice that. */
double
bits_transpose_cost(const Nest *n, int bits, const int role[ROLES])
{
    i64 per = 8 / bits, block = 128 / bits;
    i64 p = kernel_count(n, role[ROW]), q = kernel_count(n, role[COL]);
    bool whole = n->loop[role[ROW]].ds % per == 0 && n->loop[role[COL]].ss % per == 0;
    double used = (double)p / (double)(int_ceil_div(p, block) * block) * (double)q /
                  (double)(int_ceil_div(q, block) * block);
    return p < 4 || q < 4 ? 1.5 : (whole ? 0.5 : 1.0) * bits / 8 / used;
}

/* The nest writes every element of each byte that it writes one of: some of its loops
 * fill whole bytes, the others move by whole bytes. */
bool
kernel_whole_bytes(const Nest *n, int bits)
{
    i64 per = bits < 8 ? 8 / bits : 1;
    bool used[MAX_LOOPS] = {false};
    i64 run = 1;
    for (int i = 0; i < n->nloops && run % per; i++)
        if (!used[i] && n->loop[i].ds == run && ex_is_const(n->loop[i].ex.n) &&
            ex_is_const(n->loop[i].ex.ds)) {
            used[i] = true;
            run *= n->loop[i].n;
            i = -1;
        }
    for (int i = 0; i < n->nloops; i++)
        if (!used[i] && n->loop[i].ds % per)
            return false;
    return run % per == 0 && kernel_multiple(n->dst, per);
}

/* A tile of a loop is not enough: the bytes at its ends are whole only where the loop
 * fills whole bytes by itself. */
bool
kernel_turn_apart(const Nest *n, int turn, i64 bits)
{
    const Loop *l = &n->loop[n->turn[turn].loop];
    i64 per = bits < 8 ? 8 / bits : 1, moved;
    return l->ds % per == 0 || (int_mul(l->ds, n->turn[turn].step, &moved) &&
                                moved % per == 0 && l->n % per == 0);
}
