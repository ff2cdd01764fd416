/* singleton(x): one position below each parent; crd has its coordinate.  Below a level nth
 * or sliced the coordinate -1 marks a place without an entry. */
#include "sparse_parts.h"

static void
check(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k];
    const Ex *n = sparse_size(m, l->crd);
    LevelKind up = f->level[k - 1].def.kind;
    bool places = up == LEVEL_NTH || up == LEVEL_SLICED;
    if (up == LEVEL_NTH)
        sparse_step(m, STEP_check_multiple, (i64)l->crd, n, m->positions[k - 1]);
    else
        sparse_step(m, STEP_check_size, (i64)l->crd, n, m->positions[k]);
    sparse_step(m, STEP_check_range, (i64)l->crd, l->crd, n, places ? -1 : -l->bias,
                l->n - l->bias, (i64)f->width);
    if (up == LEVEL_NTH && !l->def.unordered)
        sparse_step(m, STEP_check_groups, (i64)l->crd, l->crd, n, m->positions[k - 1],
                    (i64)f->width);
}

static void
write(SparseMaker *m, int k)
{
    const Level *l = &m->p->dst->level[k];
    if (m->fill && !m->copied[k])
        sparse_step(m, STEP_write_singleton, (i64)m->to, (i64)m->at[k], l->bias, l->crd,
                    (i64)m->p->dst->width);
}

static void
finish(SparseMaker *m, int k)
{
    sparse_step(m, STEP_grow, (i64)k + 1, (i64)1);
}

const LevelInfo level_singleton = {
    .name = "singleton", .crd = true, .access = "1 step", .positions = level_positions,
    .check = check, .read = level_load, .parent = level_same_parent, .write = write,
    .finish = finish};
