/* Makes the nest of one box: addresses as base + strides + residual, loops fused and sorted.
 * Counts and strides are expressions over scalars.  If one is not constant, its nominal
 * value is used for choices. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plan_parts.h"

typedef struct {
    Plan *p;
    Exprs *e;
    Scalars *s;
    Nest *n;
    const Ex *base[2], *residual[2];   /* index: SRC, DST */
    const Ex *needed[MAX_LOOPS + MAX_RANK + 4];
    NestLookups lookups[2];
} NestMaker;

/* A unique name for a loop over a dim: "c1" for level 1 of several, "c" if there is only
 * one level.  Names of dims may differ only in case; "_" is added to make it unique. */
static const char *
loop_name(Arena *a, const Nest *n, const char *dim, int level, bool several)
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

static void
need(NestMaker *m, const Ex *x)
{
    if (!ex_is_const(x))
        m->needed[m->n->nneeded++] = x;
}

/* Adds loop i of a piece and returns its value.  A loop with at most one iteration becomes
 * a condition of the nest instead. */
static const Ex *
add_loop(NestMaker *m, int dim, const Piece *q, int i)
{
    Nest *n = m->n;
    const PieceLoop *t = &q->loop[i];
    bool once = t->n->f.max <= 1;
    if (once || !ex_is_const(t->first))
        need(m, t->n);
    if (once)
        return scalar_of(m->s, t->first, t->most);
    const char *name = loop_name(ex_arena(m->e), n, m->p->box.to->l->dim[dim].name, t->level,
                                 q->nloops > 1);
    int var = t->most < INF ? ex_loop_var(m->e, name, t->most + 1)
                            : ex_var(m->e, name, 0, INF);
    arena_drop(ex_arena(m->e), name, strlen(name) + 1);
    const Ex *zero = ex_const(m->e, 0);
    n->loop[n->nloops++] = (Loop){.name = ex_var_name(m->e, var), .var = var,
                                  .dim = (signed char)dim, .part = (signed char)i,
                                  .ex = {t->n, zero, zero}};
    /* Expressions are simplified with the variable as the digit; move_first later adds a
     * start that is not constant. */
    const Ex *x = ex_of_var(m->e, var);
    return ex_is_const(t->first) ? ex_add(m->e, x, t->first) : x;
}

static const Ex *
coordinate(NestMaker *m, int dim, const Piece *q)
{
    ExSum s = ex_sum_of(m->e, 0);
    ex_sum_add(&s, q->start, 1);
    for (int i = 0; i < q->nloops; i++)
        ex_sum_add(&s, add_loop(m, dim, q, i), q->loop[i].step);
    return ex_sum_end(&s);
}

static Loop *
loop_of(Nest *n, const Atom *a)
{
    for (int i = 0; a->op == AT_VAR && i < n->nloops; i++)
        if (n->loop[i].var == a->var)
            return &n->loop[i];
    return NULL;
}

/* Whether an atom is a digit of a sum of scalars. */
static bool
has_scalars_only(const NestMaker *m, const Atom *a)
{
    bool only = a->op == AT_DIG;
    for (int i = 0; only && i < a->x[0]->n; i++)
        only &= scalar_is(m->s, a->x[0]->t[i].atom);
    return only;
}

/* Adds x * stride to an address.  Terms that are linear in a loop variable go to the
 * strides, terms over scalars to `base`, other terms to the residual. */
static void
add_term(NestMaker *m, int side, const Ex *x, const Ex *stride, ExSum *base)
{
    Exprs *e = m->e;
    Term few[2][FEW_TERMS], *fixed = ex_room(e, few[0], x->n);
    Term *residual = ex_room(e, few[1], x->n);
    int nfixed = 0, nresidual = 0;
    for (int i = 0; i < x->n; i++) {
        Loop *l = loop_of(m->n, x->t[i].atom);
        if (!l) {
            Term t = x->t[i];
            if (!scalar_is(m->s, t.atom) && has_scalars_only(m, t.atom))
                t.atom = scalar_named(m->s, ex_of_atom(e, t.atom), t.atom->f.max)->t[0].atom;
            *(scalar_is(m->s, t.atom) ? &fixed[nfixed++] : &residual[nresidual++]) = t;
            continue;
        }
        const Ex **to = side == SRC ? &l->ex.ss : &l->ex.ds;
        *to = ex_add_scaled(e, *to, stride, x->t[i].coef);
    }
    ex_sum_add(base, scalar_times(m->s, ex_sum(e, x->base, fixed, nfixed), stride), 1);
    if (nresidual)
        m->residual[side] = ex_add(e, m->residual[side],
                                   ex_times(e, ex_sum(e, 0, residual, nresidual), stride));
}

