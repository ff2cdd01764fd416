/* The addresses of one layout, by its expressions as written, for strips of coordinates. */
#include "reference_side.h"

#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "reference_row.h"

_Static_assert((int)REFERENCE_ROW <= (int)ROW_MAX, "a row of a walk is evaluated at once");

/* The set of dims that occur in x. */
static unsigned
dims_in(const Layout *l, const Ast *x)
{
    unsigned set = 0;
    const Lookup *u = x->op == OP_SYM ? layout_lookup(l, x->name) : NULL;
    if (u)
        return dims_in(l, u->place);
    if (x->op == OP_SYM)
        return 1u << layout_find_dim(l, x->name);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        set |= dims_in(l, x->x[i]);
    return set;
}

/* Find the parts of an entry that one dim alone is in. */
static void
find_leaves(Side *s, const Ast *x)
{
    unsigned set = dims_in(s->l, x);
    s->by_one |= x->depth > ROW_DEPTH || s->nleaf == LEAVES ||
                 (x->op == OP_SYM && !int_is_pow2(set));
    if (s->by_one || !set)
        return;
    if (int_is_pow2(set)) {
        s->leaf[s->nleaf++] = (Leaf){x, int_log2(set), NULL};
        return;
    }
    for (int i = 0; i < op_info[x->op].nargs; i++)
        find_leaves(s, x->x[i]);
}

static void
sort_entries(Side *s)
{
    const i64 origin[MAX_RANK] = {0};
    s->constant = s->l->origin;
    for (int i = 0; i < s->l->nentry; i++) {
        unsigned set = dims_in(s->l, s->l->entry[i].x);
        i64 v = 0;
        s->alone[i] = int_is_pow2(set) ? int_log2(set) : -1;
        if (set == 0 && layout_entry(s->l, i, origin, &v))
            s->constant += v;
        else if (s->alone[i] < 0)
            s->several[s->nseveral++] = i;
    }
    for (int i = 0; i < s->nseveral; i++)
        find_leaves(s, s->l->entry[s->several[i]].x);
    s->by_one |= s->l->ref->def->swizzle && s->l->ref->def->swizzle->depth > ROW_DEPTH;
    s->nleaf = s->by_one ? 0 : s->nleaf;
    s->group = s->by_one ? 0 : swizzle_group(s->l);
}

i64
reference_work(const Layout *l, i64 *made)
{
    i64 steps = 1 + (l->ref->def->swizzle ? l->ref->def->swizzle->size : 0), table;
    *made = 0;
    for (int i = 0; i < l->nentry; i++) {
        unsigned set = dims_in(l, l->entry[i].x);
        int size = l->entry[i].x->size;
        steps += int_is_pow2(set) ? 1 : size;
        if (int_is_pow2(set) && (!int_mul(l->dim[int_log2(set)].padded, size, &table) ||
                                 !int_add(*made, table, made)))
            return *made = INF;
    }
    return steps;
}

i64
side_strip(i64 coordinates)
{
    return coordinates < STRIP ? coordinates : STRIP;
}

static i64 *
strip_new(const Strips *w, int d)
{
    return malloc((size_t)side_strip(w->hi[d] - w->lo[d]) * sizeof(i64));
}

/* The groups of a block; 0: too many, or there is no block. */
static i64
groups(const Side *s)
{
    i64 block = s->group ? swizzle_block(s->l) : 0;
    return block >= s->group && block ? block / s->group : 0;
}

static bool
set_places(Side *s)
{
    i64 n = groups(s), *place = n ? malloc((size_t)n * sizeof *place) : NULL;
    for (i64 i = 0; i < n && place; i++)
        place[i] = i * s->group;
    for (i64 i = 0; i < n && place; i += ROW_MAX)
        side_swizzle(s, n - i < ROW_MAX ? (int)(n - i) : ROW_MAX, place + i);
    s->block = n * s->group;
    s->place = place;
    return place || !n;
}

bool
side_new(Side *s, const Strips *w)
{
    bool ok = true;
    sort_entries(s);
    ok &= set_places(s);
    for (int d = 0; d < w->rank; d++) {
        ok &= (s->sum[d] = strip_new(w, d)) != NULL;
        for (int i = 0; i < s->nleaf; i++)
            if (s->leaf[i].dim == s->of[d])
                ok &= (s->leaf[i].value = strip_new(w, d)) != NULL;
    }
    return ok;
}

