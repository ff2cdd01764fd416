/* Makes adjacent padding a part of a box: the common loop continues beyond the real
 * elements, where loads give the fill.  So one block writes a line of the destination that
 * contains both elements and padding. */
#include "grid_parts.h"

/* The places that b writes to.  False if a loop is in the residual or may run backwards at some
 * shape; shape_of_nest asks less. */
static bool
shape_of_box(const GridBox *b, Shape *s)
{
    *s = (Shape){.start = b->dst};
    for (int i = 0; i < b->nloops; i++) {
        const GridLoop *l = &b->loop[i];
        if (l->residual || l->ds < 1 || l->ex.ds->f.min < 0)
            return false;
        shape_add(s, l->ex.n, l->ex.ds, l->ds);
    }
    return true;
}

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

/* Continues loop k of b over the box of f, which has the places `its`. */
static bool
extend(GridBox *b, int k, const Nest *f, const Shape *its)
{
    Scalars *scalars = b->u->plan->scalars;
    bool copy = b->nest->kind == NEST_COPY;
    GridBox joined = *b;
    GridLoop *l = &joined.loop[k];
    Shape mine;
    const Ex *more = shape_of_box(b, &mine) ? nest_followed(scalars, b->nest, &mine, k, f, its)
                                            : NULL;
    if (!more || (copy && !is_shared(b, l)))
        return false;
    l->ex.n = ex_add(b->e, l->ex.n, more);
    l->n = scalar_nominal(scalars, l->ex.n);
    if (!int_mul(b->elements / b->loop[k].n, l->n, &joined.elements))
        joined.elements = INF;
    if (!copy) {
        l->ex.real = l->ex.n;
        l->real = l->n;
    }
    if (width_of(&joined) < width_of(b))
        return false;
    *b = joined;
    return true;
}

/* Adds a loop of one iteration whose stride is the distance from b to f. */
static int
add_loop(GridBox *b, const Shape *its)
{
    static const char more[] = "r";
    const Ex *apart = ex_sub(b->e, its->start, b->dst), *one = ex_const(b->e, 1);
    i64 ds = scalar_nominal(b->u->plan->scalars, apart);
    int i = b->nloops;
    for (int j = 0; j < b->nloops; j++)
        if (b->loop[j].name == more)
            return -1;
    if (ds < 1 || i == MAX_LOOPS)
        return -1;
    for (b->nloops++; i > 0 && b->loop[i - 1].ds < ds; i--)
        b->loop[i] = b->loop[i - 1];
    b->loop[i] = (GridLoop){1, 0, ds, 1, ex_var(b->e, more, 0, b->elements), more, false,
                            INF, {one, ex_const(b->e, 0), apart, one}};
    return i;
}

bool
grid_cover(GridBox *b, const GridBox *f)
{
    Shape mine, its;
    if (nest_looks_up(b->nest) || !shape_of_box(b, &mine) || !shape_of_box(f, &its))
        return false;
    for (int k = 0; k < b->nloops; k++)
        if (extend(b, k, f->nest, &its))
            return true;
    GridBox one = *b;
    int k = add_loop(&one, &its);
    if (k < 0 || !extend(&one, k, f->nest, &its))
        return false;
    *b = one;
    return true;
}

bool
grid_is_padded(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].ex.real != b->loop[i].ex.n)
            return true;
    return false;
}

int
grid_pattern(GridBox *b, int width, const char **word)
{
    const uint64_t *fill = b->u->plan->dst->fill;
    int bits = b->u->plan->dst->dtype->bits, n = width <= 32 ? 1 : width / 32;
    for (int w = 0; w < n; w++) {
        uint64_t v = 0;
        for (int at = 0; at < 32; at += bits < 32 ? bits : 32) {
            int from = (32 * w + at) % bits;
            uint64_t part = fill[from / 64] >> from % 64;
            v |= (bits < 32 ? part & ((UINT64_C(1) << bits) - 1) : part) << at;
        }
        v &= width < 32 ? (UINT64_C(1) << width) - 1 : 0xffffffff;
        word[w] = arena_printf(b->arena, "0x%llxu", (unsigned long long)v);
    }
    return n;
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
