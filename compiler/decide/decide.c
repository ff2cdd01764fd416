/* Injective, dense, padding, holes: by structure first, else by looking at the elements.
 * Then whether the swizzle moves the addresses apart, and the inverse. */
#include <string.h>

#include "decide.h"

/* By the factors of the layout; by all points if that gives no answer, for a view, whose
 * strides may overlap, or to find the first collision. */
static Answer
examine(Layout *l, bool padded, Verdict *v)
{
    i64 limit[MAX_RANK];
    for (int i = 0; i < l->rank; i++)
        limit[i] = padded ? l->dim[i].padded : l->dim[i].n;
    Answer answer = l->view ? UNKNOWN : factor_injective(l, limit, v);
    v->by_factors = answer == YES || (answer == NO && !enum_small(l, padded));
    return v->by_factors ? answer : enum_injective(l, padded, v);
}

static Answer
enumerate(Layout *l, Verdict *v)
{
    bool same = true;
    v->by_structure = false;
    for (int i = 0; i < l->rank; i++)
        same &= l->dim[i].padded == l->dim[i].n;
    Answer all = examine(l, true, v);
    if (all == YES || same)
        return all;
    Answer real = examine(l, false, v);
    for (int i = 0; real == YES && i < l->rank; i++)
        l->dim[i].padded = l->dim[i].n;
    return real;
}

typedef struct {
    const Layout *l;
    i64 shape[MAX_RANK];
    Verdict *v;
} Smaller;

static void
decide_smaller(void *arg)
{
    Smaller *s = arg;
    const Layout *l = s->l;
    s->v = decide(layout_make(l->e, l->ref, l->dtype, l->rank, s->shape));
}

/* Two elements with one address near the origin. */
static bool
overlaps_near(const Layout *l, Verdict *v)
{
    Smaller s = {.l = l};
    Diag d;
    return !l->view && small_shape(l, s.shape) &&
           arena_run(ex_arena(l->e), &d, decide_smaller, &s) && small_overlap(l, s.v, v->x, v->y);
}

/* Decide by enumeration; if that is too much work, dim after dim, or search two elements with
 * one address. */
static void
decide_by_search(Layout *l, Verdict *v)
{
    v->why = NULL;
    v->injective = enumerate(l, v);
    if (v->injective == UNKNOWN) {
        v->injective = order_injective(l, v);
        v->by_order = v->injective != UNKNOWN;
    }
    if (v->injective == UNKNOWN && (parts_overlap(l, v->x, v->y) || overlaps_near(l, v)))
        v->injective = NO;
    if (v->injective == NO) {
        v->flaw = FLAW_COLLISION;
        v->why = why_collision(l);
        if (!v->why)
            v->why = "two coordinates share an address";
        layout_address(l, v->x, &v->at);
    } else if (v->injective == UNKNOWN) {
        v->flaw = FLAW_UNDECIDED;
        if (!v->why)
            v->why = "no structure was found that decides it, and it is too large to "
                     "look at every element";
    }
}

static const char too_large[] = "the swizzle is not linear over GF(2), or the storage is not "
    "whole blocks of it, and it is too large to look at every address";

static void
decide_sigma(Layout *l, Verdict *v, const Ex **inverse)
{
    const char *before = v->why;
    Answer a = sigma_decide(l, inverse, v);
    if (a == YES)
        return;
    v->loc = l->ref->def->swizzle->loc;
    v->flaw = a == NO ? FLAW_SIGMA : FLAW_UNDECIDED;
    v->injective = enum_distinct(l);     /* its elements may be all the same */
    if (a == UNKNOWN && v->why == before)
        v->why = too_large;
}

bool
verdict_element(const Layout *l, const Verdict *v, i64 a, i64 *x)
{
    i64 back;
    i64 *val = v->scratch;
    memset(x, 0, MAX_RANK * sizeof *x);
    val[v->inverse_var] = a;
    for (int d = 0; d < l->rank; d++)
        if (!ex_eval(v->inverse[d], val, &x[d]) || x[d] < 0 || x[d] >= l->dim[d].n)
            return false;
    return layout_address(l, x, &back) && back == a;
}

static void
count_storage(const Layout *l, Verdict *v)
{
    i64 padded = 1, slots = 1;
    v->elements = 1;
    for (int i = 0; i < l->rank; i++) {
        v->elements *= l->dim[i].n;
        padded *= l->dim[i].padded;
    }
    for (int i = 0; i < l->nentry; i++)
        slots *= l->entry[i].extent;
    v->padding = padded - v->elements;
    v->holes = l->size - padded;
    v->unreached = slots - padded;
}

Verdict *
decide(Layout *l)
{
    Arena *a = ex_arena(l->e);
    const Ex *sigma_inverse = NULL;
    Verdict *v = arena_new(a, Verdict);
    Part *part = NULL;
    int nparts = 0;
    v->loc = l->ref->def->loc;
    work_on(a, "to decide about layout", l->ref->def->name);
    v->by_structure = true;
    v->injective = l->view ? view_decide(l, decide(l->view->of), v) : structure_injective(l, v, &part, &nparts);
    if (l->ref->def->ninverses && !l->view)
        decide_given_inverse(l, v);
    if (v->injective == UNKNOWN)
        decide_by_search(l, v);
    if (v->injective == YES && l->sigma && !l->view)
        decide_sigma(l, v, &sigma_inverse);
    if (v->injective != YES)
        return v;
    count_storage(l, v);
    if (l->view)
        view_inverse(l, v);
    else if (v->by_structure && v->flaw == FLAW_NONE && (!l->sigma || sigma_inverse))
        inverse_make(l, v, part, nparts, sigma_inverse);
    v->scratch = arena_array(a, i64, ex_nvars(l->e));
    return v;
}

/* The inverse of a view, from that of its tensor. */
static void
find_inverse_of_view(Layout *l, Verdict *v)
{
    if (l->view->strided || l->nlookups)
        return;
    Verdict *of = decide(l->view->of);
    decide_inverse(l->view->of, of);
    view_find_inverse(l, of, v);
}

void
decide_inverse(Layout *l, Verdict *v)
{
    if (v->inverse || v->injective != YES)
        return;
    if (l->view)
        find_inverse_of_view(l, v);
    else if (!decide_take_given(l, v) && !skew_inverse(l, v))
        factor_inverse(l, v);
    v->scratch = arena_array(ex_arena(l->e), i64, ex_nvars(l->e));
}

bool
decide_is_readable(Layout *l, Verdict *v)
{
    Verdict sigma = {0};
    if (!v->flaw || !l->ref->def->view || !l->sigma)
        return !v->flaw || l->ref->def->view;
    Answer stays = sigma_stays(l, &sigma);
    if (stays == YES)
        return true;
    v->flaw = stays == NO ? FLAW_SIGMA : FLAW_UNDECIDED;
    v->loc = l->ref->def->swizzle->loc;
    v->why = stays == NO ? sigma.why : too_large;
    v->naddresses = sigma.naddresses;
    v->address[0] = sigma.address[0];
    v->at = sigma.at;
    return false;
}