/* box[d] is the dim of boxes that dim d of the layout is. */
static void
add_address(NestMaker *m, int side, const Sizes *z, const Ex *const *coord, const int *box)
{
    const Ex **to = ex_map(m->e);
    ExSum base = ex_sum_of(m->e, 0);
    m->residual[side] = ex_const(m->e, 0);
    for (int d = 0; d < z->l->rank; d++)
        to[z->var[d]] = plan_slot(m->e, &z->roll[d], m->n->piece[box[d]], side, coord[d]);
    for (int i = 0; i < z->l->nlookups; i++) {
        m->lookups[side].at[i] = ex_subst(m->e, z->lookup[i].at, to);
        m->lookups[side].number[i] = z->l->lookup[i].var;
    }
    add_term(m, side, ex_subst(m->e, z->addr, to), ex_const(m->e, 1), &base);
    for (int i = 0; i < z->nterms; i++)
        add_term(m, side, ex_subst(m->e, z->term[i].x, to), z->term[i].stride, &base);
    m->base[side] = ex_sum_end(&base);
}

/* Makes a loop that starts at `first` count from 0, and moves the addresses by `first`; `to`
 * is for the residuals, NULL if they have no variables. */
static void
move_first(NestMaker *m, Loop *l, const Ex *first, const Ex **to)
{
    if (ex_is_const(first))
        return;
    const Ex *fixed = scalar_of(m->s, first, INF);
    m->base[SRC] = ex_add(m->e, m->base[SRC], scalar_times(m->s, fixed, l->ex.ss));
    m->base[DST] = ex_add(m->e, m->base[DST], scalar_times(m->s, fixed, l->ex.ds));
    if (to)
        to[l->var] = ex_add(m->e, ex_of_var(m->e, l->var), fixed);
}

/* The variables in the residuals, which are those of the places of lookups too. */
static bool *
in_residuals(NestMaker *m)
{
    bool *used = ex_flags(m->e);
    for (int s = 0; s < 2; s++) {
        ex_vars(m->residual[s], used);
        for (int i = 0; m->lookups[s].at[i]; i++)
            ex_vars(m->lookups[s].at[i], used);
    }
    return used;
}

static void
finish_addresses(NestMaker *m)
{
    Nest *n = m->n;
    bool *used = in_residuals(m);
    bool plain = ex_is_const(m->residual[SRC]) && ex_is_const(m->residual[DST]) &&
                 !m->lookups[SRC].at[0] && !m->lookups[DST].at[0];
    const Ex **to = plain ? NULL : ex_map(m->e);
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        l->residual = used[l->var];
        move_first(m, l, n->piece[l->dim]->loop[l->part].first, to);
    }
    n->src = ex_add(m->e, m->base[SRC], ex_subst(m->e, m->residual[SRC], to));
    n->dst = ex_add(m->e, m->base[DST], ex_subst(m->e, m->residual[DST], to));
    for (int s = 0; s < 2; s++) {
        for (const Ex **at = m->lookups[s].at; *at; at++)
            *at = ex_subst(m->e, *at, to);
        nest_set_lookups(n, s, &m->lookups[s]);
    }
}

static void
drop_loop(Nest *n, int i)
{
    memmove(&n->loop[i], &n->loop[i + 1],
            (size_t)(--n->nloops - i) * sizeof n->loop[0]);
}

/* Reverses the direction of a loop. */
static void
turn_round(NestMaker *m, Loop *l)
{
    const Ex **stride[] = {&l->ex.ss, &l->ex.ds}, **address[] = {&m->n->src, &m->n->dst};
    const Ex *last = scalar_of(m->s, ex_sub(m->e, l->ex.n, ex_const(m->e, 1)), INF);
    for (int s = 0; s < 2; s++) {
        *address[s] = ex_add(m->e, *address[s], scalar_times(m->s, last, *stride[s]));
        *stride[s] = ex_scale(m->e, *stride[s], -1);
    }
}

static bool
is_unit(const Ex *stride)
{
    return ex_is_const(stride) && int_abs(stride->base) == 1;
}

/* Reverses each loop with a stride that is negative for every shape.  The stride that
 * decides is the source's if only that is 1 or -1, else the destination's. */
static void
turn_loops(NestMaker *m)
{
    Nest *n = m->n;
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        bool read = n->kind == NEST_COPY && is_unit(l->ex.ss) && !is_unit(l->ex.ds);
        const Facts *f = read ? &l->ex.ss->f : &l->ex.ds->f;
        if (!l->residual && f->max <= 0 && f->min != 0)
            turn_round(m, l);
    }
}

