/* The inverse of a layout as expressions of the address.  It undoes the swizzle, splits
 * the address into entries by their strides, splits entries by their coefficients, and
 * undoes each xor with the operands that are already known. */
#include "decide.h"
#include "decide_gf2.h"

typedef struct {
    Layout *l;
    Exprs *e;
    const Part *part;
    int n;
    const Ex **value;     /* of each part */
    const Ex **coord;     /* of each dim, as far as known */
    struct Known { int dim; i64 lo, hi; const Ex *x; } *known;
    int nknown, maxknown;
} Solver;

/* Compute the parts of one entry, in ascending order, from its value v. */
static void
split_entry(Solver *s, int entry, const Ex *v)
{
    v = ex_sub(s->e, v, ex_const(s->e, s->l->entry[entry].written->base));
    int last = s->n - 1;
    while (last >= 0 && s->part[last].entry != entry)
        last--;
    if (last >= 0 && s->part[last].flipped)
        v = ex_scale(s->e, v, -1);
    for (int i = last; i >= 0 && s->part[i].entry == entry; i--) {
        const Part *p = &s->part[i];
        if (p->coef < 0)                   /* count from the other end */
            v = ex_add(s->e, v, ex_const(s->e, -p->coef * (p->size - 1)));
    }
    for (int i = last; i >= 0 && s->part[i].entry == entry; i--) {
        const Part *p = &s->part[i];
        i64 k = int_abs(p->coef);
        const Ex *x = ex_div(s->e, v, k);
        v = ex_mod(s->e, v, k);
        s->value[i] = p->coef < 0
            ? ex_sub(s->e, ex_const(s->e, p->size - 1), x) : x;
    }
}

static void
split_address(Solver *s, const Ex *a)
{
    for (int i = 0; i < s->l->nentry; i++) {
        i64 stride = s->l->entry[i].stride;
        split_entry(s, i, ex_div(s->e, a, stride));
        a = ex_mod(s->e, a, stride);
    }
}

static void
learn(Solver *s, int dim, i64 lo, i64 hi, const Ex *x)
{
    if (s->nknown == s->maxknown)
        return;                            /* complete() will miss it */
    s->coord[dim] = ex_add_scaled(s->e, s->coord[dim], x, lo);
    s->known[s->nknown].dim = dim;
    s->known[s->nknown].lo = lo;
    s->known[s->nknown].hi = hi;
    s->known[s->nknown++].x = x;
}

/* The digit [lo, hi) of a dim, from the known digits, or NULL. */
static const Ex *
recall(Solver *s, int dim, i64 lo, i64 hi)
{
    const Ex *sum = ex_const(s->e, 0);
    i64 at = lo;
    while (at < hi) {
        i64 from = at;
        for (int i = 0; i < s->nknown && at < hi; i++) {
            i64 l = s->known[i].lo, h = s->known[i].hi;
            if (s->known[i].dim != dim || l > at || (h && h <= at) || at % l)
                continue;
            i64 end = h && h < hi ? h : hi;
            const Ex *x = ex_div(s->e, s->known[i].x, at / l);
            x = ex_mod(s->e, x, end / at);
            sum = ex_add_scaled(s->e, sum, x, at / lo);
            at = end;
        }
        if (at == from)
            return NULL;
    }
    return sum;
}

/* The digit [lo, hi), hi/lo a power of two, of which a part may be known already:
 * then the other bits.  True when there was something to learn. */
static bool
learn_rest(Solver *s, int dim, i64 lo, i64 hi, const Ex *x)
{
    int before = s->nknown;
    bool partly = false;
    for (i64 b = lo; b < hi; b *= 2)
        partly |= recall(s, dim, b, 2 * b) != NULL;
    if (!partly)
        learn(s, dim, lo, hi, x);
    for (i64 b = lo; partly && b < hi; b *= 2)
        if (!recall(s, dim, b, 2 * b))
            learn(s, dim, b, 2 * b, ex_dig(s->e, x, b / lo, 2 * b / lo));
    return s->nknown > before;
}

