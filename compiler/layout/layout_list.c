/* Lists of coordinates, as NumPy's index arrays: x[[0, 1, 2, 7, 8, 9]].
 *
 * The dim is cut where runs of evenly spaced numbers begin, so in each piece all ramps of the
 * expression (ast_list) are constant or linear. */
#include "layout_parts.h"

/* list[x], with what it was made of. */
static const Ast *
marked(Arena *a, const i64 *list, int n, const Ast *x)
{
    Ast *y = arena_copy(a, ast_list(a, list, n, x), sizeof *y);
    AstTable *t = arena_new(a, AstTable);
    *t = (AstTable){.list = list, .n = n, .at = x};
    y->list = t;
    return y;
}

const Ast *
list_at(Arena *a, const View *v, int d, const Ast *x)
{
    return marked(a, v->at[d].list, v->at[d].n, x);
}

const Ast *
list_of_list(Arena *a, const View *v, int d, const AstTable *t, const Ast *x)
{
    const int n = v->at[d].n;
    i64 *list = arena_array(a, i64, n);
    for (int i = 0; i < n; i++)
        list[i] = t->list[v->at[d].list[i]];
    return marked(a, list, n, x);
}

bool
layout_view_repeats(Arena *a, const View *v, int d, i64 *i, i64 *j)
{
    const i64 *list = v->at[d].list;
    work_spend(a, list ? (i64)v->at[d].n * v->at[d].n / 8 : 0);
    for (*i = 0; list && *i < v->at[d].n; ++*i)
        for (*j = *i + 1; *j < v->at[d].n; ++*j)
            if (list[*i] == list[*j])
                return true;
    return false;
}

/* How many cuts of a dim are at x or before. */
static int
cuts_before(const Dim *d, i64 x)
{
    int n = 0;
    for (int i = 0; i < d->ncuts; i++)
        n += d->cut[i] <= x;
    return n;
}

void
list_cuts(Arena *a, const ResolvedIndex *r, int d, Dim *dim)
{
    const View *v = r->view;
    int n, run = 0;
    const Dim *of = &v->of->dim[d];
    const i64 *list = v->at[d].list, *runs = ast_list_runs(a, list, v->at[d].n, &n);
    i64 *cut = arena_array(a, i64, v->at[d].n);
    dim->cut = cut;
    for (int i = 0; i < v->at[d].n; i++) {
        bool begins = i == runs[run];
        run += begins;
        if (begins || cuts_before(of, list[i]) != cuts_before(of, list[i - 1]))
            cut[dim->ncuts++] = i;
    }
    if (n > AST_RUNS_MAX)
        layout_index_fail(a, r->index->whole, r->item[d]->place, arena_printf(a, "a list of "
                          "%d runs of evenly spaced numbers: at most %d", n,
                          AST_RUNS_MAX));
}

