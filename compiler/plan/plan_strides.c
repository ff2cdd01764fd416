/* Strides that each run is given.
 *
 * A source may have any, as nothing is written there.  Of a destination each stride has room for
 * the entries after it, as strides of nested arrays have: then no two elements have one address.
 * An entry with one slot has no use for its stride.
 *
 * The last of them may be the fill of the destination, of which a run takes the lowest bits. */
#include "plan_parts.h"

i64
plan_least(const Plan *p, int extent)
{
    const Scalars *s = p->scalars;
    return extent != s->fill ? 0 : s->fill_least == -INF ? INT64_MIN : s->fill_least;
}

const Ex *
plan_fill(const Plan *p)
{
    const Scalars *s = p->scalars;
    int bits = p->dst->dtype->bits;
    if (s->fill < 0)
        return NULL;
    const Ex *x = scalar_ex(s, s->fill);
    return bits < 64 ? ex_mod(p->e, x, (i64)1 << bits) : x;
}

/* The slots from the first to the last one of the entries from i on. */
static const Ex *
span_from(const Plan *p, int i)
{
    const Sizes *r = p->to;
    const Ex *one = ex_const(p->e, 1), *span = one;
    for (; i < r->l->nentry; i++)
        span = ex_add(p->e, span, scalar_times(p->scalars, r->stride[i],
                                               ex_sub(p->e, r->slots[i], one)));
    return span;
}

const Ex *
plan_stride_room(const Plan *p, int i)
{
    Exprs *e = p->e;
    const Ex *one = ex_const(e, 1);
    const Ex *more = ex_max(e, ex_min(e, ex_sub(e, p->to->slots[i], one), one), ex_const(e, 0));
    const Ex *room = ex_sub(e, p->to->stride[i], span_from(p, i + 1));
    return scalar_times(p->scalars, scalar_of(p->scalars, more, 1), room);
}

/* Sets *span to what span_from is from entry i on, from what it is from i + 1 on; false if it
 * does not fit 64 bits. */
static bool
add_span(const Sizes *r, int i, const i64 *val, i64 *span)
{
    i64 slots, stride, more;
    return ex_eval(r->slots[i], val, &slots) && ex_eval(r->stride[i], val, &stride) &&
           int_mul(stride, slots - 1, &more) && int_add(*span, more, span);
}

const char *
plan_strides_flaw(Arena *a, const Plan *p, const i64 *val)
{
    const Sizes *r = p->to;
    i64 span = 1, slots = 0, stride = 0;
    for (int i = r->l->nentry - 1; r->strided && i >= 0; i--) {
        if (!ex_eval(r->slots[i], val, &slots) || !ex_eval(r->stride[i], val, &stride))
            return "a stride does not fit 64 bits";
        if (slots > 1 && stride < span)
            return arena_printf(a, "the stride of '%s' of the destination is %lld elements, but "
                                "the entries after it take %lld", ast_text(a, r->l->entry[i].x),
                                (long long)stride, (long long)span);
        if (!add_span(r, i, val, &span))
            return "the strides of the destination do not fit 64 bits";
    }
    return NULL;
}

static void
fit_side(Arena *a, const Plan *p, const Sizes *r, i64 *extent, i64 *slack)
{
    const Scalars *s = p->scalars;
    i64 span = 1;
    for (int i = r->l->nentry - 1; r->strided && i >= 0; i--) {
        const Ex *x = r->stride[i];
        for (int k = scalar_first_stride(s); k < s->nextents; k++)
            if (x == scalar_ex(s, k) && extent[k] < span + slack[k])
                extent[k] = span + slack[k];
        const i64 *val = plan_values(a, p, extent);
        if (!val || !add_span(r, i, val, &span))
            return;
    }
}

void
plan_fit_strides(Arena *a, const Plan *p, i64 *extent)
{
    const Scalars *s = p->scalars;
    i64 slack[MAX_RANK];
    for (int k = scalar_first_stride(s); k < s->nextents; k++) {
        slack[k] = extent[k];
        extent[k] = k == s->fill ? extent[k] : 0;
    }
    plan_fit_tests(a, p, extent);
    for (int again = 0; again < 2 && s->nstrides; again++) {
        fit_side(a, p, p->from, extent, slack);
        fit_side(a, p, p->to, extent, slack);
    }
}
