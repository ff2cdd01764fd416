/* The steps of the plan interpreter: what can be computed about the loops of a plan
 * before they are walked.
 *
 * The residual of an address is the part that is not linear in the loops.  It is a sum of
 * groups, each over few loops.  If the loops are numbers and there is room, a group
 * becomes a table that is computed with the plan; else it is evaluated for each call.
 * For a plan with run-time extents the residuals are prepared once, and the calls at every
 * shape. */
#include <string.h>

#include "interpret_steps.h"

typedef struct {
    Arena *a;
    const Plan *p;
    const KernelSet *set;
    i64 room;             /* bytes left for tables */
    const Nest *n;        /* the one that is at work */
    Step *s;              /* its step */
    const bool *outer;    /* which variables are of its outer loops and lookups */
} StepsMaker;

static void
(*function(const KernelSet *set, const char *name))(void)
{
    return jit_symbol(set->symbols, name)->fn;
}

/* 0: it depends on the shape. */
static i64
iterations(const Loop *l)
{
    return ex_is_const(l->ex.n) ? l->n : 0;
}

/* Tabulate a group for all iterations of its loops, if they are known and the table
 * fits. */
static void
make_table(StepsMaker *m, Group *g)
{
    i64 count = 1, i[MAX_OUTER] = {0}, at = 0;
    for (int k = 0; k < g->n; k++) {
        g->at[k].n = iterations(&m->n->loop[m->n->outer[g->at[k].outer].loop]);
        if (count <= m->room)
            count *= g->at[k].n;
    }
    if (count < 1 || count > m->room / (i64)sizeof *g->table)
        return;
    m->room -= count * (i64)sizeof *g->table;
    i64 *table = arena_array(m->a, i64, count);
    for (int k = 0; k >= 0; at++) {
        if (!ex_eval(g->x, i, &table[at]))
            return;
        for (k = g->n - 1; k >= 0 && ++i[g->at[k].outer] == g->at[k].n; k--)
            i[g->at[k].outer] = 0;
    }
    g->table = table;
}

/* The variables of the step that a term has: outer loops, and one bit for all others. */
static uint64_t
outer_in(StepsMaker *m, Exprs *f, const Term *t)
{
    int outer = m->n->nouter;
    bool *used = arena_array(m->a, bool, ex_nvars(f));
    uint64_t set = 0;
    ex_vars(ex_sum(f, 0, t, 1), used);
    for (int k = 0; k < ex_nvars(f); k++)
        set |= (uint64_t)used[k] << (k < outer ? k : outer);
    return set;
}

/* A set of outer loops, and all that terms have in common with it, also through other terms. */
static uint64_t
reached(const uint64_t *in, int n, uint64_t set)
{
    uint64_t before = 0;
    while (set != before) {
        before = set;
        for (int k = 0; k < n; k++)
            set |= in[k] & set ? in[k] : 0;
    }
    return set;
}

/* Divide the terms of x into groups: terms that have an outer loop in common, directly or
 * through other terms, are in one group, and so are all terms with scalars or lookups. */
static void
make_groups(StepsMaker *m, Exprs *f, const Ex *x, Residual *r)
{
    uint64_t *in = arena_array(m->a, uint64_t, x->n);
    Term *t = arena_array(m->a, Term, x->n);
    r->group = arena_array(m->a, Group, x->n);
    for (int i = 0; i < x->n; i++)
        in[i] = outer_in(m, f, &x->t[i]);
    for (int i = 0; i < x->n; i++) {
        const uint64_t set = reached(in, x->n, in[i]);
        Group *g = &r->group[r->n];
        int terms = 0;
        for (int k = 0; k < x->n; k++)
            if (in[k] & set) {
                t[terms++] = x->t[k];
                in[k] = 0;
            }
        if (!terms)
            continue;
        g->x = ex_sum(f, 0, t, terms);
        for (int k = 0; k < m->n->nouter; k++)
            if (set >> k & 1)
                g->at[g->n++].outer = k;
        if (!(set >> m->n->nouter & 1))
            make_table(m, g);
        r->n++;
    }
}