i64
side_bytes(Side *s, const Strips *w)
{
    sort_entries(s);
    i64 n = groups(s) * (i64)sizeof *s->place;
    for (int d = 0; d < w->rank; d++) {
        int strips = 1;
        for (int i = 0; i < s->nleaf; i++)
            strips += s->leaf[i].dim == s->of[d];
        n += strips * side_strip(w->hi[d] - w->lo[d]) * (i64)sizeof(i64);
    }
    return n;
}

bool
side_is_sum(const Side *s)
{
    return !s->nseveral && !s->l->ref->def->swizzle;
}

bool
side_has_leaves(const Side *s)
{
    return !s->by_one && (!s->l->ref->def->swizzle || s->group);
}

void
side_joins(const Side *s, int d, i64 n, bool *joins)
{
    for (int k = 0; k < s->nleaf; k++) {
        const i64 *v = s->leaf[k].value;
        for (i64 i = 0; i < n - 1 && s->leaf[k].dim == s->of[d]; i++)
            joins[i] &= v[i] == v[i + 1];
    }
}

void
side_free(Side *s)
{
    for (int d = 0; d < MAX_RANK; d++)
        free(s->sum[d]);
    for (int i = 0; i < s->nleaf; i++)
        free(s->leaf[i].value);
    free(s->place);
}

static i64
coordinate(const Side *s, int own, i64 x)
{
    i64 n = s->l->dim[own].n;
    return s->clamped && x >= n ? n - 1 : x;
}

static bool
looks_up(const Layout *l, const Ast *x)
{
    bool any = x->op == OP_SYM && layout_lookup(l, x->name);
    for (int i = 0; i < op_info[x->op].nargs; i++)
        any |= looks_up(l, x->x[i]);
    return any;
}

static bool
its_coordinate(const void *x, const Ast *of, int n, i64 *out)
{
    if (of->op == OP_SYM)
        memcpy(out, x, (size_t)n * sizeof *out);
    return of->op == OP_SYM;
}

/* The values of an expression of one dim at n coordinates x. */
static void
values_at(const Side *s, const Ast *of, int own, const i64 *x, int n, i64 *out)
{
    i64 y[MAX_RANK] = {0};
    if (of->depth <= ROW_DEPTH && !looks_up(s->l, of)) {
        row_value(of, its_coordinate, x, n, out);
        return;
    }
    for (int i = 0; i < n; i++) {
        y[own] = x[i];
        out[i] = layout_part(s->l, of, y, &out[i]) ? out[i] : 0;
    }
}

/* Tabulate n coordinates x of a dim, of its strip from `at` on. */
static void
fill_part(Side *s, int d, const i64 *x, i64 at, int n)
{
    i64 v[ROW_MAX];
    int own = s->of[d];
    memset(s->sum[d] + at, 0, (size_t)n * sizeof *v);
    for (int k = 0; k < s->l->nentry; k++) {
        if (s->alone[k] != own)
            continue;
        values_at(s, s->l->entry[k].x, own, x, n, v);
        for (int i = 0; i < n; i++)
            s->sum[d][at + i] += v[i] * s->l->entry[k].stride;
    }
    for (int k = 0; k < s->nleaf; k++)
        if (s->leaf[k].dim == own)
            values_at(s, s->leaf[k].x, own, x, n, s->leaf[k].value + at);
}

void
side_fill(Side *s, const Strips *w, int d)
{
    i64 x[ROW_MAX];
    for (i64 at = 0; at < w->n[d]; at += ROW_MAX) {
        int n = w->n[d] - at < ROW_MAX ? (int)(w->n[d] - at) : ROW_MAX;
        for (int i = 0; i < n; i++)
            x[i] = coordinate(s, s->of[d], w->base[d] + at + i);
        fill_part(s, d, x, at, n);
    }
}

/* The layout's coordinates at the current ones of the walk. */
static void
own_coordinates(const Side *s, const Strips *w, i64 *y)
{
    for (int d = 0; d < w->rank; d++)
        y[s->of[d]] = coordinate(s, s->of[d], w->x[d]);
}

bool
side_skips(const Side *s, const Strips *w)
{
    i64 y[MAX_RANK];
    own_coordinates(s, w, y);
    return layout_skips(s->l, y);
}

/* The value of entries of several dims at the current coordinate. */
static i64
several_at(const Strips *w, const Side *s)
{
    i64 y[MAX_RANK], v, sum = 0;
    own_coordinates(s, w, y);
    for (int i = 0; i < s->nseveral; i++)
        if (layout_entry(s->l, s->several[i], y, &v))
            sum += v;
    return sum;
}

i64
side_row(const Side *s, const Strips *w)
{
    i64 sum = s->constant;
    for (int d = 0; d < w->rank; d++)
        if (d != w->inner)
            sum += s->sum[d][w->x[d] - w->base[d]];
    return sum;
}

