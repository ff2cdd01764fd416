/* Makes code for a whole plan from the inverse of the destination.  A thread writes one
 * word: the inverse gives the coordinates of each element in it, which the thread loads
 * from the source or fills.  This is the slowest code.  It is needed if elements of several
 * boxes share a byte. */
#include "grid_parts.h"

enum { WORD = 4 };       /* bytes */

typedef struct {
    GridBox b;
    const Plan *p;
    const Verdict *v;
    int unit, per;        /* bytes of a word, elements in it */
    int least;            /* bytes of the narrowest access */
    bool dense;           /* every slot is an element or padding */
    i64 run;              /* seams: elements of a run */
    const Ex *x[MAX_RANK];         /* coordinates, by dims of dst */
} Inverse;

static GridStmt *
put(Inverse *g, const Ex *k)
{
    GridStmt *s = grid_add(&g->b, G_PUT);
    s->name = "w";
    s->pattern = (uint32_t)(((uint64_t)1 << g->b.bits) - 1);
    s->value[0] = ex_scale(g->b.e, k, g->b.bits);
    return s;
}

/* The address of the source element for x; for padding that of the last element. */
static const Ex *
source_of(Inverse *g)
{
    const Plan *p = g->p;
    const Ex **to = arena_array(g->b.arena, const Ex *, ex_nvars(p->e));
    for (int d = 0; d < p->dst->rank; d++)
        to[p->src->dim[p->map[d]].var] =
            ex_min(p->e, g->x[d], ex_const(p->e, p->dst->dim[d].n - 1));
    return ex_subst(p->e, p->src->addr, to);
}

static void
fetch(Inverse *g, const Ex *k)
{
    int per = 8 * g->least / g->b.bits;
    const Ex *from = source_of(g);
    if (g->per == 1) {
        grid_load(&g->b, "v", false, SPACE_SRC, g->unit, from);
        return;
    }
    GridStmt *s = put(g, k);
    s->space = SPACE_SRC;
    s->width = g->least;
    s->value[1] = ex_div(g->b.e, from, per);
    s->value[2] = ex_scale(g->b.e, ex_mod(g->b.e, from, per), g->b.bits);
}

static void
fill(Inverse *g, const Ex *k)
{
    const char *word[4];
    int n = grid_pattern(&g->b, g->b.bits, word);
    if (g->per > 1) {
        put(g, k)->word[0] = word[0];
        return;
    }
    GridStmt *s = grid_add(&g->b, G_SET);
    s->name = "v";
    s->nwords = n;
    for (int i = 0; i < n; i++)
        s->word[i] = word[i];
}

/* Defines the coordinates of slot a, as variables that are valid within the padded
 * extents. */
static GridStmt *
find(Inverse *g, const Ex *a)
{
    Exprs *e = g->b.e;
    const Layout *l = g->p->dst;
    const Ex **to = arena_array(g->b.arena, const Ex *, ex_nvars(e) + MAX_RANK);
    const Ex *raw[MAX_RANK];
    const Ex *bound[MAX_RANK];
    to[g->v->inverse_var] = a;
    for (int d = 0; d < l->rank; d++) {
        const Ex *x = ex_subst(e, g->v->inverse[d], to);
        bound[d] = ex_const(e, l->dim[d].padded);
        raw[d] = g->x[d] = ex_const(e, 0);
        if (x->f.max == 0)
            continue;
        GridStmt *s = grid_add(&g->b, G_LET);
        s->name = arena_printf(g->b.arena, "x%d", d);
        s->value[0] = x;
        s->var = ex_var(e, s->name, x->f.min, x->f.max);
        s->guarded = ex_var(e, s->name, 0, l->dim[d].padded - 1);
        raw[d] = ex_of_var(e, s->var);
        g->x[d] = ex_of_var(e, s->guarded);
    }
    GridStmt *when = grid_when(&g->b, raw, bound, l->rank);
    if (g->dense)
        return when;
    const Ex **address = arena_array(g->b.arena, const Ex *, ex_nvars(e));
    for (int d = 0; d < l->rank; d++)
        address[l->dim[d].var] = g->x[d];
    when = when ? when : grid_add(&g->b, G_WHEN);
    when->same[0] = ex_subst(e, l->addr, address);
    when->same[1] = a;
    return when;
}

/* Adds the code for slot a, which is element k of the word. */
static void
slot(Inverse *g, const Ex *a, const Ex *k)
{
    const Layout *l = g->p->dst;
    FillKind kind = l->ref->def->fill;
    const Ex *bound[MAX_RANK];
    GridStmt *inside = find(g, a);
    GridStmt **outer = inside ? grid_open(&g->b, inside) : NULL;
    for (int d = 0; d < l->rank; d++)
        bound[d] = ex_const(g->b.e, l->dim[d].n);
    if (kind == FILL_VALUE)
        fill(g, k);
    GridStmt *real = kind == FILL_EDGE ? NULL : grid_when(&g->b, g->x, bound, l->rank);
    GridStmt **then = real ? grid_open(&g->b, real) : NULL;
    fetch(g, k);
    grid_close(&g->b, then);
    grid_close(&g->b, outer);
}

