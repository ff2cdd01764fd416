/* Verifies the boxes of a plan with residues and counts.  The boxes are disjoint and
 * inside the range; if their sizes add up to the size of the range, they cover it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel_family.h"

/* A dim: its distinct pieces and, as sets of nests, which pieces have coordinates in
 * common; for each value of its extent, the combs of the pieces and the range. */
typedef struct {
    const Piece **piece;
    int n;
    int *of;              /* of[nest]: the index of the nest's piece */
    uint64_t **meets;     /* meets[piece]: the nests whose piece it meets at some value */
    int extent;           /* the run-time extent of the dim; -1: none, there is one value */
    int nvalues;
    Comb *comb;           /* the comb of piece k at value v: comb[k * nvalues + v] */
    i64 *real, *padded;   /* for each value: the extent; the padded extent */
} Axis;

typedef struct {
    const Plan *p;
    Arena *arena;
    PlanCheck out;
    ExtentValues values;
    i64 *val;             /* values of the scalars */
    int words;            /* 64-bit words in a set of nests */
    Axis axis[MAX_RANK];
} Check;

static bool
flaw(Check *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->out.flaw = arena_string(c->arena, text);
    return false;
}

static const char *
box(const Check *c, int nest)
{
    const Nest *n = c->p->nest[nest];
    return arena_printf(c->arena, "nest %d (%s%.120s)", nest + 1,
                        n->kind == NEST_FILL ? "padding " : "",
                        plan_box(c->arena, c->p, n));
}

static bool
covers(const Nest *n)
{
    return !n->variant;
}

static int
find_piece(Axis *x, const Piece *p)
{
    for (int i = x->n - 1; i >= 0; i--)
        if (x->piece[i] == p)
            return i;
    x->piece[x->n] = p;
    return x->n++;
}

/* Evaluates the scalars; extent i has this value, the other extents values on boundaries. */
static bool
set_scalars(Check *c, int i, i64 value)
{
    i64 extent[MAX_RANK];
    memcpy(extent, c->values.base[0], sizeof extent);
    if (i >= 0)
        extent[i] = value;
    return scalars_eval(c->p->scalars, extent, c->val) ||
           flaw(c, "a number does not fit 64 bits at an extent of %lld",
                (long long)value);
}

static bool
set_combs(Check *c, int d, int v)
{
    Axis *x = &c->axis[d];
    const Sizes *z = c->p->box.to;
    i64 value = x->extent < 0 ? 0 : c->values.value[x->extent][v];
    if (!set_scalars(c, x->extent, value))
        return false;
    if (!ex_eval(z->n[d], c->val, &x->real[v]) ||
        !ex_eval(z->padded[d], c->val, &x->padded[v]))
        return flaw(c, "an extent does not fit 64 bits");
    work_spend(c->arena, 8 * x->n);
    for (int k = 0; k < x->n; k++)
        if (!comb_of(x->piece[k], c->val, &x->comb[k * x->nvalues + v]))
            return flaw(c, "a piece of %s is no run repeated evenly",
                        c->p->box.to->l->dim[d].name);
    return true;
}

static bool
add_axis(Check *c, int d)
{
    const Plan *p = c->p;
    Axis *x = &c->axis[d];
    x->extent = plan_given_factor(p, p->box.to->extent[d]);
    x->nvalues = x->extent < 0 ? 1 : c->values.n[x->extent];
    x->piece = arena_array(c->arena, const Piece *, p->n);
    x->of = arena_array(c->arena, int, p->n);
    for (int i = 0; i < p->n; i++)
        x->of[i] = find_piece(x, p->nest[i]->piece[d]);
    x->comb = arena_array(c->arena, Comb, (i64)x->n * x->nvalues);
    x->real = arena_array(c->arena, i64, x->nvalues);
    x->padded = arena_array(c->arena, i64, x->nvalues);
    for (int v = 0; v < x->nvalues; v++)
        if (!set_combs(c, d, v))
            return false;
    return true;
}

