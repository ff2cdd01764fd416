/* Makes adjacent padding a part of a box: the common loop continues beyond the real
 * elements, where loads give the fill.  So one block writes a line of the destination that
 * contains both elements and padding. */
#include "grid_parts.h"

static Shape
shape_of(const GridBox *b)
{
    Shape s = {.n = 0};
    for (int i = 0; i < b->nloops; i++)
        shape_add(&s, b->loop[i].ex.n, b->loop[i].ex.ds, b->loop[i].ds);
    return s;
}

static bool
is_plain(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].rest || b->loop[i].ds < 1)
            return false;
    return grid_is_fixed(b) && ex_is_const(b->dst);
}

/* The additional iterations of loop k of b that write f; 0: f is not such. */
static i64
follows(const GridBox *f, const GridBox *b, int k)
{
    const GridLoop *l = &b->loop[k];
    i64 each = b->elements / l->n, span;
    if (f->elements % each || !int_mul(l->n, l->ds, &span) ||
        f->dst->base - b->dst->base != span)
        return 0;
    Shape mine = shape_of(b), its = shape_of(f);
    const Ex *more = ex_const(b->e, f->elements / each);
    return shape_is(b->u->plan->scalars, &mine, k, more, &its) ? more->base : 0;
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
    return l->n * l->ds % SECTOR_BITS * b->bits % SECTOR_BITS != 0;
}

static bool
extend(GridBox *b, int k, const GridBox *f)
{
    i64 more = follows(f, b, k);
    bool copy = b->nest->kind == NEST_COPY;
    GridBox joined = *b;
    if (!more || (copy && !is_shared(b, &b->loop[k])))
        return false;
    joined.elements = b->elements / b->loop[k].n * (b->loop[k].n + more);
    joined.loop[k].n += more;
    if (!copy)
        joined.loop[k].real = joined.loop[k].n;
    grid_number(b->e, &joined.loop[k]);
    if (width_of(&joined) < width_of(b))
        return false;
    *b = joined;
    return true;
}

/* Adds a loop of one iteration whose stride is the distance from b to f. */
static int
add_loop(GridBox *b, const GridBox *f)
{
    static const char more[] = "r";
    i64 ds = f->dst->base - b->dst->base;
    int i = b->nloops;
    for (int j = 0; j < b->nloops; j++)
        if (b->loop[j].name == more)
            return -1;
    if (ds < 1 || i == MAX_LOOPS)
        return -1;
    for (b->nloops++; i > 0 && b->loop[i - 1].ds < ds; i--)
        b->loop[i] = b->loop[i - 1];
    b->loop[i] = (GridLoop){1, 0, ds, 1, ex_var(b->e, more, 0, f->elements), more, false,
                            INF, {NULL, NULL, NULL, NULL}};
    grid_number(b->e, &b->loop[i]);
    return i;
}

bool
grid_cover(GridBox *b, const GridBox *f)
{
    if (!is_plain(b) || !is_plain(f))
        return false;
    for (int k = 0; k < b->nloops; k++)
        if (extend(b, k, f))
            return true;
    GridBox one = *b;
    int k = add_loop(&one, f);
    if (k < 0 || !extend(&one, k, f))
        return false;
    *b = one;
    return true;
}

/* The loop along the rows of the destination. */
static GridLoop *
run_of(GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].ds == 1)
            return &b->loop[i];
    return NULL;
}

bool
grid_pad(GridBox *b)
{
    GridBox padded = *b;
    GridLoop *l = run_of(&padded);
    if (!b->nest->pad || !l)
        return false;
    l->ex.n = ex_add(b->e, l->ex.n, ex_const(b->e, b->nest->pad));
    l->n = scalar_nominal(b->u->plan->scalars, l->ex.n);
    if (l->n <= l->real || width_of(&padded) < width_of(b))
        return false;
    *b = padded;
    return true;
}

bool
grid_is_padded(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (b->loop[i].real < b->loop[i].n)
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
        if (b->loop[i].real < b->loop[i].n) {
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
