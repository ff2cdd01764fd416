/* From dense blocks below a dense level and a compressed one to such levels of single rows, as from
 * BSR to CSR. */
#include "sparse_parts.h"

enum { MOST = 1 << 24 };       /* values of a tile, which 32 bits count (templates/c) */

/* x is size*outer + inner; sets *size and returns the level of `inner`, -1: it is another. */
static int
inner_level(const SparseMaker *m, const Ex *x, int outer, i64 *size)
{
    const SparseFormat *f = m->p->src;
    int level = -1;
    *size = 0;
    if (x->n != 2 || x->base)
        return -1;
    for (int i = 0; i < 2; i++) {
        const Atom *a = x->t[i].atom;
        for (int k = 2; a->op == AT_VAR && k < 4; k++)
            level = a->var == f->level[k].var && x->t[i].coef == 1 ? k : level;
        if (a->op == AT_VAR && a->var == f->level[outer].var)
            *size = x->t[i].coef;
    }
    return level >= 0 && *size == f->level[level].n ? level : -1;
}

static bool
is_of(const SparseFormat *f, const LevelKind *kinds, int n)
{
    bool same = f->nlevel == n;
    for (int k = 0; same && k < n; k++)
        same = f->level[k].def.kind == kinds[k];
    return same;
}

bool
sparse_untiles(SparseMaker *m)
{
    static const LevelKind tiles[] = {LEVEL_DENSE, LEVEL_COMPRESSED, LEVEL_DENSE, LEVEL_DENSE};
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    const SparseRequest *rq = p->rq;
    SparseTiles t = {0};
    if (f->dense || src->loose || rq->mask || rq->threshold != 0 || rq->zero_threshold ||
        !is_of(src, tiles, 4) || !is_of(f, tiles, 2) || src->level[1].bias || f->level[1].bias)
        return false;
    int row = inner_level(m, sparse_over_levels(m, f->level[0].x), 0, &t.tall);
    int col = inner_level(m, sparse_over_levels(m, f->level[1].x), 1, &t.wide);
    if (row < 0 || col < 0 || row == col)
        return false;
    i64 inner;
    if (!int_mul(t.tall, t.wide, &inner) || inner > MOST)
        return false;
    t.rows = f->level[0].n;
    t.bound = f->level[1].n;
    t.down = row == 2 ? src->level[3].n : 1;
    t.across = row == 2 ? 1 : src->level[3].n;
    p->tiles = t;
    return true;
}

void
sparse_count_untiled(SparseMaker *m)
{
    const SparseFormat *f = m->p->src;
    const Level *l = &f->level[1];
    sparse_step_tiles(m);
    sparse_step(m, STEP_untile, (i64)2, l->pos, l->crd, f->narray - 1, sparse_bytes(f->l->dtype),
                (i64)f->width, f->l->fill[0], f->l->fill[1]);
}

void
sparse_fill_untiled(SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const Level *from = &src->level[1], *to = &f->level[1];
    sparse_step(m, STEP_fill_untiled, from->pos, from->crd, src->narray - 1, to->pos, to->crd,
                f->valueless ? -1 : f->narray - 1, sparse_bytes(src->l->dtype), m->p->bytes,
                (i64)src->width, (i64)f->width, src->l->fill[0], src->l->fill[1]);
}
