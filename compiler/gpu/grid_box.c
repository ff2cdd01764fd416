/* Makes a GridBox from a nest, and the digits of the number of a block. */
#include <string.h>

#include "grid_parts.h"

/* Names that the kernels use themselves. */
static const char *const own[] = {"b", "t", "e", "i", "j", "k", "l", "p", "q", "r", "u",
                                  "v", "x", "y", "z", "src", "dst", "shared"};

i64
grid_distance(const GridBox *b, const GridLoop *l, bool source)
{
    const Ex *x = source ? b->src : b->dst;
    i64 least = 0, stride = int_abs(source ? l->ss : l->ds);
    for (int i = 0; l->residual && i < x->n; i++) {
        bool *used = arena_array(b->arena, bool, ex_nvars(b->e));
        ex_vars(ex_of_atom(b->e, x->t[i].atom), used);
        i64 factor = int_abs(x->t[i].coef);
        least = used[l->var] && (!least || factor < least) ? factor : least;
    }
    return stride > least ? stride : least;
}

static void
add_loop(GridBox *b, const Loop *l, const char **taken)
{
    int i = b->nloops++, n = LEN(own) + i;
    const char *name = taken[n] = emit_identifier(b->arena, l->name, taken, n);
    i64 most = l->residual ? ex_of_var(b->e, l->var)->f.max : INF;
    GridLoop new = {l->n, l->ss, l->ds, l->n, l->var, name, l->residual, most,
                    {l->ex.n, l->ex.ss, l->ex.ds, l->ex.n}};
    i64 distance = grid_distance(b, &new, false);
    for (; i > 0 && grid_distance(b, &b->loop[i - 1], false) < distance; i--)
        b->loop[i] = b->loop[i - 1];
    b->loop[i] = new;
}

void
grid_box(GridUnit *u, const Nest *n, GridBox *out)
{
    const char *taken[LEN(own) + MAX_LOOPS];
    memcpy(taken, own, sizeof own);
    *out = (GridBox){.u = u, .nest = n, .e = u->e, .arena = ex_arena(u->e),
                       .bits = u->plan->dst->dtype->bits, .src = n->src, .dst = n->dst,
                       .slots = u->plan->from->size, .elements = n->elements};
    for (int i = 0; i < n->nloops; i++)
        if (n->loop[i].n > 1 || n->loop[i].residual)
            add_loop(out, &n->loop[i], taken);
    if (n->kind == NEST_FILL)
        out->src = ex_const(u->e, 0);
    for (int i = 0; n->kind == NEST_FILL && i < out->nloops; i++) {
        out->loop[i].ss = 0;
        out->loop[i].ex.ss = out->src;
    }
}

const char *
grid_what(const GridBox *b)
{
    return b->what ? b->what : plan_box(b->arena, b->u->plan, b->nest);
}

i64
grid_divisor(const Ex *x)
{
    enum { MOST = 1 << 30 };
    i64 g = x->f.mod ? int_gcd(x->f.mod, x->f.rem) : int_abs(x->f.rem);
    i64 d = g & -g;
    return d == 0 || d > MOST ? MOST : d;
}

bool
grid_is_known(const GridBox *b)
{
    for (int i = 0; i < b->nloops; i++)
        if (!ex_is_const(b->loop[i].ex.n) || !ex_is_const(b->loop[i].ex.ss) ||
            !ex_is_const(b->loop[i].ex.ds) || !ex_is_const(b->loop[i].ex.real))
            return false;
    return true;
}

i64
grid_aligned(const GridBox *b, const Ex *x)
{
    i64 most = 8 * (i64)b->u->most.align / b->bits, d = grid_divisor(x);
    return most < d && most > 0 ? most : d;
}

/* The end of the last vector of m elements that begins in a run, in elements of the box;
 * INF if it depends on the shape. */
static i64
end_of(const GridBox *b, const GridLoop *run, i64 m)
{
    i64 end = b->src->f.max;
    if (end == INF)
        return INF;
    for (int i = 0; i < b->nloops; i++) {
        const GridLoop *l = &b->loop[i];
        if (!ex_is_const(l->ex.real) || !ex_is_const(l->ex.ss))
            return INF;
        i64 last = l == run ? (l->n - 1) / m * m : l->real - 1;
        end += l->ss > 0 ? l->ss * last : 0;
    }
    return end + m;
}

bool
grid_ends_inside(const GridBox *b, const GridLoop *run, i64 m)
{
    const Sizes *from = b->u->plan->from;
    if (run->n % m == 0)
        return run->real % m == 0;
    if (run->ex.real != run->ex.n || !ex_is_const(from->size))
        return false;
    i64 end = end_of(b, run, m);
    return end < INF && end * b->bits <= 8 * layout_bytes(from->l);
}

/* True if f elements can become one: those of the last loop are adjacent, and all other
 * strides and the bases are multiples of f. */
