/* The residual of an address is the part that is not linear in the loops.  It is a sum of
 * groups, each over few loops.  If the loops are numbers and there is room, a group
 * becomes a table that is computed with the plan; else it is evaluated for each call. */
#include "interpret_steps.h"

static const Loop *
outer_loop(const StepsMaker *m, int k)
{
    return &m->n->loop[m->n->outer[k].loop];
}

/* In memory that is not kept. */
static Formula
formula(StepsMaker *m, const Ex *x)
{
    const Sketch *s = m->s;
    const int lookups = s->nouter + s->nscalars;
    ExCoder *c = ex_coder(m->p->e, lookups + s->nlookups);
    for (int k = 0; k < s->nouter; k++)
        ex_coder_is(c, outer_loop(m, k)->var, k);
    for (int k = 0; k < s->nscalars; k++)
        ex_coder_is(c, m->scalar[k], s->nouter + k);
    for (int k = 0; k < s->nlookups; k++)
        ex_coder_is(c, interpret_lookup(m, k)->var, lookups + k);
    int value = ex_coder_value(c, x);
    return (Formula){ex_coder_end(c), value};
}

static Formula
keep_formula(StepsMaker *m, Formula f)
{
    f.code.code = KEEP(m, f.code.code, (i64)f.code.length);
    if (f.code.n > m->steps->width)
        m->steps->width = f.code.n;
    return f;
}

/* 0: it depends on the shape. */
static i64
iterations(const Loop *l)
{
    return ex_is_const(l->ex.n) ? l->n : 0;
}

/* Tabulate a group for all iterations of its loops, if they are known and the table
 * fits.  Returns the number of entries; 0: there is no table. */
static i64
make_table(StepsMaker *m, const Formula *x, GroupLoop *at, int n, i64 **table)
{
    Arena *a = ex_arena(m->p->e);
    i64 count = 1, *i = arena_array(a, i64, x->code.n), entry = 0;
    bool *flaw = arena_array(a, bool, x->code.n);
    for (int k = 0; k < n; k++)
        if (count <= m->room)
            count *= at[k].n;
    if (count < 1 || count > m->room / (i64)sizeof **table)
        return 0;
    *table = arena_array(a, i64, count);
    for (int k = 0; k >= 0; entry++) {
        ex_code_run(&x->code, i, flaw);
        if (flaw[x->value])
            return 0;
        (*table)[entry] = i[x->value];
        for (k = n - 1; k >= 0 && ++i[at[k].outer] == at[k].n; k--)
            i[at[k].outer] = 0;
    }
    m->room -= count * (i64)sizeof **table;
    return count;
}

/* A group of the terms whose sum is x; `set` has a bit for each of its outer loops, and one if it
 * has scalars or lookups. */
static Group
make_group(StepsMaker *m, const Ex *x, uint64_t set)
{
    GroupLoop at[MAX_OUTER];
    Group g = {.x = formula(m, x)};
    i64 *table = NULL, entries = 0;
    for (int k = 0; k < m->s->nouter; k++)
        if (set >> k & 1)
            at[g.n++] = (GroupLoop){k, iterations(outer_loop(m, k))};
    if (!(set >> m->s->nouter & 1))
        entries = make_table(m, &g.x, at, g.n, &table);
    g.at = entries ? KEEP(m, at, g.n) : NULL;
    g.table = entries ? KEEP(m, table, entries) : NULL;
    g.x = entries ? (Formula){.value = 0} : keep_formula(m, g.x);
    return g;
}