static void
word(Inverse *g, const Ex *e)
{
    GridBox *b = &g->b;
    const Layout *l = g->p->dst;
    bool small = g->per > 1, keep = !g->dense || l->ref->def->fill == FILL_NONE ||
                                     l->size % g->per;
    GridStmt **outer, **then;
    const char *const value[] = {small ? "w" : "v"};
    GridStmt *s = grid_add(b, G_WORD);
    s->name = value[0];
    s->space = SPACE_DST;
    s->width = g->unit;
    if (keep)
        s->value[0] = e;
    const Ex *k = grid_for(b, "k", g->per, &outer);
    const Ex *a = ex_add(b->e, ex_scale(b->e, e, g->per), k);
    slot(g, grid_index(b, "a", a, ex_const(b->e, l->size), &then), k);
    grid_close(b, then);
    grid_close(b, outer);
    grid_store(b, SPACE_DST, g->unit, e, value, 1);
}

static bool
is_dense(const Layout *l)
{
    i64 n = 1;
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(n, l->dim[d].padded, &n))
            return false;
    return n == l->size;
}

/* Prepares code for words of `unit` bytes.  False if there is no closed form. */
static bool
begin(Inverse *g, GridUnit *u, int unit, GridStmt *box)
{
    const Plan *p = u->plan;
    *g = (Inverse){.p = p, .v = decide_or_fail(p->dst), .dense = is_dense(p->dst),
                   .least = u->most.access, .unit = unit};
    g->b = (GridBox){.u = u, .nest = p->nest[0], .e = u->e, .arena = ex_arena(u->e),
                     .bits = p->dst->dtype->bits, .tail = &box->body};
    g->per = 8 * unit / g->b.bits;
    for (int d = 0; g->v->inverse && d < p->dst->rank; d++)
        if (g->v->inverse[d]->f.min < 0)
            return false;
    return g->v->inverse != NULL;
}

/* Adds the phase in which each thread makes one of n words. */
static void
by_threads(Inverse *g, i64 n, void (*make)(Inverse *g, const Ex *item), GridStmt *box)
{
    GridBox *b = &g->b;
    grid_blocks(b, ex_const(b->e, int_ceil_div(n, GRID_THREADS)));
    GridStmt **then, **outer = grid_open(b, grid_add(b, G_PHASE));
    const Ex *e = grid_item(b, ex_of_var(b->e, b->block));
    make(g, grid_index(b, "e", e, ex_const(b->e, n), &then));
    grid_close(b, then);
    grid_close(b, outer);
    box->var = b->block;
    box->blocks = b->blocks;
}

/* The bytes of the narrowest access of elements. */
static int
least_unit(const GridUnit *u)
{
    int bytes = u->plan->dst->dtype->bits / 8;
    return bytes > u->most.access ? bytes : u->most.access;
}

bool
grid_inverse(GridUnit *u, GridStmt *box)
{
    Inverse g;
    i64 bytes = layout_bytes(u->plan->dst);
    int least = least_unit(u);
    if (!begin(&g, u, least >= 4 || bytes % 4 || u->most.align < 4 ? least : 4, box))
        return false;
    by_threads(&g, int_ceil_div(bytes, g.unit), word, box);
    return true;
}

bool
grid_has_seams(const Plan *p)
{
    const Verdict *v = decide_or_fail(p->dst);
    for (int d = 0; v->inverse && d < p->dst->rank; d++)
        if (v->inverse[d]->f.min < 0)
            return false;
    return v->inverse && is_dense(p->dst);
}

/* Part number `item` of the words at the ends of runs: a run that ends inside of a word. */
static void
seam(Inverse *g, const Ex *item)
{
    GridBox *b = &g->b;
    Exprs *e = b->e;
    i64 parts = WORD / g->unit, per = 8 * WORD / b->bits;
    i64 units = int_ceil_div(layout_bytes(g->p->dst), g->unit);
    const Ex *end = ex_scale(e, ex_add(e, ex_div(e, item, parts), ex_const(e, 1)), g->run);
    const Ex *up = ex_const(e, per - 1), *inside = ex_mod(e, ex_add(e, end, up), per);
    GridStmt *when = grid_when(b, &inside, &up, 1);
    GridStmt **then, **outer = when ? grid_open(b, when) : NULL;
    const Ex *at = ex_add(e, ex_scale(e, ex_div(e, end, per), parts),
                          ex_mod(e, item, parts));
    word(g, grid_index(b, "q", at, ex_const(e, units), &then));
    grid_close(b, then);
    grid_close(b, outer);
}

void
grid_seams(GridUnit *u, i64 n, GridStmt *box)
{
    Inverse g;
    begin(&g, u, least_unit(u), box);
    g.run = n;
    by_threads(&g, u->plan->dst->size / n * (WORD / g.unit), seam, box);
    box->name = "ends of runs: shift";
}
