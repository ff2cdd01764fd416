/* Makes adjacent padding a part of a box: the common loop continues beyond the real
 * elements, where loads give the fill.  So one block writes a line of the destination that
 * contains both elements and padding.
 *
 * plan_follow.c searches, as for plan_merge.c, which asks of each pair which kernel writes both and
 * in what time.  Here it is whether blocks would share a sector, and any loop may be continued. */
#include "grid_parts.h"

static int
width_of(const GridBox *b)
{
    GridBox w = *b;
    grid_widen(&w, 128);
    return w.bits;
}

/* True if some sectors of the destination contain elements and padding. */
static bool
is_shared(const GridBox *b, const GridLoop *l)
{
    enum { SECTOR_BITS = 8 * SECTOR_BYTES };
    return (l->n % SECTOR_BITS) * (l->ds % SECTOR_BITS) * b->bits % SECTOR_BITS != 0;
}

/* Adds a loop of one iteration as loop k.  False if there is one already. */
static bool
add_loop(GridBox *b, int k, const Ex *apart, i64 ds)
{
    static const char more[] = "r";
    const Ex *one = ex_const(b->e, 1);
    for (int j = 0; j < b->nloops; j++)
        if (b->loop[j].name == more)
            return false;
    for (int i = b->nloops++; i > k; i--)
        b->loop[i] = b->loop[i - 1];
    b->loop[k] = (GridLoop){1, 0, ds, 1, ex_var(b->e, more, 0, b->elements), more, false,
                            INF, {one, ex_const(b->e, 0), apart, one}};
    return true;
}

/* Gives loop k of b `more` iterations.  False if no sector is shared, or accesses would become
 * narrower; then b has changed. */
static bool
extend(GridBox *b, int k, const Ex *more)
{
    GridLoop *l = &b->loop[k];
    bool copy = b->nest->kind == NEST_COPY;
    int width = width_of(b);
    i64 each = b->elements / l->n;
    if (copy && !is_shared(b, l))
        return false;
    l->ex.n = scalar_plus(b->u->plan->scalars, l->ex.n, more);
    l->n = scalar_nominal(b->u->plan->scalars, l->ex.n);
    if (!int_mul(each, l->n, &b->elements))
        b->elements = INF;
    if (!copy) {
        l->ex.real = l->ex.n;
        l->real = l->n;
    }
    return width_of(b) >= width;
}

/* The boxes of a search.  Those that belong to others have no nest. */
typedef struct {
    GridBox *box;
    NestKind kind;        /* of boxes that are extended */
} Cover;

static const Nest *
nest_of(void *arg, int i)
{
    return ((Cover *)arg)->box[i].nest;
}

static bool
takes(void *arg, int i)
{
    const Nest *n = nest_of(arg, i);
    return n && n->kind == ((Cover *)arg)->kind && !nest_looks_up(n);
}

static bool
is_padding(void *arg, int f)
{
    const Nest *n = nest_of(arg, f);
    return n && n->kind == NEST_FILL;
}

static bool
footprint_of(void *arg, int i, Footprint *s)
{
    const GridBox *b = &((Cover *)arg)->box[i];
    *s = (Footprint){.start = b->dst};
    for (int k = 0; k < b->nloops; k++) {
        const GridLoop *l = &b->loop[k];
        if (!footprint_add(s, l->residual, l->ex.n, l->ex.ds, l->ds))
            return false;
    }
    return true;
}

static bool
take(void *arg, int i, const Footprint *s, int k, int f, const Ex *more)
{
    Cover *c = arg;
    GridBox b = c->box[i];
    bool has = s->n == b.nloops || add_loop(&b, k, s->loop[k].ds, s->loop[k].apart);
    if (!has || !extend(&b, k, more))
        return false;
    c->box[i] = b;
    c->box[f].nest = NULL;
    return true;
}

int
grid_cover(Scalars *s, GridBox *box, int n, NestKind kind)
{
    Cover c = {box, kind};
    const FollowSearch q = {&c, n, nest_of, takes, is_padding, footprint_of, take, false};
    int left = 0;
    follow_search(&q, s);
    for (int i = 0; i < n; i++)
        if (box[i].nest)
            box[left++] = box[i];
    return left;
}

bool
grid_is_padded(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].ex.real != b->loop[i].ex.n)
            return true;
    return false;
}

static GridStmt *
when_real(GridBox *b)
{
    const Ex *value[MAX_LOOPS];
    const Ex *bound[MAX_LOOPS];
    int n = 0;
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].ex.real != b->loop[i].ex.n) {
            value[n] = b->at[i];
            bound[n++] = b->loop[i].ex.real;
        }
    return grid_when(b, value, bound, n);
}

void
grid_load_or_fill(GridBox *b, const char *name, bool declares, int width, const Ex *from)
{
    if (!grid_is_padded(b)) {
        grid_load(b, name, declares, SPACE_SRC, width, from);
        return;
    }
    if (declares) {
        GridStmt *s = grid_add(b, G_WORD);
        s->name = name;
        s->width = width;
    }
    GridStmt *s = grid_add(b, G_SET);
    s->name = name;
    s->nwords = grid_pattern(b, 8 * width, s->word);
    GridStmt *real = when_real(b);
    GridStmt **outer = real ? grid_open(b, real) : NULL;
    grid_load(b, name, false, SPACE_SRC, width, from);
    grid_close(b, outer);
}
