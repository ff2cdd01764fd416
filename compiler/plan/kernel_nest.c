/* Helpers with which the families of kernels inspect a nest. */
#include "kernel_family.h"

int
kernel_unit_loop(const Nest *n, bool source)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (!n->loop[i].residual && (source ? n->loop[i].ss : n->loop[i].ds) == 1)
            return i;
    return -1;
}

int
kernel_run_loop(const Nest *n)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (!n->loop[i].residual && n->loop[i].ss == 1 && n->loop[i].ds == 1)
            return i;
    return -1;
}

/* Loops are sorted by descending destination stride. */
int
kernel_last_loop(const Nest *n, int not)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (i != not && !n->loop[i].residual)
            return i;
    return -1;
}

i64
kernel_remainder(const Ex *x, i64 k)
{
    if (k == 1)
        return 0;
    if (x->f.mod == 0)
        return (x->base % k + k) % k;
    return x->f.mod % k ? -1 : x->f.rem % k;
}

bool
kernel_multiple(const Ex *x, i64 k)
{
    return kernel_remainder(x, k) == 0;
}

bool
kernel_terms_multiple(const Ex *x, i64 k)
{
    bool whole = x->base % k == 0;
    for (int i = 0; i < x->n; i++)
        whole &= x->t[i].coef % k == 0;
    return whole;
}

bool
kernel_is_known(const Loop *l)
{
    return ex_is_const(l->ex.n) && ex_is_const(l->ex.ss) && ex_is_const(l->ex.ds);
}

bool
kernel_knows(const Nest *n)
{
    for (int i = 0; i < n->nloops; i++)
        if (!kernel_is_known(&n->loop[i]))
            return false;
    return true;
}

bool
kernel_is_small(const Nest *n, int bits)
{
    enum { SMALL = 1 << 18 };
    return (double)n->elements * bits <= 8.0 * SMALL;
}

i64
kernel_fewest(const Loop *l)
{
    if (ex_is_const(l->ex.n))
        return l->n;
    i64 least = l->ex.n->f.rem == 0 ? l->ex.n->f.mod : 1;
    return least < l->fewest ? l->fewest : least;
}

i64
kernel_least(const Loop *l)
{
    return ex_is_const(l->ex.ss) && ex_is_const(l->ex.ds) ? kernel_fewest(l) : 0;
}

i64
kernel_stride(const Loop *l, int side)
{
    return side == SRC ? l->ss : l->ds;
}

const Ex *
kernel_stride_ex(const Loop *l, int side)
{
    return side == SRC ? l->ex.ss : l->ex.ds;
}

bool
kernel_continues(const Loop *l, int side, i64 run)
{
    const Ex *stride = kernel_stride_ex(l, side);
    return !l->residual && ex_is_const(stride) && int_abs(stride->base) == run;
}

int
kernel_next_loop(const Nest *n, const bool skip[MAX_LOOPS], int side, i64 run)
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (!skip[i] && kernel_continues(l, side, run) &&
            kernel_fewest(l) + kernel_padded(n, l) > 1 && (best < 0 || l->var < n->loop[best].var))
            best = i;
    }
    return best;
}

double
kernel_overlap(i64 bytes)
{
    static const struct { i64 most; double odd, words; } of[] = {
        {16, 0, 0}, {32, 0.4, 0.1}, {64, 1.1, 0.2}, {128, 2.2, 0.4}};
    for (int i = 0; i < LEN(of) && (bytes & (bytes - 1)); i++)
        if (bytes <= of[i].most)
            return bytes % 8 ? of[i].odd : of[i].words;
    return 0;
}

i64
kernel_padded(const Nest *n, const Loop *l)
{
    return l->ds == 1 ? n->pad.n : 0;
}

i64
kernel_count(const Nest *n, int loop)
{
    return loop < 0 ? 1 : n->loop[loop].n;
}

void
kernel_varies(const Nest *n, const bool in[MAX_LOOPS], const Atom *a, bool *own,
              bool *other)
{
    bool inside = false;
    for (int i = 0; a->op == AT_VAR && i < n->nloops; i++)
        inside |= in[i] && n->loop[i].var == a->var;
    if (a->op == AT_VAR)
        *(inside ? own : other) = true;
    for (int j = 0; j < a->n; j++)
        for (int i = 0; i < a->x[j]->n; i++)
            kernel_varies(n, in, a->x[j]->t[i].atom, own, other);
}

static bool
is_apart(const Nest *n, const Ex *x, const bool in[MAX_LOOPS])
{
    for (int i = 0; i < x->n; i++) {
        bool own = false, other = false;
        kernel_varies(n, in, x->t[i].atom, &own, &other);
        if (own && other)
            return false;
    }
    return true;
}

const Ex *
kernel_terms(const Nest *n, const bool in[MAX_LOOPS], bool source, bool inside)
{
    const Ex *x = source ? n->src : n->dst;
    int some = 0;
    while (some < n->nloops && !in[some])
        some++;
    if (some == n->nloops)
        return inside ? ex_const(n->e, 0) : x;
    bool *of = ex_flags(n->e);
    for (int i = 0; i < n->nloops; i++)
        of[n->loop[i].var] = in[i];
    return ex_part(n->e, x, of, inside);
}

bool
kernel_apart(const Nest *n, const bool in[MAX_LOOPS])
{
    return is_apart(n, n->src, in) && is_apart(n, n->dst, in);
}

void
kernel_batch(const Nest *n, int role[ROLES])
{
    role[BATCH] = -1;
    for (int i = n->nloops - 1; i >= 0 && role[BATCH] < 0; i--)
        if (i != role[ROW] && i != role[COL] && !n->loop[i].residual)
            role[BATCH] = i;
}

bool
kernel_plane(const Nest *n, int role[ROLES])
{
    role[ROW] = kernel_unit_loop(n, true);
    role[COL] = kernel_unit_loop(n, false);
    kernel_batch(n, role);
    return role[ROW] >= 0 && role[COL] >= 0 && role[ROW] != role[COL];
}
