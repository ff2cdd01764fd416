/* Evaluates a plan with extents left to run time at one shape.  The result has numbers
 * only and does what the code does at that shape, so all checks of plans apply to it. */
#include <string.h>

#include "plan_parts.h"

/* Why the plan does not support the strides at run time; NULL: it does. */
static const char *
strides_flaw(Arena *a, const Plan *p, const i64 *extent)
{
    const Scalars *s = p->scalars;
    int first = s->nextents - s->nstrides;
    for (int i = first; i < s->nextents; i++) {
        i64 least = plan_least(p, i);
        if (extent[i] < least || extent[i] > s->most[i])
            return arena_printf(a, "%s %s is %lld: %lld to %lld", i == s->fill ? "fill"
                                : i < scalar_first_stride(s) ? "extent" : "stride",
                                p->name[i], (long long)extent[i], (long long)least,
                                (long long)s->most[i]);
    }
    const i64 *val = plan_tests(p) ? plan_values(a, p, extent) : NULL;
    const char *flaw = val ? plan_tests_flaw(a, p, val) : NULL;
    return val && !flaw ? plan_strides_flaw(a, p, val) : flaw;
}

const char *
plan_extents(Arena *a, const Plan *p, const i64 *shape, i64 *extent)
{
    int d = plan_fill_extents(p, shape, extent), i = d < 0 ? -1 : p->given[d].scalar;
    if (d < 0)
        return strides_flaw(a, p, extent);
    const Dim *dim = &p->src->dim[d];
    long long n = shape[d];
    if (i < 0)
        return arena_printf(a, "extent of %s is %lld: the plan is for %lld", dim->name, n,
                            (long long)p->given[d].n);
    if (n < 0 || n > p->scalars->most[i])
        return arena_printf(a, "extent of %s is %lld: 0 to %lld", dim->name, n,
                            (long long)p->scalars->most[i]);
    return arena_printf(a, "extents of %s are %lld and %lld: the plan has one for both",
                        p->name[i], (long long)extent[i], n);
}

typedef struct {
    const Plan *from;
    Plan *to;
    Arena *arena;
    i64 *val;
    bool ok;
} ShapeMaker;

static i64
number(ShapeMaker *m, const Ex *x)
{
    i64 v = 0;
    m->ok &= ex_eval(x, m->val, &v);
    return v;
}

static const Ex *
constant(ShapeMaker *m, const Ex *x)
{
    return ex_const(m->from->e, number(m, x));
}

/* The piece q at this shape; false if a loop has no iterations. */
static bool
piece_at(ShapeMaker *m, const Piece *q, Piece *out, int *part)
{
    Exprs *e = m->from->e;
    PieceLoop *loop = arena_array(m->arena, PieceLoop, q->nloops);
    *out = (Piece){.start = constant(m, q->start), .from = constant(m, q->from),
                   .to = q->to ? constant(m, q->to) : NULL, .pad = q->pad,
                   .mixed = q->mixed, .loop = loop};
    for (int i = 0; i < q->nloops; i++) {
        const PieceLoop *l = &q->loop[i];
        i64 n = number(m, l->n), first = number(m, l->first);
        if (n == 0)
            return false;
        out->start = ex_add(e, out->start, ex_const(e, l->step * first));
        part[i] = out->nloops;
        if (n > 1)
            loop[out->nloops++] = (PieceLoop){l->step, n - 1, ex_const(e, 0),
                                              ex_const(e, n), l->level};
    }
    return true;
}

/* x with the scalars replaced by their values and the loop variables by those of the new
 * nest. */
static const Ex *
address_at(ShapeMaker *m, const Nest *from, const Ex *x, const int *var)
{
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(m->from->e));
    for (int i = 0; i < m->from->scalars->n; i++) {
        int s = m->from->scalars->scalar[i].var;
        to[s] = ex_const(m->from->e, m->val[s]);
    }
    for (int i = 0; i < from->nloops; i++)
        if (var[i] < 0)
            to[from->loop[i].var] = ex_const(m->from->e, 0);
    return ex_subst(m->from->e, x, to);
}

/* The loops with more than one iteration.  part[d] has the numbers of the loops of piece d at this
 * shape.  Sets var[i] to the variable of loop i; -1: it is 0. */
