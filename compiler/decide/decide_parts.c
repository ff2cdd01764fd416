/* Entries as sums of digits and of xors of digits. */
#include <stdlib.h>
#include <string.h>

#include "decide.h"

static int
dim_of(const Layout *l, int var)
{
    for (int d = 0; d < l->rank; d++)
        if (l->dim[d].free == var || l->dim[d].var == var)
            return d;
    return -1;
}

/* The number of values of the open digit of a dim above `lo`, below its padded extent. */
static i64
values_of(const Layout *l, int dim, i64 lo)
{
    return int_ceil_div(l->dim[dim].padded, lo);
}

/* Dims whose extent is that of the layout for every shape that is asked about. */
typedef struct { bool dim[MAX_RANK]; } Closed;

/* An upper bound for the open digits of an xor: no value below the padded extent has bits
 * above it. */
static bool
close_digits(const Layout *l, const Closed *closed, Part *p)
{
    for (int i = 0; i < p->ndigits; i++) {
        if (!closed->dim[p->digit[i].dim])
            continue;
        i64 n = values_of(l, p->digit[i].dim, p->digit[i].lo);
        i64 all = n > 1 ? (i64)2 << int_log2(n - 1) : 2;
        if (!p->digit[i].hi && !int_mul(p->digit[i].lo, all, &p->digit[i].hi))
            return false;
    }
    return true;
}

/* Read x as one digit of one dim; false if it is not one. */
static bool
add_digit(const Layout *l, Part *p, const Ex *x)
{
    if (ex_is_const(x)) {
        p->mask ^= x->base;
        return true;
    }
    if (x->n != 1 || x->base || x->t[0].coef != 1 || p->ndigits == LEN(p->digit))
        return false;
    i64 lo, hi;
    int var = ex_digit_of(x->t[0].atom, &lo, &hi), d = var < 0 ? -1 : dim_of(l, var);
    if (d < 0)
        return false;
    p->digit[p->ndigits].dim = d;
    p->digit[p->ndigits].lo = lo;
    p->digit[p->ndigits++].hi = hi;
    return true;
}

static bool
make_part(const Layout *l, int entry, const Term *t, const Closed *closed, Part *p)
{
    Exprs *e = l->e;
    const Atom *a = t->atom;
    *p = (Part){.entry = entry, .coef = t->coef};
    if (a->op != AT_XOR) {
        if (!add_digit(l, p, ex_of_atom(e, a)))
            return false;
        p->size = p->digit[0].hi ? p->digit[0].hi / p->digit[0].lo
                : closed->dim[p->digit[0].dim] ? values_of(l, p->digit[0].dim, p->digit[0].lo) : 0;
        return true;
    }
    for (int i = 0; i < a->n; i++)
        if (!add_digit(l, p, a->x[i]))
            return false;
    if (p->mask < 0 || !close_digits(l, closed, p))
        return false;
    p->size = p->mask ? (i64)2 << int_log2(p->mask) : 1;
    for (int i = 0; i < p->ndigits; i++) {
        i64 n = p->digit[i].hi / p->digit[i].lo;
        if (!p->digit[i].hi || !int_is_pow2(n))
            return false;
        p->size = n > p->size ? n : p->size;
    }
    return p->ndigits > 0;
}

static int
by_entry_and_coef(const void *p, const void *q)
{
    const Part *a = p, *b = q;
    i64 x = int_abs(a->coef), y = int_abs(b->coef);
    if (a->entry != b->entry)
        return a->entry - b->entry;
    return (x > y) - (x < y);
}

/* Whether each coefficient of an entry exceeds the largest sum of the parts with smaller
 * coefficients.  Then the value of the entry determines its parts (mixed radix). */
static bool
parts_separate(const Part *p, int n)
{
    i64 reach = 0;
    for (int i = 0; i < n; i++) {
        i64 k = int_abs(p[i].coef), span;
        if (i && p[i].entry != p[i - 1].entry)
            reach = 0;
        bool last = i + 1 == n || p[i + 1].entry != p[i].entry;
        if (k <= reach)
            return false;
        if (p[i].size == 0) {
            if (!last || p[i].coef < 0)
                return false;
        } else if (!int_mul(k, p[i].size - 1, &span) || !int_add(reach, span, &reach)) {
            return false;
        }
    }
    return true;
}

