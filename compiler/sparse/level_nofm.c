/* nofm(x, n): n positions below each parent, with different coordinates.  crd has their
 * coordinates, of 1, 2 or 4 bits, the first in the low bits of a byte.  A parent with fewer
 * entries has places with the fill, at the lowest coordinates that are free in the last n.
 *
 * With an order the coordinates of a parent are where a layout of this order has the parent. */
#include "sparse_parts.h"

static const Ex *
positions(const SparseMaker *m, int k)
{
    return ex_scale(m->e, m->positions[k], m->p->src->level[k].number);
}

/* The levels above are dense: from the column of parents to their coordinates, and to a column
 * of where the codes of the parent are, times the coordinates of a parent. */
static int
place_of_parent(SparseMaker *m, const SparseFormat *f, int k, int parent)
{
    const Level *l = &f->level[k];
    int at = sparse_column(m);
    if (!l->at) {
        sparse_step(m, STEP_set, (i64)at, (i64)0);
        sparse_step(m, STEP_term, (i64)at, (i64)parent, l->n, (i64)1, (i64)0);
        return at;
    }
    for (int j = k - 1; j >= 0; j--) {
        int c = parent;
        if (j > 0) {
            int to = sparse_column(m);
            c = sparse_column(m);
            sparse_step(m, STEP_read_dense, (i64)c, (i64)parent, (i64)to, f->level[j].n);
            parent = to;
        }
        m->column[f->level[j].var] = c;
    }
    return sparse_column_of(m, l->at);
}

/* Batches of parents: the columns of their numbers, and of the places of their codes. */
static Stmt **
begin_parents(SparseMaker *m, const SparseFormat *f, int k, int *at)
{
    const Ex *parents = ex_const(m->e, sparse_parents(f, k));
    Stmt **after = sparse_begin_loop(m, parents);
    m->columns = SPARSE_FREE;
    sparse_step(m, STEP_begin, ex_of_var(m->e, m->p->step), parents);
    *at = place_of_parent(m, f, k, 0);
    return after;
}

static void
check(SparseMaker *m, int k)
{
    const Level *l = &m->p->src->level[k];
    int at;
    sparse_step(m, STEP_check_size, (i64)l->crd, sparse_size(m, l->crd),
                ex_const(m->e, l->codes));
    Stmt **after = begin_parents(m, m->p->src, k, &at);
    sparse_step(m, STEP_check_chosen, (i64)l->crd, l->crd, (i64)at, l->number, l->n);
    sparse_end_loop(m, after);
}

static void
read(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k];
    int which = sparse_column(m), parent = sparse_column(m), c = sparse_column(m);
    sparse_step(m, STEP_read_dense, (i64)which, (i64)m->from, (i64)parent, l->number);
    int at = place_of_parent(m, f, k, parent);
    sparse_step(m, STEP_read_chosen, (i64)c, (i64)at, (i64)which, l->crd, l->number, l->n);
    m->column[l->var] = c;
    m->from = parent;
}

/* `read` has made the parent too, or it is made here. */
static void
parent(SparseMaker *m, int k)
{
    const Level *l = &m->p->src->level[k];
    if (m->needed[l->var])
        return;
    int which = sparse_column(m), to = sparse_column(m);
    sparse_step(m, STEP_read_dense, (i64)which, (i64)m->from, (i64)to, l->number);
    m->from = to;
}

static void
begin(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[k];
    int at;
    if (!m->fill) {
        sparse_step(m, STEP_unchoose, sparse_parents(f, k));
        return;
    }
    sparse_step(m, STEP_clear_codes, l->crd, l->codes);
    Stmt **after = begin_parents(m, f, k, &at);
    sparse_step(m, STEP_write_codes, l->crd, (i64)at, l->number, l->n);
    sparse_end_loop(m, after);
}

static void
write(SparseMaker *m, int k)
{
    const Level *l = &m->p->dst->level[k];
    int from = m->to;
    if (!m->fill) {
        sparse_step(m, STEP_choose, (i64)from, (i64)m->at[k], l->number, (i64)l->crd);
        return;
    }
    m->to = sparse_column(m);
    sparse_step(m, STEP_write_chosen, (i64)m->to, (i64)from, (i64)m->at[k], l->number, l->n);
}

static void
finish(SparseMaker *m, int k)
{
    sparse_step(m, STEP_grow, (i64)k + 1, m->p->dst->level[k].number);
}

const LevelInfo level_nofm = {
    .name = "nofm", .crd = true, .coded = true, .access = "a look at the codes of the parent",
    .positions = positions, .check = check, .read = read, .parent = parent, .begin = begin,
    .write = write, .finish = finish};
