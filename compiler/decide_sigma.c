/* The swizzle: a permutation of the storage?  Linear maps over GF(2) by rank,
 * others by looking at every address.  Model: the F2 matrices of Triton's linear
 * layouts (triton-lang/triton, include/triton/Tools/LinearLayout.h). */
#include <string.h>

#include "decide.h"

enum { ADDRESSES_MAX = 1 << 24 };

/* An affine map over GF(2): column j is the image of bit j. */
typedef struct {
    uint64_t column[63], constant;
    int n;                /* bits of an address */
} Matrix;

/* A digit of `var` between powers of two, or an xor of such and constants. */
static bool
is_bits(const Ex *x, int var)
{
    if (ex_is_const(x))
        return x->base >= 0;
    if (x->n != 1 || x->base || x->t[0].coef != 1)
        return false;
    const Atom *a = x->t[0].atom;
    if (a->op == AT_VAR)
        return a->var == var;
    if (a->op == AT_DIG)
        return ex_as_var(a->x[0]) == var && int_is_pow2(a->lo) &&
               (!a->hi || int_is_pow2(a->hi));
    for (int i = 0; i < a->n; i++)
        if (a->op != AT_XOR || !is_bits(a->x[i], var))
            return false;
    return a->op == AT_XOR;
}

/* The terms occupy bits of their own, so their sum is their xor.  A negative
 * term -2^s*d stands for the complement 2^s*(ones - d), its constant in base. */
static bool
is_linear(Exprs *e, const Ex *x, int var)
{
    uint64_t used = 0;
    i64 base = x->base;
    for (int i = 0; i < x->n; i++) {
        i64 k = x->t[i].coef < 0 ? -x->t[i].coef : x->t[i].coef;
        const Ex *atom = ex_of_atom(e, x->t[i].atom);
        if (!int_is_pow2(k) || !is_bits(atom, var) || atom->f.max == INF)
            return false;
        uint64_t span = atom->f.ones << int_log2(k);
        if (span & used)
            return false;
        used |= span;
        if (x->t[i].coef < 0)
            base -= (i64)span;
        bool whole = ((uint64_t)atom->f.max & (uint64_t)(atom->f.max + 1)) == 0;
        if (x->t[i].coef < 0 && !whole)
            return false;
    }
    return base >= 0 && !((uint64_t)base & used);
}

static i64
image(const Layout *l, i64 *val, i64 a)
{
    i64 y;
    val[l->sigma_var] = a;
    return ex_eval(l->sigma, val, &y) ? y : -1;
}

static Matrix
matrix_of(const Layout *l, i64 *val)
{
    Matrix m = {.n = l->size > 1 ? int_log2(l->size - 1) + 1 : 0};
    m.constant = (uint64_t)image(l, val, 0);
    for (int j = 0; j < m.n; j++)
        m.column[j] = (uint64_t)image(l, val, (i64)1 << j) ^ m.constant;
    return m;
}

static void
swap(uint64_t *v, int i, int j)
{
    uint64_t t = v[i];
    v[i] = v[j];
    v[j] = t;
}

/* Gauss-Jordan on columns: inv becomes the inverse of the linear part; false when
 * there is none, with a nonzero vector of the kernel in *kernel. */
static bool
invert(const Matrix *m, Matrix *inv, uint64_t *kernel)
{
    uint64_t a[63];
    int rank = 0;
    *inv = (Matrix){.n = m->n};
    memcpy(a, m->column, sizeof a);
    for (int j = 0; j < m->n; j++)
        inv->column[j] = (uint64_t)1 << j;
    for (int bit = 0; bit < m->n; bit++) {
        int p = rank;
        while (p < m->n && !(a[p] >> bit & 1))
            p++;
        if (p == m->n)
            continue;
        swap(a, p, rank);
        swap(inv->column, p, rank);
        for (int j = 0; j < m->n; j++)
            if (j != rank && a[j] >> bit & 1) {
                a[j] ^= a[rank];
                inv->column[j] ^= inv->column[rank];
            }
        rank++;
    }
    if (rank < m->n)
        *kernel = inv->column[rank];       /* whose image has become zero */
    return rank == m->n;
}

/* sum over diagonals of (a shifted) & mask: the inverse as an expression. */
static const Ex *
matrix_ex(Exprs *e, const Matrix *m, const Ex *a)
{
    const Ex *r = ex_const(e, 0);
    a = ex_xor(e, a, ex_const(e, (i64)m->constant));
    for (int shift = -m->n; shift <= m->n; shift++) {
        i64 mask = 0;                    /* of source bits j, to bit j + shift */
        for (int j = 0; j < m->n; j++) {
            int i = j + shift;
            if (i >= 0 && i < m->n && m->column[j] >> i & 1)
                mask |= (i64)1 << j;
        }
        if (!mask)
            continue;
        const Ex *part = ex_and(e, a, ex_const(e, mask));
        part = shift < 0 ? ex_div(e, part, (i64)1 << -shift)
                         : ex_scale(e, part, (i64)1 << shift);
        r = ex_xor(e, r, part);
    }
    return r;
}

