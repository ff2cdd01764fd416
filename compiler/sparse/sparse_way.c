/* The way of a conversion: how entries come into the order of the destination. */
#include "sparse_parts.h"

enum { KEY_BITS = 63 };

int
sparse_bits(i64 n)
{
    return n > 1 ? int_log2(n - 1) + 1 : 0;
}

/* The bits of the keys of a sort: of each level, or of the address. */
int
sparse_key_bits(const SparseFormat *f, int k)
{
    return f->dense ? sparse_bits(f->l->size) : sparse_has(&f->level[k])
           ? sparse_bits(f->level[k].n) : 0;
}

int
sparse_keys(const SparseFormat *f)
{
    return f->dense ? 1 : f->nlevel;
}

/* The coordinates by which the destination is ordered, over the source; those of the dense
 * levels in front are `*dense`. */
static int
keys(SparseMaker *m, const Ex **key, int *dense)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    int n = 0;
    *dense = 0;
    for (int k = 0; k < f->tree; k++) {
        if (f->level[k].def.unordered && !p->joins)
            break;
        *dense += *dense == n && (f->level[k].def.kind == LEVEL_DENSE ||
                                  f->level[k].def.kind == LEVEL_RANKED);
        if (sparse_has(&f->level[k]))
            key[n++] = sparse_over_levels(m, f->level[k].x);
    }
    return n;
}

/* Dense levels, then one compressed level, then singletons. */
static bool
is_counted(const SparseFormat *f)
{
    int k = 0;
    while (k < f->nlevel && f->level[k].def.kind == LEVEL_DENSE)
        k++;
    if (k == 0 || k == f->nlevel || f->level[k++].def.kind != LEVEL_COMPRESSED)
        return false;
    while (k < f->nlevel && f->level[k].def.kind == LEVEL_SINGLETON)
        k++;
    return k == f->nlevel;
}

/* x says what its variables are. */
static bool
says_variables(const Ex *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->t[i].atom->op != AT_VAR)
            return false;
    return sparse_is_radix(x);
}

/* With the coordinates of the dense levels fixed, the rest is in order; or always. */
static bool
ordered_below(SparseMaker *m, const Ex *const *key, int n, int dense)
{
    bool *fixed = arena_array(m->arena, bool, ex_nvars(m->e));
    for (int k = 0; k < dense; k++)
        if (says_variables(key[k]))
            ex_vars(key[k], fixed);
    return sparse_ordered(m->p->src, m->e, key + dense, n - dense, NULL) ||
           sparse_ordered(m->p->src, m->e, key + dense, n - dense, fixed);
}

static bool
can_count(SparseMaker *m, const Ex *const *key, int n, int dense)
{
    const i64 most = (i64)1 << 40;
    SparsePlan *p = m->p;
    if (!is_counted(p->dst) || p->src->loose)
        return false;
    i64 parents = 1;
    for (int k = 0; k < dense; k++)
        if (!int_mul(parents, p->dst->level[k].n, &parents) || parents > most)
            return false;
    p->counts = parents + 1;
    return ordered_below(m, key, n, dense);
}

/* Places below a parent are given one by one, or by the coordinates of all its entries: the
 * order of the parents does not matter. */
static bool
tallies(SparseMaker *m, const Ex *const *key, int n, int dense)
{
    const SparseFormat *f = m->p->dst;
    int k = f->dense ? -1 : sparse_tallied(f);
    return k >= 0 && !m->p->joins &&
           (f->level[k].info->coded || ordered_below(m, key, n, dense));
}

/* From CSR to CSC and the like. */
static bool
transposes(const SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    const SparseFormat *both[] = {f, src};
    for (int i = 0; i < LEN(both); i++)
        if (both[i]->nlevel != 2 || both[i]->level[0].def.kind != LEVEL_DENSE ||
            both[i]->level[1].def.kind != LEVEL_COMPRESSED || both[i]->level[1].bias)
            return false;
    return f->width == src->width &&
           ex_as_var(sparse_over(m, f->level[0].x)) == src->level[1].var &&
           ex_as_var(sparse_over(m, f->level[1].x)) == src->level[0].var;
}