static bool
divides(const GridBox *b, i64 f)
{
    bool fill = b->nest->kind == NEST_FILL;
    const GridLoop *run = &b->loop[b->nloops - 1];
    if (run->ds != 1 || (!fill && run->ss != 1) || run->residual || run->n % f ||
        run->real % f)
        return false;
    for (int i = 0; i < b->nloops - 1; i++)
        if (b->loop[i].ds % f || b->loop[i].ss % f)
            return false;
    return grid_aligned(b, b->dst) % f == 0 && grid_aligned(b, b->src) % f == 0;
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
        l->ex.ss = ex_div(b->e, l->ex.ss, f);
        l->ex.ds = ex_div(b->e, l->ex.ds, f);
    }
    run->n /= f;
    run->real /= f;
    run->ex.n = ex_div(b->e, run->ex.n, f);
    run->ex.real = ex_div(b->e, run->ex.real, f);
    b->nloops -= run->n == 1 && ex_is_const(run->ex.n);
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

/* Defines name = x with the range 0..most; the caller guarantees the range. */
static const Ex *
let_in(GridBox *b, const char *name, const Ex *x, i64 most)
{
    GridStmt *s = grid_add(b, G_LET);
    s->name = name;
    s->value[0] = x;
    s->var = s->guarded = ex_var(b->e, name, 0, most);
    return ex_of_var(b->e, s->var);
}

/* x divided by n; n depends on the shape. */
static const Ex *
quotient(GridBox *b, const Ex *x, const Ex *n)
{
    GridStmt *s = grid_add(b, G_DIVIDE);
    s->name = arena_printf(b->arena, "Q%d", b->quotients++);
    s->value[0] = x;
    s->value[1] = ex_as_var(n) >= 0 ? n : scalar_named(b->u->plan->scalars, n, INF);
    s->var = s->guarded = ex_var(b->e, s->name, 0, INF);
    return ex_of_var(b->e, s->var);
}

const Ex *
grid_digit(GridBox *b, GridDigits *d, const char *name, const Ex *n, i64 most, bool last)
{
    Exprs *e = b->e;
    if (ex_is_const(n) && n->base == 1)
        return ex_const(e, 0);
    if (ex_is_const(n)) {
        i64 inner = d->inner;
        d->inner *= n->base;
        return last ? ex_div(e, d->x, inner) : ex_dig(e, d->x, inner, d->inner);
    }
    const Ex *x = ex_div(e, d->x, d->inner);
    if (last)
        return let_in(b, name, x, most);
    x = grid_let(b, arena_printf(b->arena, "R%d", b->quotients), x);
    const Ex *q = quotient(b, x, n);
    *d = (GridDigits){q, 1};
    return let_in(b, name, ex_sub(e, x, ex_times(e, q, n)), most);
}

const Ex *
grid_digit_of(GridBox *b, GridDigits *d, const GridLoop *l, bool last)
{
    return grid_digit(b, d, l->name, l->ex.n, l->most, last);
}

/* n, which is not negative at shapes at which the box has blocks, as a number that never
 * is. */
static const Ex *
not_negative(GridBox *b, const Ex *n)
{
    return n->f.min < 0 ? scalar_named(b->u->plan->scalars, n, INF) : n;
}

const Ex *
grid_ceil(GridBox *b, const Ex *n, i64 each)
{
    return scalar_ceil(b->u->plan->scalars, not_negative(b, n), each);
}

const Ex *
grid_floor(GridBox *b, const Ex *n, i64 each)
{
    return scalar_of(b->u->plan->scalars, ex_div(b->e, not_negative(b, n), each), INF);
}

const Ex *
grid_times(GridBox *b, const Ex *x, const Ex *y)
{
    return scalar_times(b->u->plan->scalars, x, y);
}

const Ex *
grid_others(GridBox *b, const GridLoop *const *tile, int ntile)
{
    const Ex *n = ex_const(b->e, 1);
    for (int i = 0; i < b->nloops; i++)
        if (!has(tile, ntile, &b->loop[i]))
            n = grid_times(b, n, b->loop[i].ex.n);
    return n;
}

void
grid_batch(GridBox *b, GridDigits n, const GridLoop *const *tile, int ntile,
           const Ex **src, const Ex **dst)
{
    Exprs *e = b->e;
    const Ex **to = arena_array(b->arena, const Ex *, ex_nvars(e) + MAX_LOOPS);
    const Ex *s = ex_const(e, 0), *d = s;
    int outermost = 0;
    while (outermost < b->nloops && has(tile, ntile, &b->loop[outermost]))
        outermost++;
    for (int k = b->nloops - 1; k >= 0; k--) {
        const GridLoop *l = &b->loop[k];
        if (has(tile, ntile, l))
            continue;
        const Ex *at = grid_let(b, l->name, grid_digit_of(b, &n, l, k == outermost));
        to[l->var] = b->at[k] = at;
        s = ex_add(e, s, ex_times(e, at, l->ex.ss));
        d = ex_add(e, d, ex_times(e, at, l->ex.ds));
    }
    *src = ex_add(e, ex_subst(e, b->src, to), s);
    *dst = ex_add(e, ex_subst(e, b->dst, to), d);
}

void
grid_blocks(GridBox *b, const Ex *blocks)
{
    i64 most = ex_is_const(blocks) ? blocks->base - 1 : BLOCKS_MAX - 1;
    b->blocks = blocks;
    b->block = ex_var(b->e, "b", 0, most);
}

void
grid_shared(GridBox *b, i64 bytes)
{
    i64 whole = int_ceil_div(bytes, GRID_VECTOR) * GRID_VECTOR;
    b->u->shared = whole > b->u->shared ? whole : b->u->shared;
}
