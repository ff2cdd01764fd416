/* How far the coordinates of a dim may go: its digits without an upper end bound it,
 * rounded up; where all have one, the highest ends it.  Digits are looked for in the
 * entries as written, where 6*(C//6) + C%6 has slots beyond C, and in their canonical
 * form, where 2*C//8 is a digit. */
#include "layout.h"

typedef struct {
    i64 open, closed;     /* 0: none seen */
} Reach;

typedef struct {
    Layout *l;
    Reach r[MAX_RANK];
    bool overflow;
} Reacher;

static void
reach_digit(Reacher *m, int d, i64 lo, i64 hi)
{
    i64 end;
    Reach *r = &m->r[d];
    if (hi)
        r->closed = hi > r->closed ? hi : r->closed;
    else if (!int_round_up(m->l->dim[d].padded, lo, &end))
        m->overflow = true;
    else
        r->open = !r->open || end < r->open ? end : r->open;
}

static int
dim_of(const Layout *l, int free)
{
    int d = l->rank - 1;
    while (d >= 0 && l->dim[d].free != free)
        d--;
    return d;
}

static void
reach_canonical(Reacher *m, const Ex *x)
{
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        int d = a->op == AT_VAR ? dim_of(m->l, a->var)
              : a->op == AT_DIG ? dim_of(m->l, ex_as_var(a->x[0])) : -1;
        if (d >= 0)
            reach_digit(m, d, a->op == AT_VAR ? 1 : a->lo, a->op == AT_VAR ? 0 : a->hi);
        for (int j = 0; d < 0 && j < a->n; j++)
            reach_canonical(m, a->x[j]);
    }
}

typedef struct {
    int dim;
    i64 lo, hi;
} Written;

static bool
no_names(const void *env, const char *name, i64 *v)
{
    (void)env, (void)name, (void)v;
    return false;
}

/* w div c */
static bool
divide(Written *w, i64 c)
{
    return c > 0 && int_mul(w->lo, c, &w->lo) && (!w->hi || w->hi % w->lo == 0);
}

/* w mod c */
static bool
cut(Written *w, i64 c)
{
    i64 hi;
    if (c <= 0 || !int_mul(w->lo, c, &hi) || (w->hi && w->hi % hi && hi % w->hi))
        return false;
    w->hi = w->hi && w->hi < hi ? w->hi : hi;
    return true;
}

static bool
is_digit(const Layout *l, const Ast *x, Written *w)
{
    i64 c;
    if (x->op == OP_SYM) {
        *w = (Written){layout_find_dim(l, x->name), 1, 0};
        return w->dim >= 0;
    }
    if (op_info[x->op].nargs != 2 || !is_digit(l, x->x[0], w) ||
        !ast_eval(x->x[1], no_names, NULL, &c))
        return false;
    switch (x->op) {
    case OP_DIV: return divide(w, c);
    case OP_SHR: return c >= 0 && c <= SHIFT_MAX && divide(w, (i64)1 << c);
    case OP_MOD: return cut(w, c);
    case OP_AND: return c >= 0 && c < INF && int_is_pow2(c + 1) && cut(w, c + 1);
    default:     return false;
    }
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
reach_written(Reacher *m, const Ast *x)
{
    Written w;
    if (is_digit(m->l, x, &w)) {
        reach_digit(m, w.dim, w.lo, w.hi);
        return;
    }
    for (int i = 0; i < op_info[x->op].nargs; i++)
        reach_written(m, x->x[i]);
}

/* How far dim d may go by what was seen of it. */
static i64
end_of(const Reacher *m, int d)
{
    const Reach *r = &m->r[d];
    i64 n = m->l->dim[d].padded;
    return r->open ? r->open : r->closed > n ? r->closed : n;
}

bool
layout_reach(Layout *l)
{
    Reacher w = {.l = l}, c = {.l = l};
    for (int i = 0; i < l->nentry; i++) {
        reach_written(&w, l->entry[i].x);
        reach_canonical(&c, l->entry[i].written);
    }
    for (int d = 0; d < l->rank; d++) {
        i64 p = end_of(&w, d), q = end_of(&c, d);
        l->dim[d].padded = p > q ? p : q;
    }
    return !w.overflow && !c.overflow;
}
