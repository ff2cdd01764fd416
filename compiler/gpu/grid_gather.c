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
