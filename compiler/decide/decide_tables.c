/* The inverse of a layout with entries T[x] whose tables are permutations: that of the layout which
 * has x in their place, at the address whose entries are looked up in the inverse tables. */
#include "decide.h"

enum { RUNS_MOST = 64 };           /* an expression has two parts for each run */

/* Sets inverse[] if the list has each number below n once. */
static bool
is_permutation(const AstTable *t, i64 *inverse)
{
    for (int i = 0; i < t->n; i++)
        inverse[i] = -1;
    for (int i = 0; i < t->n; i++) {
        if (t->list[i] < 0 || t->list[i] >= t->n || inverse[t->list[i]] >= 0)
            return false;
        inverse[t->list[i]] = i;
    }
    return t->n > 0;
}

/* The layout with x for each entry T[x]; NULL: there is no such entry, or it is another layout. */
static Layout *
without_tables(Layout *l)
{
    Arena *a = ex_arena(l->e);
    LayoutRef *ref = arena_copy(a, l->ref, sizeof *ref);
    LayoutDef *d = arena_copy(a, ref->def, sizeof *d);
    EntryDef *order = arena_copy(a, d->order, (size_t)d->norder * sizeof *order);
    i64 shape[MAX_RANK];
    bool any = false;
    for (int i = 0; i < d->norder; i++)
        if (order[i].x && order[i].x->table) {
            order[i].x = order[i].x->table->at;
            any = true;
        }
    for (int i = 0; i < l->rank; i++)
        shape[i] = l->dim[i].n;
    d->order = order;
    d->ninverses = 0;
    ref->def = d;
    return any ? layout_make(l->e, ref, l->dtype, l->rank, shape) : NULL;
}

typedef struct { const Ex *entry; } Env;

static const Ex *
find(void *env, const Ast *sym)
{
    (void)sym;
    return ((const Env *)env)->entry;
}

/* `at` with entry i looked up in the inverse of its table; NULL: the table has none. */
static const Ex *
looked_up(Layout *l, int i, const Ex *at)
{
    Arena *a = ex_arena(l->e);
    const Entry *t = &l->entry[i];
    const AstTable *table = t->x->table;
    i64 *inverse = arena_array(a, i64, table->n + 1);
    int nruns;
    if (!is_permutation(table, inverse) || t->extent != table->n)
        return NULL;
    ast_list_runs(a, inverse, table->n, &nruns);
    if (nruns > RUNS_MOST)
        return NULL;
    Env env = {ex_mod(l->e, ex_div(l->e, at, t->stride), t->extent)};
    const Ast *list = ast_list(a, inverse, table->n, ast_sym(a, "entry", t->x->loc));
    const Ex *number = ast_lower(l->e, list, find, &env);
    return ex_add_scaled(l->e, at, ex_sub(l->e, number, env.entry), t->stride);
}

/* Whether the entries are those of one array without gaps, so that a digit of the address is the value
 * of each. */
static bool
is_whole(const Layout *l)
{
    i64 stride = 1;
    for (int i = l->nentry - 1; i >= 0; i--)
        if (l->entry[i].stride != stride || !int_mul(stride, l->entry[i].extent, &stride))
            return false;
    return true;
}

bool
decide_table_inverse(Layout *l, Verdict *v)
{
    Layout *plain = l->view || l->sigma || !is_whole(l) ? NULL : without_tables(l);
    Verdict *of = plain ? decide(plain) : NULL;
    if (!of || of->injective != YES || !of->inverse)
        return false;
    const Ex *at = ex_of_var(l->e, of->inverse_var);
    for (int i = 0; i < l->nentry && at; i++) {
        if (l->entry[i].extent != plain->entry[i].extent ||
            l->entry[i].stride != plain->entry[i].stride)
            return false;
        if (l->entry[i].x->table)
            at = looked_up(l, i, at);
    }
    if (!at)
        return false;
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    const Ex **x = arena_array(ex_arena(l->e), const Ex *, l->rank + 1);
    to[of->inverse_var] = at;
    for (int d = 0; d < l->rank; d++)
        x[d] = ex_subst(l->e, of->inverse[d], to);
    v->inverse = x;
    v->inverse_var = of->inverse_var;
    v->inverse_proven = false;
    v->scratch = arena_array(ex_arena(l->e), i64, ex_nvars(l->e));
    return true;
}
