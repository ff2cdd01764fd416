/* Lists the shapes at which a plan with extents left to run time is checked.  One extent
 * at a time takes the values at and beside each boundary of its digits, while the others
 * have a value on a boundary or beside one.  Each variant of a nest runs at one of them. */
#include <string.h>

#include "plan_parts.h"

enum { MAX_VALUES = 1024 };

typedef struct {
    const Plan *p;
    i64 (*value)[MAX_VALUES];          /* the values of each extent */
    int n[MAX_RANK];
    i64 top[MAX_RANK];                 /* for each extent: the lcm of its cuts */
} Lister;

static void
add_value(Lister *s, int i, i64 v)
{
    if (v < 1 || v > s->p->scalars->most[i])
        return;
    for (int k = 0; k < s->n[i]; k++)
        if (s->value[i][k] == v)
            return;
    if (s->n[i] < MAX_VALUES)
        s->value[i][s->n[i]++] = v;
}

/* The same for the digits of shifted coordinates of dim d. */
static void
add_phases(Lister *s, const Sizes *z, int d)
{
    Phase phase[MAX_CUTS];
    i64 top;
    int n = 0, i = z->extent[d];
    for (int k = 0; k < z->l->nentry; k++)
        n = phases_add(z->l->entry[k].written, z->l->dim[d].free, phase, n);
    for (int k = 0; k < n; k++) {
        for (i64 v = phase[k].phase - 1; v <= phase[k].phase + 1; v++)
            add_value(s, i, v);
        if (int_lcm(s->top[i], phase[k].cut, &top))
            s->top[i] = top;
    }
}

static void
add_cuts(Lister *s, const Sizes *z)
{
    for (int d = 0; d < z->l->rank; d++) {
        i64 cuts[MAX_CUTS], top;
        int i = z->extent[d], n = 0;
        if (i < 0)
            continue;
        for (int k = 0; k < z->l->nentry; k++)
            n = pieces_cuts(z->l->entry[k].written, z->l->dim[d].free, INF, cuts, n);
        for (int k = 0; k < n; k++) {
            for (i64 v = cuts[k] - 1; v <= cuts[k] + 1; v++)
                add_value(s, i, v);
            if (int_lcm(s->top[i], cuts[k], &top))
                s->top[i] = top;
        }
        add_phases(s, z, d);
    }
}

/* Adds values at and beside the largest narrow count of each nest with a variant. */
static void
add_few(Lister *s)
{
    for (int k = 0; k < s->p->n; k++)
        for (int i = 0; i < s->p->scalars->nextents && s->p->nest[k].narrow; i++)
            for (i64 v = 0; v <= 2; v++)
                add_value(s, i, s->p->nest[k].narrow + v);
}

/* Adds values at and beside the ends of the first three blocks; with `residues`, all
 * values up to there while there is room. */
static void
add_blocks(Lister *s, int i, bool residues)
{
    for (i64 v = 0; v <= 3; v++)
        for (i64 by = -1; by <= 1; by++)
            add_value(s, i, v * s->top[i] + by);
    for (i64 v = 1; residues && v <= 3 * s->top[i] && s->n[i] < MAX_VALUES; v++)
        add_value(s, i, v);
}

static i64
base_of(const Lister *s, int i, int off)
{
    i64 base = s->top[i] > 1 ? s->top[i] + off : 2 + off, most = s->p->scalars->most[i];
    return base < most ? base : most;
}

ExtentValues
plan_extent_values(Arena *a, const Plan *p, bool residues)
{
    Lister *s = arena_new(a, Lister);
    ExtentValues out = {.all = residues};
    s->p = p;
    s->value = arena_alloc(a, (size_t)p->scalars->nextents * sizeof *s->value);
    for (int i = 0; i < MAX_RANK; i++)
        s->top[i] = 1;
    add_cuts(s, p->from);
    add_cuts(s, p->to);
    add_few(s);
    for (int i = 0; i < p->scalars->nextents; i++) {
        add_blocks(s, i, residues);
        out.n[i] = s->n[i];
        out.value[i] = arena_copy(a, s->value[i], (size_t)s->n[i] * sizeof *s->value[i]);
        out.base[0][i] = base_of(s, i, 0);
        out.base[1][i] = base_of(s, i, 1);
        out.all &= s->n[i] < MAX_VALUES;
    }
    return out;
}

static void
set_shape(const Plan *p, const i64 *extent, i64 *shape)
{
    for (int d = 0; d < p->src->rank; d++) {
        int i = p->from->extent[d];
        shape[d] = i < 0 ? p->src->dim[d].n : extent[i];
    }
}

/* The elements of a nest at a shape; -1: there is no such shape. */
static i64
elements_at(Arena *a, const Plan *p, const Nest *n, const i64 *extent)
{
    i64 src, dst, *val = plan_values(a, p, extent);
    return val && plan_bytes_at(p, val, &src, &dst) ? nest_elements_at(n, val) : -1;
}

static bool
is_listed(Arena *a, const Plan *p, const Nest *n, const ShapeList *list)
{
    i64 extent[MAX_RANK];
    for (int i = 0; i < list->n; i++)
        if (!plan_extents(a, p, list->shape[i], extent) && elements_at(a, p, n, extent) > 0)
            return true;
    return false;
}

/* Adds a shape at which a nest runs that needs several long loops: the smallest of those with
 * some extents above the narrow count, and the others as in `base`. */
static void
add_wide(Arena *a, const Plan *p, const Nest *n, const i64 *base, ShapeList *list)
{
    enum { MOST = 1 << 25 };       /* elements: such a shape is not worth its proof */
    i64 least = MOST, best[MAX_RANK];
    for (unsigned set = 1; set < 1u << p->scalars->nextents; set++) {
        i64 extent[MAX_RANK];
        for (int i = 0; i < p->scalars->nextents; i++)
            extent[i] = set >> i & 1 && base[i] <= n->narrow ? n->narrow + 1 : base[i];
        i64 elements = elements_at(a, p, n, extent);
        if (elements > 0 && elements < least) {
            least = elements;
            memcpy(best, extent, sizeof best);
        }
    }
    if (least < MOST)
        set_shape(p, best, list->shape[list->n++]);
}

ShapeList
plan_boundaries(Arena *a, const Plan *p)
{
    ExtentValues v = plan_extent_values(a, p, false);
    ShapeList list = {.n = 0};
    int n = p->scalars->nextents, all = 0;
    for (int i = 0; i < n; i++)
        all += 2 * v.n[i];
    list.shape = arena_alloc(a, (size_t)(all + 1 + p->n) * sizeof *list.shape);
    if (n == 0)
        set_shape(p, NULL, list.shape[list.n++]);
    for (int off = 0; off < 2; off++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < v.n[i]; k++) {
                i64 extent[MAX_RANK];
                memcpy(extent, v.base[off], sizeof extent);
                extent[i] = v.value[i][k];
                set_shape(p, extent, list.shape[list.n++]);
            }
    for (int k = 0; k < p->n; k++)
        if (p->nest[k].narrow && !is_listed(a, p, &p->nest[k], &list))
            add_wide(a, p, &p->nest[k], v.base[1], &list);
    return list;
}
