/* An access for each element, which may be a run of up to 16 bytes: threads follow the
 * destination.  All that no other row can do, and what needs none: copies of runs, and
 * padding. */
#include "grid.h"

enum { EACH = 4 };                 /* accesses of a thread, of large boxes */

/* The loops as digits of element e, named. */
static void
loops_of(GridBox *b, const Ex *e)
{
    i64 inner = b->elements;
    for (int i = 0; i < b->nloops; i++) {
        i64 outer = inner;
        inner /= b->loop[i].n;
        b->at[i] = grid_let(b, b->loop[i].name, ex_dig(b->e, e, inner, outer));
    }
}

static const Ex *
address(GridBox *b, bool source)
{
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(b->e));
    const Ex *x = source ? b->src : b->dst;
    for (int i = 0; i < b->nloops; i++)
        to[b->loop[i].var] = b->at[i];
    x = ex_subst(b->e, x, to);
    for (int i = 0; i < b->nloops; i++)
        x = ex_add(b->e, x, ex_scale(b->e, b->at[i], source ? b->loop[i].ss
                                                            : b->loop[i].ds));
    return x;
}

typedef enum { LOADS = 1, STORES = 2 } What;

/* Element e by way of `value`, which is new where it is loaded and stored at once. */
static void
element(GridBox *b, const Ex *e, const char *value, What what)
{
    const char *word[4] = {value};
    int nwords = b->nest->kind == NEST_FILL ? grid_pattern(b, b->bits, word) : 1;
    GridStmt **outer;
    loops_of(b, grid_index(b, "e", e, b->elements, &outer));
    if (what & LOADS)
        grid_load_or_fill(b, value, what & STORES, b->bits / 8, address(b, true));
    if (what & STORES)
        grid_store(b, SPACE_DST, b->bits / 8, address(b, false), word, nwords);
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

i64
grid_gather(GridBox *b)
{
    grid_widen(b, 128);
    if (b->bits < 8)
        return 0;
    i64 each = b->elements >= 64 * GRID_THREADS * EACH ? EACH : 1;
    i64 blocks = int_ceil_div(b->elements, each * GRID_THREADS);
    grid_blocks(b, blocks);
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
    return blocks;
}
