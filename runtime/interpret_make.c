/* The steps of the plan interpreter: what can be computed about the loops of a plan
 * before they are walked.  What a shape decides is a value of their code, which is run once at each
 * shape.  Steps keep numbers, tables and code, and nothing of the plan. */
#include "interpret_steps.h"

static void
(*function(const KernelSet *set, const char *name))(void)
{
    return jit_symbol(set->symbols, name)->fn;
}

/* The table of the nest, and the values by which its parts count.  Nests with the same table share
 * one copy. */
static void
make_table(StepsMaker *m)
{
    const Plan *p = m->p;
    const Ex *scalar[TABLE_SCALARS];
    Sketch *s = m->s;
    s->nparts = nest_scalars(p, m->n, scalar);
    for (int i = 0; i < s->nparts; i++)
        s->part[i] = interpret_value(m, scalar[i]);
    if (!nest_has_table(m->n))
        return;
    const int32_t *words = nest_table(ex_arena(p->e), p, m->n, &s->words);
    const int32_t **of = &m->table[plan_table_of(p, plan_index(p, m->n))];
    if (!*of)
        *of = KEEP(m, words, s->words);
    s->table = *of;
    s->words /= 1 + s->nparts;
}

static void
make_needs(StepsMaker *m)
{
    const Ex *needs[MAX_NEEDS];
    StepValue value[MAX_NEEDS];
    m->s->nneeds = nest_needs(m->p, m->n, needs);
    for (int i = 0; i < m->s->nneeds; i++)
        value[i] = interpret_value(m, needs[i]);
    m->s->needs = KEEP(m, value, m->s->nneeds);
}

static void
make_sketch(StepsMaker *m)
{
    const Plan *p = m->p;
    const Nest *n = m->n;
    const Ex *dst = nest_outside(p, n, false), *src = nest_outside(p, n, true);
    bool *outer = arena_array(ex_arena(p->e), bool, ex_nvars(p->e));
    for (int k = 0; k < n->nouter; k++)
        outer[n->loop[n->outer[k].loop].var] = true;
    m->outer = outer;
    *m->s = (Sketch){.kernel = (AnyKernel *)function(m->set, n->kernel->symbol),
                     .owner = (int)nest_owner(p, n), .nouter = n->nouter, .split = n->split,
                     .second = nest_second(p, n)};
    if (n->kind == NEST_COPY)
        m->s->nlookups = p->src->nlookups + p->dst->nlookups;
    for (int k = 0; k < m->s->nlookups; k++)
        outer[interpret_lookup(m, k)->var] = true;
    interpret_residuals(m, dst, src);
    make_table(m);
    make_needs(m);
    interpret_calls(m);
}

static void
make_steps(void *arg)
{
    StepsMaker *m = arg;
    const Plan *p = m->p;
    Steps *s = m->steps;
    Sketch *sketch = m->first = arena_array(ex_arena(p->e), Sketch, p->n);
    m->table = arena_array(ex_arena(p->e), const int32_t *, p->n);
    m->coder = ex_coder(p->e, s->extents);
    s->streams = interpret_value(m, plan_streams(p));
    s->fill = plan_fill(p) ? interpret_value(m, plan_fill(p)) : NO_VALUE;
    for (int i = 0; i < p->n; i++) {
        if (p->nest[i]->merged)
            continue;
        m->n = p->nest[i];
        m->s = &sketch[s->nsketches++];
        make_sketch(m);
        int width = m->s->nouter + m->s->nscalars + m->s->nlookups;
        s->width = width > s->width ? width : s->width;
        if (m->n->stream)
            s->fence = function(m->set, "ravel_fence");
    }
    s->sketch = KEEP(m, sketch, s->nsketches);
    s->code = ex_coder_end(m->coder);
    s->code.code = KEEP(m, s->code.code, (i64)s->code.length);
    m->steps = KEEP(m, s, 1);
}

const Steps *
interpret_make(Arena *a, const Plan *p, const KernelSet *set)
{
    Steps s = {.bits = p->dst->dtype->bits, .extents = p->scalars->nextents, .width = 1,
               .arrays = plan_looks_up(p) ? p->scalars->nextents : -1, .pattern = p->dst->fill[0]};
    StepsMaker m = {.a = a, .p = p, .set = set, .steps = &s, .room = TABLES_BYTES};
    scalars_scratch(p->scalars, make_steps, &m);
    return plan_is_fixed(p) ? interpret_at(a, m.steps, NULL) : m.steps;
}