/* True if the nest also covers padding. */
static bool
has_padding(const Check *c, const Nest *n)
{
    return n->kind == NEST_FILL || c->p->dst->ref->def->fill == FILL_EDGE;
}

static bool
inside(Check *c, int d)
{
    const Axis *x = &c->axis[d];
    for (int i = 0; i < c->p->n; i++) {
        const Comb *comb = &x->comb[x->of[i] * x->nvalues];
        const i64 *limit = has_padding(c, c->p->nest[i]) ? x->padded : x->real;
        for (int v = 0; v < x->nvalues; v++)
            if (comb[v].size && (comb[v].start < 0 || comb[v].last >= limit[v]))
                return flaw(c, "%s leaves the coordinates that are its to cover: %s is "
                            "below %lld", box(c, i), c->p->box.to->l->dim[d].name,
                            (long long)limit[v]);
    }
    return true;
}

static bool
pieces_meet(const Axis *x, int a, int b)
{
    for (int v = 0; v < x->nvalues; v++)
        if (comb_meets(&x->comb[a * x->nvalues + v], &x->comb[b * x->nvalues + v]))
            return true;
    return false;
}

static void
add_meets(Check *c, Axis *x)
{
    x->meets = arena_array(c->arena, uint64_t *, x->n);
    for (int k = 0; k < x->n; k++) {
        bool *with = arena_array(c->arena, bool, x->n);
        work_spend(c->arena, (i64)x->n * x->nvalues + c->p->n);
        x->meets[k] = arena_array(c->arena, uint64_t, c->words);
        for (int j = 0; j < x->n; j++)
            with[j] = pieces_meet(x, k, j);
        for (int i = 0; i < c->p->n; i++)
            if (with[x->of[i]] && covers(c->p->nest[i]))
                x->meets[k][i / 64] |= (uint64_t)1 << i % 64;
    }
}

/* True if boxes i and j, whose pieces meet in each dim, surely have a coordinate in common.
 * It is not certain if both combs have several runs, as residues only show that they may
 * meet, or if the extent has several values, as dims may meet at different shapes. */
static bool
surely_meet(const Check *c, int i, int j)
{
    for (int d = 0; d < c->p->box.rank; d++) {
        const Axis *x = &c->axis[d];
        const Comb *a = &x->comb[x->of[i] * x->nvalues];
        const Comb *b = &x->comb[x->of[j] * x->nvalues];
        if (x->nvalues > 1 || (a != b && a->count > 1 && b->count > 1))
            return false;
    }
    return true;
}

/* Two boxes are disjoint if in some dim their pieces are, for each value of its extent. */
static bool
disjoint(Check *c)
{
    for (int d = 0; d < c->p->box.rank; d++)
        add_meets(c, &c->axis[d]);
    for (int i = 0; i < c->p->n; i++, work_spend(c->arena, c->words))
        for (int w = i / 64; w < c->words && covers(c->p->nest[i]); w++) {
            uint64_t set = w > i / 64 ? UINT64_MAX : UINT64_MAX << i % 64 << 1;
            for (int d = 0; d < c->p->box.rank; d++)
                set &= c->axis[d].meets[c->axis[d].of[i]][w];
            int j = set ? w * 64 + __builtin_ctzll(set) : c->p->n;
            if (j < c->p->n)
                return flaw(c, "%s and %s %s", box(c, i), box(c, j),
                            surely_meet(c, i, j) ? "are not disjoint"
                                                 : "cannot be shown to be disjoint");
        }
    return true;
}

/* Sums up the coordinates of the nests, by kind; v[d] is the index of the value of
 * dim d. */
static bool
sizes(Check *c, const int *v, i64 sum[2])
{
    for (int i = 0; i < c->p->n; i++) {
        const Nest *n = c->p->nest[i];
        i64 size = covers(n);
        for (int d = 0; d < c->p->box.rank; d++) {
            const Axis *x = &c->axis[d];
            if (!int_mul(size, x->comb[x->of[i] * x->nvalues + v[d]].size, &size))
                return flaw(c, "%s is too large", box(c, i));
        }
        if (kernel_knows(n) && (size || !n->nneeded) && n->elements != size)
            return flaw(c, "%s has %lld coordinates, its loops make %lld", box(c, i),
                        (long long)size, (long long)n->elements);
        if (!int_add(sum[n->kind], size, &sum[n->kind]))
            return flaw(c, "the nests are too large");
    }
    return true;
}