/* Addresses that a swizzle is given. */
typedef struct {
    const Layout *l;
    const i64 *a;
} Swizzled;

static bool
swizzle_leaf(const void *arg, const Ast *x, int n, i64 *out)
{
    const Swizzled *r = arg;
    i64 v = 0;
    if (x->op != OP_SYM)
        return false;
    if (!strcmp(x->name, "a")) {
        memcpy(out, r->a, (size_t)n * sizeof *out);
        return true;
    }
    layout_constant(r->l, x->name, &v);
    for (int i = 0; i < n; i++)
        out[i] = v;
    return true;
}

/* By the table of a block. */
static void
swizzle_placed(const Side *s, int n, i64 *out)
{
    int shift = int_log2(s->group);
    for (int i = 0; i < n; i++) {
        i64 a = out[i], low = a & (s->group - 1);
        out[i] = (a & ~(s->block - 1)) + s->place[(a & (s->block - 1)) >> shift] + low;
    }
}

void
side_swizzle(const Side *s, int n, i64 *out)
{
    const LayoutDef *d = s->l->ref->def;
    int bits = d->swizzle_bytes ? s->l->dtype->bits : 8;
    i64 a[ROW_MAX], low[ROW_MAX], bytes = bits / 8, in_byte = bits < 8 ? 8 / bits : 1;
    if (!d->swizzle)
        return;
    for (int i = 0; i < n && s->by_one; i++)
        layout_swizzle(s->l, out[i], &out[i]);
    if (s->place)
        swizzle_placed(s, n, out);
    if (s->by_one || s->place)
        return;
    for (int i = 0; i < n; i++) {
        a[i] = bytes ? out[i] * bytes : out[i] / in_byte;
        low[i] = bytes ? 0 : out[i] % in_byte;
    }
    row_value(d->swizzle, swizzle_leaf, &(Swizzled){s->l, a}, n, out);
    for (int i = 0; i < n && d->swizzle_bytes; i++)
        out[i] = bytes ? out[i] / bytes : out[i] * in_byte + low[i];
}

/* Coordinates of the innermost strip on one side. */
typedef struct {
    const Strips *w;
    const Side *s;
    i64 at;                        /* the first */
    const int *index;              /* all; NULL: those that follow it */
} Row;

static void
take(const Row *r, const i64 *value, int n, i64 *out)
{
    if (!r->index)
        memcpy(out, value + r->at, (size_t)n * sizeof *out);
    for (int i = 0; i < n && r->index; i++)
        out[i] = value[r->index[i]];
}

static bool
leaf_values(const void *arg, const Ast *x, int n, i64 *out)
{
    const Row *r = arg;
    for (int k = 0; k < r->s->nleaf; k++) {
        const Leaf *f = &r->s->leaf[k];
        if (f->x != x)
            continue;
        for (int d = 0; d < r->w->rank; d++)
            if (r->s->of[d] == f->dim && d == r->w->inner)
                take(r, f->value, n, out);
            else if (r->s->of[d] == f->dim)
                for (int i = 0; i < n; i++)
                    out[i] = f->value[r->w->x[d] - r->w->base[d]];
        return true;
    }
    return false;
}

/* Add the entries of several dims. */
static void
add_several(const Row *r, int n, i64 *out)
{
    i64 v[ROW_MAX];
    for (int k = 0; k < r->s->nseveral; k++) {
        const Entry *e = &r->s->l->entry[r->s->several[k]];
        row_value(e->x, leaf_values, r, n, v);
        for (int i = 0; i < n; i++)
            out[i] += v[i] * e->stride;
    }
}

void
side_addresses(const Side *s, Strips *w, i64 base, i64 at, int n, i64 *out)
{
    const i64 *sum = w->inner < 0 ? NULL : s->sum[w->inner] + at;
    for (int i = 0; i < n; i++)
        out[i] = base + (sum ? sum[i] : 0);
    if (side_is_sum(s))
        return;
    if (!s->by_one)
        add_several(&(Row){w, s, at, NULL}, n, out);
    for (int i = 0; i < n && s->by_one; i++) {
        if (w->inner >= 0)
            w->x[w->inner] = w->base[w->inner] + at + i;
        out[i] += several_at(w, s);
    }
    side_swizzle(s, n, out);
}

void
side_addresses_at(const Side *s, const Strips *w, i64 base, const int *index, int n, i64 *out)
{
    for (int i = 0; i < n; i++)
        out[i] = base + s->sum[w->inner][index[i]];
    add_several(&(Row){w, s, 0, index}, n, out);
}
