/* compressed(x): pos[q] to pos[q + 1] - 1 are the positions below parent q, crd their
 * coordinates. */
#include "sparse_parts.h"

static void
check(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k];
    const Ex *parents = m->positions[k], *n = sparse_size(m, l->crd);
    sparse_step(m, STEP_check_size, (i64)l->pos, sparse_size(m, l->pos),
                ex_add(m->e, parents, ex_const(m->e, 1)));
    sparse_step(m, STEP_check_pos, (i64)l->pos, l->pos, parents, n, (i64)f->width);
    if (l->def.unordered)
        sparse_step(m, STEP_check_range, (i64)l->crd, l->crd, n, -l->bias, l->n - l->bias,
                    (i64)f->width);
    else
        sparse_step(m, STEP_check_lists, (i64)l->crd, l->pos, parents, l->crd, n, -l->bias,
                    l->n - l->bias, (i64)l->def.repeats, (i64)f->width);
}

static void
parent(SparseMaker *m, int k)
{
    int to = sparse_column(m);
    sparse_step(m, STEP_parents, (i64)k + 1, (i64)m->from, (i64)to, m->p->src->level[k].pos,
                (i64)m->p->src->width);
    m->from = to;
}

static void
write(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[k];
    bool each = k + 1 == f->nlevel || l->def.repeats;
    if (each && m->p->joins) {
        sparse_step(m, STEP_differ);
        m->flagged = true;
    } else if (!each) {
        sparse_fresh(m, k);
    }
    int from = m->to;
    m->to = sparse_column(m);
    sparse_step(m, each && !m->p->joins ? STEP_append : STEP_write_compressed, (i64)k + 1,
                (i64)m->to, (i64)m->at[k], (i64)from, l->bias, l->pos, l->crd, (i64)f->width);
}

static void
finish(SparseMaker *m, int k)
{
    const Level *l = &m->p->dst->level[k];
    sparse_step(m, STEP_close, (i64)k + 1, l->pos, (i64)m->p->dst->width);
    if (!m->fill && m->p->dst->width == 4)
        sparse_step(m, STEP_narrow, (i64)k + 1, (i64)l->crd);
}

const LevelInfo level_compressed = {
    .name = "compressed", .pos = true, .crd = true, .access = "a search among the coordinates "
    "below the parent", .positions = level_positions, .check = check, .read = level_load,
    .parent = parent, .write = write, .finish = finish};
