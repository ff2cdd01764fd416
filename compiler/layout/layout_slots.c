/* How many slots the entries of a layout have. */
#include "layout_parts.h"

static const Ex *
find_name(void *env, const Ast *sym)
{
    Layout *l = env;
    i64 v;
    int d = layout_find_dim(l, sym->name);
    if (d >= 0)
        return ex_of_var(l->e, l->dim[d].var);
    return layout_constant(l, sym->name, &v) ? ex_const(l->e, v) : NULL;
}

/* x with parameters and extents replaced by their values, and numbers computed, so that its
 * range is that of digits by numbers. */
static const Ast *
with_values(Layout *l, const Ast *x)
{
    Arena *arena = ex_arena(l->e);
    i64 v, p, q = 0;
    if (x->table) {
        AstTable t = *x->table;
        t.at = with_values(l, t.at);
        return t.at == x->table->at ? x : ast_table(arena, &t, x->loc);
    }
    if (x->op == OP_NUM || (x->op == OP_SYM && !layout_constant(l, x->name, &v)))
        return x;
    if (x->op == OP_SYM)
        return ast_num(arena, v, x->loc);
    const Ast *a = with_values(l, x->x[0]);
    const Ast *b = x->x[1] ? with_values(l, x->x[1]) : NULL;
    bool numbers = ast_number(a, &p) && (!b || ast_number(b, &q));
    if (numbers && op_value(op_info[x->op].is, p, q, &v))
        return ast_num(arena, v, x->loc);
    return a == x->x[0] && b == x->x[1] ? x : ast_op(arena, x->op, a, b, x->loc);
}

/* Every index of a table in entry i must have a number, also that of padding. */
static void
check_tables(Layout *l, const Coordinates *c, int i, const Ast *x)
{
    Arena *a = ex_arena(l->e);
    const AstTable *t = x->table;
    i64 min = 0, max = x->table ? x->table->n : 0;
    for (int k = 0; !t && k < op_info[x->op].nargs; k++)
        check_tables(l, c, i, x->x[k]);
    if (!t)
        return;
    check_tables(l, c, i, t->at);
    if (!layout_range(t->at, layout_largest, c, &min, &max) || min < 0 || max >= t->n)
        diag_fatal(a->diag, DIAG_LAYOUT, x->loc, "order[%d], '%s': the table has the "
                   "numbers 0 to %d, and %s can be %lld", i + 1, ast_text(a, x), t->n - 1,
                   ast_text(a, t->at), (long long)(min < 0 ? min : max));
}

/* The message: "order[1], 'X - Y', can be negative (-3 at X = 0, Y = 3)" */
_Noreturn static void
negative(Layout *l, int i, const i64 *at, i64 min, bool known)
{
    Arena *a = ex_arena(l->e);
    const Ast *x = l->entry[i].x;
    Buf b = buf_new(a);
    bool *used = arena_array(a, bool, ex_nvars(l->e)), beyond = false;
    ex_vars(l->entry[i].ex, used);
    for (int d = 0; known && d < l->rank; d++)
        if (used[l->dim[d].var]) {
            buf_printf(&b, "%s%s = %lld", b.len ? ", " : " at ", l->dim[d].name,
                       (long long)at[d]);
            beyond |= at[d] >= l->dim[d].n;
        }
    diag_fatal(a->diag, DIAG_LAYOUT, x->loc, "order[%d], '%s', %s%lld%s%s)", i + 1,
               ast_text(a, x), known ? "can be negative (" : "is not known to be 0 or "
               "more for every coordinate (at least ", (long long)min, b.s,
               beyond ? ", in the padding" : "");
}

/* The greatest value of an entry whose expression as written does not tell it: from the facts
 * of the canonical form, else by evaluation. */
static i64
evaluated(Layout *l, int i)
{
    const Ex *x = l->entry[i].ex;
    i64 at[MAX_RANK], low = x->f.min, high = x->f.max;
    if (low >= 0)
        return high;
    bool all = layout_least(l, x, &low, &high, at);
    if (!all || low < 0)
        negative(l, i, at, low < 0 ? low : x->f.min, low < 0);
    return high;
}

/* Sets the slots of an entry.  `written` is the number from its range before the padded
 * extents were rounded up to whole digits. */
static void
set_extent(Layout *l, const Coordinates *c, int i, i64 written)
{
    Entry *t = &l->entry[i];
    t->ex = ast_lower(l->e, t->x, find_name, l);
    const Ex *most = layout_most(c, t->x);
    i64 max = most ? most->base : evaluated(l, i);
    if (max >= INF - 1)
        layout_no_fit(l, t->x->loc);
    t->extent = written > max ? written : max + 1;
}

static Coordinates
coordinates(const Layout *l)
{
    Coordinates c = {.l = l};
    for (int d = 0; d < l->rank; d++)
        c.padded[d] = ex_const(l->e, l->dim[d].padded);
    return c;
}

void
layout_slots(Layout *l)
{
    i64 written[MAX_ENTRIES], min, max;
    Coordinates c = coordinates(l);
    for (int i = 0; i < l->nentry; i++) {
        Entry *t = &l->entry[i];
        t->x = with_values(l, t->x);
        bool known = layout_range(t->x, layout_largest, &c, &min, &max) && max < INF;
        written[i] = known ? max + 1 : 0;
    }
    bool fits = layout_reach(l);
    for (int d = 0; d < l->rank; d++) {
        i64 unit;
        l->dim[d].padded = layout_padded(NULL, l, d, ex_const(l->e, l->dim[d].n), &unit)->base;
    }
    if (!fits)
        layout_no_fit(l, l->ref->def->loc);
    c = coordinates(l);
    for (int d = 0; d < l->rank; d++) {
        Dim *x = &l->dim[d];
        x->var = ex_var(l->e, x->name, 0, x->padded - 1);
    }
    for (int i = 0; i < l->nentry; i++) {
        check_tables(l, &c, i, l->entry[i].x);
        set_extent(l, &c, i, written[i]);
    }
}