/* The variables of the step that a term has: outer loops, and one bit for all others. */
static uint64_t
outer_in(StepsMaker *m, const Term *t)
{
    Exprs *e = m->p->e;
    const int outer = m->s->nouter, n = ex_nvars(e);
    bool *used = ex_flags(e);
    uint64_t set = 0;
    ex_vars(ex_of_atom(e, t->atom), used);
    for (int k = 0; k < outer; k++) {
        set |= (uint64_t)used[outer_loop(m, k)->var] << k;
        used[outer_loop(m, k)->var] = false;
    }
    for (int v = 0; v < n; v++)
        set |= (uint64_t)used[v] << outer;
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

/* Divides the terms of x into groups: terms that have an outer loop in common, directly or
 * through other terms, are in one group, and so are all terms with scalars or lookups. */
static StepResidual
make_residual(StepsMaker *m, const Ex *x)
{
    Arena *a = ex_arena(m->p->e);
    uint64_t *in = arena_array(a, uint64_t, x->n);
    Term *t = arena_array(a, Term, x->n);
    Group *group = arena_array(a, Group, x->n);
    StepResidual r = {.n = 0};
    for (int i = 0; i < x->n; i++)
        in[i] = outer_in(m, &x->t[i]);
    for (int i = 0; i < x->n; i++) {
        const uint64_t set = reached(in, x->n, in[i]);
        int terms = 0;
        for (int k = 0; k < x->n; k++)
            if (in[k] & set) {
                t[terms++] = x->t[k];
                in[k] = 0;
            }
        if (terms)
            group[r.n++] = make_group(m, ex_sum(m->p->e, 0, t, terms), set);
    }
    r.group = KEEP(m, group, r.n);
    return r;
}

/* The scalars that occur in an address. */
static void
add_scalars(StepsMaker *m, const Ex *x)
{
    const Scalars *c = m->p->scalars;
    bool *used = ex_flags(m->p->e);
    ex_vars(x, used);
    for (int i = 0; i < c->n; i++) {
        bool known = !used[c->scalar[i].var];
        for (int k = 0; k < m->s->nscalars; k++)
            known |= m->scalar[k] == c->scalar[i].var;
        if (!known)
            m->scalar[m->s->nscalars++] = c->scalar[i].var;
    }
}

static const Ex *
place_of(const StepsMaker *m, int lookup)
{
    const int first = m->p->src->nlookups;
    return lookup < first ? m->n->at[SRC][lookup] : m->n->at[DST][lookup - first];
}

/* Whether the kernel reads the numbers of a lookup itself. */
static bool
by_rows(const StepsMaker *m, int lookup)
{
    const int first = m->p->src->nlookups, side = lookup < first ? SRC : DST;
    lookup -= side == SRC ? 0 : first;
    return lookup == nest_lookup_by_rows(m->n, side, 0) ||
           lookup == nest_lookup_by_rows(m->n, side, 1);
}

static void
make_lookups(StepsMaker *m)
{
    Exprs *e = m->p->e;
    PlanArray array[PLAN_ARRAYS];
    StepLookup made[2 * MAX_LOOKUPS];
    const Ex **to = arena_array(ex_arena(e), const Ex *, ex_nvars(e));
    plan_arrays(m->p, array);
    nest_begin_numbers(m->n, to, ex_const(e, 0));
    for (int k = 0; k < m->s->nlookups; k++) {
        const Lookup *u = interpret_lookup(m, k);
        made[k] = (StepLookup){
            .at = keep_formula(m, formula(m, ex_subst(e, place_of(m, k), to))),
            .array = plan_array_of(array, u), .bits = u->bits, .skip = u->skip && !by_rows(m, k)};
    }
    m->s->lookup = KEEP(m, made, m->s->nlookups);
}

void
interpret_residuals(StepsMaker *m, const Ex *dst, const Ex *src)
{
    Exprs *e = m->p->e;
    const Scalars *c = m->p->scalars;
    const Ex *of[] = {ex_part(e, dst, m->outer, true), ex_part(e, src, m->outer, true)};
    m->scalar = arena_array(ex_arena(e), int, c->n);
    add_scalars(m, of[0]);
    add_scalars(m, of[1]);
    for (int k = 0; k < m->s->nlookups; k++)
        add_scalars(m, place_of(m, k));
    StepValue *scalar = arena_array(ex_arena(e), StepValue, m->s->nscalars);
    for (int k = 0; k < m->s->nscalars; k++)
        scalar[k] = interpret_value(m, ex_of_var(e, m->scalar[k]));
    m->s->scalar = KEEP(m, scalar, m->s->nscalars);
    m->s->dst = make_residual(m, of[0]);
    m->s->src = make_residual(m, of[1]);
    m->s->dst.base = interpret_value(m, ex_part(e, dst, m->outer, false));
    m->s->src.base = interpret_value(m, ex_part(e, src, m->outer, false));
    make_lookups(m);
}
