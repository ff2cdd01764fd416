/* Lists of numbers in inverses, which may have any number at places that no element has. */
#include "decide_factor.h"

enum { RUNS_MOST = 180 };          /* an expression has two parts for each run: AST_MAX_SIZE */

/* Between two places that have numbers: a ramp if its steps are whole, else the first number. */
static void
fill_between(i64 *list, int from, int to)
{
    i64 step = (list[to] - list[from]) % (to - from) ? 0 : (list[to] - list[from]) / (to - from);
    for (int i = from + 1; i < to; i++)
        list[i] = list[i - 1] + step;
}

static void
fill_gaps(i64 *list, int n)
{
    int last = -1;
    for (int i = 0; i < n; i++) {
        if (list[i] < 0)
            continue;
        for (int j = 0; last < 0 && j < i; j++)
            list[j] = list[i];
        if (last >= 0)
            fill_between(list, last, i);
        last = i;
    }
    for (int j = last + 1; j < n; j++)
        list[j] = last < 0 ? 0 : list[last];
}

int
inverse_list_runs(Arena *a, i64 *list, int n)
{
    int nruns;
    fill_gaps(list, n);
    ast_list_runs(a, list, n, &nruns);
    return nruns;
}

static const Ex *
find(void *env, const Ast *sym)
{
    (void)sym;
    return env;
}

const Ex *
inverse_list(Exprs *e, i64 *list, int n, const Ex *x)
{
    Arena *a = ex_arena(e);
    if (n < 1 || inverse_list_runs(a, list, n) > RUNS_MOST)
        return NULL;
    return ast_lower(e, ast_list(a, list, n, ast_sym(a, "x", (Loc){0})), find, (void *)x);
}
