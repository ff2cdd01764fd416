/* A nest of padding that follows the rows of a copy: one pass writes both.  Each stays in
 * the plan as what it covers; the copy's kernel does the work. */
#include "plan.h"

/* The destination of a nest but for the loop by one element, as few loops. */
typedef struct {
    int n;
    struct { i64 n, ds; } loop[MAX_LOOPS];
    i64 run;              /* of that loop; 1: there is none */
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

/* False where an address is not base + loops that go up. */
static bool
shape_of(const Nest *n, Shape *s)
{
    bool used[MAX_LOOPS] = {false};
    *s = (Shape){.run = 1};
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].rest || n->loop[i].ds < 1)
            return false;
    for (int i = outermost(n, used); i >= 0; i = outermost(n, used)) {
        const Loop *l = &n->loop[i];
        i64 span;
        used[i] = true;
        if (l->ds == 1)
            s->run = l->n;
        else if (s->n && int_mul(l->n, l->ds, &span) && s->loop[s->n - 1].ds == span) {
            s->loop[s->n - 1].n *= l->n;
            s->loop[s->n - 1].ds = l->ds;
        } else {
            s->loop[s->n].n = l->n;
            s->loop[s->n++].ds = l->ds;
        }
    }
    return ex_is_const(n->dst);
}

/* The padding f follows c's rows; *pad is how long it is. */
static bool
follows(const Nest *f, const Nest *c, const Shape *to, i64 *pad)
{
    Shape s;
    if (!shape_of(f, &s) || f->dst->base != c->dst->base + to->run || s.n != to->n)
        return false;
    for (int i = 0; i < s.n; i++)
        if (s.loop[i].n != to->loop[i].n || s.loop[i].ds != to->loop[i].ds)
            return false;
    *pad = s.run;
    return true;
}

void
plan_merge(Plan *p)
{
    int bits = p->dst->dtype->bits;
    for (int i = 0; i < p->n; i++) {
        Nest *c = &p->nest[i];
        Shape s;
        if (c->kind != NEST_COPY || bits < 8 || !shape_of(c, &s) || s.run == 1)
            continue;
        for (int j = 0; j < p->n && !c->pad; j++) {
            Nest *f = &p->nest[j];
            if (f->kind != NEST_FILL || f->merged || !follows(f, c, &s, &c->pad))
                continue;
            f->merged = kernel_pick(c, bits);
            c->pad = f->merged ? c->pad : 0;
        }
    }
}
