/* Computes the sizes and strides of a layout as expressions.  What depends on no extent
 * left to run time is a number: that of the layout. */
#include "layout.h"

typedef struct {
    Scalars *s;
    Exprs *e;
    Sizes *r;
    const Layout *l;
    bool fixed;           /* no extent is left to run time */
} Maker;

_Noreturn static void
refuse(Maker *m, Loc loc, const char *what, const char *instead)
{
    diag_fatal(ex_arena(m->e)->diag, DIAG_LAYOUT, loc,
               "layout '%s' with an extent left to run time: %s; %s",
               m->l->ref->def->name, what, instead);
}

static const Ex *
constant(Maker *m, i64 v)
{
    return ex_const(m->e, v);
}

static const Ex *
round_up(Maker *m, const Ex *x, i64 k)
{
    return ex_scale(m->e, scalar_ceil(m->s, x, k), k);
}

/* The padded extent of a dim left to run time, as layout_reach computes it: rounded up to
 * a block if the topmost digit has no upper end, else the upper end. */
static const Ex *
padded(Maker *m, int d, i64 *unit)
{
    const Dim *x = &m->l->dim[d];
    const Reach *w = &x->written, *c = &x->canonical;
    const Ex *n = m->r->n[d];
    i64 open = w->open > c->open ? w->open : c->open;
    if (w->apart || c->apart)
        refuse(m, m->l->ref->def->loc, "how far it reaches is the lesser of two round-ups",
               "one of them should divide the other");
    if (!w->open != !c->open || (open && (open % w->open || open % c->open)))
        refuse(m, m->l->ref->def->loc, "its digits as written end elsewhere than "
               "simplified", "write them as C//16 and C%16");
    if (!open && x->pad > 1)
        refuse(m, m->l->ref->def->loc, "a pad of a dim whose digits all end",
               "give that extent as a number");
    if (!open || !int_lcm(x->pad, open, unit))
        *unit = 0;
    if (!open)
        return w->closed ? constant(m, w->closed) : n;
    return round_up(m, x->pad > 1 ? round_up(m, n, x->pad) : n, open);
}

static void
set_dim(Maker *m, int d, int extent)
{
    Sizes *r = m->r;
    const Dim *x = &m->l->dim[d];
    const Ast *swizzle = m->l->ref->def->swizzle;
    bool known = extent < 0;
    m->fixed &= known;
    if (!known && swizzle)
        refuse(m, swizzle->loc, "a swizzle of addresses fits whole blocks of storage only",
               "write it as an xor of digits in the order, or give all extents as numbers");
    if (!known && layout_uses_extent(m->l->ref->def, x->name))
        refuse(m, m->l->ref->def->loc, arena_printf(ex_arena(m->e), "it uses extent(%s)",
               x->name), "give that extent as a number");
    r->extent[d] = extent;
    r->var[d] = known ? x->var : x->free;
    r->n[d] = known ? constant(m, x->n) : scalar_ex(m->s, extent);
    r->unit[d] = 1;
    r->padded[d] = known ? constant(m, x->padded) : padded(m, d, &r->unit[d]);
}

/* True if the values of an entry do not depend on extents left to run time. */
static bool
is_closed(Maker *m, const Ast *x)
{
    int d;
    i64 lo, hi;
    if (layout_written_digit(m->l, x, &d, &lo, &hi))
        return hi || m->r->extent[d] < 0;
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (!is_closed(m, x->x[i]))
            return false;
    return x->op != OP_SYM;
}

static bool
largest(const void *env, const char *name, i64 *v)
{
    const Maker *m = env;
    int d = layout_find_dim(m->l, name);
    *v = d < 0 ? 0 : m->r->extent[d] < 0 ? m->l->dim[d].padded - 1 : INF;
    return d >= 0;
}

