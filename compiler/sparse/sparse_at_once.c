/* Passes that have no columns: steps that convert all entries. */
#include "sparse_parts.h"

/* The steps of `fill` for two levels that are exchanged. */
static void
transpose(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *l = &src->level[1];
    bool lists;
    int most = sparse_far_bits(m, &lists);
    sparse_step(m, STEP_transpose, l->pos, l->crd, src->level[0].n, l->n, f->level[1].pos,
                f->level[1].crd, f->narray - 1, src->narray - 1, m->p->bytes,
                (i64)f->width, (i64)most, (i64)lists);
}

/* ... for the positions of the source. */
static void
extract(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst;
    const Level *l = &f->level[f->nlevel - 1];
    sparse_step(m, STEP_extract, l->pos, l->crd, f->narray - 1, m->p->src->narray - 1,
                f->l->size / l->n, l->n, m->p->bytes, (i64)f->width);
}

/* ... for rows that become a list. */
static void
expand(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Ex *n = sparse_positions(m);
    int crd = m->p->expands - 1;
    sparse_step(m, STEP_expand, f->level[0].pos, f->level[!crd].crd, src->level[1].pos, n,
                src->level[0].n, (i64)f->width);
    sparse_step(m, STEP_copy, f->level[crd].crd, src->level[1].crd, n, (i64)f->width);
    if (m->p->bytes)
        sparse_step(m, STEP_copy, f->narray - 1, src->narray - 1, n, m->p->bytes);
}

/* ... for rows that are contiguous in a layout. */
static void
spread(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    const Level *l = &src->level[1];
    sparse_step(m, STEP_spread, 0, l->pos, l->crd, src->narray - 1, src->level[0].n, p->down,
                p->across, l->bias, sparse_bytes(f->l->dtype), (i64)src->width, f->l->fill[0],
                f->l->fill[1]);
}

/* Of each entry one position of a level. */
static void
assume(SparseMaker *m)
{
    i64 level = sparse_compressed(m->p->dst) + 1;
    if (m->p->extracts)
        sparse_step(m, STEP_kept, level);
    else
        sparse_step(m, STEP_assume, level, sparse_positions(m));
}

/* ... for the same levels: in `sizes` the sizes of the source.  Places without an entry get the fill,
 * whatever the source has there. */
static void
copy_all(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    const Level *last = &f->level[f->nlevel - 1];
    for (int i = 0; i < f->narray; i++)
        if (m->fill)
            sparse_step(m, STEP_copy, i, i, sparse_size(m, i),
                        sparse_bytes(sparse_array_type(f, i)));
    if (m->fill && f->padded && last->def.kind == LEVEL_SINGLETON)
        sparse_step(m, STEP_blank, f->narray - 1, last->crd, sparse_positions(m),
                    sparse_bytes(f->l->dtype), (i64)f->width, f->l->fill[0], f->l->fill[1]);
}

/* ... for rows whose entries are numbered. */
static void
lay(SparseMaker *m)
{
    sparse_begin_levels(m);
    sparse_lay(m);
}

bool
sparse_at_once(SparseMaker *m)
{
    const SparsePlan *p = m->p;
    if (p->copies)
        copy_all(m);
    else if (p->way == BY_TILES)
        m->fill ? sparse_fill_tiles(m) : sparse_find_tiles(m);
    else if (p->way == BY_STRIPS)
        m->fill ? sparse_fill_strips(m) : sparse_find_strips(m);
    else if (p->way == FROM_TILES)
        m->fill ? sparse_fill_untiled(m) : sparse_count_untiled(m);
    else if (p->way == BY_ROWS)
        m->fill ? sparse_fill_rows(m) : sparse_merge_rows(m);
    else if (p->transposes)
        m->fill ? transpose(m) : assume(m);
    else if (p->extracts)
        m->fill ? extract(m) : assume(m);
    else if (p->lays)
        m->fill ? lay(m) : sparse_count_lengths(m);
    else if (p->expands)
        m->fill ? expand(m) : assume(m);
    else if (m->fill && p->down)
        spread(m);
    else if (!m->fill && sparse_is_counted(p))
        assume(m);
    else
        return false;
    return true;
}