/* Where the open digit of an entry counts backwards, the entry is read from the other
 * end. */
static void
flip_reversed(Part *p, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; p[i].size == 0 && p[i].coef < 0 && j < n; j++)
            if (p[j].entry == p[i].entry && j != i) {
                p[j].coef = -p[j].coef;
                p[j].flipped = true;
            }
    for (int i = 0; i < n; i++)
        if (p[i].size == 0 && p[i].coef < 0) {
            p[i].coef = -p[i].coef;
            p[i].flipped = true;
        }
}

/* The parts of the entries over these variables, but for entries to leave out; false when another
 * holds anything else. */
static bool
read_entries(const Layout *l, const Closed *closed, const bool *leave, const Ex *const *to,
             Part **parts, int *n)
{
    const Ex *x[MAX_ENTRIES];
    int count = 0;
    for (int i = 0; i < l->nentry; i++) {
        x[i] = to ? ex_subst(l->e, l->entry[i].written, to) : l->entry[i].written;
        count += x[i]->n;
    }
    *parts = arena_array(ex_arena(l->e), Part, count + 1);
    *n = 0;
    for (int i = 0; i < l->nentry; i++)
        for (int j = 0; j < x[i]->n && !(leave && leave[i]); j++)
            if (!make_part(l, i, &x[i]->t[j], closed, &(*parts)[(*n)++]))
                return false;
    flip_reversed(*parts, *n);
    qsort(*parts, (size_t)*n, sizeof **parts, by_entry_and_coef);
    return true;
}

/* The parts in ascending order. */
static bool
take_apart(const Layout *l, const Closed *closed, const bool *leave, Part **parts, int *n)
{
    return !l->view && read_entries(l, closed, leave, NULL, parts, n) && parts_separate(*parts, *n);
}

/* The same of the entries as they are where closed dims are below their extents. */
static bool
take_apart_below(const Layout *l, const Closed *closed, Part **parts, int *n)
{
    if (l->view)
        return false;
    const Ex **to = arena_array(ex_arena(l->e), const Ex *, ex_nvars(l->e));
    for (int d = 0; d < l->rank; d++)
        if (closed->dim[d])
            to[l->dim[d].free] = ex_of_var(l->e, l->dim[d].var);
    return read_entries(l, closed, NULL, to, parts, n) && parts_separate(*parts, *n);
}

static Closed
all_closed(const Layout *l)
{
    Closed c = {{false}};
    for (int d = 0; d < l->rank; d++)
        c.dim[d] = true;
    return c;
}

static Closed
closed_of(const Layout *l, const i64 *fixed)
{
    Closed c = {{false}};
    for (int d = 0; d < l->rank; d++)
        c.dim[d] = fixed && fixed[d] >= 0;
    return c;
}

bool
parts_of(const Layout *l, bool shaped, Part **parts, int *n)
{
    const Closed c = shaped ? all_closed(l) : closed_of(l, NULL);
    return take_apart(l, &c, NULL, parts, n);
}

bool
parts_of_fixed(const Layout *l, const i64 *fixed, Part **parts, int *n)
{
    const Closed c = fixed ? closed_of(l, fixed) : all_closed(l);
    return take_apart_below(l, &c, parts, n);
}

bool
parts_of_open(const Layout *l, const i64 *fixed, Part **parts, int *n)
{
    bool leave[MAX_ENTRIES];
    const Closed none = closed_of(l, NULL);
    for (int i = 0; i < l->nentry; i++) {
        leave[i] = true;
        for (int d = 0; d < l->rank; d++)
            leave[i] &= fixed[d] >= 0 || !ex_has(l->entry[i].written, l->dim[d].free);
    }
    return take_apart(l, &none, leave, parts, n);
}

/* The digit of a dim that begins at `lo`, of a part that is nothing else; NULL: there is none. */
static const Part *
digit_from(const Part *parts, int n, int dim, i64 lo)
{
    for (int i = 0; i < n; i++)
        if (parts[i].ndigits == 1 && !parts[i].mask && parts[i].digit[0].dim == dim &&
            parts[i].digit[0].lo == lo)
            return &parts[i];
    return NULL;
}

