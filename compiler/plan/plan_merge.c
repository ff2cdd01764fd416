/* Merges a nest that fills padding into the copy whose rows the padding follows, so that
 * one pass writes both.  Both nests stay in the plan with their boxes; the kernel of the
 * copy does the work.
 *
 * plan_follow.c searches.  Here a nest of which kernels write rows is continued along these, by
 * one nest; device kernels have rules of their own (compiler/gpu/grid_cover.c). */
#include "plan_parts.h"

/* True if c writes its rows whenever f, whose padding follows them, writes: c is for shapes with
 * at least two columns, and f then for these only; or there is no storage without columns. */
static bool
writes_with(const Plan *p, const Nest *c, const Ex *cols)
{
    const Family *f = c->kernel->family;
    bool few = c->variant && f->narrow.of && f->narrow.role == COL;
    return few || ex_is_const(cols) || plan_empties(p, cols);
}

/* An estimate that agrees with that of the columns of c, its last loop: padding mostly ends where
 * the next row of the places `to` begins. */
static i64
estimate(const Plan *p, const Nest *c, const Footprint *to, const Ex *more)
{
    i64 gap = to->n > 1 ? to->loop[to->n - 2].apart - c->loop[c->nloops - 1].n : 0;
    return gap > 0 && gap <= more->f.max ? gap : scalar_nominal(p->scalars, more);
}

/* Fills cost about a third of what the model says where a cache holds the lines.  Kernels that gain from
 * lines written whole (`pads` is 1 and more) are compared with what it says. */
static double
fill_cost(const Plan *p, const Nest *f, const Family *with)
{
    static const double CACHED = 0.3;
    return with->pads < 1 && !plan_may_have(p, STREAM_BYTES) ? CACHED * f->cost : f->cost;
}

/* The loop along which padding follows single elements. */
static Loop
loop_of_one(Exprs *e)
{
    const Ex *one = ex_const(e, 1);
    const int var = ex_loop_var(e, "one", 1);
    return (Loop){.name = ex_var_name(e, var), .var = var, .n = 1, .ss = 1, .ds = 1, .most = 1,
                  .ex = {one, one, one}};
}

/* Gives c a kernel that writes the padding of f too.  False, and nothing changes, if there is
 * none, or if both take less time one after the other: of the kernels that write padding some are
 * for few columns or for bytes that are near each other.  Family.pads has what the model does not
 * know: that copies then write no lines in parts is a gain, and that of shuffle takes longer. */
static bool
take_padding(Plan *p, int i, const Nest *f, const Footprint *to, const Ex *more)
{
    Nest with;
    const Nest *c = p->nest[i];
    nest_copy(&with, c);
    if (to->n > with.nloops)
        with.loop[with.nloops++] = loop_of_one(p->e);
    with.pad.ex = more;
    with.pad.n = ex_is_const(more) ? more->base : estimate(p, &with, to, more);
    if (!nest_schedule(p, &with) || !with.pad.n ||
        with.cost > with.kernel->family->pads *
                    (c->cost + fill_cost(p, f, with.kernel->family)))
        return false;
    p->nest[i] = nest_keep(ex_arena(p->e), &with);
    return true;
}

/* Marks nest j as done by c.  If c is for narrow counts only, the nest stays for the other
 * shapes, and a variant of it is what c does. */
static void
mark_merged(Plan *p, Nest *c, int j)
{
    Nest with;
    c->padding = c->variant ? p->n : j;
    if (!c->variant) {
        p->nest[j]->merged = true;
        return;
    }
    const Ex *narrow = c->needed[c->nneeded - 1];
    nest_copy(&with, p->nest[j]);
    with.variant = with.merged = true;
    nest_need(p, &with, narrow, c->narrow);
    nest_need(p, p->nest[j], ex_sub(p->e, ex_const(p->e, 1), narrow), c->narrow);
    plan_add(p, &with);
}

static const Nest *
nest_of(void *arg, int i)
{
    const Plan *p = arg;
    return p->nest[i];
}

static bool
takes(void *arg, int i)
{
    const Plan *p = arg;
    const Nest *c = p->nest[i];
    return c->kind == NEST_COPY && c->nnarrow <= c->variant && !c->pad.n &&
           (!c->variant || p->n < NESTS_MAX);
}

static bool
is_padding(void *arg, int f)
{
    const Nest *n = nest_of(arg, f);
    return n->kind == NEST_FILL && !n->merged && !n->nnarrow;
}

static bool
footprint_of(void *arg, int i, Footprint *s)
{
    const Nest *n = nest_of(arg, i);
    *s = (Footprint){.start = n->dst};
    for (int k = 0; k < n->nloops; k++) {
        const Loop *l = &n->loop[k];
        if (!footprint_add(s, l->residual, l->ex.n, l->ex.ds, l->ds))
            return false;
    }
    return true;
}

static bool
take(void *arg, int i, const Footprint *s, int k, int f, const Ex *more)
{
    Plan *p = arg;
    if (!ex_is(s->loop[k].ds, 1) || !writes_with(p, p->nest[i], s->loop[k].n) ||
        !take_padding(p, i, p->nest[f], s, more))
        return false;
    mark_merged(p, p->nest[i], f);
    return true;
}

void
plan_merge(Plan *p)
{
    const FollowSearch q = {p, p->n, nest_of, takes, is_padding, footprint_of, take, true};
    if (p->dst->dtype->bits >= 8)
        follow_search(&q, p->scalars);
}
