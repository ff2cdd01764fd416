/* Adds variants of nests with extents left to run time.  If the shape decides whether a
 * transpose has few columns (rows), the plan also has its nest with the kernel that
 * interleaves (deinterleaves) them.  If a kernel is quicker where strides of elements smaller
 * than a byte are whole bytes, the plan has both nests.  A scalar selects the nest that runs at
 * a shape. */
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
