/* What a plan with extents left to run time has in numbers at one shape: the values of its extents
 * and scalars, the bytes of its buffers, the elements of its nests. */
#include <string.h>

#include "plan_parts.h"

int
plan_fill_extents(const Plan *p, const i64 *shape, i64 *extent)
{
    const Scalars *s = p->scalars;
    int d = 0;
    for (int i = 0; i < s->nextents; i++)
        extent[i] = -1;
    for (; d < p->src->rank; d++) {
        int i = p->given[d].scalar;
        if (i < 0 ? shape[d] != p->given[d].n
                  : shape[d] < 0 || shape[d] > s->most[i] ||
                    (extent[i] >= 0 && extent[i] != shape[d]))
            return d;
        if (i >= 0)
            extent[i] = shape[d];
    }
    for (int i = 0; i < s->nstrides; i++)
        extent[s->nextents - s->nstrides + i] = shape[d + i];
    return -1;
}

void
plan_joined(const Plan *p, const i64 *shape, i64 *out)
{
    int rank = p->src->rank;
    i64 most[MAX_RANK];            /* the products, in which an extent of 0 counts as 1 */
    memcpy(out, shape, (size_t)(rank + p->scalars->nstrides) * sizeof *out);
    for (int d = 0; d < rank; d++) {
        most[d] = shape[d] ? shape[d] : 1;
        out[d] = p->given[d].joined == d ? shape[d] : 1;
    }
    for (int d = 0; d < rank; d++) {
        int to = p->given[d].joined;
        if (to != d && !int_mul(most[to], shape[d] ? shape[d] : 1, &most[to]))
            diag_fatal(ex_arena(p->e)->diag, DIAG_LAYOUT, (Loc){0},
                       "the sizes at this shape do not fit 64 bits");
        if (to != d)
            out[to] *= shape[d];
    }
}

i64 *
plan_values(Arena *a, const Plan *p, const i64 *extent)
{
    i64 *val = arena_array(a, i64, ex_nvars(p->e));
    return scalars_eval(p->scalars, extent, val) ? val : NULL;
}

/* The same for strides that are given: each address is a sum of as many terms as entries. */
static bool
strided_fits(const Sizes *r, const i64 *val)
{
    i64 unit = STRIDED_TERMS * (i64)r->l->dtype->bits, slots, stride, all;
    for (int i = 0; i < r->l->nentry; i++)
        if (!ex_eval(r->slots[i], val, &slots) || !ex_eval(r->stride[i], val, &stride) ||
            !int_mul(slots > 1 ? slots : 1, stride > 1 ? stride : 1, &all) ||
            !int_mul(all, unit, &all))
            return false;
    return ex_eval(r->origin, val, &all) && int_mul(all, unit, &all);
}

/* Sets *size to the bits of the stride that b bounds. */
static bool
bounded(const Sizes *r, const StrideBound *b, const i64 *val, i64 *size)
{
    i64 by;
    bool fits = int_mul(b->times, r->l->dtype->bits, size);
    for (int k = 0; k < b->n && fits; k++)
        fits = ex_eval(b->by[k], val, &by) && int_mul(*size, by > 1 ? by : 1, size);
    return fits;
}

/* True if the size fits 64 bits; an extent of 0 counts as 1, as in emitted code. */
static bool
fits(const Sizes *r, const i64 *val)
{
    if (r->strided)
        return strided_fits(r, val);
    i64 slots, unit, size = r->l->dtype->bits;
    for (int i = r->l->nentry - 1; i >= 0; i--) {
        if (r->bound[i] && !bounded(r, r->bound[i], val, &size))
            return false;
        if (r->pitch[i] && (!int_mul(r->pitch[i], r->l->dtype->bits, &unit) ||
                            !int_round_up(size, unit, &size)))
            return false;
        if (!ex_eval(r->slots[i], val, &slots) ||
            !int_mul(size, slots > 1 ? slots : 1, &size))
            return false;
    }
    return r->l->dtype->bits >= 8 || int_round_up(size, 8, &size);
}

static bool
bytes(const Plan *p, const Sizes *r, const i64 *val, i64 *out)
{
    i64 size, bits = p->dst->dtype->bits;
    if (!fits(r, val) || !ex_eval(r->size, val, &size))
        return false;
    *out = bits >= 8 ? size * (bits / 8) : int_ceil_div(size, 8 / bits);
    return true;
}

bool
plan_bytes_at(const Plan *p, const i64 *val, i64 *src, i64 *dst)
{
    return bytes(p, p->from, val, src) && bytes(p, p->to, val, dst);
}

i64
nest_elements_at(const Nest *n, const i64 *val)
{
    i64 all = 1, v;
    for (int i = 0; i < n->nneeded; i++)
        if (!ex_eval(n->needed[i], val, &v) || v <= 0)
            return 0;
    for (int i = 0; i < n->nloops; i++)
        if (!ex_eval(n->loop[i].ex.n, val, &v) || v <= 0 || !int_mul(all, v, &all))
            return 0;
    return all;
}
