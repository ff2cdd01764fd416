/* ranked(x): a position for every coordinate, those with the most entries first; with a number,
 * in each so many coordinates.  crd has the coordinate of each position. */
#include "sparse_parts.h"

static const Ex *
positions(const SparseMaker *m, int k)
{
    return ex_const(m->e, m->p->src->level[k].n);
}

static void
check(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k];
    sparse_step(m, STEP_check_size, (i64)l->crd, sparse_size(m, l->crd), ex_const(m->e, l->n));
    sparse_step(m, STEP_check_ranked, (i64)l->crd, l->crd, l->n, l->number, (i64)f->width);
}

static void
read(SparseMaker *m, int k)
{
    const Level *l = &m->p->src->level[k];
    m->column[l->var] = sparse_column(m);
    sparse_step(m, STEP_load, (i64)m->column[l->var], (i64)m->from, (i64)0, l->crd,
                (i64)m->p->src->width);
}

/* The levels below take the coordinate, and look its rank up. */
static void
write(SparseMaker *m, int k)
{
    m->to = m->at[k];
}

static void
begin(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[k];
    if (m->fill)
        sparse_step(m, STEP_ranked, l->crd, l->n, (i64)f->width);
}

static void
finish(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[k];
    if (!m->fill)
        sparse_step(m, STEP_rank, l->n, l->number, (i64)f->width);
    sparse_step(m, STEP_grow, (i64)k + 1, l->n);
}

const LevelInfo level_ranked = {
    .name = "ranked", .crd = true, .access = "a search among the coordinates",
    .positions = positions, .check = check, .read = read,
    .parent = level_same_parent, .begin = begin, .write = write, .finish = finish};
