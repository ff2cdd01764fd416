/* Which values of a source are entries. */
#include <math.h>

#include "sparse_parts.h"

/* True if no value of the type is above x. */
static bool
is_above_all(const DType *t, double x)
{
    uint64_t limit[2];
    if (t->kind == 'i' || t->kind == 'u')
        return x >= ldexp(1, t->bits);
    return x > 0 && (isinf(x) || !dtype_encode(t, x, limit));
}

void
sparse_check_test(const SparseMaker *m)
{
    const SparseRequest *rq = m->p->rq;
    const DType *t = m->p->src->l->dtype;
    if (!rq->mask && rq->threshold == 0 && !rq->zero_threshold)
        return;
    if (!sparse_masks(m->p->src))
        sparse_refuse(m, "each position of the source is an entry: a threshold and a mask are of "
                      "sources with other places, as layouts");
    if (rq->mask && (rq->threshold != 0 || rq->zero_threshold))
        sparse_refuse(m, "a mask says which values are entries: there is no threshold then");
    if (rq->mask)
        return;
    if (!(rq->threshold >= 0))
        sparse_refuse(m, "a threshold is 0 or more");
    if (t->kind == 'c')
        sparse_refuse(m, "complex values have no threshold: give a mask");
    if (is_above_all(t, rq->threshold))
        sparse_refuse(m, "no value of this type is above the threshold");
}

SparseTest
sparse_test(const SparseMaker *m)
{
    enum { NOT_FILL, ABOVE, ABOVE_SIGNED };
    const SparseFormat *f = m->p->src;
    const SparseRequest *rq = m->p->rq;
    const DType *t = f->l->dtype;
    SparseTest x = {f->narray - 1, sparse_bytes(t), NOT_FILL, f->l->fill[0], f->l->fill[1]};
    uint64_t limit[2], sign = (uint64_t)1 << (t->bits < 64 ? t->bits - 1 : 63);
    if (rq->mask)
        return (SparseTest){0, 1, NOT_FILL, 0, 0};
    if (rq->threshold == 0 && !rq->zero_threshold)
        return x;
    x.how = t->kind == 'i' ? ABOVE_SIGNED : ABOVE;
    x.hi = t->kind == 'i' ? sign : t->kind == 'u' ? sign | (sign - 1) : sign - 1;
    if (t->kind == 'i' || t->kind == 'u') {
        x.lo = (uint64_t)rq->threshold;
    } else {
        dtype_encode(t, fabs(rq->threshold), limit);      /* -0.0 is 0 */
        x.lo = limit[0];
    }
    return x;
}
