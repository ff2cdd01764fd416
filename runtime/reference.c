/* The relayout as it is defined: walk every coordinate, move one element.
 *
 * An entry that depends on one dim only is evaluated once for each coordinate of that
 * dim and remembered; all others are evaluated at every point. */
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "library.h"

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

/* The dim that alone entry i depends on, or -1. */
static int
sole_dim(const Layout *l, int i)
{
    unsigned set = dims_in(l, l->entry[i].x);
    return int_is_pow2(set) ? int_log2(set) : -1;
}

i64
addresser_bytes(const Layout *l)
{
    i64 n, sum = (i64)sizeof(Addresser);
    for (int i = 0; i < l->nentry; i++) {
        int d = sole_dim(l, i);
        if (d >= 0 && (!int_mul(l->dim[d].padded, (i64)sizeof(i64), &n) ||
                       !int_add(sum, n, &sum)))
            return INF;
    }
    return sum;
}

i64
addresser_work(const Layout *l, i64 *made)
{
    i64 units = 1 + (l->ref->def->swizzle ? l->ref->def->swizzle->size : 0), table;
    *made = 0;
    for (int i = 0; i < l->nentry; i++) {
        int d = sole_dim(l, i);
        units += d < 0 ? l->entry[i].x->size : 1;
        if (d >= 0 && (!int_mul(l->dim[d].padded, l->entry[i].x->size, &table) ||
                       !int_add(*made, table, made)))
            return *made = INF;
    }
    return units;
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
        int d = a->dim[i] = sole_dim(l, i);
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

static bool
mover_new(Mover *m, const Plan *p)
{
    *m = (Mover){p, addresser_new(p->src), addresser_new(p->dst)};
    return m->from && m->to;
}

static void
mover_free(Mover *m)
{
    addresser_free(m->from);
    addresser_free(m->to);
}

/* What the padded coordinate x of the destination holds: a slot of the source,
 * FROM_FILL or, where nothing is written, FROM_HOLE. */
static i64
source_of(const Mover *m, const i64 *x, bool *pad)
{
    const Layout *d = m->p->dst;
    FillKind fill = d->ref->def->fill;
    i64 from[MAX_RANK];
    *pad = false;
    for (int i = 0; i < d->rank; i++) {
        *pad |= x[i] >= d->dim[i].n;
        from[m->p->map[i]] = x[i] < d->dim[i].n ? x[i] : d->dim[i].n - 1;
    }
    if (*pad && fill != FILL_EDGE)
        return fill == FILL_NONE ? FROM_HOLE : FROM_FILL;
    return addresser_at(m->from, from);
}

static void
move_one(const Mover *m, unsigned char *dst, const unsigned char *src, const i64 *x)
{
    const Layout *d = m->p->dst;
    bool pad;
    i64 from = source_of(m, x, &pad);
    uint64_t v = d->fill[0], high = d->fill[1];
    if (from == FROM_HOLE)
        return;
    if (from >= 0)
        v = element_get(src, from, d->dtype->bits, &high);
    element_set(dst, addresser_at(m->to, x), d->dtype->bits, v, high);
}

bool
reference_run(const Plan *p, unsigned char *dst, const unsigned char *src)
{
    Mover m;
    i64 x[MAX_RANK] = {0};
    bool ok = mover_new(&m, p);
    if (ok)
        do
            move_one(&m, dst, src, x);
        while (layout_next(p->dst, true, x));
    mover_free(&m);
    return ok;
}

/* Enter coordinate x; what is wrong with the layouts there, or NULL. */
static const char *
map_one(const Mover *m, const i64 *x, SlotMap *map)
{
    bool pad;
    i64 from = source_of(m, x, &pad), to = addresser_at(m->to, x);
    if (to < 0 || to >= m->p->dst->size)
        return "the destination's layout leaves its storage";
    if (from >= m->p->src->size)
        return "the source's layout leaves its storage";
    if (from == FROM_HOLE)
        return NULL;
    if (map->from[to] != FROM_HOLE)
        return "the destination's layout has two coordinates at one address";
    map->from[to] = from;
    map->elements += !pad;
    map->padding += pad;
    return NULL;
}

bool
reference_map(const Plan *p, SlotMap *map, const char **why)
{
    Mover m;
    i64 x[MAX_RANK] = {0};
    int bits = p->dst->dtype->bits;
    *why = NULL;
    map->n = layout_bytes(p->dst) * 8 / bits;
    map->elements = map->padding = 0;
    map->from = malloc((size_t)map->n * sizeof *map->from);
    bool ok = mover_new(&m, p) && map->from;
    for (i64 i = 0; ok && i < map->n; i++)
        map->from[i] = FROM_HOLE;
    if (ok)
        do
            *why = map_one(&m, x, map);
        while (!*why && layout_next(p->dst, true, x));
    mover_free(&m);
    return ok;
}

bool
reference_find(const Layout *l, i64 slot, i64 *x)
{
    Addresser *to = addresser_new(l);
    bool found = false;
    memset(x, 0, MAX_RANK * sizeof *x);
    if (to)
        do
            found = addresser_at(to, x) == slot;
        while (!found && layout_next(l, true, x));
    addresser_free(to);
    return found;
}
