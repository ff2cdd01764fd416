/* Verifies one nest against its box and the layouts as declared.
 *
 * The plain evaluator computes the addresses at corners of the box, and from these the
 * stride of each loop of the pieces.  The loops of the nest must be made of those loops,
 * and its base and residual must give the same addresses at the corners.  This file does not
 * check that addresses are linear between the corners; runs on index stamps test it. */
#include <string.h>

#include "plan_parts.h"

/* A loop of a piece, and its stride in each address. */
typedef struct {
    int dim, part;
    i64 step, n, stride[2];
    const Loop *residual; /* the nest's loop for it, if that is in the residual; else NULL */
    bool used, turned;    /* a loop of the nest runs it; ... in reverse order */
} PieceStep;

typedef struct {
    Arena *arena;
    const Plan *p;
    const Nest *n;
    PieceStep step[MAX_LOOPS];
    int nsteps;
    i64 at[MAX_LOOPS];    /* the iteration in the loop of each step */
    i64 *val;             /* values of the variables in the residual */
    i64 base[2];
} Corner;

static const char *const side_name[] = {"source", "destination"};

/* *sum += a * b; false if it does not fit 64 bits. */
static bool
add_times(i64 *sum, i64 a, i64 b)
{
    i64 r;
    return int_mul(a, b, &r) && int_add(*sum, r, sum);
}

/* Both addresses at this corner, by the layouts as declared. */
static bool
written(const Corner *c, i64 *x, i64 out[2])
{
    const Plan *p = c->p;
    i64 at[MAX_RANK], y[MAX_RANK];
    for (int d = 0; d < p->box.rank; d++)
        at[d] = c->n->piece[d]->start->base;
    for (int i = 0; i < c->nsteps; i++)
        if (!add_times(&at[c->step[i].dim], c->step[i].step, c->at[i]))
            return false;
    plan_coordinates(p, at, x);
    for (int d = 0; d < p->dst->rank; d++)
        y[p->map[d]] = x[d] < p->dst->dim[d].n ? x[d] : p->dst->dim[d].n - 1;
    out[SRC] = 0;
    work_spend(c->arena, layout_work(p->dst) + layout_work(p->src));
    return layout_address(p->dst, x, &out[DST]) &&
           (c->n->kind == NEST_FILL || layout_address(p->src, y, &out[SRC]));
}

/* Sets the values of the lookups at this corner. */
static bool
look_up(const Corner *c)
{
    const Layout *l[] = {c->p->src, c->p->dst};
    i64 at;
    for (int s = 0; s < 2; s++)
        for (int i = 0; c->n->at[s][i]; i++)
            if (!ex_eval(c->n->at[s][i], c->val, &at) ||
                !lookup_number(&l[s]->lookup[i], at, &c->val[l[s]->lookup[i].var]))
                return false;
    return true;
}

/* Both addresses at this corner, by the nest. */
static bool
planned(const Corner *c, i64 out[2])
{
    const Ex *ex[] = {c->n->src, c->n->dst};
    for (int i = 0; i < c->nsteps; i++)
        if (c->step[i].residual)
            c->val[c->step[i].residual->var] = c->at[i];
    if (!look_up(c))
        return false;
    for (int s = 0; s < 2; s++) {
        if (!ex_eval(ex[s], c->val, &out[s]))
            return false;
        for (int i = 0; i < c->nsteps; i++) {
            const PieceStep *t = &c->step[i];
            i64 by = t->turned ? -t->stride[s] : t->stride[s];
            if (!add_times(&out[s], by, t->turned ? t->n - 1 - c->at[i] : c->at[i]))
                return false;
        }
    }
    return true;
}

/* Whether a number at this corner says that the element is not moved; then it has no address. */
static bool
is_skipped(const Corner *c)
{
    const Layout *l[] = {c->p->src, c->p->dst};
    for (int s = 0; s < 2; s++)
        for (int i = 0; c->n->at[s][i]; i++)
            if (l[s]->lookup[i].skip && c->val[l[s]->lookup[i].var] < 0)
                return true;
    return false;
}