static void
loops_at(ShapeMaker *m, const Nest *from, int part[][MAX_LOOPS], Nest *to, int *var)
{
    for (int i = 0; i < from->nloops; i++) {
        Loop l = from->loop[i];
        l.ex.n = constant(m, l.ex.n);
        l.ex.ss = constant(m, l.ex.ss);
        l.ex.ds = constant(m, l.ex.ds);
        l.n = l.most = l.ex.n->base;
        l.ss = l.ex.ss->base;
        l.ds = l.ex.ds->base;
        m->ok &= int_mul(to->elements, l.n, &to->elements);
        var[i] = l.n > 1 ? l.var : -1;
        if (l.n < 2)
            continue;
        l.part = (signed char)part[l.dim][l.part];
        int inner = i - (from->nloops - from->inner);
        to->inner += inner >= 0;
        to->table += inner >= 0 && inner < from->table;
        to->loop[to->nloops++] = l;
    }
}

static void
lookups_at(ShapeMaker *m, const Nest *from, const int *var, Nest *to)
{
    for (int s = 0; s < 2; s++) {
        NestLookups u = {.number = {0}};
        for (int i = 0; from->at[s][i]; i++) {
            u.at[i] = address_at(m, from, from->at[s][i], var);
            u.number[i] = from->number[s][i];
        }
        nest_set_lookups(to, s, &u);
    }
}

/* The nest at this shape; false if it does nothing there. */
static bool
nest_at(ShapeMaker *m, const Nest *from, Nest *to)
{
    int rank = m->to->box.rank, part[MAX_RANK][MAX_LOOPS], var[MAX_LOOPS];
    const Piece **piece = arena_array(m->arena, const Piece *, rank);
    *to = (Nest){.kind = from->kind, .e = m->from->e, .kernel = from->kernel, .piece = piece,
                 .elements = 1, .split = -1};
    for (int i = 0; i < from->nneeded; i++)
        if (number(m, from->needed[i]) <= 0)
            return false;
    for (int d = 0; d < rank; d++) {
        Piece *q = arena_new(m->arena, Piece);
        piece[d] = q;
        if (!piece_at(m, from->piece[d], q, part[d]))
            return false;
    }
    loops_at(m, from, part, to, var);
    to->src = address_at(m, from, from->src, var);
    to->dst = address_at(m, from, from->dst, var);
    lookups_at(m, from, var, to);
    return true;
}

/* The nests have the variables of the lookups of `from`. */
static void
same_variables(const Layout *from, Layout *to)
{
    for (int i = 0; i < to->nlookups; i++)
        to->lookup[i].var = from->lookup[i].var;
}

Plan *
plan_at_shape(const Plan *p, Layout *src, Layout *dst, const i64 *extent)
{
    Arena *a = ex_arena(dst->e);
    Plan *q = arena_new(a, Plan);
    i64 src_bytes, dst_bytes;
    int none[MAX_RANK];
    Nest n;
    for (int d = 0; d < MAX_RANK; d++)
        none[d] = -1;
    ShapeMaker m = {p, q, a, plan_values(a, p, extent), true};
    *q = (Plan){.src = src, .dst = dst, .machine = p->machine, .e = p->e,
                .scalars = scalars_new(p->e), .split = p->split, .at_shape = true};
    q->from = layout_sizes(q->scalars, src, none);
    q->to = layout_sizes(q->scalars, dst, none);
    same_variables(p->src, src);
    same_variables(p->dst, dst);
    memcpy(q->map, p->map, sizeof q->map);
    for (int d = 0; d < src->rank; d++)
        q->given[d] = (PlanExtent){-1, src->dim[d].n, p->given[d].joined};
    plan_set_arrays(q);
    plan_dims(q);
    q->nest = arena_array(a, Nest *, p->n);
    bool right = m.val && plan_bytes_at(p, m.val, &src_bytes, &dst_bytes) &&
                 src_bytes == layout_bytes(src) && dst_bytes == layout_bytes(dst);
    for (int i = 0; i < p->n && right; i++)
        if (nest_at(&m, p->nest[i], &n))
            q->nest[q->n++] = nest_keep(a, &n);
    if (!right || !m.ok)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "the plan's sizes at this shape are not those of its layouts");
    return q;
}
