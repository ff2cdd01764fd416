/* Quantities that a plan with extents left to run time computes from a shape: sizes,
 * whether stores go past the caches, the conditions of nests, the loop that threads
 * share. */
#include "plan_parts.h"

const Ex *
plan_bytes(const Plan *p, const Sizes *z)
{
    i64 bits = p->dst->dtype->bits;
    return bits >= 8 ? ex_scale(p->e, z->size, bits / 8)
                     : scalar_ceil(p->scalars, z->size, 8 / bits);
}

const Ex *
plan_streams(const Plan *p)
{
    if (ex_is_const(p->to->size))
        return ex_const(p->e, 1);
    const Ex *many = ex_div(p->e, plan_bytes(p, p->to), STREAM_BYTES);
    return scalar_of(p->scalars, ex_min(p->e, many, ex_const(p->e, 1)), 1);
}

/* Whether an entry of the destination has 0 slots if an extent is 0, at the nominal values of
 * the others: slots do not decrease when those grow. */
static bool
extent_empties(const Plan *p, int scalar)
{
    const Scalars *s = p->scalars;
    const Sizes *r = p->to;
    Arena *a = ex_arena(p->e);
    i64 extent[MAX_RANK], slots, *val = arena_array(a, i64, ex_nvars(p->e));
    for (int k = 0; k < s->nextents; k++)
        extent[k] = k == scalar ? 0 : s->nominal[s->scalar[k].var];
    bool known = scalars_eval(s, extent, val), none = false;
    for (int k = 0; k < r->l->nentry && known; k++)
        none |= ex_eval(r->slots[k], val, &slots) && slots == 0;
    arena_drop(a, val, (size_t)ex_nvars(p->e) * sizeof *val);
    return none;
}

/* Of a multiple of an extent, or of a product of extents. */
bool
plan_empties(const Plan *p, const Ex *x)
{
    const Scalars *s = p->scalars;
    bool all = x->n == 1 && x->base == 0 && x->t[0].coef > 0;
    for (int i = 0; i < s->n && all; i++) {
        const Scalar *f = &s->scalar[i];
        if (f->var != x->t[0].atom->var)
            continue;
        for (int k = 0; k < f->nfactors; k++)
            all &= plan_empties(p, scalar_ex(s, f->factor[k]));
        return all && (f->nfactors || (i < s->nextents && extent_empties(p, i)));
    }
    return false;
}

static int
add_need(const Plan *p, const Ex *x, const Ex **needs, int n)
{
    if (ex_is_const(x) || plan_empties(p, x))
        return n;
    for (int i = 0; i < n; i++)
        if (needs[i] == x)
            return n;
    needs[n] = x;
    return n + 1;
}

int
nest_needs(const Plan *p, const Nest *nest, const Ex **needs)
{
    int n = 0;
    for (int i = 0; i < nest->nneeded; i++)
        n = add_need(p, nest->needed[i], needs, n);
    for (int i = nest->nloops - nest->inner; i < nest->nloops; i++)
        n = add_need(p, nest->loop[i].ex.n, needs, n);
    return n;
}

int
nest_second(const Plan *p, const Nest *n)
{
    int best = -1;
    i64 most = 1;
    if (n->split < 0 || ex_is_const(n->loop[n->outer[n->split].loop].ex.n))
        return -1;
    for (int k = n->split + 1; k < n->nouter; k++) {
        i64 steps = int_ceil_div(n->loop[n->outer[k].loop].n, n->outer[k].step);
        if (steps > most && nest_outer_apart(n, k, p->dst->dtype->bits)) {
            most = steps;
            best = k;
        }
    }
    return n->outer[n->split].step == 1 ? best : -1;
}
