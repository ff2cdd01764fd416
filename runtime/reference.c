/* The relayout as it is defined: walk every coordinate, move one element.
 *
 * An entry that depends on one dim only is evaluated once for each coordinate of that
 * dim and remembered; all others are evaluated at every point. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

/* Element i, `bits` wide, of a buffer; the part above 64 bits in *high. */
static uint64_t
element_get(const unsigned char *p, i64 i, int bits, uint64_t *high)
{
    uint64_t v[2] = {0, 0};
    if (bits < 8)
        return (uint64_t)p[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    memcpy(v, p + i * (bits / 8), (size_t)bits / 8);
    *high = v[1];
    return v[0];
}

void
element_set(unsigned char *p, i64 i, int bits, uint64_t v, uint64_t high)
{
    uint64_t word[2] = {v, high};
    if (bits >= 8) {
        memcpy(p + i * (bits / 8), word, (size_t)bits / 8);
        return;
    }
    unsigned mask = ((1u << bits) - 1) << (i * bits % 8);
    unsigned char *b = p + i * bits / 8;
    *b = (unsigned char)((*b & ~mask) | ((unsigned)v << (i * bits % 8) & mask));
}

/* The dims that x mentions, as a set. */
static unsigned
dims_in(const Layout *l, const Ast *x)
{
    unsigned set = 0;
    if (x->op == OP_SYM)
        return 1u << layout_find_dim(l, x->name);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        set |= dims_in(l, x->x[i]);
    return set;
}

struct Addresser {
    const Layout *l;
    int dim[MAX_ENTRIES];         /* -1: evaluate */
    i64 *table[MAX_ENTRIES];
};

void
addresser_free(Addresser *a)
{
    for (int i = 0; a && i < a->l->nentry; i++)
        free(a->table[i]);
    free(a);
}

Addresser *
addresser_new(const Layout *l)
{
    Addresser *a = calloc(1, sizeof *a);
    i64 x[MAX_RANK] = {0};
    if (!a)
        return NULL;
    a->l = l;
    for (int i = 0; i < l->nentry; i++) {
        unsigned set = dims_in(l, l->entry[i].x);
        int d = a->dim[i] = int_is_pow2(set) ? int_log2(set) : -1;
        i64 n = d < 0 ? 0 : l->dim[d].padded;
        if (n && !(a->table[i] = calloc((size_t)n, sizeof(i64)))) {
            addresser_free(a);
            return NULL;
        }
        for (i64 k = 0; k < n; k++) {
            x[d] = k;
            layout_entry(l, i, x, &a->table[i][k]);
        }
        if (d >= 0)
            x[d] = 0;
    }
    return a;
}

i64
addresser_at(const Addresser *a, const i64 *x)
{
    i64 sum = 0, v = 0;
    for (int i = 0; i < a->l->nentry; i++) {
        if (a->dim[i] >= 0)
            v = a->table[i][x[a->dim[i]]];
        else
            layout_entry(a->l, i, x, &v);
        sum += v;
    }
    layout_swizzle(a->l, sum, &v);
    return v;
}

typedef struct {
    const Plan *p;
    Addresser *from, *to;
} Mover;

/* One padded coordinate x of the destination. */
static void
move_one(const Mover *m, unsigned char *dst, const unsigned char *src, const i64 *x)
{
    const Plan *p = m->p;
    const Layout *d = p->dst;
    FillKind fill = d->ref->def->fill;
    i64 from[MAX_RANK];
    uint64_t v = d->fill[0], high = d->fill[1];
    bool pad = false;
    for (int i = 0; i < d->rank; i++) {
        pad |= x[i] >= d->dim[i].n;
        from[p->map[i]] = x[i] < d->dim[i].n ? x[i] : d->dim[i].n - 1;
    }
    if (pad && fill == FILL_NONE)
        return;
    if (!pad || fill == FILL_EDGE)
        v = element_get(src, addresser_at(m->from, from), d->dtype->bits, &high);
    element_set(dst, addresser_at(m->to, x), d->dtype->bits, v, high);
}

bool
reference_run(const Plan *p, unsigned char *dst, const unsigned char *src)
{
    Mover m = {p, addresser_new(p->src), addresser_new(p->dst)};
    i64 x[MAX_RANK] = {0};
    bool ok = m.from && m.to;
    if (ok)
        do
            move_one(&m, dst, src, x);
        while (layout_next(p->dst, true, x));
    addresser_free(m.from);
    addresser_free(m.to);
    return ok;
}