/* The scalars that occur in an address. */
static void
add_scalars(StepsMaker *m, const Ex *x)
{
    const Scalars *c = m->p->scalars;
    bool *used = arena_array(m->a, bool, ex_nvars(m->p->e));
    ex_vars(x, used);
    for (int i = 0; i < c->n; i++) {
        bool known = !used[c->scalar[i].var];
        for (int k = 0; k < m->s->nscalars; k++)
            known |= m->s->scalar[k] == c->scalar[i].var;
        if (!known)
            m->s->scalar[m->s->nscalars++] = c->scalar[i].var;
    }
}

/* The lookup of the plan that is number i of the step. */
static const Lookup *
lookup(const StepsMaker *m, int i)
{
    int first = m->p->src->nlookups;
    return i < first ? &m->p->src->lookup[i] : &m->p->dst->lookup[i - first];
}

/* Expressions of the step's own: their variables are the outer loops, after them its scalars
 * and its lookups.  Sets to[] for the variables of the plan. */
static Exprs *
own_variables(StepsMaker *m, const Ex **to)
{
    Exprs *f = ex_new(m->a);
    for (int k = 0; k < m->n->nouter; k++) {
        const Loop *l = &m->n->loop[m->n->outer[k].loop];
        Facts in = ex_of_var(m->p->e, l->var)->f;
        to[l->var] = ex_of_var(f, ex_var(f, l->name, in.min, in.max));
    }
    for (int k = 0; k < m->s->nscalars; k++) {
        int var = m->s->scalar[k];
        Facts k_in = ex_of_var(m->p->e, var)->f;
        to[var] = ex_of_var(f, ex_var(f, "", k_in.min, k_in.max));
    }
    for (int k = 0; k < m->s->nlookups; k++)
        to[lookup(m, k)->var] = ex_of_var(f, lookup_var(f, lookup(m, k), ""));
    return f;
}

/* What outer loops and lookups make of an address. */
static Residual
make_residual(StepsMaker *m, const Ex *x)
{
    Residual r = {.base = 0};
    if (ex_is_const(x))
        return r;
    const Ex **to = arena_array(m->a, const Ex *, ex_nvars(m->p->e));
    Exprs *f = own_variables(m, to);
    make_groups(m, f, ex_subst(f, x, to), &r);
    return r;
}

/* Whether the kernel reads the numbers of a lookup itself. */
static bool
by_rows(const Nest *n, int side, int i)
{
    return i == nest_lookup_by_rows(n, side, 0) || i == nest_lookup_by_rows(n, side, 1);
}

static void
make_lookups(StepsMaker *m)
{
    PlanArray array[PLAN_ARRAYS];
    const Ex **to = arena_array(m->a, const Ex *, ex_nvars(m->p->e));
    plan_arrays(m->p, array);
    Exprs *f = own_variables(m, to);
    nest_begin_numbers(m->n, to, ex_const(f, 0));
    for (int k = 0; k < m->s->nlookups; k++) {
        int first = m->p->src->nlookups;
        const Ex *at = k < first ? m->n->at[SRC][k] : m->n->at[DST][k - first];
        m->s->lookup[k].at = ex_subst(f, at, to);
        m->s->lookup[k].array = plan_array_of(array, lookup(m, k));
        m->s->lookup[k].bits = lookup(m, k)->bits;
        m->s->lookup[k].skip = lookup(m, k)->skip && !by_rows(m->n, k < first ? SRC : DST,
                                                              k < first ? k : k - first);
    }
}