bool
stride_goes_on(Scalars *s, const Ex *in, const Ex *n, const Ex *out, int way)
{
    i64 v;
    if (ex_is_const(in) && ex_is_const(n))
        return ex_is_const(out) && int_mul(in->base, n->base, &v) && out->base == way * v;
    const Ex *x = scalar_times(s, in, n);
    return out == (way < 0 ? ex_scale(s->e, x, -1) : x);
}

/* 1: loop `out` continues loop `in` in both addresses; -1: it does if reversed; 0: it does
 * not. */
static int
follows(NestMaker *m, const Loop *in, const Loop *out)
{
    bool fill = m->n->kind == NEST_FILL;
    for (int way = 1; !in->residual && !out->residual && way >= -1; way -= 2)
        if (stride_goes_on(m->s, in->ex.ds, in->ex.n, out->ex.ds, way) &&
            (fill || stride_goes_on(m->s, in->ex.ss, in->ex.n, out->ex.ss, way)))
            return way;
    return 0;
}

/* Fuses pairs of loops that are one loop with a constant stride in both addresses, until
 * there are none. */
static void
fuse(NestMaker *m)
{
    Nest *n = m->n;
    for (int i = 0; i < n->nloops; i++)
        for (int j = 0; j < n->nloops; j++) {
            Loop *in = &n->loop[i], *out = &n->loop[j];
            int way = i == j ? 0 : follows(m, in, out);
            if (!way)
                continue;
            if (way < 0)
                turn_round(m, out);
            in->name = arena_printf(ex_arena(m->e), "%.20s%.20s", out->name, in->name);
            in->ex.n = scalar_times(m->s, in->ex.n, out->ex.n);
            drop_loop(n, j);
            fuse(m);
            return;
        }
}

/* Sorts loops by descending stride, the destination's first, so that writes ascend. */
static int
by_stride(const void *p, const void *q)
{
    const Loop *a = p, *b = q;
    i64 x = int_abs(a->ds), y = int_abs(b->ds);
    if (a->residual != b->residual)
        return a->residual ? -1 : 1;
    if (x != y)
        return x < y ? 1 : -1;
    x = int_abs(a->ss);
    y = int_abs(b->ss);
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

/* The last coordinate of a dim, which padding repeats.  Requires an extent above 0. */
static const Ex *
last(NestMaker *m, int d)
{
    const Ex *n = m->p->box.to->n[d], *x = ex_sub(m->e, n, ex_const(m->e, 1));
    need(m, n);
    return ex_is_const(n) ? x : scalar_named(m->s, x, INF);
}

static void
set_numbers(NestMaker *m)
{
    Nest *n = m->n;
    n->elements = 1;
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        l->n = scalar_nominal(m->s, l->ex.n);
        l->most = l->ex.n->f.max;
        l->ss = scalar_nominal(m->s, l->ex.ss);
        l->ds = scalar_nominal(m->s, l->ex.ds);
        if (!int_mul(n->elements, l->n, &n->elements))
            n->elements = ESTIMATE_MOST;
    }
}

void
nest_make(Plan *p, NestKind kind, const Piece *const *piece, Nest *n)
{
    Arena *a = ex_arena(p->e);
    NestMaker m = {.p = p, .e = p->e, .s = p->scalars, .n = n};
    const Ex *x[MAX_RANK], *y[MAX_RANK];
    int own[MAX_RANK], of[MAX_RANK];
    *n = (Nest){.kind = kind, .e = p->e, .permutes = p->machine.permutes};
    n->piece = arena_copy(a, piece, (size_t)p->box.rank * sizeof *piece);
    for (int d = 0; d < p->box.rank; d++) {
        x[d] = coordinate(&m, d, piece[d]);
        own[d] = of[p->box.map[d]] = d;
        y[p->box.map[d]] = kind == NEST_FILL ? x[d] : piece[d]->pad ? last(&m, d)
                       : piece[d]->mixed ? ex_min(p->e, x[d], last(&m, d)) : x[d];
    }
    add_address(&m, DST, p->box.to, x, own);
    if (kind == NEST_COPY)
        add_address(&m, SRC, p->box.from, y, of);
    else
        m.base[SRC] = m.residual[SRC] = ex_const(p->e, 0);
    n->needed = arena_copy(a, m.needed, (size_t)n->nneeded * sizeof *m.needed);
    finish_addresses(&m);
    fuse(&m);
    turn_loops(&m);
    fuse(&m);
    set_numbers(&m);
    nest_sort(n);
    nest_schedule(p, n);
}
