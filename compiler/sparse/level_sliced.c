/* sliced(h): the parents in slices of h; in each, as many places below a parent as its fullest
 * parent has entries.  The places of a slice are the first ones of its parents, then the second
 * ones.  pos has the first place of each slice.  What is the same for jagged() is in level_tallied.c.
 * The steps of both are apart: a place in a slice follows from its height alone, one on a diagonal from
 * the ranks of all parents. */
#include "sparse_parts.h"

static i64
slices(const SparseFormat *f, int k)
{
    return int_ceil_div(sparse_parents(f, k), f->level[k].number);
}

static void
check(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k], *below = l + 1;
    const Ex *n = ex_const(m->e, slices(f, k)), *places = sparse_size(m, below->crd);
    sparse_step(m, STEP_check_size, (i64)l->pos, sparse_size(m, l->pos),
                ex_add(m->e, n, ex_const(m->e, 1)));
    sparse_step(m, STEP_check_pos, (i64)l->pos, l->pos, n, places, (i64)f->width);
    sparse_step(m, STEP_check_slices, (i64)l->pos, l->pos, (i64)below->crd, below->crd,
                sparse_parents(f, k), l->number, (i64)!below->def.unordered, (i64)f->width);
}

static void
parent(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k];
    int to = sparse_column(m);
    sparse_step(m, STEP_read_slice, (i64)k + 1, (i64)m->from, (i64)to, l->pos, l->number,
                (i64)f->width);
    m->from = to;
}

static void
begin(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[k];
    if (m->fill)
        sparse_step(m, STEP_slice_pos, l->pos, sparse_parents(f, k), l->number,
                    (i64)f->width);
    tallied_begin(m, k);
}

static void
write(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    int from = m->to;
    if (tallied_counts(m))
        return;
    m->to = sparse_column(m);
    sparse_step(m, STEP_write_slice, (i64)m->to, (i64)from, f->level[k].pos, f->level[k].number,
                (i64)m->p->joins, (i64)f->width);
}

static void
finish(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[k];
    if (m->fill)
        return;
    sparse_step(m, STEP_slices, (i64)k + 1, sparse_parents(f, k), l->number, (i64)f->width);
    tallied_end(m, k);
}

const LevelInfo level_sliced = {
    .name = "sliced", .pos = true, .lists = true, .access = "a search among the places of the "
    "parent, which are apart", .positions = tallied_positions, .check = check, .parent = parent,
    .begin = begin, .write = write, .finish = finish};
