/* One box: addresses as base + strides, loops fused and ordered. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

const char *
nest_loop_name(Arena *a, const Nest *n, const char *dim, int level, bool several)
{
    char *name = several ? arena_printf(a, "%s%d", dim, level) : arena_string(a, dim);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (int i = 0; i < n->nloops; i++)
        if (!strcmp(n->loop[i].name, name)) {
            name = arena_printf(a, "%s_", name);
            i = -1;
        }
    return name;
}

/* start + sum of step * i as an expression, its loops added to the nest. */
static const Ex *
coordinate(Plan *p, Nest *n, int dim, const Piece *piece)
{
    const Ex *x = ex_const(p->e, piece->start);
    for (int i = 0; i < piece->nloops; i++) {
        const char *name = nest_loop_name(ex_arena(p->e), n, p->dst->dim[dim].name,
                                          piece->loop[i].level, piece->nloops > 1);
        int var = ex_loop_var(p->e, name, piece->loop[i].n);
        n->loop[n->nloops++] = (Loop){.name = name, .var = var, .dim = dim,
                                         .part = i, .n = piece->loop[i].n};
        n->elements *= piece->loop[i].n;
        x = ex_add(p->e, x, ex_scale(p->e, ex_of_var(p->e, var), piece->loop[i].step));
    }
    return x;
}

static Loop *
loop_of(Nest *n, int var)
{
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].var == var)
            return &n->loop[i];
    return NULL;
}

/* Take the linear terms out of an address, into ss or ds of their loops; returns
 * what is left. */
static const Ex *
take_strides(Plan *p, Nest *n, const Ex *x, bool source)
{
    Term *rest = arena_array(ex_arena(p->e), Term, x->n + 1);
    int m = 0;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        Loop *l = a->op == AT_VAR ? loop_of(n, a->var) : NULL;
        if (!l)
            rest[m++] = x->t[i];
        else if (source)
            l->ss = x->t[i].coef;
        else
            l->ds = x->t[i].coef;
    }
    const Ex *r = ex_sum(p->e, x->base, rest, m);
    bool *used = arena_array(ex_arena(p->e), bool, ex_nvars(p->e));
    ex_vars(r, used);
    for (int i = 0; i < n->nloops; i++)
        n->loop[i].rest |= used[n->loop[i].var];
    return r;
}

static void
drop_loop(Nest *n, int i)
{
    memmove(&n->loop[i], &n->loop[i + 1],
            (size_t)(--n->nloops - i) * sizeof n->loop[0]);
}

static i64
magnitude(i64 v)
{
    return v < 0 ? -v : v;
}

/* The loop from its last iteration to its first. */
static void
turn_round(Plan *p, Nest *n, Loop *l)
{
    n->dst = ex_add(p->e, n->dst, ex_const(p->e, l->ds * (l->n - 1)));
    n->src = ex_add(p->e, n->src, ex_const(p->e, l->ss * (l->n - 1)));
    l->ds = -l->ds;
    l->ss = -l->ss;
}

/* Which way a loop goes is open: as what is contiguous does, of the destination first;
 * else as the destination. */
static void
turn_loops(Plan *p, Nest *n)
{
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        bool read = n->kind == NEST_COPY && magnitude(l->ss) == 1 && magnitude(l->ds) != 1;
        if (!l->rest && (read ? l->ss : l->ds) < 0)
            turn_round(p, n, l);
    }
}

/* 1: `out` goes on where `in` ends; -1: it does turned round; 0: it does not. */
static int
follows(const Loop *in, const Loop *out, NestKind kind)
{
    i64 ss, ds;
    bool fill = kind == NEST_FILL;
    if (in->rest || out->rest || !int_mul(in->ss, in->n, &ss) ||
        !int_mul(in->ds, in->n, &ds))
        return 0;
    return out->ds == ds && (fill || out->ss == ss) ? 1
           : out->ds == -ds && (fill || out->ss == -ss) ? -1 : 0;
}

/* One loop where two walk the same memory on both sides, to a fixpoint. */
static void
fuse(Plan *p, Nest *n)
{
    for (int i = 0; i < n->nloops; i++)
        for (int j = 0; j < n->nloops; j++) {
            Loop *in = &n->loop[i], *out = &n->loop[j];
            int way = i == j ? 0 : follows(in, out, n->kind);
            if (!way)
                continue;
            if (way < 0)
                turn_round(p, n, out);
            in->name = arena_printf(ex_arena(p->e), "%.20s%.20s", out->name, in->name);
            in->n *= out->n;
            drop_loop(n, j);
            fuse(p, n);
            return;
        }
}

/* Outer loops by falling stride, the destination's first: writes in order. */
static int
by_stride(const void *p, const void *q)
{
    const Loop *a = p, *b = q;
    i64 x = magnitude(a->ds), y = magnitude(b->ds);
    if (a->rest != b->rest)
        return a->rest ? -1 : 1;
    if (x != y)
        return x < y ? 1 : -1;
    x = magnitude(a->ss);
    y = magnitude(b->ss);
    if (x != y)
        return x < y ? 1 : -1;
    return a->var - b->var;
}

void
nest_sort(Nest *n)
{
    if (n->nloops > 1)
        qsort(n->loop, (size_t)n->nloops, sizeof n->loop[0], by_stride);
}

void
nest_finish(const Plan *p, Nest *n)
{
    nest_sort(n);
    kernel_pick(n, p->dst->dtype->bits);
}

void
nest_make(Plan *p, NestKind kind, const Piece *const *piece, Nest *n)
{
    Arena *a = ex_arena(p->e);
    const Ex *x[MAX_RANK];
    *n = (Nest){.kind = kind, .elements = 1};
    n->piece = arena_copy(a, piece, (size_t)p->dst->rank * sizeof *piece);
    for (int d = 0; d < p->dst->rank; d++)
        x[d] = coordinate(p, n, d, piece[d]);
    const Ex **to = arena_array(a, const Ex *, ex_nvars(p->e));
    for (int d = 0; d < p->dst->rank; d++) {
        to[p->dst->dim[d].var] = x[d];
        to[p->src->dim[p->map[d]].var] =
            ex_min(p->e, x[d], ex_const(p->e, p->dst->dim[d].n - 1));
    }
    n->dst = take_strides(p, n, ex_subst(p->e, p->dst->addr, to), false);
    n->src = kind == NEST_COPY
        ? take_strides(p, n, ex_subst(p->e, p->src->addr, to), true)
        : ex_const(p->e, 0);
    fuse(p, n);
    turn_loops(p, n);
    nest_finish(p, n);
}