/* The coordinates of the destination are the digits of the address. */
static bool
extracts(const SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    int last = f->nlevel - 1;
    if (!src->dense || f->dense || last < 1 || f->level[last].def.kind != LEVEL_COMPRESSED ||
        f->level[last].bias || src->l->size != f->l->size)
        return false;
    for (int k = 0; k < last; k++)
        if (f->level[k].def.kind != LEVEL_DENSE)
            return false;
    for (int d = 0; d < f->l->rank; d++)
        if (m->p->guard[d] >= 0)
            return false;
    return true;
}

/* From CSR to COO and the like: the rows of the source and its coordinates become the two levels
 * of a list.  Returns the level with the coordinates, from 1; 0: it is another conversion. */
static int
expands(const SparseMaker *m)
{
    const SparseFormat *f = m->p->dst, *src = m->p->src;
    if (src->nlevel != 2 || f->nlevel != 2 || src->level[0].def.kind != LEVEL_DENSE ||
        src->level[1].def.kind != LEVEL_COMPRESSED || src->level[1].bias || src->loose ||
        f->level[0].def.kind != LEVEL_COMPRESSED || f->level[1].def.kind != LEVEL_SINGLETON ||
        f->level[0].bias || f->level[1].bias || f->width != src->width)
        return 0;
    for (int k = 0; k < 2; k++)
        if (ex_as_var(sparse_over(m, f->level[k].x)) == src->level[1].var &&
            ex_as_var(sparse_over(m, f->level[!k].x)) == src->level[0].var)
            return k + 1;
    return 0;
}

static bool
same_level(const SparseMaker *m, int k)
{
    const Level *a = &m->p->src->level[k], *b = &m->p->dst->level[k];
    int var = sparse_has(a) ? ex_as_var(sparse_over_levels(m, b->x)) : a->var;
    return a->def.kind == b->def.kind && var == a->var && a->n == b->n && a->bias == b->bias &&
           a->number == b->number && !a->at == !b->at &&
           (b->def.repeats || !a->def.repeats) && (b->def.unordered || !a->def.unordered);
}

/* Both sides have the same levels, and no value is tested. */
static bool
copies(const SparseMaker *m)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    const uint64_t *a = src->l->fill, *b = f->l->fill;
    bool same = f->nlevel == src->nlevel && f->nlevel > 0 && f->width == src->width &&
                f->narray == src->narray && !p->rq->mask && p->rq->threshold == 0 &&
                !p->rq->zero_threshold && !p->joins && a[0] == b[0] && a[1] == b[1];
    for (int k = 0; same && k < f->nlevel; k++)
        same = same_level(m, k) && !f->level[k].at;
    return same;
}

/* From CSR to ROW_MAJOR and the like: a row of the source is contiguous. */
static void
set_spread(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst, *src = p->src;
    if (!f->dense || src->nlevel != 2 || src->level[0].def.kind != LEVEL_DENSE ||
        src->level[1].def.kind != LEVEL_COMPRESSED || src->loose || p->ones)
        return;
    const Ex *at = sparse_over(m, f->l->addr);
    i64 stride[2] = {0};
    for (int i = 0; i < at->n; i++)
        for (int k = 0; k < 2; k++)
            if (at->t[i].atom->op == AT_VAR && at->t[i].atom->var == src->level[k].var)
                stride[k] = at->t[i].coef;
    bool whole = at->n == 2 && !at->base && stride[1] > 0 &&
                 stride[0] > (src->level[1].n - 1) * stride[1] &&
                 f->l->size % src->level[0].n == 0 &&
                 stride[0] == f->l->size / src->level[0].n;
    p->down = whole ? stride[0] : 0;
    p->across = whole ? stride[1] : 0;
}

