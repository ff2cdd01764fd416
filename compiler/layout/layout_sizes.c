/* Computes the sizes and strides of a layout whose extents may be left to run time. */
#include "layout.h"

typedef struct {
    i64 open, closed;
} Reach;

typedef struct {
    Scalars *s;
    Exprs *e;
    Sizes *r;
    const Layout *l;
    Reach reach[2][MAX_RANK];      /* index 0: canonical form; 1: as written */
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

/* LayoutSee: records for a dim the least lo of the digits without an upper end, and the
 * greatest hi of the others; 0: none. */
static void
see(void *arg, bool written, int d, i64 lo, i64 hi)
{
    Maker *m = arg;
    Reach *r = &m->reach[written][d];
    if (m->r->extent[d] < 0)
        return;
    if (hi) {
        r->closed = hi > r->closed ? hi : r->closed;
        return;
    }
    if (r->open && r->open % lo && lo % r->open)
        refuse(m, m->l->ref->def->loc, "how far it reaches is the lesser of two round-ups",
               "one of them should divide the other");
    r->open = !r->open || lo < r->open ? lo : r->open;
}

/* Sets the padded extent, as layout_reach does: rounded up to a block if the topmost digit
 * has no upper end, else the upper end. */
static void
set_padded(Maker *m, int d)
{
    Reach w = m->reach[true][d], c = m->reach[false][d];
    const Ex *n = m->r->n[d];
    i64 pad = m->l->dim[d].pad, open = w.open > c.open ? w.open : c.open;
    if (!w.open != !c.open || (open && (open % w.open || open % c.open)))
        refuse(m, m->l->ref->def->loc, "its digits as written end elsewhere than "
               "simplified", "write them as C//16 and C%16");
    if (!open && pad > 1)
        refuse(m, m->l->ref->def->loc, "a pad of a dim whose digits all end",
               "give that extent as a number");
    if (!open)
        m->r->padded[d] = w.closed ? constant(m, w.closed) : n;
    else
        m->r->padded[d] = round_up(m, pad > 1 ? round_up(m, n, pad) : n, open);
    if (!open || !int_lcm(pad, open, &m->r->unit[d]))
        m->r->unit[d] = 0;
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

static void
set_slots(Maker *m, int i)
{
    const Entry *t = &m->l->entry[i];
    bool constant_dims = true, *used = arena_array(ex_arena(m->e), bool, ex_nvars(m->e));
    ex_vars(t->written, used);
    for (int d = 0; d < m->l->rank; d++)
        constant_dims &= m->r->extent[d] < 0 || !used[m->l->dim[d].free];
    m->r->slots[i] = constant_dims ? constant(m, t->extent)
                     : ex_add(m->e, most(m, t->x), constant(m, 1));
}

/* A stride, rounded up to the pitch of entry i. */
static const Ex *
pitched(Maker *m, int i, const Ex *stride)
{
    i64 bits = m->l->dtype->bits, unit = m->l->entry[i].pitch, k;
    if (!unit || (unit <= bits / 8 && bits / 8 % unit == 0))
        return stride;
    if (!int_mul(unit, 8, &k) || k % bits)
        refuse(m, m->l->ref->def->loc, "a pitch that is no whole number of elements",
               "give all extents as numbers");
    m->r->pitch[i] = k / bits;
    return round_up(m, stride, k / bits);
}

static void
set_strides(Maker *m)
{
    const Ex *stride = constant(m, 1);
    for (int i = m->l->nentry - 1; i >= 0; i--) {
        m->r->stride[i] = pitched(m, i, stride);
        stride = scalar_times(m->s, m->r->stride[i], m->r->slots[i]);
    }
    m->r->size = stride;
}

/* Makes the address: the entries with constant strides as one expression, in which digits
 * merge; the other entries as terms. */
static void
set_address(Maker *m)
{
    Sizes *r = m->r;
    const Ex **to = arena_array(ex_arena(m->e), const Ex *, ex_nvars(m->e));
    for (int d = 0; d < m->l->rank; d++) {
        r->var[d] = r->extent[d] < 0 ? m->l->dim[d].var : m->l->dim[d].free;
        to[m->l->dim[d].free] = ex_of_var(m->e, r->var[d]);
    }
    r->addr = constant(m, 0);
    for (int i = 0; i < m->l->nentry; i++) {
        const Ex *x = ex_subst(m->e, m->l->entry[i].written, to), *by = r->stride[i];
        if (ex_is_const(by)) {
            r->addr = ex_add(m->e, r->addr, ex_scale(m->e, x, by->base));
            continue;
        }
        r->term[r->nterms].x = x;
        r->term[r->nterms++].stride = by;
    }
}

/* Sets all sizes to the constants in the layout. */
static void
set_fixed(Maker *m)
{
    Sizes *r = m->r;
    for (int i = 0; i < m->l->nentry; i++) {
        r->slots[i] = constant(m, m->l->entry[i].extent);
        r->stride[i] = constant(m, m->l->entry[i].stride);
    }
    r->size = constant(m, m->l->size);
    r->addr = m->l->addr;
    for (int d = 0; d < m->l->rank; d++)
        r->var[d] = m->l->dim[d].var;
}

static void
set_runtime(Maker *m)
{
    const Ast *swizzle = m->l->ref->def->swizzle;
    if (swizzle)
        refuse(m, swizzle->loc, "a swizzle of addresses fits whole blocks of storage only",
               "write it as an xor of digits in the order, or give all extents as numbers");
    for (int i = 0; i < m->l->nentry; i++)
        set_slots(m, i);
    set_strides(m);
    set_address(m);
}

const Sizes *
layout_sizes(Scalars *s, const Layout *l, const int *extent)
{
    Sizes *r = arena_new(ex_arena(s->e), Sizes);
    Maker m = {s, s->e, r, l, {{{0}}}};
    bool fixed = true;
    r->l = l;
    for (int d = 0; d < l->rank; d++) {
        r->extent[d] = extent[d];
        fixed &= extent[d] < 0;
    }
    if (!fixed)
        layout_digits(l, see, &m);
    for (int d = 0; d < l->rank; d++) {
        r->n[d] = extent[d] < 0 ? constant(&m, l->dim[d].n) : scalar_ex(s, extent[d]);
        r->unit[d] = 1;
        if (extent[d] < 0)
            r->padded[d] = constant(&m, l->dim[d].padded);
        else
            set_padded(&m, d);
    }
    fixed ? set_fixed(&m) : set_runtime(&m);
    return r;
}
