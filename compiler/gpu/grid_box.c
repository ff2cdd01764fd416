/* A nest as boxes of device kernels see it. */
#include <string.h>

#include "grid.h"
#include "../emit/emit.h"

/* What the kernels themselves call by these names. */
static const char *const own[] = {"b", "t", "e", "i", "j", "k", "l", "p", "q", "r", "u",
                                  "v", "x", "y", "z", "src", "dst", "shared"};

static void
add_loop(GridBox *b, const Loop *l, const char **taken)
{
    int i = b->nloops++;
    i64 stride = int_abs(l->ds);
    int n = LEN(own) + i;
    const char *name = taken[n] = emit_identifier(b->arena, l->name, taken, n);
    for (; i > 0 && int_abs(b->loop[i - 1].ds) < stride; i--)
        b->loop[i] = b->loop[i - 1];
    b->loop[i] = (GridLoop){l->n, l->ss, l->ds, l->n, l->var, name, l->rest};
}

void
grid_box(GridUnit *u, const Nest *n, GridBox *out)
{
    const char *taken[LEN(own) + MAX_LOOPS];
    memcpy(taken, own, sizeof own);
    *out = (GridBox){.u = u, .nest = n, .e = u->e, .arena = ex_arena(u->e),
                       .bits = u->plan->dst->dtype->bits, .src = n->src, .dst = n->dst,
                       .elements = n->elements};
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].n > 1 || n->loop[i].rest)
            add_loop(out, &n->loop[i], taken);
    if (n->kind == NEST_FILL)
        out->src = ex_const(u->e, 0);
    for (int i = 0; n->kind == NEST_FILL && i < out->nloops; i++)
        out->loop[i].ss = 0;
}

i64
grid_divisor(const Ex *x)
{
    enum { MOST = 1 << 30 };
    i64 g = x->f.mod ? int_gcd(x->f.mod, x->f.rem) : int_abs(x->f.rem);
    i64 d = g & -g;
    return d == 0 || d > MOST ? MOST : d;
}

/* f elements can be one: the last loop's lie together, and all else begins at them. */
static bool
divides(const GridBox *b, i64 f)
{
    bool fill = b->nest->kind == NEST_FILL;
    const GridLoop *run = &b->loop[b->nloops - 1];
    if (run->ds != 1 || (!fill && run->ss != 1) || run->rest || run->n % f ||
        run->real % f)
        return false;
    for (int i = 0; i < b->nloops - 1; i++)
        if (b->loop[i].ds % f || b->loop[i].ss % f)
            return false;
    return grid_divisor(b->dst) % f == 0 && grid_divisor(b->src) % f == 0;
}

void
grid_widen(GridBox *b, int most)
{
    i64 f = most / b->bits;
    while (f > 1 && !(b->nloops && divides(b, f)))
        f /= 2;
    if (f <= 1)
        return;
    GridLoop *run = &b->loop[b->nloops - 1];
    for (GridLoop *l = b->loop; l < run; l++) {
        l->ss /= f;
        l->ds /= f;
    }
    run->n /= f;
    run->real /= f;
    b->nloops -= run->n == 1;
    b->src = ex_div(b->e, b->src, f);
    b->dst = ex_div(b->e, b->dst, f);
    b->elements /= f;
    b->bits *= (int)f;
}

static bool
has(const GridLoop *const *loop, int n, const GridLoop *l)
{
    int i = 0;
    while (i < n && loop[i] != l)
        i++;
    return i < n;
}

void
grid_batch(GridBox *b, const Ex *n, i64 inner, const GridLoop *const *tile, int ntile,
           const Ex **src, const Ex **dst)
{
    Exprs *e = b->e;
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(e) + MAX_LOOPS);
    const Ex *s = ex_const(e, 0), *d = s;
    for (int k = b->nloops - 1; k >= 0; k--) {
        const GridLoop *l = &b->loop[k];
        if (has(tile, ntile, l))
            continue;
        const Ex *at = grid_let(b, l->name, ex_dig(e, n, inner, inner * l->n));
        inner *= l->n;
        to[l->var] = b->at[k] = at;
        s = ex_add(e, s, ex_scale(e, at, l->ss));
        d = ex_add(e, d, ex_scale(e, at, l->ds));
    }
    *src = ex_add(e, ex_subst(e, b->src, to), s);
    *dst = ex_add(e, ex_subst(e, b->dst, to), d);
}

const Ex *
grid_turn(GridBox *b, const Ex *k)
{
    return ex_add(b->e, ex_of_var(b->e, b->u->thread), ex_scale(b->e, k, GRID_THREADS));
}

void
grid_blocks(GridBox *b, i64 blocks)
{
    b->block = ex_var(b->e, "b", 0, blocks - 1);
}

void
grid_shared(GridBox *b, i64 bytes)
{
    i64 whole = int_ceil_div(bytes, GRID_VECTOR) * GRID_VECTOR;
    b->u->shared = whole > b->u->shared ? whole : b->u->shared;
}