/* If all operands of an xor part but one are known, compute that one. */
static bool
solve_xor(Solver *s, int i)
{
    const Part *p = &s->part[i];
    const Ex *x = ex_xor(s->e, s->value[i], ex_const(s->e, p->mask));
    int missing = -1;
    for (int j = 0; j < p->ndigits; j++) {
        const Ex *d = recall(s, p->digit[j].dim, p->digit[j].lo, p->digit[j].hi);
        if (d)
            x = ex_xor(s->e, x, d);
        else if (missing >= 0)
            return false;
        else
            missing = j;
    }
    return missing >= 0 &&
           learn_rest(s, p->digit[missing].dim, p->digit[missing].lo,
                      p->digit[missing].hi, x);
}

static bool
is_plain(const Part *p)
{
    return p->ndigits == 1 && p->mask == 0;
}

static void
solve(Solver *s)
{
    bool progress = true;
    for (int i = 0; i < s->n; i++)
        if (is_plain(&s->part[i]))
            learn(s, s->part[i].digit[0].dim, s->part[i].digit[0].lo,
                  s->part[i].digit[0].hi, s->value[i]);
    while (progress) {
        progress = false;
        for (int i = 0; i < s->n; i++)
            if (!is_plain(&s->part[i]))
                progress |= solve_xor(s, i);
    }
}

/* Bits that substitution cannot find, because they occur only in common xors.  Each bit
 * of an xor part is a linear equation over them. */
enum { MAX_UNKNOWN = 64, MAX_EQUATIONS = 256 };

typedef struct {
    Exprs *e;
    struct { int dim; i64 lo; } bit[MAX_UNKNOWN];
    int nbits, n;
    uint64_t row[MAX_EQUATIONS];         /* the xor of these bits ... */
    const Ex *sum[MAX_EQUATIONS];        /* ... is this */
} Equations;

/* The column of a bit, which is added if it is new; -1 if there are too many. */
static int
column_of(Equations *q, int dim, i64 lo)
{
    int c = 0;
    while (c < q->nbits && (q->bit[c].dim != dim || q->bit[c].lo != lo))
        c++;
    if (c == MAX_UNKNOWN)
        return -1;
    if (c == q->nbits) {
        q->bit[c].dim = dim;
        q->bit[q->nbits++].lo = lo;
    }
    return c;
}

/* The equation of bit i of an xor part; known bits are on the right-hand side. */
static void
add_equation(Solver *s, Equations *q, const Part *p, const Ex *value, i64 weight)
{
    const Ex *sum = ex_dig(s->e, value, weight, 2 * weight);
    uint64_t bits = 0;
    sum = ex_xor(s->e, sum, ex_const(s->e, (p->mask & weight) != 0));
    for (int j = 0; j < p->ndigits; j++) {
        i64 lo = p->digit[j].lo * weight;
        if (lo >= p->digit[j].hi)
            continue;
        const Ex *known = recall(s, p->digit[j].dim, lo, 2 * lo);
        int c = known ? -1 : column_of(q, p->digit[j].dim, lo);
        if (!known && c < 0)
            return;
        if (known)
            sum = ex_xor(s->e, sum, known);
        else
            bits ^= (uint64_t)1 << c;
    }
    if (bits && q->n < MAX_EQUATIONS) {
        q->row[q->n] = bits;
        q->sum[q->n++] = sum;
    }
}

static void
follow(void *arg, int to, int from)
{
    Equations *q = arg;
    q->sum[to] = ex_xor(q->e, q->sum[to], q->sum[from]);
}

static void
solve_bits(Solver *s)
{
    int pivot[MAX_UNKNOWN];
    Equations *q = arena_new(ex_arena(s->e), Equations);
    q->e = s->e;
    for (int i = 0; i < s->n; i++)
        for (i64 w = 1; !is_plain(&s->part[i]) && w < s->part[i].size; w *= 2)
            add_equation(s, q, &s->part[i], s->value[i], w);
    gf2_eliminate(q->row, q->n, q->nbits, pivot, follow, q);
    for (int c = 0; c < q->nbits; c++) {
        int dim = q->bit[c].dim;
        i64 lo = q->bit[c].lo;
        if (pivot[c] >= 0 && q->row[pivot[c]] == (uint64_t)1 << c &&
            !recall(s, dim, lo, 2 * lo))
            learn(s, dim, lo, 2 * lo, q->sum[pivot[c]]);
    }
}

