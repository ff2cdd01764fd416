/* What sliced and jagged levels share: the places of their entries follow from the number of
 * entries of each parent, which a first pass counts. */
#include "sparse_parts.h"

const Ex *
tallied_positions(const SparseMaker *m, int k)
{
    return sparse_size(m, m->p->src->level[k + 1].crd);
}

void
tallied_begin(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    sparse_step(m, STEP_untally, sparse_parents(f, k), (i64)f->width);
}

bool
tallied_counts(SparseMaker *m)
{
    if (!m->fill)
        sparse_step(m, STEP_tally, (i64)m->to, (i64)m->p->joins, (i64)m->p->dst->width);
    return !m->fill;
}

void
tallied_end(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    if (f->width == 4)
        sparse_step(m, STEP_narrow, (i64)k + 1, (i64)f->level[k + 1].crd);
}
