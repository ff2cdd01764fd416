/* Merges a nest that fills padding into the copy whose rows the padding follows, so that
 * one pass writes both.  Both nests stay in the plan with their boxes; the kernel of the
 * copy does the work. */
#include "plan_parts.h"

/* The destination of a nest: its loops, fused where possible, without the loop of
 * stride 1. */
typedef struct {
    int n;
    struct { const Ex *n, *ds; } loop[MAX_LOOPS];
    const Ex *run;        /* iterations of the loop of stride 1; 1 if there is none */
} Shape;

static int
outermost(const Nest *n, const bool *used)
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++)
        if (!used[i] && (best < 0 || n->loop[i].ds > n->loop[best].ds))
            best = i;
    return best;
}

/* The shape of n.  False if a loop is in the rest or has a stride that is never above 0. */
static bool
shape_of(const Plan *p, const Nest *n, Shape *s)
{
    bool used[MAX_LOOPS] = {false};
    *s = (Shape){.run = ex_const(p->e, 1)};
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].rest || n->loop[i].ex.ds->f.max < 1)
            return false;
    for (int i = outermost(n, used); i >= 0; i = outermost(n, used)) {
        const Loop *l = &n->loop[i];
        used[i] = true;
        if (ex_is(l->ex.ds, 1))
            s->run = l->ex.n;
        else if (s->n && s->loop[s->n - 1].ds == scalar_times(p->scalars, l->ex.n,
                                                              l->ex.ds)) {
            s->loop[s->n - 1].n = scalar_times(p->scalars, s->loop[s->n - 1].n, l->ex.n);
            s->loop[s->n - 1].ds = l->ex.ds;
        } else {
            s->loop[s->n].n = l->ex.n;
            s->loop[s->n++].ds = l->ex.ds;
        }
    }
    return true;
}

/* True if both nests run at the same shapes. */
static bool
same_needs(const Nest *a, const Nest *b)
{
    for (int i = 0; i < a->nneeded && a->nneeded == b->nneeded; i++)
        if (a->needed[i] != b->needed[i])
            return false;
    return a->nneeded == b->nneeded;
}

/* True if padding f follows the rows of c with the same length at every shape; sets *pad
 * to that length. */
static bool
follows(const Plan *p, const Nest *f, const Nest *c, const Shape *to, i64 *pad)
{
    Shape s;
    if (!same_needs(f, c) || !shape_of(p, f, &s) || !ex_is_const(s.run) || s.n != to->n ||
        f->dst != ex_add(p->e, c->dst, to->run))
        return false;
    for (int i = 0; i < s.n; i++)
        if (s.loop[i].n != to->loop[i].n || s.loop[i].ds != to->loop[i].ds)
            return false;
    *pad = s.run->base;
    return true;
}

void
plan_merge(Plan *p)
{
    int bits = p->dst->dtype->bits;
    for (int i = 0; i < p->n; i++) {
        Nest *c = &p->nest[i];
        Shape s;
        if (c->kind != NEST_COPY || bits < 8 || !shape_of(p, c, &s) || ex_is(s.run, 1))
            continue;
        for (int j = 0; j < p->n && !c->pad; j++) {
            Nest *f = &p->nest[j];
            if (f->kind != NEST_FILL || f->merged || !follows(p, f, c, &s, &c->pad))
                continue;
            f->merged = nest_schedule(p, c);
            c->pad = f->merged ? c->pad : 0;
            c->padding = j;
        }
    }
}
