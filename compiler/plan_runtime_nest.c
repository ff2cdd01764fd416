/* One box of a plan with extents left to run time: as plan_nest.c, where strides and
 * counts are expressions over scalars. */
#include <string.h>

#include "plan_runtime.h"

typedef struct {
    Plan *p;
    Exprs *e;
    Scalars *s;
    Nest *n;
    struct NestNow *now;
    const Ex *base[2], *rest[2];   /* of the source, the destination */
} Maker;

enum { SRC, DST };

const Ex *
runtime_times(Exprs *e, const Ex *x, const Ex *stride)
{
    const Ex *sum = ex_scale(e, x, stride->base);
    for (int i = 0; i < stride->n; i++)
        sum = ex_add(e, sum, ex_scale(e, ex_mul(e, x, ex_of_atom(e, stride->t[i].atom)),
                                      stride->t[i].coef));
    return sum;
}

/* A loop of a piece; one that runs at most once is a condition. */
static const Ex *
add_loop(Maker *m, int dim, const RuntimePiece *q, int i)
{
    Nest *n = m->n;
    const Ex *count = q->loop[i].n, *first = q->loop[i].first;
    i64 most = q->loop[i].most;
    bool once = count->f.max <= 1;
    if (!ex_is_const(count) && (once || !ex_is_const(first)))
        m->now->needed[m->now->nneeded++] = count;
    if (once)
        return scalar_of(m->s, first, most);
    const char *name = nest_loop_name(ex_arena(m->e), n, m->p->dst->dim[dim].name,
                                      q->loop[i].level, q->nloops > 1);
    Loop *l = &n->loop[n->nloops++];
    *l = (Loop){.name = name, .var = ex_var(m->e, name, 0, most), .dim = dim, .part = i};
    l->now.n = count;
    l->now.ss = l->now.ds = ex_const(m->e, 0);
    if (ex_is_const(first))
        return ex_add(m->e, ex_of_var(m->e, l->var), first);
    /* The loop variable stands for the digit while it is simplified: first later. */
    return ex_of_var(m->e, l->var);
}

static const Ex *
coordinate(Maker *m, int dim, const RuntimePiece *q)
{
    const Ex *x = q->start;
    for (int i = 0; i < q->nloops; i++)
        x = ex_add(m->e, x, ex_scale(m->e, add_loop(m, dim, q, i), q->loop[i].step));
    return x;
}

static int
loop_of(const Nest *n, int var)
{
    int i = n->nloops - 1;
    while (i >= 0 && n->loop[i].var != var)
        i--;
    return i;
}

static bool
is_scalar(const Maker *m, const Atom *a)
{
    for (int i = 0; a->op == AT_VAR && i < m->s->n; i++)
        if (m->s->scalar[i].var == a->var)
            return true;
    return false;
}

/* Add an entry, over loops and scalars, times its stride to an address. */
static void
add_entry(Maker *m, int side, const Ex *x, const Ex *stride)
{
    const Ex *fixed = ex_const(m->e, x->base);
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        const Ex *term = ex_scale(m->e, ex_of_atom(m->e, a), x->t[i].coef);
        int at = a->op == AT_VAR ? loop_of(m->n, a->var) : -1;
        if (at >= 0) {
            Loop *l = &m->n->loop[at];
            const Ex **to = side == SRC ? &l->now.ss : &l->now.ds;
            *to = ex_add(m->e, *to, ex_scale(m->e, stride, x->t[i].coef));
        } else if (is_scalar(m, a)) {
            fixed = ex_add(m->e, fixed, term);
        } else {
            m->rest[side] = ex_add(m->e, m->rest[side],
                                   runtime_times(m->e, term, stride));
        }
    }
    m->base[side] = ex_add(m->e, m->base[side], scalar_times(m->s, fixed, stride));
}

static void
add_address(Maker *m, int side, const RuntimeLayout *r, const Ex *const *coord)
{
    const Ex **to = arena_array(ex_arena(m->e), const Ex *, ex_nvars(m->e));
    m->base[side] = m->rest[side] = ex_const(m->e, 0);
    for (int d = 0; d < r->l->rank; d++)
        to[r->l->dim[d].free] = coord[d];
    for (int i = 0; i < r->l->nentry; i++)
        add_entry(m, side, ex_subst(m->e, r->l->entry[i].written, to), r->stride[i]);
}

/* A loop that starts at `first`: the addresses move on, and it counts from 0. */
static void
move_first(Maker *m, Loop *l, const Ex *first, const Ex **to)
{
    if (ex_is_const(first))
        return;
    const Ex *fixed = scalar_of(m->s, first, INF);
    m->base[SRC] = ex_add(m->e, m->base[SRC], scalar_times(m->s, fixed, l->now.ss));
    m->base[DST] = ex_add(m->e, m->base[DST], scalar_times(m->s, fixed, l->now.ds));
    to[l->var] = ex_add(m->e, ex_of_var(m->e, l->var), fixed);
}

