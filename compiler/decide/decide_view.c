/* Views: what is known of all elements of a tensor holds for those that a view has. */
#include <string.h>

#include "decide_factor.h"

/* Two elements of a view that has an extent of which no address depends. */
static Answer
share(const Layout *l, Verdict *v)
{
    bool used[MAX_RANK] = {false};
    for (int d = 0; d < l->view->of->rank; d++)
        if (l->view->at[d].dim >= 0)
            used[l->view->at[d].dim] = true;
    memset(v->x, 0, sizeof v->x);
    memset(v->y, 0, sizeof v->y);
    for (int d = 0; d < l->rank; d++)
        if (!used[d] && l->dim[d].n > 1)
            v->y[d] = 1;
    v->flaw = FLAW_COLLISION;
    v->why = "an extent of 1 is repeated";
    return layout_address(l, v->x, &v->at) ? NO : UNKNOWN;
}

/* Two elements at one address, because a list has a number at i and at j. */
static Answer
repeat(const Layout *l, Verdict *v, int dim, i64 i, i64 j)
{
    memset(v->x, 0, sizeof v->x);
    memset(v->y, 0, sizeof v->y);
    v->x[dim] = i;
    v->y[dim] = j;
    v->flaw = FLAW_COLLISION;
    v->why = "a number occurs twice in a list";
    return layout_address(l, v->x, &v->at) ? NO : UNKNOWN;
}

/* Whether the values of the entries follow from the address: each stride is longer than all
 * that the shorter ones reach. */
static bool
is_radix(const Layout *l)
{
    for (int i = 0; i < l->nentry; i++) {
        i64 stride = int_abs(l->entry[i].stride), reach = 0;
        for (int j = 0; j < l->nentry; j++) {
            i64 other = int_abs(l->entry[j].stride);
            if (other < stride || (other == stride && j < i))
                reach += (l->entry[j].extent - 1) * other;
        }
        if (l->entry[i].extent > 1 && reach >= stride)
            return false;
    }
    return true;
}

Answer
view_decide(Layout *l, const Verdict *of, Verdict *v)
{
    i64 i, j;
    v->by_structure = of->by_structure;
    v->by_order = of->by_order;
    v->by_inverse = of->by_inverse;
    v->by_factors = of->by_factors;
    v->examined = of->examined;
    if (l->view->shares)
        return share(l, v);
    for (int d = 0; d < l->rank && l->view->strided; d++)
        l->dim[d].padded = l->view->of->dim[d].padded;
    for (int d = 0; d < l->view->of->rank; d++)
        if (layout_view_repeats(ex_arena(l->e), l->view, d, &i, &j))
            return repeat(l, v, l->view->at[d].dim, i, j);
    if (of->injective != YES || (l->view->strided && !is_radix(l)))
        return UNKNOWN;
    v->flaw = of->flaw;
    v->why = of->why;
    v->loc = of->loc;
    v->naddresses = of->naddresses;
    memcpy(v->address, of->address, sizeof v->address);
    v->at = of->at;
    v->inverse = l->view->strided || l->nlookups ? NULL : of->inverse;
    v->inverse_var = of->inverse_var;
    v->inverse_proven = of->inverse_proven;
    return YES;
}

/* The coordinate of the view, from that of the tensor. */
static const Ex *
back(Exprs *e, const Ex *x, i64 start, i64 step)
{
    x = ex_sub(e, x, ex_const(e, start));
    return ex_div(e, step < 0 ? ex_scale(e, x, -1) : x, int_abs(step));
}

/* The place of number x in the list of dim d of the tensor; NULL: it has too many runs, or too large
 * numbers. */
static const Ex *
place_in(Exprs *e, const View *w, int d, const Ex *x)
{
    enum { NUMBERS_MAX = 1 << 16 };
    i64 most = 0;
    for (int i = 0; i < w->at[d].n; i++)
        most = w->at[d].list[i] > most ? w->at[d].list[i] : most;
    if (most >= NUMBERS_MAX)
        return NULL;
    i64 *place = arena_array(ex_arena(e), i64, most + 1);
    memset(place, -1, (size_t)(most + 1) * sizeof *place);
    for (int i = 0; i < w->at[d].n; i++)
        place[w->at[d].list[i]] = i;
    return inverse_list(e, place, (int)most + 1, x);
}

/* The coordinates of the view from those of the tensor, of[]. */
static void
set_inverse(Layout *l, Verdict *v, const Ex *const *of, bool lists)
{
    const View *w = l->view;
    const Ex **x = arena_array(ex_arena(l->e), const Ex *, l->rank + 1);
    for (int d = 0; d < l->rank; d++)
        x[d] = ex_const(l->e, 0);
    for (int d = 0; d < w->of->rank && x; d++) {
        const int to = w->at[d].dim;
        if (to < 0)
            continue;
        if (w->at[d].list)
            x[to] = lists ? place_in(l->e, w, d, of[d]) : NULL;
        else
            x[to] = back(l->e, of[d], w->at[d].start, w->at[d].step);
        x = x[to] ? x : NULL;
    }
    v->inverse = x;
}

void
view_inverse(Layout *l, Verdict *v)
{
    if (v->inverse)
        set_inverse(l, v, v->inverse, false);
}

void
view_find_inverse(Layout *l, const Verdict *of, Verdict *v)
{
    v->inverse_var = of->inverse_var;
    v->inverse_proven = false;
    if (of->inverse)
        set_inverse(l, v, of->inverse, true);
}