/* Whether the dims of boxes have as many coordinates as those of the destination, and the last ones
 * are the last ones of these. */
static bool
same_coordinates(Check *c, i64 real, i64 all)
{
    const Plan *p = c->p;
    i64 last[MAX_RANK], x[MAX_RANK], n = 1, padded = 1;
    if (!plan_is_fixed(p) || !real)
        return true;
    for (int d = 0; d < p->box.rank; d++)
        last[d] = c->axis[d].real[0] - 1;
    plan_coordinates(p, last, x);
    for (int d = 0; d < p->dst->rank; d++)
        if (!int_mul(n, p->dst->dim[d].n, &n) || !int_mul(padded, p->dst->dim[d].padded, &padded) ||
            x[d] != p->dst->dim[d].n - 1)
            return flaw(c, "the joined dims are not those of the destination");
    return (n == real && padded == all) ||
           flaw(c, "the joined dims have other coordinates than the destination");
}

static bool
covering(Check *c, const int *v)
{
    work_spend(c->arena, c->p->n);
    i64 sum[2] = {0, 0}, real = 1, all = 1;
    FillKind fill = c->p->dst->ref->def->fill;
    c->out.shapes++;
    for (int d = 0; d < c->p->box.rank; d++)
        if (!int_mul(real, c->axis[d].real[v[d]], &real) ||
            !int_mul(all, c->axis[d].padded[v[d]], &all))
            return flaw(c, "there are too many coordinates to count");
    if (!same_coordinates(c, real, all) || !sizes(c, v, sum))
        return false;
    i64 copies = fill == FILL_EDGE ? all : real;
    i64 fills = fill == FILL_VALUE ? all - real : 0;
    if (sum[NEST_COPY] != copies)
        return flaw(c, "the nests copy %lld of %lld coordinates",
                    (long long)sum[NEST_COPY], (long long)copies);
    if (sum[NEST_FILL] != fills)
        return flaw(c, "the nests fill %lld of %lld coordinates of padding",
                    (long long)sum[NEST_FILL], (long long)fills);
    return true;
}

/* The index of the value that extent i has while another extent varies: one at which all
 * its digits are not 0 or, with `beyond`, the first beyond a block. */
static int
index_of(const Check *c, int i, bool beyond)
{
    i64 want = c->values.base[beyond][i] - (beyond ? 0 : 1);
    for (int k = 0; k < c->values.n[i]; k++)
        if (c->values.value[i][k] == want)
            return k;
    return 0;
}

/* Checks the sizes, varying one extent at a time over its values. */
static bool
covering_all(Check *c)
{
    int v[MAX_RANK] = {0};
    if (plan_is_fixed(c->p))
        return covering(c, v);
    for (int beyond = 0; beyond < 2; beyond++)
        for (int i = 0; i < c->p->scalars->nextents; i++)
            for (int k = 0; k < c->values.n[i]; k++) {
                for (int d = 0; d < c->p->box.rank; d++) {
                    int own = c->axis[d].extent;
                    v[d] = own == i ? k : own < 0 ? 0 : index_of(c, own, beyond);
                }
                if (!covering(c, v))
                    return false;
            }
    return true;
}

PlanCheck
plan_check(Arena *a, const Plan *p, bool residues)
{
    Check *c = arena_new(a, Check);
    c->p = p;
    c->arena = a;
    c->words = (p->n + 63) / 64;
    c->values = plan_extent_values(a, p, residues);
    c->out.all = c->values.all;
    c->val = arena_array(a, i64, ex_nvars(p->e));
    bool ok = true;
    for (int d = 0; ok && d < p->box.rank; d++)
        ok = add_axis(c, d) && inside(c, d);
    if (ok && disjoint(c))
        covering_all(c);
    return c->out;
}
