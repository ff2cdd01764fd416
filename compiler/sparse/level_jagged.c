/* jagged(): the first entries of all parents, then the second ones of those that have two, and
 * so on.  The parents are ranked, so that each such diagonal has the first ones of them.  pos has
 * the first place of each diagonal. */
#include "sparse_parts.h"

static void
check(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[k], *below = l + 1;
    sparse_step(m, STEP_check_diagonals, (i64)l->pos, l->pos, sparse_size(m, l->pos),
                (i64)below->crd, below->crd, sparse_size(m, below->crd), sparse_parents(f, k),
                (i64)!below->def.unordered, (i64)f->width);
}

static void
parent(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->src;
    int to = sparse_column(m);
    sparse_step(m, STEP_read_diagonal, (i64)k + 1, (i64)m->from, (i64)to, f->level[k].pos,
                (i64)f->width);
    m->from = to;
}

static void
begin(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    if (m->fill)
        sparse_step(m, STEP_diagonal_pos, f->level[k].pos, sparse_parents(f, k),
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
    sparse_step(m, STEP_write_diagonal, (i64)m->to, (i64)from, f->level[k].pos,
                (i64)m->p->joins, (i64)f->width);
}

static void
finish(SparseMaker *m, int k)
{
    const SparseFormat *f = m->p->dst;
    if (m->fill)
        return;
    sparse_step(m, STEP_diagonals, (i64)k + 1, sparse_parents(f, k), (i64)f->width);
    tallied_end(m, k);
}

const LevelInfo level_jagged = {
    .name = "jagged", .pos = true, .lists = true, .access = "a search among the places of the "
    "parent, which are apart", .positions = tallied_positions, .check = check, .parent = parent,
    .begin = begin, .write = write, .finish = finish};
