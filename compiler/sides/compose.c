/* Two conversions, one after the other, as one. */
#include <string.h>

#include "sides.h"

typedef struct {
    Arena *a;
    const Plan *first, *second;
    const Layout *base;            /* what the second reads, or that of which it reads a part */
    Composed *out;
} Chain;

const i64 *
sides_extents(Arena *a, const Layout *l)
{
    i64 *n = arena_array(a, i64, l->rank + 1);
    for (int d = 0; d < l->rank; d++)
        n[d] = l->dim[d].n;
    return n;
}

static bool
same_shape(const Layout *x, const Layout *y)
{
    bool same = x->rank == y->rank;
    for (int d = 0; same && d < x->rank; d++)
        same = x->dim[d].n == y->dim[d].n;
    return same;
}

static const char *
tuple(Arena *a, const i64 *x, int rank)
{
    Buf b = buf_new(a);
    for (int d = 0; d < rank; d++)
        buf_printf(&b, "%s%lld", d ? "," : "(", (long long)x[d]);
    buf_add(&b, rank ? ")" : "()");
    return b.s;
}

static const char *
said(const Chain *c, const Layout *l)
{
    return layout_ref_text(c->a, l->ref);
}

/* "(2,20,5,7)" */
static const char *
shape_of(const Chain *c, const Layout *l)
{
    return tuple(c->a, sides_extents(c->a, l), l->rank);
}

/* Why the second does not read what the first writes; NULL: it does. */
static const char *
misread(const Chain *c)
{
    const Layout *w = c->first->dst, *r = c->base;
    int map[MAX_RANK];
    if (!same_shape(w, r))
        return arena_printf(c->a, "the first writes %s of %s, the second reads %s of %s",
                            said(c, w), shape_of(c, w), said(c, r), shape_of(c, r));
    plan_match(c->a, w->ref, r->ref, w->rank, map);
    for (int d = 0; d < w->rank; d++)
        if (map[d] != d)
            return arena_printf(c->a, "%s and %s have their dims in different orders",
                                said(c, w), said(c, r));
    Comparison e = sides_equal(c->a, w->ref, r->ref, w->dtype, w->rank,
                                 sides_extents(c->a, w));
    if (e.q.equal == NO)
        return arena_printf(c->a, "the first writes element %s to address %lld, where the "
                            "second reads another one: it looks for it at %lld",
                            tuple(c->a, e.q.x, w->rank), (long long)e.q.at_a,
                            (long long)e.q.at_b);
    return e.q.equal == YES ? NULL
           : arena_printf(c->a, "it is not known whether %s and %s are the same layout",
                          said(c, w), said(c, r));
}

static bool
is_identity(const Plan *p)
{
    for (int d = 0; d < p->dst->rank; d++)
        if (p->map[d] != d)
            return false;
    return true;
}

/* Why the dims of the source and the last destination are not those that the two conversions
 * pair; NULL: they are. */
static const char *
mispaired(const Chain *c, const Known *known, bool part)
{
    int map[MAX_RANK];
    const Plan *p = c->first, *q = c->second;
    const LayoutRef *from = spec_ref(c->a, c->out->from, known);
    plan_match(c->a, from, q->dst->ref, q->dst->rank, map);
    for (int d = 0; d < q->dst->rank; d++)
        if (map[d] != (part ? q->map[d] : p->map[q->map[d]]))
            return arena_printf(c->a, "by their names, other dims of %s and %s belong "
                                "together than by way of %s", layout_ref_text(c->a, from),
                                said(c, q->dst), said(c, p->dst));
    return NULL;
}

/* The source that has the same part of it as the second reads. */
static const char *
part_of_source(const Chain *c, const Request *first, const Request *second)
{
    const Layout *l = c->first->src;
    while (l->view && !l->view->strided)
        l = l->view->of;
    return spec_reindexed(c->a, first->from, l->rank, sides_extents(c->a, l), second->from);
}

/* What only a run knows. */
static void
refuse_open(const Plan *p)
{
    static const char what[] = "a chain of conversions";
    sides_refuse_strides(p->scalars, p->name, what);
    layout_refuse_lookups(p->src, what);
    layout_refuse_lookups(p->dst, what);
}

Composed
sides_composed(Arena *a, const Known *known, const Request *first, const Plan *first_plan,
               const Request *second, const Plan *second_plan)
{
    Composed out = {.from = first->from, .rank = first->rank, .shape = first->shape};
    Chain c = {a, first_plan, second_plan, NULL, &out};
    const Layout *w = c.first->dst, *r = c.second->src;
    refuse_open(first_plan);
    refuse_open(second_plan);
    bool part = r->view && !r->view->strided && !w->view;
    for (c.base = r; part && c.base->view && !c.base->view->strided;)
        c.base = c.base->view->of;
    if (strcmp(first->dtype, second->dtype))
        out.why = arena_printf(a, "the first is of %s, the second of %s", first->dtype,
                               second->dtype);
    else
        out.why = misread(&c);
    if (!out.why && part && !is_identity(c.first))
        out.why = arena_printf(a, "%s and %s have their dims in different orders, so a part "
                               "of one is written otherwise than of the other",
                               said(&c, c.first->src), said(&c, w));
    if (!out.why && part) {
        out.from = part_of_source(&c, first, second);
        out.rank = second->rank;
        out.shape = second->shape;
    }
    if (!out.why)
        out.why = mispaired(&c, known, part);
    return out;
}