static void
set_sorting(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const SparseFormat *f = p->dst;
    p->way = BY_SORTING;
    p->why = "the source has another order: keys are sorted";
    for (int k = 0; k < sparse_keys(f); k++) {
        p->bits += sparse_key_bits(f, k);
        p->low += k >= f->tree && !f->dense ? sparse_key_bits(f, k) : 0;
    }
    if (p->joins)
        p->low = 0;
    p->carries = p->bytes && f->l->dtype->bits <= 64 && p->rq->equal != EQUAL_ERROR;
    if (p->bits > KEY_BITS)
        sparse_refuse(m, arena_printf(m->arena, "keys of %d bits are needed to sort: at most %d",
                               p->bits, KEY_BITS));
}

static void
set_unordered(SparseMaker *m)
{
    SparsePlan *p = m->p;
    if (sparse_tiles(m)) {
        p->way = p->joins ? BY_ROWS : BY_TILES;
        p->why = !p->joins ? "a set finds the tiles of each row, in order"
                 : p->tiles.columns ? "a list whose result is near is ranked by its columns; else buckets of rows are sorted"
                 : p->tiles.sorted ? "buckets of rows are sorted, and equal entries joined"
                 : "a set puts the entries of a row in order, and joins them";
    } else if (sparse_strips(m)) {
        p->way = BY_STRIPS;
        p->why = "a bit for each tile says where it goes; columns are read for a strip of rows after another";
    } else if (sparse_bitmap(m)) {
        p->way = BY_BITMAP;
        p->why = "a bit for each place says where an entry goes";
    } else {
        set_sorting(m);
    }
}

/* The way of entries that are not copied as they are. */
static void
set_way_of_entries(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const Ex *key[MAX_LEVELS];
    const uint64_t *fill = p->dst->l->fill;
    Equals equal = p->rq->equal;
    int dense, n = keys(m, key, &dense);
    bool direct = p->dst->dense && (equal == EQUAL_LAST || (equal == EQUAL_SUM && !fill[0] &&
                                                            !fill[1]));
    if (p->dst->dense && (!p->joins || direct)) {
        p->why = "each entry goes to its address";
    } else if (sparse_untiles(m)) {
        p->way = FROM_TILES;
        p->why = "the values of a tile that are not the fill go to its rows";
    } else if (tallies(m, key, n, dense)) {
        p->why = "entries are counted below each parent, and each goes to the next place there";
    } else if (p->joins || !sparse_ordered(p->src, m->e, key, n, NULL)) {
        p->way = BY_COUNTING;
        p->why = "below each parent the source has the order of the destination: entries are "
                 "counted";
        if (p->joins || !can_count(m, key, n, dense))
            set_unordered(m);
    }
}

void
sparse_set_way(SparseMaker *m)
{
    SparsePlan *p = m->p;
    p->way = BY_SOURCE;
    p->why = "the source has the order of the destination";
    if (p->src->empty) {
        p->why = "an extent is 0: there are no entries";
        return;
    }
    p->copies = copies(m);
    if (p->copies) {
        p->why = "both sides have the same levels: arrays are copied";
        return;
    }
    set_way_of_entries(m);
    p->transposes = p->way == BY_COUNTING && transposes(m);
    p->extracts = p->way == BY_SOURCE && extracts(m);
    p->lays = p->way == BY_SOURCE && sparse_lays(m);
    p->expands = p->way == BY_SOURCE ? expands(m) : 0;
    if (p->way == BY_SOURCE)
        set_spread(m);
    p->counts = p->way == BY_COUNTING && !p->transposes ? p->counts : 0;
}

void
sparse_set_sum(SparseMaker *m)
{
    SparsePlan *p = m->p;
    const DType *t = p->dst->l->dtype;
    if (!p->joins || p->rq->equal != EQUAL_SUM || t->kind == 'i' || t->kind == 'u' ||
        (t->bits != 16 && t->kind != 'b'))
        return;
    SparseRequest *rq = arena_copy(m->arena, p->rq, sizeof *rq);
    rq->equal = EQUAL_ERROR;
    p->rq = rq;
    p->unadded = true;
}
