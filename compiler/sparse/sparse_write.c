/* From coordinates to positions of the destination's levels. */
#include "sparse_parts.h"

/* Every entry has a position of its own in the last level, if that is compressed, and below
 * a level whose coordinates repeat. */
bool
sparse_flags(const SparsePlan *p, int k)
{
    const SparseFormat *f = p->dst;
    for (int j = k; j < f->nlevel; j++) {
        LevelKind kind = f->level[j].def.kind;
        if (kind == LEVEL_NTH || (kind == LEVEL_COMPRESSED && j + 1 < f->nlevel &&
                                  !f->level[j].def.repeats))
            return true;
    }
    return false;
}

void
sparse_fresh(SparseMaker *m, int k)
{
    sparse_step(m, STEP_fresh, (i64)k + 1, (i64)m->at[k], (i64)!m->flagged);
    m->flagged = true;
}

bool
sparse_wants(const SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    int tallied = sparse_tallied(f);
    bool counted = k < tallied || (k == tallied && f->level[k].info->coded);
    return sparse_has(&f->level[k]) && !m->copied[k] &&
           (m->fill || m->p->joins || counted || sparse_flags(m->p, k));
}

void
sparse_write(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    m->to = -1;
    m->flagged = false;
    for (int k = 0; m->p->joins && k < f->nlevel; k++)
        if (sparse_has(&f->level[k]))
            sparse_step(m, STEP_compare, (i64)k, (i64)m->at[k]);
    for (int k = 0; k < f->nlevel; k++)
        f->level[k].info->write(m, k);
}
