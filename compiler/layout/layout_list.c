/* Lists of coordinates, as NumPy's index arrays: x[[0, 1, 2, 7, 8, 9]].
 *
 * A list is runs of evenly spaced numbers.  As an expression it is a sum of ramps,
 * k * min(max(x - from, 0), most): one for each run and one for the step to the next.
 * The dim is cut where runs begin, so in each piece all ramps are constant or linear. */
#include "layout_parts.h"

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

/* The places at which runs begin, and n. */
static i64 *
runs_of(Arena *a, const i64 *list, int n, int *nruns)
{
    i64 *run = arena_array(a, i64, n + 1);
    *nruns = 0;
    for (int i = 0; i < n; i = run_end(list, n, i) + 1)
        run[(*nruns)++] = i;
    run[*nruns] = n;
    return run;
}

const Ast *
list_at(Arena *a, const View *v, int d, const Ast *x)
{
    int n;
    const i64 *list = v->at[d].list, *run = runs_of(a, list, v->at[d].n, &n);
    return plus(a, ramps(a, list, run, 0, n, x), list[0], x->loc);
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
    enum { RUNS_MAX = 100 };
    int n, run = 0;
    const Dim *of = &v->of->dim[d];
    const i64 *list = v->at[d].list, *runs = runs_of(a, list, v->at[d].n, &n);
    i64 *cut = arena_array(a, i64, v->at[d].n);
    dim->cut = cut;
    for (int i = 0; i < v->at[d].n; i++) {
        bool begins = i == runs[run];
        run += begins;
        if (begins || cuts_before(of, list[i]) != cuts_before(of, list[i - 1]))
            cut[dim->ncuts++] = i;
    }
    if (n > RUNS_MAX)
        layout_index_fail(a, r->index->whole, r->item[d]->place, arena_printf(a, "a list of "
                          "%d runs of evenly spaced numbers: at most %d", n, RUNS_MAX));
}

