/* The table of the kinds of levels. */
#include "sparse_parts.h"

const LevelInfo *const level_kinds[LEVEL_KINDS] = {
    [LEVEL_DENSE] = &level_dense,
    [LEVEL_COMPRESSED] = &level_compressed,
    [LEVEL_SINGLETON] = &level_singleton,
    [LEVEL_NTH] = &level_nth,
    [LEVEL_RANKED] = &level_ranked,
    [LEVEL_SLICED] = &level_sliced,
    [LEVEL_JAGGED] = &level_jagged,
    [LEVEL_NOFM] = &level_nofm,
};

const Ex *
level_positions(const SparseMaker *m, int k)
{
    return sparse_size(m, m->p->src->level[k].crd);
}

void
level_load(SparseMaker *m, int k)
{
    const Level *l = &m->p->src->level[k];
    m->column[l->var] = sparse_column(m);
    sparse_step(m, STEP_load, (i64)m->column[l->var], (i64)m->from, l->bias, l->crd,
                (i64)m->p->src->width);
}

void
level_same_parent(SparseMaker *m, int k)
{
    (void)m;
    (void)k;
}
