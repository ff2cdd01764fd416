/* Adds variants of nests with extents left to run time.  If the shape decides whether a
 * transpose has few columns (rows), the plan also has its nest with the kernel that
 * interleaves (deinterleaves) them.  If a kernel is quicker where a loop has a few
 * iterations at least, the plan has both nests; likewise if one is quicker where strides of
 * elements smaller than a byte are whole bytes.  A scalar selects the nest that runs at a
 * shape. */
#include <string.h>

#include "kernel_family.h"

/* A scalar that is 1 if 2 <= n <= most, else 0. */
static const Ex *
is_narrow(Scalars *s, const Ex *n, i64 most)
{
    Exprs *e = s->e;
    const Ex *above = ex_sub(e, n, ex_const(e, 1));
    const Ex *below = ex_sub(e, ex_const(e, most + 1), n);
    const Ex *x = ex_min(e, ex_min(e, above, below), ex_const(e, 1));
    return scalar_of(s, ex_max(e, x, ex_const(e, 0)), 1);
}

void
nest_need(Plan *p, Nest *n, const Ex *x, i64 narrow)
{
    const Ex **all = arena_array(ex_arena(p->e), const Ex *, n->nneeded + 1);
    if (n->nneeded)
        memcpy(all, n->needed, (size_t)n->nneeded * sizeof *all);
    all[n->nneeded++] = x;
    n->nnarrow++;
    n->needed = all;
    n->narrow = narrow;
}

/* What the nest takes where the loop has `count` iterations. */
static double
cost_at(const Plan *p, const Nest *n, int var, i64 count)
{
    Nest with;
    nest_copy(&with, n);
    for (int i = 0; i < with.nloops; i++)
        if (with.loop[i].var == var)
            with.loop[i].n = count;
    return nest_cost(p, &with);
}

/* The most iterations of the loop, from `least` to `most`, up to which the nest `few` takes no
 * longer than n. */
