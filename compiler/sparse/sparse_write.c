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

/* A sum at an address begins with 0; it would lose the sign of entries that are all -0.0, so these
 * are written before. */
void
sparse_write_negative(SparseMaker *m, const bool *want)
{
    const SparsePlan *p = m->p;
    const DType *t = p->dst->l->dtype;
    i64 parts = sparse_parts(t), es = p->bytes / parts;
    int from = p->src->narray - 1;
    if (!p->bytes || p->rq->equal != EQUAL_SUM || t->kind == 'i' || t->kind == 'u')
        return;
    sparse_step(m, STEP_negative, from, sparse_positions(m), es, parts);
    Stmt **after = sparse_begin_loop(m, ex_of_var(m->e, p->records));
    sparse_read(m, want);
    sparse_step(m, STEP_put_negative, (i64)m->at[0], p->dst->narray - 1, from, es, parts);
    sparse_end_loop(m, after);
    sparse_step(m, STEP_pass);
}
