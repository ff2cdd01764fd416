/* Lists all schedules of a nest, for explain and tuning, and picks one by name. */
#include <string.h>

#include "plan_parts.h"

static bool
same_loop(const Loop *a, const Loop *b)
{
    return a->ex.n == b->ex.n && a->ex.ss == b->ex.ss && a->ex.ds == b->ex.ds &&
           a->rest == b->rest;
}

/* True if both make the same calls in the same order. */
static bool
same_way(const Nest *a, const Nest *b)
{
    if (a->kernel != b->kernel || a->nouter != b->nouter || a->stream != b->stream ||
        a->ahead != b->ahead || memcmp(a->role, b->role, sizeof a->role))
        return false;
    for (int i = 0; i < a->nloops; i++)
        if (!same_loop(&a->loop[i], &b->loop[i]))
            return false;
    for (int i = 0; i < a->nouter; i++)
        if (a->outer[i].loop != b->outer[i].loop || a->outer[i].step != b->outer[i].step)
            return false;
    return true;
}

/* Inserts n into the m choices; all but the first are sorted by ascending cost.  Returns
 * the new number. */
static int
insert(Nest *out, int m, const Nest *n)
{
    for (int i = 0; i < m; i++)
        if (same_way(&out[i], n))
            return m;
    if (m == MAX_CHOICES)
        return m;
    int at = m;
    for (; at > 1 && out[at - 1].cost > n->cost; at--)
        out[at] = out[at - 1];
    out[at] = *n;
    return m + 1;
}

int
nest_choices(const Plan *p, const Nest *n, Nest *out)
{
    int m = 1;
    out[0] = *n;
    for (int i = 0; i < nkernels && !n->merged; i++) {
        Nest with = *n, one;
        nest_sort(&with);
        if (!kernel_use(&with, &kernels[i], p->dst->dtype->bits))
            continue;
        for (int k = 0; plan_candidate(p, &with, k, &one); k++)
            m = insert(out, m, &one);
    }
    return m;
}

bool
plan_pick(Plan *p, const Pick *pick)
{
    if (pick->nest < 0 || pick->nest >= p->n || p->nest[pick->nest].merged)
        return false;
    Nest *n = &p->nest[pick->nest];
    Nest *choice = arena_array(ex_arena(p->e), Nest, MAX_CHOICES);
    int m = nest_choices(p, n, choice);
    for (int i = 0; i < m; i++) {
        if (strcmp(choice[i].kernel->name, pick->kernel) ||
            strcmp(choice[i].order, pick->order))
            continue;
        *n = choice[i];
        n->picked = true;
        return true;
    }
    return false;
}

int
plan_weighty(const Plan *p, int nest[MAX_WEIGHTY])
{
    i64 all = 0;
    int m = 0;
    for (int i = 0; i < p->n; i++)
        all += p->nest[i].elements;
    for (int i = 0; i < p->n; i++) {
        int at = m;
        if (p->nest[i].merged)
            continue;
        while (at > 0 && p->nest[nest[at - 1]].elements < p->nest[i].elements)
            at--;
        if (at == MAX_WEIGHTY)
            continue;
        m += m < MAX_WEIGHTY;
        for (int k = m - 1; k > at; k--)
            nest[k] = nest[k - 1];
        nest[at] = i;
    }
    while (m > 1 && p->nest[nest[m - 1]].elements < all / 8)
        m--;
    return m;
}