static i64
narrow_up_to(const Plan *p, const Nest *n, const Nest *few, int var, i64 least, i64 most)
{
    while (least < most) {
        i64 middle = least + (most - least + 1) / 2;
        if (cost_at(p, few, var, middle) <= cost_at(p, n, var, middle))
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

/* Makes the variant of n with kernel k, for shapes at which the loop with the role in
 * k's `narrow` is short.  False if the count of that loop is constant or never so small, or k
 * does not apply. */
static bool
variant(Plan *p, Nest *n, const Kernel *k, Nest *out)
{
    enum { SHORT = 3 };
    int bits = p->dst->dtype->bits, loop = n->role[k->family->narrow.role];
    const Ex *count = n->loop[loop].ex.n;
    i64 most = k->family->narrow.most(bits / 8);
    if (ex_is_const(count) || kernel_fewest(&n->loop[loop]) > most)
        return false;
    nest_copy(out, n);
    out->variant = true;
    out->loop[loop].most = count->f.max < most ? count->f.max : most;
    out->loop[loop].n = SHORT;
    if (!kernel_use(out, k, bits, out))
        return false;
    nest_order(p, out);
    most = narrow_up_to(p, n, out, n->loop[loop].var, SHORT, most);
    const Ex *narrow = is_narrow(p->scalars, count, most);
    nest_need(p, out, narrow, most);
    nest_need(p, n, ex_sub(p->e, ex_const(p->e, 1), narrow), most);
    return true;
}

/* Gives a nest of single elements to the kernel that k has a variant of, if the shape
 * decides whether it is narrow: single elements are quickest at the nominal counts only. */
static void
widen(Plan *p, Nest *n, const Kernel *k)
{
    Nest with;
    nest_copy(&with, n);
    for (int i = 0; i < nkernels && n->kernel->family->single; i++)
        if (kernels[i].family == k->family->narrow.of &&
            kernel_use(&with, &kernels[i], p->dst->dtype->bits, &with) &&
            !ex_is_const(with.loop[with.role[k->family->narrow.role]].ex.n)) {
            nest_order(p, &with);
            nest_copy(n, &with);
        }
}

/* What a nest needs of a shape: loops, by their variables, with so many iterations. */
typedef struct {
    int n, var[ROLES];
    i64 least[ROLES];
} Long;

/* The loops of which a call must take more iterations than they have at every shape. */
static Long
long_loops(const Nest *n)
{
    Long out = {.n = 0};
    for (int r = 0; r < ROLES; r++) {
        int i = n->role[r];
        Loop any = i < 0 ? (Loop){.name = NULL} : n->loop[i];
        any.fewest = 0;
        if (i < 0 || n->least[r] <= 1 || n->least[r] <= kernel_fewest(&any))
            continue;
        out.var[out.n] = n->loop[i].var;
        out.least[out.n++] = n->least[r];
    }
    return out;
}

/* The iterations that the loop with a variable has at least; 0: any number. */
static i64
least_of(const Long *l, int var)
{
    i64 least = 0;
    for (int i = 0; i < l->n; i++)
        least = l->var[i] == var ? l->least[i] : least;
    return least;
}

/* Gives *n the quickest kernel for shapes at which all loops have so many iterations (NULL:
 * `many`, if their count depends on the shape), and the offsets of tables are near. */
static bool
assume(const Plan *p, Nest *n, const Long *given, i64 many, bool near)
{
    nest_sort(n);
    n->near = near;
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        i64 least = given ? least_of(given, l->var) : many;
        i64 most = l->ex.n->f.max < least ? l->ex.n->f.max : least;
        l->fewest = !ex_is_const(l->ex.n) ? most : 0;
    }
    return nest_schedule(p, n);
}

static bool
needs_no_more(const Long *a, const Long *b)
{
    for (int i = 0; i < a->n; i++)
        if (a->least[i] > least_of(b, a->var[i]))
            return false;
    return true;
}

/* 1 if x > 0, else 0. */
static const Ex *
is_above_0(Exprs *e, const Ex *x)
{
    return ex_max(e, ex_min(e, x, ex_const(e, 1)), ex_const(e, 0));
}

/* 1 at the shapes that the nest needs, else 0. */
static const Ex *
at_shapes(const Plan *p, const Nest *n, const Long *needs)
{
    Exprs *e = p->e;
    const Family *f = n->kernel->family;
    const Ex *scalar[TABLE_SCALARS], *all = ex_const(e, 1);
    for (int i = 0; i < n->nloops; i++) {
        i64 least = least_of(needs, n->loop[i].var);
        if (least)
            all = ex_min(e, all, is_above_0(e, ex_sub(e, n->loop[i].ex.n,
                                                      ex_const(e, least - 1))));
    }
    if (n->near && nest_scalars(p, n, scalar) > 0)
        all = ex_min(e, all, is_above_0(e, f->by->near(n, p->dst->dtype->bits)));
    return all;
}

/* The same kernel with a longer tile is worth more text if it takes much less time. */
static bool
is_quicker(const Nest *with, const Nest *n, double less)
{
    static const double LONGER_TILE = 0.8;
    if (with->kernel == n->kernel && less > LONGER_TILE)
        less = LONGER_TILE;
    return with->cost < less * n->cost;
}

/* Makes n the nest of the kernel that is quickest where loops have `many` iterations and offsets
 * of tables are near, and *out the nest as it was, for the other shapes.  False, and nothing
 * changes, if no kernel takes less than `less` times as long. */
static bool
lengthen(Plan *p, Nest *n, i64 many, double less, Nest *out)
{
    Exprs *e = p->e;
    Nest with;
    nest_copy(&with, n);
    if (n->kind != NEST_COPY || kernel_knows(n) || !assume(p, &with, NULL, many, true) ||
        !is_quicker(&with, n, less))
        return false;
    Long needs = long_loops(&with);
    bool near = with.kernel->family->by->near;
    if (!assume(p, &with, &needs, 0, near) || !is_quicker(&with, n, less))
        return false;
    Long again = long_loops(&with);
    const Ex *x = at_shapes(p, &with, &needs);
    if (!needs_no_more(&again, &needs) || ex_is_const(x))
        return false;
    x = scalar_of(p->scalars, x, 1);
    i64 most = 1;
    for (int i = 0; i < needs.n; i++)
        most = needs.least[i] - 1 > most ? needs.least[i] - 1 : most;
    nest_copy(out, n);
    nest_copy(n, &with);
    out->variant = true;
    out->far = needs.n == 0;
    nest_need(p, n, x, most);
    nest_need(p, out, ex_sub(e, ex_const(e, 1), x), most);
    return true;
}

/* The most iterations of a loop whose count depends on the shape, at the example shape. */
static i64
longest(const Nest *n)
{
    i64 most = 0;
    for (int i = 0; i < n->nloops; i++)
        if (!ex_is_const(n->loop[i].ex.n) && n->loop[i].n > most)
            most = n->loop[i].n;
    return most;
}

/* The same for loops that are long, then for shorter ones.  MUCH_LESS: the kernels after the first
 * have short runs, of which the model knows less. */
int
nest_lengthen(Plan *p, Nest *n, bool all, double less, Nest out[LENGTHS])
{
    static const i64 many[LENGTHS] = {512, 64, 8};
    const i64 at = longest(n);
    int m = 0, most = all ? LENGTHS : 1, first = 0;
    while (n->below && first < LENGTHS - 1 && many[first] > at)
        first++;
    for (int i = first; i < most && p->n + m < NESTS_MAX && (m || i == first); i++)
        if (!m || out[m - 1].narrow >= many[i])          /* else the tile was that short already */
            m += lengthen(p, m ? &out[m - 1] : n, many[i], i > first ? MUCH_LESS : less, &out[m]);
    return m;
}

/* If the shape decides whether a stride is a multiple of `per` elements: replaces it by one
 * that always is, equal to it where it is a multiple, and adds the remainder to *odd.  Both are
 * of its magnitude: what is below 0 without a bound cannot be divided in C. */
static void
round_down(Plan *p, const Ex **stride, i64 per, const Ex **odd)
{
    if (kernel_remainder(*stride, per) >= 0)
        return;
    i64 sign = (*stride)->f.max <= 0 ? -1 : 1;
    const Ex *x = ex_scale(p->e, *stride, sign);
    *odd = ex_add(p->e, *odd, ex_mod(p->e, x, per));
    *stride = ex_scale(p->e, scalar_of(p->scalars, ex_div(p->e, x, per), INF), sign * per);
}

/* Makes the strides of the nest whole bytes.  Returns a scalar that is 1 at shapes at which
 * they are, else 0; NULL if this does not depend on the shape. */
static const Ex *
whole_bytes(Plan *p, Nest *n)
{
    i64 per = 8 / p->dst->dtype->bits;
    const Ex *one = ex_const(p->e, 1), *odd = ex_const(p->e, 0);
    for (int i = 0; i < n->nloops; i++) {
        Loop *l = &n->loop[i];
        round_down(p, &l->ex.ss, per, &odd);
        round_down(p, &l->ex.ds, per, &odd);
        l->ss = scalar_nominal(p->scalars, l->ex.ss);
        l->ds = scalar_nominal(p->scalars, l->ex.ds);
    }
    if (ex_is_const(odd))
        return NULL;
    return scalar_of(p->scalars, ex_sub(p->e, one, ex_min(p->e, odd, one)), 1);
}

/* Makes out[] nests for the shapes at which the strides of n are whole bytes, and n the nest
 * for the others.  Returns their number: more than 1 if the kernel needs a long loop; 0, and
 * nothing changes, if no kernel is quicker there. */
static int
align(Plan *p, Nest *n, Nest out[1 + LENGTHS])
{
    Nest with;
    nest_copy(&with, n);
    const Ex *whole = n->kind == NEST_COPY ? whole_bytes(p, &with) : NULL;
    if (!whole)
        return 0;
    nest_sort(&with);
    if (!nest_schedule(p, &with))
        return 0;
    nest_need(p, &with, whole, 1);
    int more = 1 + nest_lengthen(p, &with, nest_is_weighty(p, &with), 1, &out[1]);
    if (more == 1 && (with.kernel == n->kernel || with.cost >= n->cost))
        return 0;
    nest_copy(&out[0], &with);
    out[0].variant = true;
    nest_need(p, n, ex_sub(p->e, ex_const(p->e, 1), whole), 1);
    return more;
}

static void
add_aligned(Plan *p, Nest out[1 + LENGTHS])
{
    for (int i = p->n - 1; i >= 0 && p->dst->dtype->bits < 8; i--) {
        bool other = p->nest[i]->variant || p->nest[i]->nnarrow || p->n + 1 >= NESTS_MAX;
        int m = other ? 0 : align(p, p->nest[i], out);
        for (int k = 0; k < m; k++)
            plan_add(p, &out[k]);
    }
}

void
plan_narrow(Plan *p)
{
    Nest more[1 + LENGTHS];
    for (int i = p->n - 1; i >= 0; i--)
        for (int k = 0; k < nkernels; k++)
            if (kernels[k].family->narrow.of)
                widen(p, p->nest[i], &kernels[k]);
    for (int i = p->n - 1; i >= 0; i--)
        for (int k = 0; k < nkernels; k++)
            if (p->n < NESTS_MAX && kernels[k].family->narrow.of &&
                kernels[k].family->narrow.of == p->nest[i]->kernel->family &&
                variant(p, p->nest[i], &kernels[k], more))
                plan_add(p, more);
    add_aligned(p, more);
}
