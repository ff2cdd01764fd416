/* Makes one access for each element of the box, which may be a run of up to 16 bytes.
 * Threads follow the destination.  This row does copies of runs, padding, and boxes to
 * which no other row applies. */
#include "grid_parts.h"

enum { EACH = 4 };                 /* accesses of a thread in large boxes */

/* Defines the iterations of the loops as digits of the element number e. */
static void
loops_of(GridBox *b, const Ex *e)
{
    GridDigits d = {e, 1};
    for (int i = b->nloops - 1; i >= 0; i--)
        b->at[i] = grid_digit_of(b, &d, &b->loop[i], i == 0);
    for (int i = 0; i < b->nloops; i++)
        b->at[i] = grid_let(b, b->loop[i].name, b->at[i]);
}

/* What stands for each loop. */
static const Ex **
iterations(const GridBox *b)
{
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(b->e));
    for (int i = 0; i < b->nloops; i++)
        to[b->loop[i].var] = b->at[i];
    return to;
}

static const Ex *
address(GridBox *b, bool source, const Ex *const *to)
{
    const Ex *x = ex_subst(b->e, source ? b->src : b->dst, to);
    for (int i = 0; i < b->nloops; i++)
        x = ex_add(b->e, x, ex_times(b->e, b->at[i], source ? b->loop[i].ex.ss
                                                            : b->loop[i].ex.ds));
    return x;
}

typedef enum { LOADS = 1, STORES = 2 } What;

/* Loads or stores element e through the variable `value`, or both; then it also defines
 * the variable. */
static void
element(GridBox *b, const Ex *e, const char *value, What what)
{
    const char *word[4] = {value};
    int nwords = b->nest->kind == NEST_FILL ? grid_pattern(b, b->bits, word) : 1;
    GridStmt **outer;
    loops_of(b, grid_index(b, "e", e, grid_others(b, NULL, 0), &outer));
    const Ex **to = iterations(b);
    GridStmt **moved = grid_lookups(b, to);
    if (what & LOADS)
        grid_load_or_fill(b, value, what & STORES, b->bits / 8, address(b, true, to));
    if (what & STORES)
        grid_store(b, SPACE_DST, b->bits / 8, address(b, false, to), word, nwords);
    grid_close(b, moved);
    grid_close(b, outer);
}

static void
pass(GridBox *b, i64 each, const char *value, What what)
{
    GridStmt **outer;
    const Ex *u = grid_for(b, "u", each, &outer);
    const Ex *e = ex_add(b->e, ex_scale(b->e, ex_of_var(b->e, b->block),
                                        each * GRID_THREADS),
                         ex_add(b->e, ex_scale(b->e, u, GRID_THREADS),
                                ex_of_var(b->e, b->u->thread)));
    element(b, e, value, what);
    grid_close(b, outer);
}

bool
grid_gather(GridBox *b)
{
    grid_widen(b, 128);
    if (b->bits < 8)
        return false;
    i64 each = b->elements >= 64 * GRID_THREADS * EACH ? EACH : 1;
    grid_blocks(b, grid_ceil(b, grid_others(b, NULL, 0), each * GRID_THREADS));
    GridStmt **outer = grid_open(b, grid_add(b, G_PHASE));
    if (b->nest->kind == NEST_FILL) {
        pass(b, each, NULL, STORES);
    } else if (each == 1) {
        pass(b, 1, "v", LOADS | STORES);
    } else {
        grid_array(b, "v", b->bits / 8, each);
        pass(b, each, "v[u]", LOADS);
        pass(b, each, "v[u]", STORES);
    }
    grid_close(b, outer);
    return true;
}

/* The loop of a box's runs, whose elements are adjacent on both sides; NULL: it has none. */
static const GridLoop *
run_of(const GridBox *b)
{
    const GridLoop *l = b->nloops ? &b->loop[b->nloops - 1] : NULL;
    return l && l->ss == 1 && l->ds == 1 && !l->residual ? l : NULL;
}

/* True if all loops of the boxes but those of runs are the same, and nothing is padding. */
static bool
is_same_period(const GridBox *a, const GridBox *b)
{
    int n = a->nloops - (run_of(a) != NULL);
    if (b->nloops - (run_of(b) != NULL) != n || a->bits != b->bits)
        return false;
    for (int i = 0; i < n; i++)
        if (a->loop[i].ex.n != b->loop[i].ex.n || a->loop[i].ex.ss != b->loop[i].ex.ss ||
            a->loop[i].ex.ds != b->loop[i].ex.ds || a->loop[i].residual || b->loop[i].residual)
            return false;
    return true;
}

