/* The inverse that a spec gives: the coordinates as functions of the address.
 *
 * It is proven by the simplifier, which makes inverse(address(x)) to x, or by looking at every
 * element.  A map that has an inverse is one-to-one, so this also decides layouts in which no
 * structure is found. */
#include <string.h>

#include "decide.h"

static const Setting *
given_for(const Layout *l, int d)
{
    const LayoutDef *def = l->ref->def;
    int i = 0;
    while (strcmp(def->inverses[i].dim, l->dim[d].name))
        i++;
    return &def->inverses[i];
}

typedef struct {
    const Layout *l;
    const Ex *address;
} Env;

static const Ex *
find(void *env, const Ast *sym)
{
    const Env *m = env;
    i64 v;
    if (!strcmp(sym->name, "a"))
        return m->address;
    return layout_constant(m->l, sym->name, &v) ? ex_const(m->l->e, v) : NULL;
}

/* The coordinates for an address. */
static void
coordinates(Layout *l, const Ex *address, const Ex **x)
{
    Env env = {l, address};
    for (int d = 0; d < l->rank; d++)
        x[d] = ast_lower(l->e, given_for(l, d)->value, find, &env);
}

static bool
by_simplifier(Layout *l)
{
    const Ex *x[MAX_RANK];
    coordinates(l, l->addr, x);
    for (int d = 0; d < l->rank; d++)
        if (x[d] != ex_of_var(l->e, l->dim[d].var))
            return false;
    return true;
}

static const char *
shape_text(const Layout *l)
{
    Buf b = buf_new(ex_arena(l->e));
    for (int d = 0; d < l->rank; d++)
        buf_printf(&b, "%s%lld", d ? "," : "", (long long)l->dim[d].n);
    return b.s;
}

_Noreturn static void
wrong(const Layout *l, const i64 *x, i64 at, const i64 *back)
{
    Arena *a = ex_arena(l->e);
    Buf is = buf_new(a), says = buf_new(a);
    for (int d = 0; d < l->rank; d++) {
        buf_printf(&is, "%s%lld", d ? "," : "", (long long)x[d]);
        buf_printf(&says, "%s%lld", d ? "," : "", (long long)back[d]);
    }
    diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc, "the inverse that layout '%s' gives is "
               "wrong for shape %s: (%s) is at address %lld, for which it gives (%s)", l->ref->def->name,
               shape_text(l), is.s, (long long)at, says.s);
}

_Noreturn static void
unproven(const Layout *l)
{
    diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, l->ref->def->loc, "the inverse that layout '%s' "
               "gives is not proven for shape %s: it does not simplify, and there are too many "
               "elements to look at each", l->ref->def->name, shape_text(l));
}

static void
by_elements(Layout *l)
{
    Arena *a = ex_arena(l->e);
    i64 x[MAX_RANK] = {0}, back[MAX_RANK], at;
    const Ex *inverse[MAX_RANK];
    int var = layout_address_var(l);
    coordinates(l, ex_of_var(l->e, var), inverse);
    i64 *val = arena_array(a, i64, ex_nvars(l->e));
    if (layout_points(l, false) > ENUM_MAX)
        unproven(l);
    do {
        if (!work_try(a, 2 * layout_work(l)) || !layout_address(l, x, &at))
            unproven(l);
        val[var] = at;
        for (int d = 0; d < l->rank; d++)
            if (!ex_eval(inverse[d], val, &back[d]))
                unproven(l);
        if (memcmp(x, back, (size_t)l->rank * sizeof *x))
            wrong(l, x, at, back);
    } while (layout_next(l, false, x));
}

static bool
is_padded(const Layout *l)
{
    bool padded = false;
    for (int d = 0; d < l->rank; d++)
        padded |= l->dim[d].padded != l->dim[d].n;
    return padded;
}

/* All elements are examined once.  Those of padding are not, as an inverse need not have them. */
void
decide_given_inverse(Layout *l, Verdict *v)
{
    bool simple = by_simplifier(l);
    if (!simple && v->injective != NO)
        by_elements(l);
    if (v->injective != UNKNOWN || (!simple && is_padded(l)))
        return;
    v->injective = YES;
    v->why = NULL;
    v->by_structure = false;
    v->by_inverse = true;
    v->examined = simple ? 0 : layout_points(l, false);
}

bool
decide_take_given(Layout *l, Verdict *v)
{
    if (!l->ref->def->ninverses || l->view)
        return false;
    const Ex **x = arena_array(ex_arena(l->e), const Ex *, l->rank + 1);
    v->inverse_var = layout_address_var(l);
    coordinates(l, ex_of_var(l->e, v->inverse_var), x);
    v->inverse = x;
    v->inverse_proven = by_simplifier(l);
    v->scratch = arena_array(ex_arena(l->e), i64, ex_nvars(l->e));
    return true;
}