/* The greatest value of an entry as written. */
static const Ex *
most(Maker *m, const Ast *x)
{
    int d;
    i64 lo, hi, min, max, k;
    const OpMeaning *is = op_info[x->op].is;
    if (layout_written_digit(m->l, x, &d, &lo, &hi) && !hi && m->r->extent[d] >= 0)
        return ex_sub(m->e, scalar_ceil(m->s, m->r->padded[d], lo), constant(m, 1));
    if (is_closed(m, x) && layout_range(x, largest, m, &min, &max) && min >= 0 &&
        max < INF)
        return constant(m, max);
    if (is->sum[0] > 0 && is->sum[1] > 0)
        return ex_add(m->e, ex_scale(m->e, most(m, x->x[0]), is->sum[0]),
                      ex_scale(m->e, most(m, x->x[1]), is->sum[1]));
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (ast_times(x, i, &k) && k > 0)
            return ex_scale(m->e, most(m, x->x[i]), k);
    refuse(m, x->loc, arena_printf(ex_arena(m->e), "how many slots '%s' has is not known "
                                   "for every shape", ast_text(ex_arena(m->e), x)),
           "entries are digits as C//16, C%16 and 15 - C%16, sums of such, and xors of "
           "those that end");
}

/* True if x, over Dim.free, has no dim left to run time. */
static bool
is_known(Maker *m, const Ex *x)
{
    bool known = true, *used = arena_array(ex_arena(m->e), bool, ex_nvars(m->e));
    ex_vars(x, used);
    for (int d = 0; d < m->l->rank; d++)
        known &= m->r->extent[d] < 0 || !used[m->l->dim[d].free];
    return known;
}

/* The declared stride of entry i, which is `least` rounded up to a multiple of it. */
static const Ex *
exact(Maker *m, int i, const Ex *least)
{
    if (!ex_is_const(least))
        refuse(m, m->l->ref->def->loc, "whether the entries after one with a stride fit "
               "it is not known for every shape",
               "use pitch, or give these extents as numbers");
    m->r->pitch[i] = m->l->entry[i].exact;
    return constant(m, m->l->entry[i].exact);
}

/* A stride, rounded up to the pitch of entry i. */
static const Ex *
pitched(Maker *m, int i, const Ex *stride)
{
    i64 bits = m->l->dtype->bits, unit = m->l->entry[i].pitch, all;
    if (m->l->entry[i].exact)
        return exact(m, i, stride);
    if (!unit || (unit <= bits / 8 && bits / 8 % unit == 0))
        return stride;
    unit *= 8;
    if (unit % bits && ex_is_const(stride) && int_mul(stride->base, bits, &all))
        int_round_up(all, unit, &unit);
    if (unit % bits)
        refuse(m, m->l->ref->def->loc, "a pitch that is no whole number of elements",
               "give all extents as numbers");
    m->r->pitch[i] = unit / bits;
    return round_up(m, stride, unit / bits);
}

/* Adds entry i to the address: to the expression of the entries with constant strides, in
 * which digits merge, or to the terms. */
static void
add_entry(Maker *m, int i, bool known, const Ex *const *to)
{
    Sizes *r = m->r;
    const Entry *t = &m->l->entry[i];
    const Ex *x = known ? t->ex : ex_subst(m->e, t->written, to), *by = r->stride[i];
    if (ex_is_const(by)) {
        r->addr = ex_add_scaled(m->e, r->addr, x, by->base);
        return;
    }
    r->term[r->nterms].x = x;
    r->term[r->nterms++].stride = by;
}

static void
set_entries(Maker *m)
{
    Sizes *r = m->r;
    const Ex **to = arena_array(ex_arena(m->e), const Ex *, ex_nvars(m->e));
    for (int d = 0; d < m->l->rank; d++)
        to[m->l->dim[d].free] = ex_of_var(m->e, r->var[d]);
    r->addr = m->fixed ? m->l->addr : constant(m, 0);
    r->size = constant(m, 1);
    for (int i = m->l->nentry - 1; i >= 0; i--) {
        const Entry *t = &m->l->entry[i];
        bool known = m->fixed || is_known(m, t->written);
        r->slots[i] = known ? constant(m, t->extent)
                            : ex_add(m->e, most(m, t->x), constant(m, 1));
        r->stride[i] = pitched(m, i, r->size);
        r->size = scalar_times(m->s, r->stride[i], r->slots[i]);
        if (!m->fixed)
            add_entry(m, i, known, to);
    }
}

const Sizes *
layout_sizes(Scalars *s, const Layout *l, const int *extent)
{
    Sizes *r = arena_new(ex_arena(s->e), Sizes);
    Maker m = {s, s->e, r, l, true};
    r->l = l;
    for (int d = 0; d < l->rank; d++)
        set_dim(&m, d, extent[d]);
    set_entries(&m);
    return r;
}
