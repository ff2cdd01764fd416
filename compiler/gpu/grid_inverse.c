/* Makes code for a whole plan from the inverse of the destination.  A thread writes one
 * word: the inverse gives the coordinates of each element in it, which the thread loads
 * from the source or fills.  This is the slowest code.  It is needed if elements of several
 * boxes share a byte. */
#include "grid_parts.h"

typedef struct {
    GridBox b;
    GridWord word;
    const Plan *p;
    const Verdict *v;
    bool dense;           /* every slot is an element or padding */
    const Ex *x[MAX_RANK];         /* coordinates, by dims of dst */
} Inverse;

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
fill(Inverse *g, const Ex *k)
{
    const char *word[4];
    int n = grid_pattern(&g->b, g->b.bits, word);
    if (g->word.per > 1) {
        grid_word_put(&g->word, k)->word[0] = word[0];
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
    grid_word_fetch(&g->word, k, source_of(g));
    grid_close(&g->b, then);
    grid_close(&g->b, outer);
}

static void
put_word(void *arg, const Ex *at)
{
    Inverse *g = arg;
    GridBox *b = &g->b;
    const Layout *l = g->p->dst;
    bool keep = !g->dense || l->ref->def->fill == FILL_NONE || l->size % g->word.per;
    GridStmt **outer, **then;
    grid_word_open(&g->word, keep ? at : NULL);
    const Ex *k = grid_for(b, "k", g->word.per, &outer);
    const Ex *a = ex_add(b->e, ex_scale(b->e, at, g->word.per), k);
    slot(g, grid_index(b, "a", a, ex_const(b->e, l->size), &then), k);
    grid_close(b, then);
    grid_close(b, outer);
    grid_word_close(&g->word, at);
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

/* True if the destination has an inverse in closed form for all of its addresses. */
static bool
has_inverse(const Plan *p)
{
    const Verdict *v = decide_or_fail(p->dst);
    for (int d = 0; v->inverse && d < p->dst->rank; d++)
        if (v->inverse[d]->f.min < 0)
            return false;
    return v->inverse != NULL;
}

bool
grid_inverse(GridUnit *u, GridStmt *box)
{
    enum { WORD = 4 };
    const Plan *p = u->plan;
    Inverse g = {.p = p, .v = decide_or_fail(p->dst), .dense = is_dense(p->dst)};
    i64 bytes = layout_bytes(p->dst);
    int least = grid_word_least(u);
    int unit = least >= WORD || bytes % WORD || u->most.align < WORD ? least : WORD;
    if (!has_inverse(p))
        return false;
    g.b = (GridBox){.u = u, .nest = p->nest[0], .e = u->e, .arena = ex_arena(u->e),
                    .bits = p->dst->dtype->bits, .tail = &box->body};
    g.word = grid_word(&g.b, unit);
    grid_each_thread(&g.b, ex_const(u->e, int_ceil_div(bytes, unit)), put_word, &g);
    box->var = g.b.block;
    box->blocks = g.b.blocks;
    return true;
}
