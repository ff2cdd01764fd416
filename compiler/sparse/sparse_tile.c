/* From rows of coordinates to a dense level and a compressed one: by tiles, if dense blocks
 * follow, as from CSR to BSR; by rows, if equal entries are joined, as from COO to CSR. */
#include <stdint.h>

#include "../../templates/c/sparse_size.h"
#include "sparse_parts.h"

enum { MOST = 1 << 24 };       /* coordinates of tiles that a set holds (templates/c) */

/* x is var//block or, `below`, var%block; returns var, -1: it is not, and sets *block. */
static int
digit_of(const SparseMaker *m, const Ex *x, bool below, i64 *block)
{
    if (x->n != 1 || x->base || x->t[0].coef != 1)
        return -1;
    Digit d = ex_digit(m->e, x->t[0].atom);
    if (below ? d.lo != 1 || !d.hi : d.hi)
        return -1;
    *block = below ? d.hi : d.lo;
    return ex_as_var(d.root);
}

/* The level of the source with this variable, if its coordinates can be read at any entry;
 * -1: none. */
static int
level_of(const SparseMaker *m, int var)
{
    const SparseFormat *f = m->p->src;
    for (int k = 0; k < f->nlevel; k++)
        if (f->level[k].var == var)
            return k;
    return -1;
}

/* The source is dense(row), compressed(crd), or a list that has both. */
static bool
has_rows(const SparseFormat *f, const SparseTiles *t)
{
    const LevelDef *top = &f->level[0].def;
    if (top->kind == LEVEL_DENSE)
        return f->nlevel == 2 && t->row == 0 && f->level[1].def.kind == LEVEL_COMPRESSED;
    return top->kind == LEVEL_COMPRESSED && top->repeats;
}

/* The dense levels at the end are the digits of a tile. */
static bool
set_block(SparseMaker *m, SparseTiles *t)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    i64 stride = 1, block = 0;
    for (int k = f->nlevel - 1; k >= 2; k--) {
        const Level *l = &f->level[k];
        int var = digit_of(m, sparse_over(m, l->x), true, &block);
        bool row = var == src->level[t->row].var;
        if (l->def.kind != LEVEL_DENSE || (!row && var != src->level[t->crd].var) ||
            block != (row ? t->tall : t->wide))
            return false;
        *(row ? &t->down : &t->across) = stride;
        stride *= block;
    }
    return stride == t->tall * t->wide;
}

/* A list goes to bins of its rows, or, of few rows and columns, to columns.  A key is the low bits of a row,
 * and a coordinate. */
static void
set_bins(const SparseMaker *m, SparseTiles *t)
{
    enum { FEW_ROWS = 1 << 14, KEY_BITS = 31 };
    bool list = m->p->src->level[0].def.kind != LEVEL_DENSE;
    int shift = sparse_bits(t->rows) - sparse_bits(RAVEL_MOST_BUCKETS);
    t->bits = sparse_bits(t->bound);
    t->columns = list && t->rows <= FEW_ROWS && t->bound <= FEW_ROWS;
    t->shift = shift > 0 ? shift : 0;
    t->few = t->columns ? RAVEL_NEAR_RESULT / (m->p->bytes + m->p->src->width) : -1;
    t->sorted = list && t->shift + t->bits <= KEY_BITS;
}

bool
sparse_set_tiles(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    SparseTiles *t = &p->tiles;
    if (f->dense || f->nlevel < 2 || f->nlevel > 4 || f->level[0].def.kind != LEVEL_DENSE ||
        f->level[1].def.kind != LEVEL_COMPRESSED || f->level[1].def.unordered ||
        f->level[1].n > MOST || src->padded || p->ones)
        return false;
    for (int d = 0; d < f->l->rank; d++)
        if (p->guard[d] >= 0)
            return false;
    *t = (SparseTiles){.bound = f->level[1].n};
    t->row = level_of(m, digit_of(m, sparse_over(m, f->level[0].x), false, &t->tall));
    t->crd = level_of(m, digit_of(m, sparse_over(m, f->level[1].x), false, &t->wide));
    if (t->row < 0 || t->crd < 0 || t->row == t->crd || src->dense || !set_block(m, t))
        return false;
    t->rows = src->level[t->row].n;
    return true;
}

