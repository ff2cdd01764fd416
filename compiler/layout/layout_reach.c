/* Computes the padded extents of dims from their digits.  If a dim has digits without an
 * upper end, its extent is rounded up to the least of these; if all digits have one, the
 * padded extent is the highest.  The search covers the entries as written, in which
 * 6*(C//6) + C%6 has slots beyond C, and their canonical form, in which 2*C//8 is a digit.
 * Inside a remainder, for example K in (K + M)%16, all digits have an upper end: `mod` is
 * the modulus that applies to the expression at hand, or 0. */
#include "layout.h"

typedef struct {
    const Layout *l;
    LayoutSee *see;
    void *arg;
    bool written;
} Seer;

/* Reports the digit lo, hi of dim d, reduced modulo mod. */
static void
see_within(const Seer *m, int d, i64 lo, i64 hi, i64 mod)
{
    i64 end;
    if (mod && int_mul(lo, mod, &end) && (!hi || end < hi))
        hi = end;
    m->see(m->arg, m->written, d, lo, hi);
}

static int
dim_of(const Layout *l, int free)
{
    int d = l->rank - 1;
    while (d >= 0 && l->dim[d].free != free)
        d--;
    return d;
}

/* Like ast_period, for an atom with an operator. */
static i64
period_in(const Atom *a, i64 mod)
{
    Op op = ex_operator(a);
    return op != OP_COUNT && op_info[op].is->period ? op_info[op].is->period(mod) : 0;
}

static void
see_canonical(const Seer *m, const Ex *x, i64 mod)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        i64 of = mod ? mod / int_gcd(mod, x->t[i].coef) : 0;
        int d = a->op == AT_VAR ? dim_of(m->l, a->var)
              : a->op == AT_DIG ? dim_of(m->l, ex_as_var(a->x[0])) : -1;
        if (d >= 0)
            see_within(m, d, a->op == AT_VAR ? 1 : a->lo, a->op == AT_VAR ? 0 : a->hi,
                         of);
        for (int j = 0; d < 0 && j < a->n; j++)
            see_canonical(m, a->x[j], a->op == AT_DIG ? a->hi : period_in(a, of));
    }
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
see_written(const Seer *m, const Ast *x, i64 mod)
{
    Written w;
    if (is_digit(m->l, x, &w)) {
        see_within(m, w.dim, w.lo, w.hi, mod);
        return;
    }
    for (int i = 0; i < op_info[x->op].nargs; i++)
        see_written(m, x->x[i], ast_period(x, i, mod));
}

void
layout_digits(const Layout *l, LayoutSee *see, void *arg)
{
    for (int i = 0; i < l->nentry; i++) {
        see_written(&(Seer){l, see, arg, true}, l->entry[i].x, 0);
        see_canonical(&(Seer){l, see, arg, false}, l->entry[i].written, 0);
    }
}

typedef struct {
    i64 open, closed;     /* 0: none seen */
} Reach;

typedef struct {
    Layout *l;
    Reach r[2][MAX_RANK]; /* index 0: canonical form; 1: as written */
    bool overflow;
} Reacher;

static void
reach_digit(void *arg, bool written, int d, i64 lo, i64 hi)
{
    i64 end;
    Reacher *m = arg;
    Reach *r = &m->r[written][d];
    if (hi)
        r->closed = hi > r->closed ? hi : r->closed;
    else if (!int_round_up(m->l->dim[d].padded, lo, &end))
        m->overflow = true;
    else
        r->open = !r->open || end < r->open ? end : r->open;
}

/* The padded extent of dim d by its digits. */
static i64
end_of(const Reacher *m, bool written, int d)
{
    const Reach *r = &m->r[written][d];
    i64 n = m->l->dim[d].padded;
    return r->open ? r->open : r->closed > n ? r->closed : n;
}

bool
layout_reach(Layout *l)
{
    Reacher m = {.l = l};
    layout_digits(l, reach_digit, &m);
    for (int d = 0; d < l->rank; d++) {
        i64 p = end_of(&m, false, d), q = end_of(&m, true, d);
        l->dim[d].padded = p > q ? p : q;
    }
    return !m.overflow;
}