static void
count_digit(void *arg, const Part *p, i64 lo, i64 hi)
{
    (void)p;
    (void)lo;
    (void)hi;
    ++*(int *)arg;
}

bool
parts_follow(const Part *parts, int n, int dim)
{
    int digits = 0, found = 0;
    parts_each_digit(parts, n, dim, count_digit, &digits);
    const Part *p = digit_from(parts, n, dim, 1);
    for (; p && found < digits; found++)
        p = p->digit[0].hi ? digit_from(parts, n, dim, p->digit[0].hi) : NULL;
    return found == digits && !p;
}

static bool
is_digit(const Part *p)
{
    return p->ndigits == 1 && !p->mask && p->coef > 0;
}

/* One step of part `top` as steps of the smaller ones of its entry, greedily: y is what
 * they come to.  False when something is left. */
static bool
replace_step(const Part *part, int top, i64 *y)
{
    i64 left = part[top].coef;
    for (int i = top - 1; i >= 0 && part[i].entry == part[top].entry && left; i--) {
        i64 k = left / part[i].coef, most = part[i].size - 1;
        if (!is_digit(&part[i]))
            continue;
        k = k < most ? k : most;
        left -= k * part[i].coef;
        y[part[i].digit[0].dim] += k * part[i].digit[0].lo;
    }
    return left == 0;
}

bool
parts_overlap(const Layout *l, i64 *x, i64 *y)
{
    Part *part;
    int n;
    i64 a, b;
    const Closed all = all_closed(l);
    if (l->view || !read_entries(l, &all, NULL, NULL, &part, &n))
        return false;
    for (int i = 0; i < n; i++) {
        memset(x, 0, MAX_RANK * sizeof *x);
        memset(y, 0, MAX_RANK * sizeof *y);
        if (!is_digit(&part[i]) || part[i].size < 2 || !replace_step(part, i, y))
            continue;
        x[part[i].digit[0].dim] = part[i].digit[0].lo;
        bool real = true;
        for (int d = 0; d < l->rank; d++)
            real &= x[d] < l->dim[d].n && y[d] < l->dim[d].n;
        if (real && layout_address(l, x, &a) && layout_address(l, y, &b) && a == b)
            return true;
    }
    return false;
}

bool
parts_open_alone(const Layout *l, const Part *parts, int n)
{
    int d;
    i64 lo, hi;
    for (int i = 0; i < n; i++)
        if (parts[i].size == 0 &&
            !layout_written_digit(l, l->entry[parts[i].entry].x, &d, &lo, &hi))
            return false;
    return true;
}

static int
sort_unique(i64 *v, int n)
{
    int m = 0;
    qsort(v, (size_t)n, sizeof *v, int_compare);
    for (int i = 0; i < n; i++)
        if (!m || v[m - 1] != v[i])
            v[m++] = v[i];
    return m;
}

void
parts_each_digit(const Part *parts, int n, int dim, PartDigit *visit, void *arg)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < parts[i].ndigits; j++)
            if (parts[i].digit[j].dim == dim)
                visit(arg, &parts[i], parts[i].digit[j].lo, parts[i].digit[j].hi);
}

/* The cuts of one dim, unsorted; if `cut` is NULL, they are only counted. */
typedef struct {
    i64 *cut;
    int n;
} Collected;

static void
collect_cuts(void *arg, const Part *p, i64 lo, i64 hi)
{
    Collected *c = arg;
    bool is_xor = p->ndigits > 1 || p->mask;
    for (i64 b = lo; b; b = b == hi ? 0 : is_xor ? 2 * b : hi, c->n++)
        if (c->cut)
            c->cut[c->n] = b;
}

int
parts_cuts(Arena *a, const Part *parts, int n, int dim, i64 **cuts)
{
    Collected all = {0}, each = {0};
    parts_each_digit(parts, n, dim, collect_cuts, &all);
    i64 *c = *cuts = each.cut = arena_array(a, i64, all.n + 1);
    parts_each_digit(parts, n, dim, collect_cuts, &each);
    c[each.n] = 1;
    int m = sort_unique(c, each.n + 1);
    for (int i = 0; i + 1 < m; i++)
        if (c[i + 1] % c[i])
            return -1;
    return m;
}
