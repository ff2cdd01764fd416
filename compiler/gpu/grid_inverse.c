/* Makes code for a whole plan from the inverse of the destination.  A thread writes one
 * word: the inverse gives the coordinates of each element in it, which the thread loads
 * from the source or fills.  It is needed if elements of several boxes share a byte.
 *
 * Its coordinates are expressions over the address, or over the entries of the destination's order
 * (decide_back): then a thread splits the address into these. */
#include "grid_parts.h"

typedef struct {
    GridBox *b;
    GridWord word;
    const Plan *p;
    Back back;            /* of the destination */
    const Ex *room[MAX_ENTRIES];   /* how many values an entry of it has, with those in gaps */
    bool dense;           /* every slot is an element or padding */
    bool padded;          /* there may be padding */
    const Ex *x[MAX_RANK];         /* coordinates, by dims of dst */
} Inverse;

static bool
is_padded(const Plan *p, int d)
{
    return p->to->n[d] != p->to->padded[d];
}

/* The last coordinate of dim d that is an element's. */
static const Ex *
last_of(const Plan *p, int d)
{
    const Ex *x = ex_sub(p->e, p->to->n[d], ex_const(p->e, 1));
    return ex_is_const(x) ? x : scalar_named(p->scalars, x, INF);
}

/* The address of the source element for x; for padding that of the last element. */
static const Ex *
source_of(Inverse *g)
{
    const Plan *p = g->p;
    bool edge = p->dst->ref->def->fill == FILL_EDGE;
    const Ex **to = arena_array(g->b->arena, const Ex *, ex_nvars(p->e));
    for (int d = 0; d < p->dst->rank; d++)
        to[p->from->var[p->map[d]]] = edge && is_padded(p, d)
                                      ? ex_min(p->e, g->x[d], last_of(p, d)) : g->x[d];
    return sizes_address(p->from, to);
}

static void
fill(Inverse *g, const Ex *k)
{
    const char *word[4];
    int n = grid_pattern(g->b, g->b->bits, word);
    if (g->word.per > 1) {
        grid_word_put(&g->word, k)->word[0] = word[0];
        return;
    }
    GridStmt *s = grid_add(g->b, G_SET);
    s->name = "v";
    s->nwords = n;
    for (int i = 0; i < n; i++)
        s->word[i] = word[i];
}

/* What stands for the variables of the coordinates at address a. */
static const Ex **
values_of(Inverse *g, const Ex *a)
{
    const Back *c = &g->back;
    GridDigits digits = {a, 1};
    const Ex *value[MAX_ENTRIES] = {a};
    for (int i = c->n - 1; i >= 0; i--) {
        const char *name = arena_printf(g->b->arena, "e%d", i + 1);
        i64 most = g->room[i]->f.max < INF ? g->room[i]->f.max - 1 : INF;
        value[i] = grid_let(g->b, name, grid_digit(g->b, &digits, name, g->room[i], most, !i));
    }
    const Ex **to = arena_array(g->b->arena, const Ex *, ex_nvars(g->b->e) + MAX_RANK);
    for (int i = 0; i < (c->n ? c->n : 1); i++)
        to[c->var[i]] = value[i];
    return to;
}

/* Defines the coordinates of slot a, as variables that are valid within the padded
 * extents. */
static GridStmt *
find(Inverse *g, const Ex *a)
{
    GridBox *b = g->b;
    const Sizes *z = g->p->to;
    const Ex **to = values_of(g, a);
    const Ex *raw[MAX_RANK];
    for (int d = 0; d < z->l->rank; d++) {
        const Ex *x = ex_subst(b->e, g->back.x[d], to);
        raw[d] = g->x[d] = ex_const(b->e, 0);
        if (x->f.max == 0)
            continue;
        GridStmt *s = grid_add(b, G_LET);
        s->name = arena_printf(b->arena, "x%d", d);
        s->value[0] = x;
        s->var = ex_var(b->e, s->name, x->f.min, x->f.max);
        s->guarded = ex_var(b->e, s->name, 0, z->padded[d]->f.max < INF ? z->padded[d]->f.max - 1
                                                                        : INF);
        raw[d] = ex_of_var(b->e, s->var);
        g->x[d] = ex_of_var(b->e, s->guarded);
    }
    if (g->dense)
        return NULL;
    GridStmt *when = grid_when(b, raw, z->padded, z->l->rank);
    const Ex **at = arena_array(b->arena, const Ex *, ex_nvars(b->e));
    for (int d = 0; d < z->l->rank; d++)
        at[z->var[d]] = g->x[d];
    when = when ? when : grid_add(b, G_WHEN);
    when->same[0] = sizes_address(z, at);
    when->same[1] = a;
    return when;
}

