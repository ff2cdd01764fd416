/* Lists of numbers as expressions: list[x].
 *
 * A list is runs of evenly spaced numbers.  As an expression it is a sum of ramps,
 * k * min(max(x - from, 0), most): one for each run and one for the step to the next. */
#include "expr.h"

static const Ast *
plus(Arena *a, const Ast *x, i64 k, Loc loc)
{
    return k ? ast_op(a, OP_ADD, x, ast_num(a, k, loc), loc) : x;
}

/* k * x, but at least 0 and at most `most` steps: k * min(max(x - from, 0), most) */
static const Ast *
ramp(Arena *a, const Ast *x, i64 k, i64 from, i64 most, Loc loc)
{
    x = ast_op(a, OP_MAX, plus(a, x, -from, loc), ast_num(a, 0, loc), loc);
    x = ast_op(a, OP_MIN, x, ast_num(a, most, loc), loc);
    return ast_op(a, OP_MUL, ast_num(a, k, loc), x, loc);
}

/* The last place of the run of evenly spaced numbers that begins at `from`. */
static int
run_end(const i64 *list, int n, int from)
{
    int end = from + 1 < n ? from + 1 : from;
    while (end + 1 < n && list[end + 1] - list[end] == list[from + 1] - list[from])
        end++;
    return end;
}

/* The numbers of places from..to of a list of runs, less the number at `from`: half of the
 * runs and the other half, so that the tree is not deep.  Each run is a ramp, and so is the
 * step to the next one. */
static const Ast *
ramps(Arena *a, const i64 *list, const i64 *run, int from, int to, const Ast *x)
{
    if (to - from > 1) {
        int half = (from + to) / 2;
        return ast_op(a, OP_ADD, ramps(a, list, run, from, half, x),
                      ramps(a, list, run, half, to, x), x->loc);
    }
    i64 s = run[from], e = run[from + 1] - 1;
    const Ast *y = ast_num(a, 0, x->loc);
    if (e > s)
        y = ramp(a, x, list[s + 1] - list[s], s, e - s, x->loc);
    if (s == 0)
        return y;
    const Ast *step = ramp(a, x, list[s] - list[s - 1], s - 1, 1, x->loc);
    return e > s ? ast_op(a, OP_ADD, y, step, x->loc) : step;
}

i64 *
ast_list_runs(Arena *a, const i64 *list, int n, int *nruns)
{
    i64 *run = arena_array(a, i64, n + 1);
    *nruns = 0;
    for (int i = 0; i < n; i = run_end(list, n, i) + 1)
        run[(*nruns)++] = i;
    run[*nruns] = n;
    return run;
}

const Ast *
ast_list(Arena *a, const i64 *list, int n, const Ast *x)
{
    int nruns;
    const i64 *run = ast_list_runs(a, list, n, &nruns);
    return plus(a, ramps(a, list, run, 0, nruns, x), list[0], x->loc);
}

/* The outer min and max make the interval of the node that of the numbers. */
const Ast *
ast_table(Arena *a, const AstTable *t, Loc loc)
{
    if (!t->n) {
        Ast *unknown = arena_copy(a, ast_sym(a, t->name, loc), sizeof(Ast));
        unknown->table = arena_copy(a, t, sizeof *t);
        return unknown;
    }
    i64 min = t->list[0], max = min;
    for (int i = 1; i < t->n; i++) {
        min = t->list[i] < min ? t->list[i] : min;
        max = t->list[i] > max ? t->list[i] : max;
    }
    const Ast *x = ast_list(a, t->list, t->n, t->at);
    x = ast_op(a, OP_MAX, x, ast_num(a, min, loc), loc);
    x = ast_op(a, OP_MIN, x, ast_num(a, max, loc), loc);
    Ast *r = arena_copy(a, x, sizeof *x);
    r->table = arena_copy(a, t, sizeof *t);
    return r;
}