bool
sparse_tiles(SparseMaker *m)
{
    SparsePlan *p = m->p;
    SparseTiles *t = &p->tiles;
    if (!sparse_set_tiles(m) || !has_rows(p->src, t))
        return false;
    set_bins(m, t);
    return !p->joins || (t->tall * t->wide == 1 && p->rq->equal != EQUAL_ERROR);
}

void
sparse_step_tiles(SparseMaker *m)
{
    const SparseTiles *t = &m->p->tiles;
    sparse_step(m, STEP_tiles, t->rows, t->bound, t->tall, t->wide, t->down, t->across);
}

void
sparse_find_tiles(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[1];
    sparse_step_tiles(m);
    sparse_step(m, STEP_gather, (i64)2, l->pos, l->crd, l->bias, (i64)f->width);
}

void
sparse_fill_tiles(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *from = &src->level[1], *to = &f->level[1];
    sparse_step(m, STEP_fill_tiles, from->pos, from->crd, from->bias, (i64)src->width, to->pos,
                to->crd, to->bias, (i64)f->width, f->narray - 1, src->narray - 1,
                m->p->bytes, f->l->fill[0], f->l->fill[1]);
}

/* A list to its columns. */
static void
to_columns(SparseMaker *m)
{
    const SparseTiles *t = &m->p->tiles;
    const SparseFormat *f = m->p->src;
    const Level *row = &f->level[t->row], *crd = &f->level[t->crd];
    sparse_step(m, STEP_columns, (i64)2, row->crd, crd->crd, sparse_positions(m), t->rows, t->bound,
                row->bias, crd->bias, t->few, (i64)f->width);
}

void
sparse_merge_rows(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseTiles *t = &p->tiles;
    const SparseFormat *f = p->src;
    const Level *row = &f->level[t->row], *crd = &f->level[t->crd];
    i64 es = p->bytes, parts = es ? sparse_parts(f->l->dtype) : 1, w = f->width;
    if (row->def.kind != LEVEL_DENSE)
        sparse_step(m, STEP_ordered, (i64)2, row->crd, crd->crd, sparse_positions(m), t->rows, row->bias,
                    crd->bias, w);
    if (t->columns)
        to_columns(m);
    if (t->sorted) {
        sparse_step(m, STEP_sorted, (i64)2, row->crd, crd->crd, sparse_positions(m), t->rows,
                    (i64)t->shift, (i64)t->bits, row->bias, crd->bias, es, w);
        return;
    }
    if (row->def.kind == LEVEL_DENSE)
        sparse_step(m, STEP_in_rows, (i64)2, crd->pos, crd->crd, sparse_positions(m), t->rows, w);
    if (row->def.kind == LEVEL_DENSE)
        sparse_step(m, STEP_rows, crd->pos, crd->crd, f->narray - 1, sparse_positions(m), t->rows,
                    crd->bias, es, w);
    else
        sparse_step(m, STEP_bucket, row->crd, crd->crd, f->narray - 1, sparse_positions(m),
                    t->rows, row->bias, crd->bias, es, w);
    sparse_step(m, STEP_merge, (i64)2, t->rows, t->bound, es / parts, parts, sparse_how(p), w);
}

void
sparse_fill_rows(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    const SparseTiles *t = &p->tiles;
    const Level *l = &f->level[1];
    const SparseStep fill[] = {STEP_fill_ordered, STEP_fill_columns, STEP_fill_sorted};
    const bool has[] = {true, t->columns, t->sorted};
    i64 parts = p->bytes ? sparse_parts(f->l->dtype) : 1;
    bool list = src->level[t->row].def.kind != LEVEL_DENSE;
    const Level *crd = &src->level[t->crd];
    if (!list)
        sparse_step(m, STEP_fill_in_rows, crd->pos, crd->crd, src->narray - 1, l->pos, l->crd,
                    f->narray - 1, sparse_positions(m), t->rows, l->bias - crd->bias, p->bytes,
                    (i64)src->width, (i64)f->width);
    for (int i = 0; list && i < 3; i++)
        if (has[i])
            sparse_step(m, fill[i], src->level[t->row].crd, src->level[t->crd].crd, src->narray - 1, l->pos,
                        l->crd, f->narray - 1, l->bias, p->bytes / parts, parts, sparse_how(p), (i64)f->width);
    if (!t->sorted)
        sparse_step(m, STEP_merged, l->pos, l->crd, f->narray - 1, t->rows, l->bias, p->bytes,
                    (i64)src->width, (i64)f->width);
}
