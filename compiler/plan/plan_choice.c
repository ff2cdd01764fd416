/* Lists all schedules of a nest, for explain and tuning, and picks one by name. */
#include <string.h>

#include "plan_parts.h"

static bool
same_loop(const Loop *a, const Loop *b)
{
    return a->ex.n == b->ex.n && a->ex.ss == b->ex.ss && a->ex.ds == b->ex.ds &&
           a->residual == b->residual;
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
    if (m == MAX_CHOICES && out[--m].cost <= n->cost)
        return MAX_CHOICES;
    int at = m;
    for (; at > 1 && out[at - 1].cost > n->cost; at--)
        nest_copy(&out[at], &out[at - 1]);
    nest_copy(&out[at], n);
    return m + 1;
}

int
nest_choices(const Plan *p, const Nest *n, Nest *out)
{
    int m = 1;
    Nest sorted;
    nest_copy(&out[0], n);
    nest_copy(&sorted, n);
    nest_sort(&sorted);
    for (int i = 0; i < nkernels && !n->merged; i++) {
        Nest with, one;
        if (!kernel_use(&sorted, &kernels[i], p->dst->dtype->bits, &with))
            continue;
        for (int k = 0; plan_candidate(p, &with, k, &one); k++) {
            one.split = nest_share(p, &one);
            m = insert(out, m, &one);
        }
    }
    return m;
}

/* The cost where all scalars are val: by the counts and strides there. */
static double
cost_at(const Plan *at, const Nest *n, const i64 *val)
{
    Nest there;
    nest_copy(&there, n);
    there.elements = nest_elements_at(n, val);
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &there.loop[i];
        if (!ex_eval(l->ex.n, val, &l->n) || !ex_eval(l->ex.ss, val, &l->ss) ||
            !ex_eval(l->ex.ds, val, &l->ds))
            return n->cost;
    }
    return nest_cost(at, &there);
}

int
nest_choices_at(const Plan *p, const Nest *n, const Plan *at, const i64 *val, Nest *out)
{
    Nest *all = arena_array(ex_arena(at->e), Nest, MAX_CHOICES);
    int n_all = nest_choices(p, n, all), m = 1;
    for (int i = 0; i < n_all; i++)
        all[i].cost = cost_at(at, &all[i], val);
    out[0] = all[0];
    for (int i = 1; i < n_all; i++)
        m = insert(out, m, &all[i]);
    return m;
}

bool
plan_pick(Plan *p, const Pick *pick)
{
    if (pick->nest < 0 || pick->nest >= p->n || p->nest[pick->nest]->merged)
        return false;
    Nest *n = p->nest[pick->nest];
    Nest *choice = arena_array(ex_arena(p->e), Nest, MAX_CHOICES);
    int m = nest_choices(p, n, choice), i = 0;
    while (i < m && (strcmp(choice[i].kernel->name, pick->kernel) ||
                     strcmp(choice[i].order, pick->order)))
        i++;
    if (i < m) {
        nest_copy(n, &choice[i]);
        n->picked = true;
    }
    arena_drop(ex_arena(p->e), choice, MAX_CHOICES * sizeof *choice);
    return i < m;
}

static i64
weight(const Plan *p, int nest, const i64 *val)
{
    const Nest *n = p->nest[nest];
    return val ? nest_elements_at(n, val) : n->elements;
}

int
plan_weighty(const Plan *p, const i64 *val, int nest[MAX_WEIGHTY])
{
    i64 all = 0;
    int m = 0;
    for (int i = 0; i < p->n; i++)
        all += weight(p, i, val);
    for (int i = 0; i < p->n; i++) {
        i64 own = weight(p, i, val);
        int at = m;
        if (p->nest[i]->merged || own == 0)
            continue;
        while (at > 0 && weight(p, nest[at - 1], val) < own)
            at--;
        if (at == MAX_WEIGHTY)
            continue;
        m += m < MAX_WEIGHTY;
        for (int k = m - 1; k > at; k--)
            nest[k] = nest[k - 1];
        nest[at] = i;
    }
    while (m > 1 && weight(p, nest[m - 1], val) < all / 8)
        m--;
    return m;
}