/* A condition that the coordinates are an element's; NULL if they always are. */
static GridStmt *
when_real(Inverse *g)
{
    const Ex *value[MAX_RANK];
    const Ex *bound[MAX_RANK];
    int n = 0;
    for (int d = 0; d < g->p->dst->rank; d++)
        if (is_padded(g->p, d)) {
            value[n] = g->x[d];
            bound[n++] = g->p->to->n[d];
        }
    return grid_when(g->b, value, bound, n);
}

/* Adds the code for slot a, which is element k of the word. */
static void
slot(void *arg, const Ex *a, const Ex *k)
{
    Inverse *g = arg;
    FillKind kind = g->p->dst->ref->def->fill;
    GridStmt *inside = find(g, a);
    GridStmt **outer = inside ? grid_open(g->b, inside) : NULL;
    if (kind == FILL_VALUE && g->padded)
        fill(g, k);
    GridStmt *real = kind == FILL_EDGE ? NULL : when_real(g);
    GridStmt **then = real ? grid_open(g->b, real) : NULL;
    grid_word_fetch(&g->word, k, source_of(g));
    grid_close(g->b, then);
    grid_close(g->b, outer);
}

static void
put_word(void *arg, const Ex *at)
{
    Inverse *g = arg;
    bool keep = !g->dense || (g->padded && g->p->dst->ref->def->fill == FILL_NONE);
    grid_word_unit(&g->word, at, keep, slot, g);
}

/* Whether there may be padding, and whether there are no holes, at every shape. */
static void
find_holes(Inverse *g)
{
    const Sizes *z = g->p->to;
    const Ex *slots = ex_const(g->p->e, 1);
    for (int d = 0; d < z->l->rank; d++) {
        g->padded |= is_padded(g->p, d);
        slots = scalar_times(g->p->scalars, slots, z->padded[d]);
    }
    g->dense = slots == z->size;
}

/* The values of entry i that the addresses have; NULL if they are not those of a digit. */
static const Ex *
room_of(const Plan *p, int i)
{
    const Sizes *z = p->to;
    const Ex *each = z->stride[i], *next = i ? z->stride[i - 1] : z->size;
    if (stride_goes_on(p->scalars, each, z->slots[i], next, 1) || i == 0)
        return z->slots[i];
    if (!ex_is_const(each) || each->base < 1 || !ex_is(ex_mod(p->e, next, each->base), 0))
        return NULL;
    return scalar_of(p->scalars, ex_div(p->e, next, each->base), INF);
}

static bool
find_coordinates(Inverse *g)
{
    const Plan *p = g->p;
    bool rolls = p->dst->ref->def->nrolls || p->src->ref->def->nrolls;
    for (int d = 0; d < p->dst->rank; d++)
        rolls |= p->to->roll[d].end || p->from->roll[d].end;
    if (rolls)
        return false;              /* slots are sums of coordinates in a box only */
    const Verdict *v = sizes_are_known(p->to) ? decide_or_fail(p->dst) : NULL;
    if (!decide_back(p->dst, p->to, v, &g->back))
        return false;
    if (g->back.n && !ex_is(p->to->stride[g->back.n - 1], 1))
        return false;
    for (int i = 0; i < g->back.n; i++)
        if (!(g->room[i] = room_of(p, i)))
            return false;
    for (int d = 0; d < p->dst->rank; d++)
        if (g->back.x[d]->f.min < 0)
            return false;
    return true;
}

bool
grid_inverse(GridBox *b)
{
    const Plan *p = b->u->plan;
    Inverse g = {.b = b, .p = p};
    if (!find_coordinates(&g))
        return false;
    find_holes(&g);
    b->nest = NULL;
    b->nloops = 0;
    g.word = grid_word(b, grid_word_bytes(b));
    grid_each_thread(b, grid_ceil(b, p->to->size, g.word.per), put_word, &g);
    return true;
}
