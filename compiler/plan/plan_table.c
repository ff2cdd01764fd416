/* Computes the table of a nest from its loops and the residual of its addresses. */
#include <stdlib.h>

#include "kernel_family.h"

static const Loop *
first_of(const Nest *n)
{
    return &n->loop[n->nloops - n->inner];
}

/* The base and residual of an address: the terms that depend on loops of the table or on the
 * number of each row (`inside`), which the kernel adds, or the other terms. */
static const Ex *
part_of(const Plan *p, const Nest *n, bool source, bool inside)
{
    bool *of = arena_array(ex_arena(p->e), bool, ex_nvars(p->e));
    for (int k = 0; k < n->table; k++)
        of[first_of(n)[k].var] = true;
    const int side = source ? SRC : DST;
    for (int k = 0; k < ROW_LOOKUPS; k++)
        if (nest_lookup_by_rows(n, side, k) >= 0)
            of[n->number[side][nest_lookup_by_rows(n, side, k)]] = true;
    return ex_part(p->e, source ? n->src : n->dst, of, inside);
}

const Ex *
nest_outside(const Plan *p, const Nest *n, bool source)
{
    return part_of(p, n, source, false);
}

bool
nest_has_table(const Nest *n)
{
    return n->table > 0 || n->kernel->family->by->program;
}

i64
nest_entries(const Nest *n)
{
    i64 entries = 1;
    for (int i = 0; i < n->table; i++)
        entries *= first_of(n)[i].n;
    return entries;
}

/* True if both nests have a table, with the same loops and offsets, which are numbers. */
static bool
same_table(const Plan *p, const Nest *a, const Nest *b)
{
    const Ex *scalar[TABLE_SCALARS];
    if (a->table != b->table || a->kernel != b->kernel || a->kernel->family->by->program ||
        nest_scalars(p, a, scalar))
        return a == b;
    for (int i = 0; i < a->table; i++) {
        const Loop *l = &first_of(a)[i], *k = &first_of(b)[i];
        if (l->var != k->var || l->n != k->n || l->ex.ss != k->ex.ss ||
            l->ex.ds != k->ex.ds)
            return false;
    }
    return part_of(p, a, false, true) == part_of(p, b, false, true) &&
           part_of(p, a, true, true) == part_of(p, b, true, true);
}

int
plan_table_of(const Plan *p, int nest)
{
    int i = 0;
    while (i < nest && (p->nest[i]->merged || !same_table(p, p->nest[i], p->nest[nest])))
        i++;
    return i;
}

i64
plan_entries(const Plan *p)
{
    i64 sum = 0;
    for (int i = 0; i < p->n; i++)
        if (p->nest[i]->table && !p->nest[i]->merged && plan_table_of(p, i) == i &&
            !p->nest[i]->kernel->family->by->program)
            sum += nest_entries(p->nest[i]);
    return sum;
}

/* The offsets of the table's entries, in bytes: what the scalar is multiplied with in them;
 * NULL: what is left without scalars. */
static void
put_offsets(const Plan *p, const Nest *n, const Atom *scalar, int32_t *out)
{
    const Loop *first = first_of(n);
    Arena *a = ex_arena(p->e);
    const Ex *dst = part_of(p, n, false, true), *src = part_of(p, n, true, true);
    i64 *at = arena_array(a, i64, MAX_LOOPS), *val = arena_array(a, i64, ex_nvars(p->e));
    for (i64 k = 0; k < nest_entries(n); k++) {
        i64 d = 0, s = 0;
        for (int i = 0; i < n->table; i++)
            val[first[i].var] = at[i];
        if (!scalar) {
            ex_eval(dst, val, &d);
            ex_eval(src, val, &s);
        }
        for (int i = 0; i < n->table; i++) {
            d += at[i] * table_share(first[i].ex.ds, scalar);
            s += at[i] * table_share(first[i].ex.ss, scalar);
        }
        out[2 * k] = (int32_t)call_unit(p->dst->dtype->bits, d, IN_BYTES);
        out[2 * k + 1] = (int32_t)call_unit(p->dst->dtype->bits, s, IN_BYTES);
        for (int i = n->table - 1; i >= 0 && ++at[i] == first[i].n; i--)
            at[i] = 0;
    }
}

/* Moves that follow one another fill a line of the destination. */
static int
in_writes(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

const int32_t *
nest_table(Arena *a, const Plan *p, const Nest *n, i64 *words)
{
    const Family *f = n->kernel->family;
    const Ex *scalar[TABLE_SCALARS];
    if (f->by->program)
        return f->by->program(a, n, p->dst->dtype->bits, words);
    const i64 each = 2 * nest_entries(n);
    const int m = nest_scalars(p, n, scalar);
    *words = each * (1 + m);
    int32_t *out = arena_array(a, int32_t, *words);
    for (int i = 0; i <= m; i++)
        put_offsets(p, n, i ? scalar[i - 1]->t[0].atom : NULL, out + i * each);
    if (m == 0 && f->kind == NEST_COPY)
        qsort(out, (size_t)nest_entries(n), 2 * sizeof *out, in_writes);
    return out;
}

int
nest_scalars(const Plan *p, const Nest *n, const Ex *out[TABLE_SCALARS])
{
    const Family *f = n->kernel->family;
    return f->by->scalars ? f->by->scalars(n, p->dst->dtype->bits, out) : 0;
}
