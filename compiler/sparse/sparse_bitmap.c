/* Places by a bitmap: the compressed level of the destination is below dense ones and above blocks
 * of dense ones, and it has so few places that each has a bit. */
#include "sparse_parts.h"

/* MOST: bits that fit a cache.  A layout has a value for each bit, or more. */
enum { MOST = 1 << 24, MOST_OF_LAYOUT = INT32_MAX };

bool
sparse_bitmap(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    int k = 0;
    i64 bits = 1;
    if (f->dense)
        return false;
    for (; k < f->nlevel && f->level[k].def.kind == LEVEL_DENSE; k++)
        if (!int_mul(bits, f->level[k].n, &bits))
            return false;
    if (k == f->nlevel || f->level[k].def.kind != LEVEL_COMPRESSED || f->level[k].def.repeats ||
        !int_mul(bits, f->level[k].n, &bits) || bits > (p->src->dense ? MOST_OF_LAYOUT : MOST))
        return false;
    p->block = 1;
    for (k++; k < f->nlevel; k++)
        if (f->level[k].def.kind != LEVEL_DENSE || !int_mul(p->block, f->level[k].n, &p->block))
            return false;
    p->places = bits;
    return true;
}

/* The values that may be written, to know which are; 0: none is twice. */
const Ex *
sparse_written(const SparseMaker *m)
{
    return m->p->joins ? ex_scale(m->e, sparse_positions(m), m->p->block) : ex_const(m->e, 0);
}

void
sparse_begin_bitmap(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[sparse_compressed(f)];
    if (!m->fill)
        sparse_step(m, STEP_unset, m->p->places, sparse_written(m));
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
        sparse_step(m, STEP_number_bits, (i64)sparse_compressed(m->p->dst) + 1, m->p->places);
}