static const char *
here(const Corner *c)
{
    i64 x[MAX_RANK], want[2], got[2];
    if (!written(c, x, want) || !planned(c, got))
        return "an address does not fit 64 bits";
    if (is_skipped(c))
        return NULL;
    for (int s = c->n->kind == NEST_FILL; s < 2; s++) {
        if (want[s] == got[s])
            continue;
        Buf b = buf_new(c->arena);
        for (int d = 0; d < c->p->dst->rank; d++)
            buf_printf(&b, "%s%lld", d ? "," : "", (long long)x[d]);
        return arena_printf(c->arena, "at (%s) its %s address is %lld, the layout says "
                            "%lld", b.s, side_name[s], (long long)got[s],
                            (long long)want[s]);
    }
    return NULL;
}

/* The loop of the nest that is a loop of a piece and occurs in the residual, or NULL. */
static const Loop *
residual_loop(const Nest *n, int dim, int part)
{
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].residual && n->loop[i].dim == dim && n->loop[i].part == part)
            return &n->loop[i];
    return NULL;
}

static bool
add_steps(Corner *c)
{
    for (int d = 0; d < c->p->box.rank; d++) {
        const Piece *q = c->n->piece[d];
        for (int i = 0; i < q->nloops; i++) {
            if (c->nsteps == MAX_LOOPS)
                return false;
            c->step[c->nsteps++] = (PieceStep){.dim = d, .part = i, .step = q->loop[i].step,
                                               .n = q->loop[i].n->base,
                                               .residual = residual_loop(c->n, d, i)};
        }
    }
    return true;
}

/* Sets the stride of a step: from the nest if the loop is in the residual, else from the
 * evaluator. */
static bool
set_stride(Corner *c, int i)
{
    PieceStep *t = &c->step[i];
    i64 x[MAX_RANK], there[2];
    if (t->residual) {
        t->stride[SRC] = t->residual->ss;
        t->stride[DST] = t->residual->ds;
        return true;
    }
    c->at[i] = 1;
    bool ok = written(c, x, there);
    c->at[i] = 0;
    for (int s = 0; s < 2; s++)
        ok = ok && !__builtin_sub_overflow(there[s], c->base[s], &t->stride[s]);
    return ok;
}

static bool
is_times(i64 p, i64 a, i64 b)
{
    i64 r;
    return int_mul(a, b, &r) && r == p;
}

/* True if n iterations of l have the stride of step t in both addresses, negated if
 * `turned`. */
static bool
is_step(const Corner *c, const PieceStep *t, const Loop *l, i64 n, bool turned)
{
    i64 ss = turned ? -l->ss : l->ss, ds = turned ? -l->ds : l->ds;
    return !t->used && !t->residual && is_times(t->stride[DST], ds, n) &&
           (c->n->kind == NEST_FILL || is_times(t->stride[SRC], ss, n));
}

/* True if loop l of the nest is made of loops of the pieces, inner first; each is used
 * once. */
static bool
made_of_steps(Corner *c, const Loop *l)
{
    i64 n = 1;
    while (n < l->n) {
        int i = 0;
        while (i < c->nsteps && !is_step(c, &c->step[i], l, n, false) &&
               !is_step(c, &c->step[i], l, n, true))
            i++;
        if (i == c->nsteps)
            return false;
        c->step[i].turned = is_step(c, &c->step[i], l, n, true);
        c->step[i].used = true;
        if (!int_mul(n, c->step[i].n, &n))
            return false;
    }
    return n == l->n;
}

/* Whether the kernel reads numbers along the loop, and no address has it otherwise. */
static bool
is_by_numbers(const Nest *n, const Loop *l)
{
    bool is = false;
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            is |= ex_has(n->at[s][i], l->var);
    return is && n->kernel->family->indexed && !ex_has(n->src, l->var) && !ex_has(n->dst, l->var);
}

