/* Parts of a tensor that are counted from the end of a dim whose extent is left to run time, where it is
 * stored in blocks: NC1HWC0(N,C,H,W)[:, -3:].
 *
 * Digits of x + C - 3 are no digits of x.  So the address is one of the coordinate of the tensor, and
 * the planner gives each piece of the dim the coordinate of the tensor that it begins at. */
#include "layout_parts.h"

const Ex *
from_end_at(Scalars *s, const FromEnd *f, i64 i)
{
    i64 at;
    if (f->mixed && f->mixed[i] >= 0)
        return ex_const(s->e, f->mixed[i]);
    if (f->mixed)
        at = f->mixed[i];
    else if (f->list)
        at = f->list[i];
    else if (!int_mul(f->step, i, &at) || !int_add(at, f->start, &at))
        ex_overflow(s->e);
    const Ex *x = ex_add(s->e, f->more, ex_const(s->e, at));
    return x->f.min >= 0 ? x : scalar_named(s, x, INF);
}

static bool
has_digits(const Ex *x, int var, Exprs *e)
{
    bool *used = arena_array(ex_arena(e), bool, ex_nvars(e));
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->t[i].atom->n; k++)
            ex_vars(x->t[i].atom->x[k], used);
    return used[var];
}

static bool
is_cut(const Sizes *of, int d, Exprs *e)
{
    bool cut = has_digits(of->addr, of->var[d], e);
    for (int i = 0; i < of->nterms; i++)
        cut |= has_digits(of->term[i].x, of->var[d], e);
    return cut;
}

bool
layout_from_end(Scalars *s, Sizes *r, const Sizes *of, int d, const Ex *more)
{
    const View *v = r->l->view;
    const int dim = v->at[d].dim;
    const i64 *mixed = v->at[d].mixed, step = v->at[d].list || mixed ? 0 : v->at[d].step;
    if (dim < 0 || v->at[d].lookup >= 0 || !(mixed || v->at[d].from_end) || !(mixed || is_cut(of, d, s->e)))
        return false;
    const Ex *n = r->n[dim];
    if (step != 1 && !(ex_is_const(n) && n->base <= MOST_FROM_END)) {
        if (mixed)
            layout_refuse_open(r->l, (Loc){0}, arena_printf(ex_arena(s->e), "a list of more than %d "
                               "numbers from both ends", MOST_FROM_END),
                               "give the extent of the tensor as a number");
        return false;
    }
    FromEnd *f = arena_new(ex_arena(s->e), FromEnd);
    *f = (FromEnd){mixed ? of->n[d] : more, v->at[d].start, step, v->at[d].list, mixed};
    r->var[dim] = r->l->dim[dim].free;
    r->roll[dim] = (Rolled){.by = from_end_at(s, f, 0), .end = f};
    return true;
}