static void
finish_addresses(Maker *m)
{
    Nest *n = m->n;
    int nvars = ex_nvars(m->e);
    bool *used = arena_array(ex_arena(m->e), bool, nvars);
    const Ex **to = arena_array(ex_arena(m->e), const Ex *, nvars);
    ex_vars(m->rest[SRC], used);
    ex_vars(m->rest[DST], used);
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        l->rest = used[l->var];
        move_first(m, l, m->now->piece[l->dim]->loop[l->part].first, to);
    }
    n->src = ex_add(m->e, m->base[SRC], ex_subst(m->e, m->rest[SRC], to));
    n->dst = ex_add(m->e, m->base[DST], ex_subst(m->e, m->rest[DST], to));
}

static bool
follows(Maker *m, const Loop *in, const Loop *out)
{
    return !in->rest && !out->rest &&
           scalar_times(m->s, in->now.ds, in->now.n) == out->now.ds &&
           (m->n->kind == NEST_FILL ||
            scalar_times(m->s, in->now.ss, in->now.n) == out->now.ss);
}

/* As in plan_nest.c, for every shape, and loops that go the same way. */
static void
fuse(Maker *m)
{
    Nest *n = m->n;
    for (int i = 0; i < n->nloops; i++)
        for (int j = 0; j < n->nloops; j++) {
            Loop *in = &n->loop[i], *out = &n->loop[j];
            if (i == j || !follows(m, in, out))
                continue;
            in->name = arena_printf(ex_arena(m->e), "%.20s%.20s", out->name, in->name);
            in->now.n = scalar_times(m->s, in->now.n, out->now.n);
            memmove(out, out + 1, (size_t)(--n->nloops - j) * sizeof *out);
            fuse(m);
            return;
        }
}

static bool
is_unit(const Ex *stride)
{
    return ex_is_const(stride) && (stride->base == 1 || stride->base == -1);
}

/* As in plan_nest.c, where a stride is above 0 for no shape. */
static void
turn_loops(Maker *m)
{
    for (int i = 0; i < m->n->nloops; i++) {
        Loop *l = &m->n->loop[i];
        const Ex **stride[] = {&l->now.ss, &l->now.ds};
        const Ex **address[] = {&m->n->src, &m->n->dst};
        int by = m->n->kind == NEST_COPY && is_unit(l->now.ss) && !is_unit(l->now.ds)
                     ? SRC : DST;
        if (l->rest || (*stride[by])->f.max > 0 || (*stride[by])->f.min == 0)
            continue;
        const Ex *last = scalar_of(m->s, ex_sub(m->e, l->now.n, ex_const(m->e, 1)), INF);
        for (int s = 0; s < 2; s++) {
            *address[s] = ex_add(m->e, *address[s], scalar_times(m->s, last, *stride[s]));
            *stride[s] = ex_scale(m->e, *stride[s], -1);
        }
    }
}

/* The last coordinate, which padding repeats; there is one where the extent is not 0. */
static const Ex *
last(Maker *m, int d)
{
    const Ex *n = m->p->now->dst->n[d], *x = ex_sub(m->e, n, ex_const(m->e, 1));
    if (ex_is_const(n))
        return x;
    m->now->needed[m->now->nneeded++] = n;
    return scalar_named(m->s, x, INF);
}

static void
set_nominal(Maker *m)
{
    Nest *n = m->n;
    n->elements = 1;
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        l->n = scalar_nominal(m->s, l->now.n);
        l->ss = scalar_nominal(m->s, l->now.ss);
        l->ds = scalar_nominal(m->s, l->now.ds);
        if (!int_mul(n->elements, l->n, &n->elements))
            n->elements = INF;
    }
}

void
nest_make_runtime(Plan *p, NestKind kind, const RuntimePiece *const *piece, Nest *n)
{
    Arena *a = ex_arena(p->e);
    const RuntimeLayout *src = p->now->src, *dst = p->now->dst;
    struct NestNow *now = arena_new(a, struct NestNow);
    Maker m = {.p = p, .e = p->e, .s = p->now->scalars, .n = n, .now = now};
    const Ex *x[MAX_RANK], *y[MAX_RANK];
    now->piece = arena_copy(a, piece, (size_t)p->dst->rank * sizeof *piece);
    *n = (Nest){.kind = kind, .now = now};
    for (int d = 0; d < p->dst->rank; d++) {
        x[d] = coordinate(&m, d, piece[d]);
        y[p->map[d]] = kind == NEST_FILL ? x[d] : piece[d]->pad ? last(&m, d)
                       : piece[d]->mixed ? ex_min(p->e, x[d], last(&m, d)) : x[d];
    }
    add_address(&m, DST, dst, x);
    if (kind == NEST_COPY)
        add_address(&m, SRC, src, y);
    else
        m.base[SRC] = m.rest[SRC] = ex_const(p->e, 0);
    finish_addresses(&m);
    fuse(&m);
    turn_loops(&m);
    fuse(&m);
    set_nominal(&m);
    nest_finish(p, n);
}
