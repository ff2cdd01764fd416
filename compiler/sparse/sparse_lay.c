/* From rows of entries in order to levels that number the entries of a row, as from CSR to ELL,
 * SELL and JDS. */
#include "sparse_parts.h"

static bool
is_number(LevelKind kind)
{
    return kind == LEVEL_NTH || kind == LEVEL_SLICED || kind == LEVEL_JAGGED;
}

bool
sparse_lays(const SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    return !f->dense && !src->dense && f->nlevel == 3 && src->nlevel == 2 && !src->loose &&
           is_number(f->level[1].def.kind) && src->level[0].def.kind == LEVEL_DENSE &&
           src->level[1].def.kind == LEVEL_COMPRESSED && !p->ones &&
           ex_as_var(sparse_over(m, f->level[0].x)) == src->level[0].var &&
           ex_as_var(sparse_over(m, f->level[2].x)) == src->level[1].var;
}

void
sparse_count_lengths(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    sparse_step(m, STEP_lengths, src->level[1].pos, src->level[0].n,
                (i64)(sparse_tallied(f) >= 0), (i64)src->width, (i64)f->width);
}

void
sparse_lay(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *from = &src->level[1], *number = &f->level[1];
    i64 tall = number->def.kind == LEVEL_JAGGED ? -1 : number->number;
    sparse_step(m, STEP_lay, from->pos, from->crd, m->p->bytes ? src->narray - 1 : -1, number->pos,
                f->level[2].crd, m->p->bytes ? f->narray - 1 : -1, src->level[0].n, from->bias,
                tall, m->p->bytes, (i64)src->width, (i64)f->width);
}