/* Whether every digit below the padded extent is known. */
static bool
complete(Solver *s)
{
    for (int d = 0; d < s->l->rank; d++)
        if (s->l->dim[d].padded > 1 && !recall(s, d, 1, s->l->dim[d].padded))
            return false;
    return true;
}

static bool
proven(Solver *s, const Ex **inverse, int var)
{
    const Ex **to = arena_array(ex_arena(s->e), const Ex *, ex_nvars(s->e));
    to[var] = s->l->addr;
    for (int d = 0; d < s->l->rank; d++)
        if (ex_subst(s->e, inverse[d], to) != ex_of_var(s->e, s->l->dim[d].var))
            return false;
    return true;
}

static Solver
solver_new(Layout *l, const Part *parts, int n)
{
    Arena *a = ex_arena(l->e);
    Solver s = {.l = l, .e = l->e, .part = parts, .n = n};
    s.value = arena_array(a, const Ex *, n + 1);
    s.coord = arena_array(a, const Ex *, l->rank + 1);
    s.maxknown = n + 64 * l->rank;         /* every part, or every bit of every dim */
    s.known = arena_array(a, struct Known, s.maxknown);
    for (int d = 0; d < l->rank; d++)
        s.coord[d] = ex_const(l->e, 0);
    return s;
}

/* Compute the coordinates from the parts; false if a digit is not known. */
static bool
solve_all(Solver *s)
{
    solve(s);
    if (!complete(s))
        solve_bits(s);
    return complete(s);
}

void
inverse_make(Layout *l, Verdict *v, const Part *parts, int n,
             const Ex *sigma_inverse)
{
    Solver s = solver_new(l, parts, n);
    v->inverse_var = l->sigma ? l->sigma_var : layout_address_var(l);
    split_address(&s, l->sigma ? sigma_inverse : ex_of_var(l->e, v->inverse_var));
    if (!solve_all(&s))
        return;
    v->inverse = s.coord;
    v->inverse_proven = proven(&s, v->inverse, v->inverse_var);
}

/* The highest digit of each dim as it is stored ends it; no end where it is open. */
static i64
end_of(const Part *parts, int n, int dim)
{
    i64 end = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < parts[i].ndigits; j++) {
            i64 hi = parts[i].digit[j].hi;
            if (parts[i].digit[j].dim != dim)
                continue;
            if (!hi)
                return 0;
            end = hi > end ? hi : end;
        }
    return end;
}

/* e1, or e_1 and so on where a dim has that name. */
static const char *
entry_name(const Layout *l, int i)
{
    const char *blank = "", *name;
    for (;;) {
        name = arena_printf(ex_arena(l->e), "e%s%d", blank, i + 1);
        if (layout_find_dim(l, name) < 0)
            return name;
        blank = arena_printf(ex_arena(l->e), "%s_", blank);
    }
}

const Ex **
inverse_of_entries(Layout *l, const Part *parts, int n, int *entry_var)
{
    Solver s = solver_new(l, parts, n);
    for (int i = 0; i < l->nentry; i++) {
        bool open = false;
        for (int j = 0; j < n; j++)
            open |= parts[j].entry == i && parts[j].size == 0;
        i64 last = open ? INF : l->entry[i].extent - 1;
        entry_var[i] = ex_var(l->e, entry_name(l, i), 0, last);
        split_entry(&s, i, ex_of_var(l->e, entry_var[i]));
    }
    if (!solve_all(&s))
        return NULL;
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    for (int i = 0; i < l->nentry; i++)
        to[entry_var[i]] = l->entry[i].written;
    for (int d = 0; d < l->rank; d++) {
        const Ex *x = ex_of_var(l->e, l->dim[d].free);
        i64 end = end_of(parts, n, d);
        if (end)
            x = ex_dig(l->e, x, 1, end);
        if (ex_subst(l->e, s.coord[d], to) != x)
            return NULL;
    }
    return s.coord;
}
