/* dense(x): a position for every coordinate; nothing is stored. */
#include "sparse_parts.h"

static const Ex *
positions(const SparseMaker *m, int k)
{
    return ex_scale(m->e, m->positions[k], m->p->src->level[k].n);
}

/* Below the root the coordinate is the position. */
static void
read(SparseMaker *m, int k)
{
    const Level *l = &m->p->src->level[k];
    int c = m->from;
    if (k > 0) {
        int to = sparse_column(m);
        c = sparse_column(m);
        sparse_step(m, STEP_read_dense, (i64)c, (i64)m->from, (i64)to, l->n);
        m->from = to;
    }
    m->column[l->var] = c;
}

static void
write(SparseMaker *m, int k)
{
    if (sparse_flags(m->p, k))
        sparse_fresh(m, k);
    int from = m->to;
    m->to = m->at[k];
    if (from < 0 || (!m->fill && k > sparse_tallied(m->p->dst)))
        return;
    m->to = sparse_column(m);
    sparse_step(m, STEP_write_dense, (i64)m->to, (i64)from, (i64)m->at[k],
                m->p->dst->level[k].n);
}

static void
finish(SparseMaker *m, int k)
{
    sparse_step(m, STEP_grow, (i64)k + 1, m->p->dst->level[k].n);
}

const LevelInfo level_dense = {
    .name = "dense", .access = "1 step", .positions = positions, .read = read,
    .parent = level_same_parent, .write = write, .finish = finish};