/* Bits below this are moved; above, the map is the identity. */
static int
moved_bits(const Matrix *m)
{
    uint64_t touched = m->constant;
    for (int j = 0; j < m->n; j++)
        if (m->column[j] != (uint64_t)1 << j)
            touched |= m->column[j] | (uint64_t)1 << j;
    return touched ? 64 - __builtin_clzll(touched) : 0;
}

static Answer
outside(const Layout *l, i64 from, i64 to, Verdict *v)
{
    v->address[0] = from;
    v->naddresses = 1;
    v->at = to;
    v->why = arena_printf(ex_arena(l->e),
        "the swizzle takes address %lld to %lld, outside the %lld elements of storage%s",
        (long long)from, (long long)to, (long long)l->size, to < 0 ? "" :
        "; pad the dims so that the storage is a whole number of its blocks");
    return NO;
}

/* The work of one more image, or else why there is no answer. */
static bool
affords(const Layout *l, Verdict *v)
{
    if (work_try(ex_arena(l->e), 1 + l->sigma->size))
        return true;
    v->why = arena_printf(ex_arena(l->e), "to look at where the swizzle takes each of "
                          "%lld addresses, %d operators each, takes more work than the "
                          "limit allows; --limit (ravel_set_limit) allows more",
                          (long long)l->size, l->sigma->size);
    return false;
}

/* Every address from `first` on stays inside. */
static Answer
stays_inside(const Layout *l, i64 *val, i64 first, Verdict *v)
{
    if (l->size - first > ADDRESSES_MAX)
        return UNKNOWN;
    for (i64 a = first; a < l->size; a++) {
        if (!affords(l, v))
            return UNKNOWN;
        i64 y = image(l, val, a);
        if (y < 0 || y >= l->size)
            return outside(l, a, y, v);
    }
    return YES;
}

static Answer
meet(const Layout *l, i64 x, i64 y, i64 at, Verdict *v)
{
    v->address[0] = x;
    v->address[1] = y;
    v->naddresses = 2;
    v->at = at;
    v->why = arena_printf(ex_arena(l->e), "the swizzle is not one-to-one: addresses "
                          "%lld and %lld both go to %lld", (long long)x, (long long)y,
                          (long long)at);
    return NO;
}

static Answer
decide_by_addresses(const Layout *l, i64 *val, Verdict *v)
{
    if (l->size > ADDRESSES_MAX)
        return UNKNOWN;
    i64 *from = arena_array(ex_arena(l->e), i64, l->size);
    for (i64 a = 0; a < l->size; a++) {
        if (!affords(l, v))
            return UNKNOWN;
        i64 y = image(l, val, a);
        if (y < 0 || y >= l->size)
            return outside(l, a, y, v);
        if (from[y])
            return meet(l, from[y] - 1, a, y, v);
        from[y] = a + 1;
    }
    return YES;
}

static Answer
decide_linear(Layout *l, i64 *val, const Ex **inverse, Verdict *v)
{
    Matrix m = matrix_of(l, val), inv;
    uint64_t kernel = 0;
    int moved = moved_bits(&m);
    i64 block = moved < 62 ? (i64)1 << moved : INF;
    Answer in = stays_inside(l, val, l->size / block * block, v);
    if (in != YES)
        return in;
    if (!invert(&m, &inv, &kernel)) {
        /* x and x ^ kernel meet; without the kernel's top bit both are in storage
         * when any such pair is */
        i64 x = (i64)kernel & ~((i64)1 << int_log2((i64)kernel)), y = x ^ (i64)kernel;
        if (y >= l->size || image(l, val, x) != image(l, val, y))
            return decide_by_addresses(l, val, v);
        return meet(l, x, y, image(l, val, x), v);
    }
    inv.constant = m.constant;
    *inverse = matrix_ex(l->e, &inv, ex_of_var(l->e, l->sigma_var));
    return YES;
}

Answer
sigma_decide(Layout *l, const Ex **inverse, Verdict *v)
{
    i64 *val = arena_array(ex_arena(l->e), i64, ex_nvars(l->e));
    *inverse = NULL;
    if (is_linear(l->e, l->sigma, l->sigma_var))
        return decide_linear(l, val, inverse, v);
    return decide_by_addresses(l, val, v);
}