static void
make_residuals(StepsMaker *m, const Ex *dst, const Ex *src)
{
    m->s->scalar = arena_array(m->a, int, m->p->scalars->n);
    dst = ex_part(m->p->e, dst, m->outer, true);
    src = ex_part(m->p->e, src, m->outer, true);
    add_scalars(m, dst);
    add_scalars(m, src);
    for (int k = 0; k < m->s->nlookups; k++)
        add_scalars(m, k < m->p->src->nlookups ? m->n->at[SRC][k]
                                               : m->n->at[DST][k - m->p->src->nlookups]);
    m->s->dst = make_residual(m, dst);
    m->s->src = make_residual(m, src);
}

/* Nests with the same table share one copy. */
static const int32_t *
table_of(StepsMaker *m, i64 *words)
{
    const Plan *p = m->p;
    if (!nest_has_table(m->n))
        return NULL;
    const Nest *first = p->nest[plan_table_of(p, plan_index(p, m->n))];
    for (const Step *s = m->s - 1; first != m->n; s--)
        if (s->sketch->nest == first)
            return s->sketch->table;
    return nest_table(m->a, p, m->n, words);
}

/* The data that the calls need from a shape. */
static void
make_sketch(StepsMaker *m, const Ex *dst, const Ex *src)
{
    const Ex *needs[MAX_NEEDS];
    Sketch *k = arena_new(m->a, Sketch);
    k->nest = m->n;
    k->table = table_of(m, &k->words);
    k->nscalars = nest_scalars(m->p, m->n, k->scalar);
    k->words /= 1 + k->nscalars;
    k->nneeds = nest_needs(m->p, m->n, needs);
    k->needs = arena_copy(m->a, needs, (size_t)k->nneeds * sizeof *needs);
    k->dst = ex_part(m->p->e, dst, m->outer, false);
    k->src = ex_part(m->p->e, src, m->outer, false);
    for (int i = 0; i < 2 * ROW_LOOKUPS; i++)
        if (nest_lookup_by_rows(m->n, i / ROW_LOOKUPS, i % ROW_LOOKUPS) >= 0)
            k->each[i] = nest_lookup_step(m->n, i / ROW_LOOKUPS, i % ROW_LOOKUPS);
    m->s->sketch = k;
    m->s->second = nest_second(m->p, m->n);
}

static void
make_step(StepsMaker *m)
{
    const Nest *n = m->n;
    const Ex *dst = nest_outside(m->p, n, false), *src = nest_outside(m->p, n, true);
    bool *outer = arena_array(m->a, bool, ex_nvars(m->p->e));
    for (int k = 0; k < n->nouter; k++)
        outer[n->loop[n->outer[k].loop].var] = true;
    m->outer = outer;
    *m->s = (Step){.owner = nest_owner(m->p, n)};
    m->s->kernel = (AnyKernel *)function(m->set, n->kernel->symbol);
    if (n->kind == NEST_COPY)
        m->s->nlookups = m->p->src->nlookups + m->p->dst->nlookups;
    for (int k = 0; k < m->s->nlookups; k++)
        outer[lookup(m, k)->var] = true;
    make_residuals(m, dst, src);
    make_lookups(m);
    make_sketch(m, dst, src);
}

const Steps *
interpret_make(Arena *a, const Plan *p, const KernelSet *set)
{
    StepsMaker m = {a, p, set, TABLES_BYTES, NULL, NULL, NULL};
    Steps *s = arena_new(a, Steps);
    s->plan = p;
    s->width = 1;
    s->step = arena_array(a, Step, p->n);
    s->streams = plan_streams(p);
    for (int i = 0; i < p->n; i++) {
        if (p->nest[i]->merged)
            continue;
        m.n = p->nest[i];
        m.s = &s->step[s->n++];
        make_step(&m);
        int width = m.n->nouter + m.s->nscalars + m.s->nlookups;
        s->width = width > s->width ? width : s->width;
        if (m.n->stream)
            s->fence = function(set, "ravel_fence");
    }
    return plan_is_fixed(p) ? interpret_at(a, s, arena_array(a, i64, ex_nvars(p->e))) : s;
}
