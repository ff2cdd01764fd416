/* What a term of an address has of the numbers of rows and of loops. */
#include "mixing.h"

enum { CLASSES_MOST = 4096 };

/* Whether the rows read numbers of this array. */
static bool
is_by_rows(const Nest *n, const NumberLoops *l, int side, int lookup)
{
    return ex_has(n->at[side][lookup], n->loop[l->loop[0]].var);
}

/* Whether the term has a number of the rows and another one or a loop. */
static bool
is_mixed(const Nest *n, const NumberLoops *l, int side, const Ex *term)
{
    int numbers = 0, loops = 0;
    for (int i = 0; n->at[side][i]; i++)
        numbers += is_by_rows(n, l, side, i) && ex_has(term, n->number[side][i]);
    for (int i = 0; i < n->nloops && numbers; i++)
        loops += ex_has(term, n->loop[i].var);
    return numbers && numbers + loops > 1;
}

static bool
has_loop_of(const Nest *n, const Mixing *m, const Ex *term)
{
    for (int i = 0; i < n->nloops; i++)
        if (m->in[i] && ex_has(term, n->loop[i].var))
            return true;
    return false;
}

/* Adds the loops of a term; false if it has something that neither a row nor a loop gives. */
static bool
take_loops(const Nest *n, const NumberLoops *l, int side, const Ex *term, Mixing *m)
{
    bool *used = ex_flags(n->e);
    ex_vars(term, used);
    for (int i = 0; i < n->nloops; i++) {
        m->in[i] |= used[n->loop[i].var];
        used[n->loop[i].var] = false;
    }
    for (int i = 0; n->at[side][i]; i++)
        if (is_by_rows(n, l, side, i))
            used[n->number[side][i]] = false;
    for (int v = 0; v < ex_nvars(n->e); v++)
        if (used[v])
            return false;
    return true;
}

static bool
find_loops(const Nest *n, const NumberLoops *l, Mixing *m)
{
    bool some = false;
    for (int again = 0; again <= n->nloops; again++)
        for (int s = 0; s < 2; s++) {
            const Ex *x = s == SRC ? n->src : n->dst;
            for (int i = 0; i < x->n; i++) {
                const Ex *term = ex_of_atom(n->e, x->t[i].atom);
                bool mixed = is_mixed(n, l, s, term);
                some |= mixed;
                if ((mixed || has_loop_of(n, m, term)) && !take_loops(n, l, s, term, m))
                    return false;
            }
        }
    return some;
}

/* The table has all iterations of these loops, and no array is read along them. */
static bool
can_have(const Nest *n, int loop)
{
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            if (ex_has(n->at[s][i], n->loop[loop].var))
                return false;
    return kernel_is_known(&n->loop[loop]);
}

/* A function of number // each that repeats after `end`; end 0: it never does. */
typedef struct {
    i64 each, end;
    bool known;
} Period;

static void
add_period(Period *p, i64 each, i64 end)
{
    p->each = p->each ? int_gcd(p->each, each) : each;
    if (!end || !p->end)
        p->end = 0;
    else
        p->known &= int_lcm(p->end, end, &p->end);
}

static void period_of(const Ex *x, int number, Period *p);
static void period_of_atom(const Atom *a, int number, Period *p);

/* Of a digit of k * number + more: the number counts modulo hi/k; and below `lo` it does not if
 * nothing is added that is no multiple. */
static void
period_of_digit(const Atom *a, int number, Period *p)
{
    const Ex *x = a->x[0];
    const Term *own = NULL;
    for (int i = 0; i < x->n; i++)
        if (x->t[i].atom->op == AT_VAR && x->t[i].atom->var == number)
            own = &x->t[i];
    if (!own) {
        period_of(x, number, p);
        return;
    }
    bool plain = x->n == 1 && own->coef == 1;
    i64 common = int_gcd(a->hi ? a->hi : 1, own->coef);
    add_period(p, plain ? int_gcd(a->lo, x->base) : 1, a->hi / common);
    for (int i = 0; i < x->n; i++)
        if (&x->t[i] != own)
            period_of_atom(x->t[i].atom, number, p);
}

static void
period_of_atom(const Atom *a, int number, Period *p)
{
    if (a->op == AT_VAR && a->var == number)
        add_period(p, 1, 0);
    else if (a->op == AT_DIG)
        period_of_digit(a, number, p);
    else
        for (int i = 0; i < a->n; i++)
            period_of(a->x[i], number, p);
}

static void
period_of(const Ex *x, int number, Period *p)
{
    for (int i = 0; i < x->n; i++)
        period_of_atom(x->t[i].atom, number, p);
}

/* The classes of a number, by all terms that mix it. */
static bool
find_class(const Nest *n, const NumberLoops *l, int side, int lookup, Mixing *m)
{
    const int number = n->number[side][lookup];
    const i64 most = ex_of_var(n->e, number)->f.max;
    const Ex *x = side == SRC ? n->src : n->dst;
    Period p = {.end = 1, .known = true};
    for (int i = 0; i < x->n; i++)
        if (is_mixed(n, l, side, ex_of_atom(n->e, x->t[i].atom)))
            period_of_atom(x->t[i].atom, number, &p);
    m->of[side][lookup].each = p.each ? p.each : 1;
    m->of[side][lookup].size = 1;
    if (!p.each)
        return true;
    i64 all = most / p.each + 1, size = p.end ? p.end / p.each : all;
    m->of[side][lookup].size = size < all ? size : all;
    return p.known && most < INT32_MAX && int_mul(m->classes, m->of[side][lookup].size, &m->classes);
}

bool
mixing_of(const Nest *n, const NumberLoops *l, Mixing *out)
{
    *out = (Mixing){.entries = 1, .classes = 1};
    if (!find_loops(n, l, out))
        return false;
    for (int i = 0; i < n->nloops; i++)
        if (out->in[i] && (!can_have(n, i) || !int_mul(out->entries, n->loop[i].n, &out->entries)))
            return false;
    for (int s = 0; s < 2; s++)
        for (int i = 0; n->at[s][i]; i++)
            if (is_by_rows(n, l, s, i) && !find_class(n, l, s, i, out))
                return false;
    return out->classes <= CLASSES_MOST;
}

const Ex *
mixing_terms(const Nest *n, const NumberLoops *l, const Mixing *m, int side)
{
    const Ex *x = side == SRC ? n->src : n->dst;
    ExSum sum = ex_sum_of(n->e, 0);
    for (int i = 0; i < x->n; i++) {
        const Ex *term = ex_of_atom(n->e, x->t[i].atom);
        if (is_mixed(n, l, side, term) || has_loop_of(n, m, term))
            ex_sum_add(&sum, term, x->t[i].coef);
    }
    return ex_sum_end(&sum);
}