static const char *
check_loops(Corner *c)
{
    const Nest *n = c->n;
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (l->residual && i >= n->nloops - n->inner + n->table && !is_by_numbers(n, l))
            return "the kernel runs a loop that is in the residual of an address";
        if (l->residual ? l->n != n->piece[l->dim]->loop[l->part].n->base
                    : !made_of_steps(c, l))
            return arena_printf(c->arena, "its loop %s of %lld steps is not one of the "
                                "box", l->name, (long long)l->n);
    }
    for (int i = 0; i < c->nsteps; i++)
        if (!c->step[i].used && !c->step[i].residual)
            return arena_printf(c->arena, "no loop of it walks %s by %lld",
                                c->p->box.to->l->dim[c->step[i].dim].name,
                                (long long)c->step[i].step);
    return NULL;
}

/* True if the numbers of the loops are equal to their expressions. */
static bool
in_numbers(const Nest *n)
{
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        if (!ex_is_const(l->ex.n) || !ex_is_const(l->ex.ss) || !ex_is_const(l->ex.ds) ||
            l->ex.n->base != l->n || l->ex.ss->base != l->ss || l->ex.ds->base != l->ds)
            return false;
    }
    return true;
}

/* True if the addresses contain no variables except those of loops in the residual and of
 * lookups. */
static bool
closed(const Corner *c)
{
    int nvars = ex_nvars(c->p->e);
    bool *used = arena_array(c->arena, bool, nvars);
    ex_vars(c->n->src, used);
    ex_vars(c->n->dst, used);
    for (int i = 0; i < c->n->nloops; i++)
        if (c->n->loop[i].residual)
            used[c->n->loop[i].var] = false;
    for (int i = 0; i < c->p->src->nlookups; i++)
        used[c->p->src->lookup[i].var] = false;
    for (int i = 0; i < c->p->dst->nlookups; i++)
        used[c->p->dst->lookup[i].var] = false;
    return !memchr(used, true, (size_t)nvars);
}

/* Checks the first corner, each of its neighbours, and the opposite corner. */
static const char *
check_corners(Corner *c)
{
    const char *why = here(c);
    for (int i = 0; i < c->nsteps && !why; i++) {
        c->at[i] = c->step[i].n - 1;
        why = here(c);
        c->at[i] = 0;
    }
    for (int i = 0; i < c->nsteps; i++)
        c->at[i] = c->step[i].n - 1;
    return why ? why : here(c);
}

/* The first flaw of one nest, or NULL. */
static const char *
flaw_of(Arena *a, const Plan *p, const Nest *n)
{
    Corner *c = arena_new(a, Corner);
    i64 x[MAX_RANK];
    *c = (Corner){.arena = a, .p = p, .n = n};
    c->val = arena_array(a, i64, ex_nvars(p->e));
    if (!in_numbers(n))
        return "a loop is not the numbers that were chosen by";
    if (!closed(c))
        return "an address depends on more than its loops";
    if (!add_steps(c))
        return "its pieces have too many loops";
    if (!written(c, x, c->base))
        return "an address does not fit 64 bits";
    for (int i = 0; i < c->nsteps; i++)
        if (!set_stride(c, i))
            return "an address does not fit 64 bits";
    const char *why = check_loops(c);
    return why ? why : check_corners(c);
}

const char *
nests_flaw(Arena *a, const Plan *p)
{
    for (int i = 0; i < p->n; i++) {
        const char *why = flaw_of(a, p, p->nest[i]);
        if (why)
            return arena_printf(a, "nest %d (%s%.120s): %s", i + 1,
                                p->nest[i]->kind == NEST_FILL ? "padding " : "",
                                plan_box(a, p, p->nest[i]), why);
    }
    return NULL;
}
