/* Places by a bitmap: the compressed level of the destination is below dense ones and above blocks
 * of dense ones, and it has so few places that each has a bit. */
#include "sparse_parts.h"

/* MOST: bits that fit a cache.  SORTED: bits of the memory that sorting takes for an entry.  NEAR: those of half
 * an index. */
enum { MOST = 1 << 24, SORTED = 256, NEAR = 16 };

/* The numbers of dense levels from k on are multiplied into *n; returns the next level, -1: the
 * product does not fit. */
static int
multiply_dense(const SparseFormat *f, int k, i64 *n)
{
    for (; k < f->nlevel && f->level[k].def.kind == LEVEL_DENSE; k++)
        if (!int_mul(*n, f->level[k].n, n))
            return -1;
    return k;
}

/* A layout that has as many elements as there are places, or more, takes more memory than them. */
static bool
few_places(const SparsePlan *p)
{
    return p->places <= MOST ||
           (p->src->dense && p->places <= p->src->l->size && p->places <= INT32_MAX);
}

/* A bit for each value of all places fits a cache. */
static bool
few_values(const SparsePlan *p)
{
    i64 values;
    return int_mul(p->places, p->block, &values) && values <= MOST;
}

bool
sparse_bitmap(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    p->places = p->block = 1;
    int k = f->dense ? -1 : multiply_dense(f, 0, &p->places);
    if (k < 0 || k == f->nlevel || f->level[k].def.kind != LEVEL_COMPRESSED ||
        f->level[k].def.repeats || !int_mul(p->places, f->level[k].n, &p->places))
        return false;
    return multiply_dense(f, k + 1, &p->block) == f->nlevel && few_places(p) &&
           (!p->joins || p->block <= SORTED || few_values(p));
}

/* The most values that there may be: of a place for each entry or, if these are many, of all places. */
const Ex *
sparse_written(const SparseMaker *m)
{
    const SparsePlan *p = m->p;
    return p->block > NEAR && few_values(p) ? ex_const(m->e, p->places * p->block)
           : ex_scale(m->e, sparse_positions(m), p->block);
}

void
sparse_begin_bitmap(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[sparse_compressed(f)];
    if (!m->fill)
        sparse_step(m, STEP_unset, m->p->places);
    else
        sparse_step(m, STEP_take_bits, l->pos, l->crd, m->p->places / l->n, l->n, l->bias,
                    (i64)f->width);
}

/* The column of an entry's place, or position, in the level at k or above. */
static int
place_in(SparseMaker *m, int from, int k)
{
    int to = sparse_column(m);
    if (from < 0)
        return m->at[k];
    sparse_step(m, STEP_write_dense, (i64)to, (i64)from, (i64)m->at[k], m->p->dst->level[k].n);
    return to;
}

/* Returns the column of the positions of the values, in `fill`. */
int
sparse_write_bitmap(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    int k = 0, at = -1, last = sparse_compressed(f);
    for (; k <= last; k++)
        at = place_in(m, at, k);
    if (!m->fill) {
        sparse_step(m, STEP_set_bits, (i64)at);
        return at;
    }
    int position = sparse_column(m);
    sparse_step(m, STEP_find_bits, (i64)position, (i64)at);
    for (; k < f->nlevel; k++)
        position = place_in(m, position, k);
    if (m->p->joins)
        sparse_step(m, STEP_written, (i64)position);
    return position;
}

void
sparse_end_bitmap(SparseMaker *m)
{
    if (!m->fill)
        sparse_step(m, STEP_number_bits, (i64)sparse_compressed(m->p->dst) + 1, m->p->places,
                    m->p->joins ? m->p->block : 0);
}
