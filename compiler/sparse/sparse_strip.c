/* From columns of rows in order to tiles, as from CSC to BSR: the bits of a bitmap say where the tiles
 * are, and the values of a strip of rows of tiles are written before those of the next. */
#include "sparse_parts.h"

/* The source is dense(crd), compressed(row). */
static bool
from_columns(const SparseFormat *f, const SparseTiles *t)
{
    return t->row == 1 && t->crd == 0 && !f->loose && f->nlevel == 2 &&
           f->level[0].def.kind == LEVEL_DENSE && f->level[1].def.kind == LEVEL_COMPRESSED &&
           !f->level[1].def.unordered;
}

bool
sparse_strips(SparseMaker *m)
{
    return sparse_set_tiles(m) && from_columns(m->p->src, &m->p->tiles) && sparse_bitmap(m);
}

void
sparse_find_strips(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[1];
    sparse_step_tiles(m);
    sparse_begin_bitmap(m);
    sparse_step(m, STEP_find_strips, l->pos, l->crd, f->level[0].n, l->bias, (i64)f->width);
    sparse_end_bitmap(m);
}

void
sparse_fill_strips(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *l = &src->level[1];
    sparse_begin_bitmap(m);
    sparse_step(m, STEP_fill_strips, l->pos, l->crd, src->level[0].n, l->bias, (i64)src->width,
                f->narray - 1, src->narray - 1, m->p->bytes, f->l->fill[0], f->l->fill[1]);
}
