/* Merges a nest that fills padding into the copy whose rows the padding follows, so that
 * one pass writes both.  Both nests stay in the plan with their boxes; the kernel of the
 * copy does the work.
 *
 * Which padding continues a loop is decided here for device kernels too (nest_followed),
 * but these merge by themselves (grid_cover.c): a block of theirs may continue any loop, with
 * an iteration count of run time, and only where elements and padding share a sector; a
 * kernel of a processor continues its rows, by a number. */
#include "plan_parts.h"

void
shape_add(Shape *s, const Ex *n, const Ex *ds, i64 apart)
{
    int i = s->n++;
    for (; i > 0 && s->loop[i - 1].apart < apart; i--)
        s->loop[i] = s->loop[i - 1];
    s->loop[i].n = n;
    s->loop[i].ds = ds;
    s->loop[i].apart = apart;
}

/* The same places by the fewest loops, so that shapes can be compared.  A nest's own loops are
 * fused in plan_nest.c, in both addresses and either direction. */
static Shape
normal_form(Scalars *scalars, const Shape *s)
{
    Shape f = {.n = 0};
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
shape_is(Scalars *scalars, const Shape *s, int k, const Ex *n, const Shape *other)
{
    Shape a = *s, b = normal_form(scalars, other);
    a.loop[k].n = n;
    a = normal_form(scalars, &a);
    for (int i = 0; i < a.n && i < b.n; i++)
        if (a.loop[i].n != b.loop[i].n || a.loop[i].ds != b.loop[i].ds)
            return false;
    return a.n == b.n;
}

/* The estimated iterations of all loops, without loop `skip`; INF if they do not fit. */
static i64
nominal(Scalars *scalars, const Shape *s, int skip)
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
shape_follows(Scalars *scalars, const Shape *s, int k, const Shape *padding)
{
    i64 all = nominal(scalars, padding, -1), each = nominal(scalars, s, k);
    const Ex *more = ex_const(scalars->e, all / each);
    if (all % each || !stride_goes_on(scalars, s->loop[k].ds, s->loop[k].n,
                                      ex_sub(scalars->e, padding->start, s->start), 1))
        return NULL;
    for (int i = 0; i < padding->n && !shape_is(scalars, s, k, more, padding); i++)
        if (scalar_nominal(scalars, padding->loop[i].n) == all / each)
            more = padding->loop[i].n;
    return shape_is(scalars, s, k, more, padding) ? more : NULL;
}

/* The places that n writes to.  False if a loop is in the residual or has a stride that is
 * never above 0. */
static bool
shape_of_nest(const Nest *n, Shape *s)
{
    *s = (Shape){.start = n->dst};
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (l->residual || l->ex.ds->f.max < 1)
            return false;
        shape_add(s, l->ex.n, l->ex.ds, l->ds);
    }
    return true;
}

/* True if the innermost loop has stride 1. */
static bool
has_run(const Shape *s)
{
    return s->n && ex_is(s->loop[s->n - 1].ds, 1);
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

const Ex *
nest_followed(Scalars *scalars, const Nest *n, const Shape *s, int k, const Nest *f,
              const Shape *its)
{
    const Ex *count;
    if (!nest_same_needs(n, f, &count))
        return NULL;
    const Ex *more = shape_follows(scalars, s, k, its);
    return count && more != count ? NULL : more;
}

/* True if c writes its rows whenever f, whose padding follows them, writes: c is for shapes with
 * at least two columns, and f then for these only; or there is no storage without columns. */
static bool
writes_with(const Plan *p, const Nest *c, const Ex *more)
{
    const Ex *cols = c->loop[c->nloops - 1].ex.n;
    const Family *f = c->kernel->family;
    bool few = c->variant && f->narrow.of && f->narrow.role == COL;
    return ex_is_const(more) || few || ex_is_const(cols) || plan_empties(p, cols);
}

/* The elements of padding that nest f writes after each row of nest c at every shape at which c
 * runs; NULL: it does not. */
static const Ex *
padding_of(const Plan *p, const Nest *c, const Shape *to, const Nest *f)
{
    Shape s;
    if (c->nnarrow > c->variant || f->nnarrow || !shape_of_nest(f, &s))
        return NULL;
    const Ex *more = nest_followed(p->scalars, c, to, to->n - 1, f, &s);
    return more && writes_with(p, c, more) ? more : NULL;
}

/* An estimate that agrees with that of the columns: padding mostly ends where the next row of
 * the places `to` begins. */
static i64
estimate(const Plan *p, const Nest *c, const Shape *to, const Ex *more)
{
    i64 gap = to->n > 1 ? to->loop[to->n - 2].apart - c->loop[c->nloops - 1].n : 0;
    return gap > 0 && gap <= more->f.max ? gap : scalar_nominal(p->scalars, more);
}

/* Gives c a kernel that writes the padding too.  False, and nothing changes, if there is none. */
static bool
take_padding(const Plan *p, Nest *c, const Shape *to, const Ex *more)
{
    c->pad.ex = more;
    c->pad.n = ex_is_const(more) ? more->base : estimate(p, c, to, more);
    if (!nest_schedule(p, c))
        c->pad.n = 0;
    return c->pad.n;
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

void
plan_merge(Plan *p)
{
    int bits = p->dst->dtype->bits;
    for (int i = 0, n = p->n; i < n; i++) {
        Nest *c = p->nest[i];
        Shape s;
        if (c->kind != NEST_COPY || bits < 8 || !shape_of_nest(c, &s) || !has_run(&s))
            continue;
        for (int j = 0; j < n && !c->pad.n && (!c->variant || p->n < NESTS_MAX); j++) {
            Nest *f = p->nest[j];
            const Ex *more = f->kind == NEST_FILL && !f->merged ? padding_of(p, c, &s, f) : NULL;
            if (more && take_padding(p, c, &s, more))
                mark_merged(p, c, j);
        }
    }
}
