/* What the steps of a nest are made of: values of their code, its lookups, and memory that is kept. */
#include "interpret_steps.h"

void *
interpret_keep(StepsMaker *m, const void *p, i64 n, size_t each)
{
    const size_t size = int_bytes(m->a->diag, n, each);
    return m->a == ex_arena(m->p->e) ? arena_keep(m->a, p, size) : arena_copy(m->a, p, size);
}

/* The value of a scalar that is no extent. */
static StepValue
of_scalar(StepsMaker *m, const Scalar *x)
{
    const Scalars *s = m->p->scalars;
    if (x->def)
        return ex_coder_value(m->coder, x->def);
    StepValue v = ex_coder_value(m->coder, scalar_ex(s, x->factor[0]));
    for (int i = 1; i < x->nfactors; i++)
        v = ex_coder_times(m->coder, v, ex_coder_value(m->coder, scalar_ex(s, x->factor[i])));
    return v;
}

StepValue
interpret_value(StepsMaker *m, const Ex *x)
{
    const Scalars *s = m->p->scalars;
    for (; m->coded < s->n; m->coded++)
        ex_coder_is(m->coder, s->scalar[m->coded].var,
                    m->coded < s->nextents ? m->coded : of_scalar(m, &s->scalar[m->coded]));
    return ex_coder_value(m->coder, x);
}

const Lookup *
interpret_lookup(const StepsMaker *m, int i)
{
    int first = m->p->src->nlookups;
    return i < first ? &m->p->src->lookup[i] : &m->p->dst->lookup[i - first];
}
