/* Statements that say whether the sizes of both buffers fit, before they are computed. */
#include "emit.h"

static void
add(const Plan *p, Stmt ***at, StKind kind, const char *name, const Ex *value, i64 count)
{
    Stmt *s = emit_add(ex_arena(p->e), at, kind);
    s->text = name;
    s->value = value;
    s->count = count;
}

/* Begins another product, with the bits of a stride that does not follow from the one so far. */
static const char *
add_bound(const Plan *p, Stmt ***at, const char *name, const char *next, const StrideBound *b)
{
    add(p, at, ST_FITS, name, NULL, 0);
    add(p, at, ST_SIZE, next, ex_const(p->e, p->dst->dtype->bits), 0);
    add(p, at, ST_TIMES, next, ex_const(p->e, b->times), 0);
    for (int i = 0; i < b->n; i++)
        add(p, at, ST_TIMES, next, b->by[i], 0);
    return next;
}

/* The size in bits as a product that says when it does not fit; a slot or extent of 0
 * counts as 1 there, so that nothing made of some of them overflows either.  Bytes are
 * whole. */
static void
add_size(const Plan *p, Stmt ***at, const char *name, const Sizes *r)
{
    const i64 bits = p->dst->dtype->bits;
    const char *now = name;
    add(p, at, ST_SIZE, now, ex_const(p->e, bits), 0);
    for (int i = r->l->nentry - 1; i >= 0; i--) {
        if (r->bound[i])
            now = add_bound(p, at, now, arena_printf(ex_arena(p->e), "%s%d", name, i), r->bound[i]);
        if (r->pitch[i])
            add(p, at, ST_ROUND, now, NULL, r->pitch[i] * bits);
        if (!ex_is_const(r->slots[i]) || r->slots[i]->base != 1)
            add(p, at, ST_TIMES, now, r->slots[i], 0);
    }
    if (bits < 8)
        add(p, at, ST_ROUND, now, NULL, 8);
    add(p, at, ST_FITS, now, NULL, 0);
}

/* A variable for `count` times x times y, which fits. */
static void
add_product(const Plan *p, Stmt ***at, const char *name, const Ex *x, const Ex *y)
{
    Stmt *s = emit_add(ex_arena(p->e), at, ST_SIZE);
    s->text = name;
    s->value = ex_const(p->e, STRIDED_TERMS * (i64)p->dst->dtype->bits);
    for (int i = 0; i < 2; i++) {
        const Ex *by = i ? y : x;
        if (ex_is_const(by) && by->base <= 1)
            continue;
        s = emit_add(ex_arena(p->e), at, ST_TIMES);
        s->text = name;
        s->value = by;
    }
    emit_add(ex_arena(p->e), at, ST_FITS)->text = name;
}

/* The same for strides that are given: a size is a sum of such products. */
static void
add_spans(const Plan *p, Stmt ***at, const char *name, const Sizes *r)
{
    const Ex *one = ex_const(p->e, 1);
    for (int i = 0; i < r->l->nentry; i++)
        if (!ex_is_const(r->slots[i]) || !ex_is_const(r->stride[i]))
            add_product(p, at, arena_printf(ex_arena(p->e), "%s_bits%d", name, i), r->slots[i],
                        r->stride[i]);
    if (!ex_is_const(r->origin))
        add_product(p, at, arena_printf(ex_arena(p->e), "%s_bits", name), r->origin, one);
}

static void
add_side(const Plan *p, Stmt ***at, const char *name, const Sizes *r)
{
    if (r->strided)
        add_spans(p, at, name, r);
    else
        add_size(p, at, arena_printf(ex_arena(p->e), "%s_bits", name), r);
}

/* Where an extent is a product of those that are given, all of these together must fit before it is
 * computed; an extent of 0 counts as 1, as above. */
Stmt *
emit_products(const Plan *p)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    bool joined = false;
    for (int d = 0; d < p->src->rank; d++)
        joined |= p->given[d].joined != d;
    if (!joined)
        return NULL;
    Stmt *s = emit_add(ex_arena(p->e), at, ST_SIZE);
    s->text = "all_bits";
    s->value = ex_const(p->e, p->dst->dtype->bits);
    for (int d = 0; d < p->src->rank; d++) {
        const PlanExtent *x = &p->given[d];
        if (x->scalar < 0 && x->n == 1)
            continue;
        s = emit_add(ex_arena(p->e), at, ST_TIMES);
        s->text = "all_bits";
        s->value = x->scalar < 0 ? ex_const(p->e, x->n) : scalar_ex(p->scalars, x->scalar);
    }
    emit_add(ex_arena(p->e), at, ST_FITS)->text = "all_bits";
    return first;
}

Stmt *
emit_fits(const Plan *p)
{
    Stmt *first = NULL, **tail = &first, ***at = &tail;
    add_side(p, at, "src", p->from);
    add_side(p, at, "dst", p->to);
    return first;
}
