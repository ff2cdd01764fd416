/* Searches for padding that follows loops of nests: for kernels of processors, which continue
 * their rows (plan_merge.c), and for blocks of devices, which may continue any loop, also of
 * several nests at once (compiler/gpu/grid_cover.c).
 *
 * The search is one, its result is not, as each answer changes the next question: a nest takes one
 * fill, if its kernel for both is faster; a box takes fills until none follows, each along the loop
 * that the last one made longer, and a fill takes fills before a copy takes it.  Boxes are of several
 * nests already (compiler/gpu/grid_join.c), and are made of all nests, also of fills that a copy of the
 * processor writes. */
#include "plan.h"
#include "plan_parts.h"

static int
add_loop(Footprint *s, const Ex *n, const Ex *ds, i64 apart)
{
    int i = s->n++;
    for (; i > 0 && s->loop[i - 1].apart < apart; i--)
        s->loop[i] = s->loop[i - 1];
    s->loop[i].n = n;
    s->loop[i].ds = ds;
    s->loop[i].apart = apart;
    return i;
}

bool
footprint_add(Footprint *s, bool residual, const Ex *n, const Ex *ds, i64 apart)
{
    if (residual || apart < 1 || ds->f.min < 0)
        return false;
    add_loop(s, n, ds, apart);
    return true;
}

/* The same places by the fewest loops, so that shapes can be compared.  A nest's own loops are
 * fused in plan_nest.c, in both addresses and either direction. */
static Footprint
normal_form(Scalars *scalars, const Footprint *s)
{
    Footprint f = {.n = 0};
    for (int i = 0; i < s->n; i++) {
        const Ex *n = s->loop[i].n, *ds = s->loop[i].ds;
        if (ex_is(n, 1))
            continue;
        if (f.n && stride_goes_on(scalars, ds, n, f.loop[f.n - 1].ds, 1)) {
            f.loop[f.n - 1].n = scalar_times(scalars, f.loop[f.n - 1].n, n);
            f.loop[f.n - 1].ds = ds;
        } else {
            f.loop[f.n++] = s->loop[i];
        }
    }
    return f;
}

/* True if s with n iterations of loop k has the same places as the other shape, without
 * the starts. */
static bool
footprint_is(Scalars *scalars, const Footprint *s, int k, const Ex *n, const Footprint *other)
{
    Footprint a = *s, b = normal_form(scalars, other);
    a.loop[k].n = n;
    a = normal_form(scalars, &a);
    for (int i = 0; i < a.n && i < b.n; i++)
        if (a.loop[i].n != b.loop[i].n || a.loop[i].ds != b.loop[i].ds)
            return false;
    return a.n == b.n;
}

/* The estimated iterations of all loops, without loop `skip`; INF if they do not fit. */
static i64
nominal(Scalars *scalars, const Footprint *s, int skip)
{
    i64 all = 1;
    for (int i = 0; i < s->n; i++)
        if (i != skip && !int_mul(all, scalar_nominal(scalars, s->loop[i].n), &all))
            return INF;
    return all;
}

/* Numbers of iterations that cannot be right by the estimates are not tried: products of
 * such become scalars, and may not fit 64 bits. */
static const Ex *
footprint_follows(Scalars *scalars, const Footprint *s, int k, const Footprint *padding)
{
    i64 all = nominal(scalars, padding, -1), each = nominal(scalars, s, k);
    const Ex *more = ex_const(scalars->e, all / each);
    if (all % each || !stride_goes_on(scalars, s->loop[k].ds, s->loop[k].n,
                                      ex_sub(scalars->e, padding->start, s->start), 1))
        return NULL;
    for (int i = 0; i < padding->n && !footprint_is(scalars, s, k, more, padding); i++)
        if (scalar_nominal(scalars, padding->loop[i].n) == all / each)
            more = padding->loop[i].n;
    return footprint_is(scalars, s, k, more, padding) ? more : NULL;
}

bool
nest_same_needs(const Nest *a, const Nest *b, const Ex **more)
{
    int n = a->nneeded - a->nnarrow, m = b->nneeded - b->nnarrow, i = 0;
    const Ex *other = NULL;
    for (int k = 0; k < m; k++) {
        if (i < n && a->needed[i] == b->needed[k]) {
            i++;
            continue;
        }
        if (!more || other)
            return false;
        other = b->needed[k];
    }
    if (more)
        *more = other;
    return i == n;
}

/* The additional iterations with which loop k of nest n, which writes the places s, also writes
 * the places `its` of nest f, at every shape and however the loops of both are fused; NULL: there
 * are none, or f runs at other shapes. */
static const Ex *
followed(Scalars *scalars, const Nest *n, const Footprint *s, int k, const Nest *f, const Footprint *its)
{
    const Ex *count;
    if (!nest_same_needs(n, f, &count))
        return NULL;
    const Ex *more = footprint_follows(scalars, s, k, its);
    return count && more != count ? NULL : more;
}

/* The item that may be extended, and the places that it writes to. */
typedef struct {
    const FollowSearch *q;
    Scalars *scalars;
    int item;
    Footprint s;
} Follower;

/* Extends the item along loop k by item f, which has the places `its`. */
static bool
extend(const Follower *g, const Footprint *s, int k, int f, const Footprint *its)
{
    const FollowSearch *q = g->q;
    const Nest *n = q->nest(q->arg, g->item);
    const Ex *more = followed(g->scalars, n, s, k, q->nest(q->arg, f), its);
    return more && q->take(q->arg, g->item, s, k, f, more);
}

/* x is y + 1.  Expressions for all pairs of nests would take more memory than a plan. */
static bool
is_next(const Ex *x, const Ex *y)
{
    bool same = x->n == y->n && x->base == y->base + 1;
    for (int i = 0; i < x->n && same; i++)
        same = x->t[i].atom == y->t[i].atom && x->t[i].coef == y->t[i].coef;
    return same;
}

/* The same along a new loop of one iteration, whose stride is the distance of the two. */
static bool
extend_by_loop(const Follower *g, int f, const Footprint *its)
{
    Exprs *e = g->scalars->e;
    Footprint s = g->s;
    const Ex *apart = ex_sub(e, its->start, s.start);
    i64 ds = scalar_nominal(g->scalars, apart);
    return ds > 0 && s.n < MAX_LOOPS &&
           extend(g, &s, add_loop(&s, ex_const(e, 1), apart, ds), f, its);
}

static bool
follow(const Follower *g, int f)
{
    const FollowSearch *q = g->q;
    Footprint its;
    if (!q->is_padding(q->arg, f) || !q->footprint(q->arg, f, &its))
        return false;
    for (int k = q->rows && g->s.n ? g->s.n - 1 : 0; k < g->s.n; k++)
        if (extend(g, &g->s, k, f, &its))
            return true;
    return (!q->rows || is_next(its.start, g->s.start)) && extend_by_loop(g, f, &its);
}

/* Extends an item by the first one that follows it. */
static bool
follow_any(const FollowSearch *q, Scalars *scalars, int item)
{
    Follower g = {.q = q, .scalars = scalars, .item = item};
    if (!q->takes(q->arg, item) || !q->footprint(q->arg, item, &g.s))
        return false;
    for (int f = 0; f < q->n; f++)
        if (f != item && follow(&g, f))
            return true;
    return false;
}

void
follow_search(const FollowSearch *q, Scalars *scalars)
{
    for (int i = 0; i < q->n; i++)
        if (follow_any(q, scalars, i) && !q->rows)
            i = -1;
}