bool
grid_has_period(const GridBox *a, const GridBox *b)
{
    GridBox x = *a, y = *b;
    if (!grid_is_known(a) || !grid_is_known(b) || grid_is_padded(a) || grid_is_padded(b) ||
        a->nest->kind != NEST_COPY || b->nest->kind != NEST_COPY ||
        nest_looks_up(a->nest) || nest_looks_up(b->nest))
        return false;
    grid_widen(&x, 128);
    grid_widen(&y, x.bits);
    x = *a;
    grid_widen(&x, y.bits);
    return is_same_period(&x, &y);
}

/* The runs of one box that a block copies: `each` iterations of the other loops. */
typedef struct {
    GridBox *b;
    const GridLoop *run;
    const Ex *n;          /* iterations of the other loops */
    i64 each;
} Runs;

static i64
turns_of(const Runs *p)
{
    return p->each * (p->run ? p->run->n : 1) / GRID_THREADS;
}

/* Loads of several elements read the last one again instead of none: a compiler for AMD keeps an array
 * in memory if an element may have no value. */
static const Ex *
iteration(const Runs *p, const Ex *x, What what, GridStmt ***guard)
{
    GridBox *b = p->b;
    if (what != LOADS)
        return grid_index(b, "e", x, p->n, guard);
    *guard = NULL;
    return grid_let(b, "e", ex_min(b->e, x, ex_sub(b->e, p->n, ex_const(b->e, 1))));
}

static void
runs_pass(const Runs *p, const char *value, What what)
{
    GridBox *b = p->b;
    Exprs *e = b->e;
    GridStmt **outer, **guard;
    i64 pieces = p->run ? p->run->n : 1;
    const Ex *u = grid_for(b, "u", turns_of(p), &outer);
    const Ex *q = grid_item(b, u);
    const Ex *x = ex_add(e, ex_scale(e, ex_of_var(e, b->block), p->each), ex_div(e, q, pieces));
    GridDigits d = {iteration(p, x, what, &guard), 1};
    for (int i = b->nloops - 1; i >= 0; i--)
        b->at[i] = &b->loop[i] == p->run ? ex_mod(e, q, pieces)
                   : grid_let(b, b->loop[i].name, grid_digit_of(b, &d, &b->loop[i], i == 0));
    const Ex **to = iterations(b);
    if (what & LOADS)
        grid_load(b, value, what & STORES, SPACE_SRC, b->bits / 8, address(b, true, to));
    if (what & STORES)
        grid_store(b, SPACE_DST, b->bits / 8, address(b, false, to), (const char *[]){value}, 1);
    grid_close(b, guard);
    grid_close(b, outer);
}

static void
copy_runs(const Runs *p)
{
    if (turns_of(p) == 1) {
        runs_pass(p, "v", LOADS | STORES);
        return;
    }
    grid_array(p->b, "v", p->b->bits / 8, turns_of(p));
    runs_pass(p, "v[u]", LOADS);
    runs_pass(p, "v[u]", STORES);
}

/* The elements of all boxes in an iteration of the loops that they share. */
static i64
elements_of(const GridBox *b)
{
    i64 n = run_of(b) ? run_of(b)->n : 1;
    for (int i = 0; i < b->nmore; i++)
        n += run_of(&b->more[i]) ? run_of(&b->more[i])->n : 1;
    return n;
}

/* Widens all boxes to the same elements. */
static GridBox *
widened(GridBox *b)
{
    GridBox *all = arena_array(b->arena, GridBox, b->nmore + 1);
    int bits = 128;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i <= b->nmore; i++) {
            all[i] = i ? b->more[i - 1] : *b;
            grid_widen(&all[i], bits);
            bits = all[i].bits < bits ? all[i].bits : bits;
        }
    return all;
}

/* Boxes that share sectors, because their runs are parts of a period: a block copies those of all
 * boxes in a range of the loops that they share. */
bool
grid_period(GridBox *b)
{
    enum { BYTES = 16 << 10, TURNS = 8 };
    GridBox *all = widened(b);
    if (all->bits < 8)
        return false;
    all->more = all + 1;
    i64 each = BYTES / (GRID_THREADS * elements_of(all) * all->bits / 8);
    each = GRID_THREADS * (each < 1 ? 1 : each > TURNS ? TURNS : each);
    const GridLoop *first = run_of(&all[0]);
    if (grid_others(&all[0], &first, first != NULL)->base < each)
        return false;              /* a block is not full */
    for (int i = 0; i <= b->nmore; i++) {
        const GridLoop *run = run_of(&all[i]);
        Runs p = {&all[i], run, grid_others(&all[i], &run, run != NULL), each};
        if (i == 0)
            grid_blocks(b, grid_ceil(b, p.n, each));
        all[i].block = b->block;
        all[i].tail = b->tail;
        GridStmt **outer = grid_open(&all[i], grid_add(&all[i], G_PHASE));
        copy_runs(&p);
        grid_close(&all[i], outer);
        b->tail = all[i].tail;
    }
    return true;
}
