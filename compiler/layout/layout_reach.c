/* Finds how far the digits of each dim reach; layout_padded.c computes the padded extents
 * from that.  The search covers the entries as written, in which
 * 6*(C//6) + C%6 has slots beyond C, and their canonical form, in which 2*C//8 is a digit.
 * Inside a remainder, for example K in (K + M)%16, all digits have an upper end: `mod` is
 * the modulus that applies to the expression at hand, or 0. */
#include "layout_parts.h"

typedef struct {
    Layout *l;
    int dim;              /* of the digits of a canonical form */
    bool written;
    bool overflow;
} Reacher;

/* Notes the digit lo, hi of dim d, reduced modulo mod. */
static void
reach_digit(Reacher *m, int d, i64 lo, i64 hi, i64 mod)
{
    Dim *x = &m->l->dim[d];
    Reach *r = m->written ? &x->written : &x->canonical;
    i64 end;
    if (mod && int_mul(lo, mod, &end) && (!hi || end < hi))
        hi = end;
    if (hi) {
        r->closed = hi > r->closed ? hi : r->closed;
        return;
    }
    m->overflow |= !int_round_up(x->padded, lo, &end);
    r->apart |= r->open && r->open % lo && lo % r->open;
    r->end = !r->open || end < r->end ? end : r->end;
    r->open = !r->open || lo < r->open ? lo : r->open;
}

static void
reach_canonical(void *arg, const DigitUse *u)
{
    Reacher *m = arg;
    reach_digit(m, m->dim, u->lo, u->hi, u->mod);
}

typedef struct {
    int dim;
    i64 lo, hi;
} Written;

/* *w = w div c; false if that is not a digit */
static bool
divide(Written *w, i64 c)
{
    return int_mul(w->lo, c, &w->lo) && (!w->hi || w->hi % w->lo == 0);
}

/* *w = w mod c; false if that is not a digit */
static bool
cut(Written *w, i64 c)
{
    i64 hi;
    if (!int_mul(w->lo, c, &hi) || (w->hi && w->hi % hi && hi % w->hi))
        return false;
    w->hi = w->hi && w->hi < hi ? w->hi : hi;
    return true;
}

static bool
is_digit(const Layout *l, const Ast *x, Written *w)
{
    i64 lo, hi;
    if (x->op == OP_SYM) {
        *w = (Written){layout_find_dim(l, x->name), 1, 0};
        return w->dim >= 0;
    }
    for (int i = 0; i < op_info[x->op].nargs; i++)
        if (ast_digit(x, i, &lo, &hi))
            return is_digit(l, x->x[i], w) && divide(w, lo) && (!hi || cut(w, hi / lo));
    return false;
}

bool
layout_written_digit(const Layout *l, const Ast *x, int *dim, i64 *lo, i64 *hi)
{
    Written w;
    if (!is_digit(l, x, &w))
        return false;
    *dim = w.dim;
    *lo = w.lo;
    *hi = w.hi;
    return true;
}

static void
reach_written(Reacher *m, const Ast *x, i64 mod)
{
    Written w;
    if (is_digit(m->l, x, &w)) {
        reach_digit(m, w.dim, w.lo, w.hi, mod);
        return;
    }
    for (int i = 0; i < op_info[x->op].nargs; i++)
        reach_written(m, x->x[i], ast_period(x, i, mod));
}

bool
layout_reach(Layout *l)
{
    Reacher m = {.l = l};
    for (int i = 0; i < l->nentry; i++) {
        m.written = true;
        reach_written(&m, l->entry[i].x, 0);
        m.written = false;
        for (m.dim = 0; m.dim < l->rank; m.dim++)
            ex_each_digit(l->entry[i].written, l->dim[m.dim].free, reach_canonical, &m);
    }
    return !m.overflow;
}
