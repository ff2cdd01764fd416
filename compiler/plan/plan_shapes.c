/* Lists the shapes at which a plan with extents left to run time is checked.  One extent
 * at a time takes the values at and beside each boundary of its digits, while the others
 * have a value on a boundary or beside one.  Other shapes are for nests that run at none of
 * these. */
#include <stdint.h>
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
    int n = 0, i = plan_given_factor(s->p, z->extent[d]);
    for (int k = 0; k < z->l->nentry; k++)
        n = phases_add(z->l->entry[k].written, z->l->dim[d].free, phase, n);
    for (int k = 0; k < n; k++) {
        for (i64 v = phase[k].phase - 1; v <= phase[k].phase + 1; v++)
            add_value(s, i, v);
        if (int_lcm(s->top[i], phase[k].cut, &top))
            s->top[i] = top;
    }
}

/* The same for shifts, which are longer than an extent, as long, or shorter. */
static void
add_shifts(Lister *s, const Sizes *z, int d)
{
    enum { MOST = 300 };           /* an extent of which longer shifts are found in a few steps */
    const Roll *r = layout_roll(z->l->ref->def, z->l->dim[d].name);
    int i = plan_given_factor(s->p, z->extent[d]);
    if (!r)
        return;
    for (i64 v = 1; v <= 3; v++)
        add_value(s, i, v);
    for (i64 n = int_abs(r->by) - r->more; n > 0; n /= 2)
        for (i64 v = n - 1; v <= n + 1 && n < MOST; v++)
            add_value(s, i, v);
    for (i64 v = 1; v < r->q; v++)
        add_value(s, i, v);
}

/* The same for the digits of dim d of a layout, whose extent is i. */
static void
add_digits(Lister *s, const Layout *l, int d, int i)
{
    i64 cuts[MAX_CUTS], top;
    int n = 0;
    for (int k = 0; k < l->nentry; k++)
        n = pieces_cuts(l->entry[k].written, l->dim[d].free, INF, cuts, n);
    for (int k = 0; k < n; k++) {
        for (i64 v = cuts[k] - 1; v <= cuts[k] + 1; v++)
            add_value(s, i, v);
        if (int_lcm(s->top[i], cuts[k], &top))
            s->top[i] = top;
    }
}

static void
add_cuts(Lister *s, const Sizes *z)
{
    for (const Layout *l = z->l; l->view; l = l->view->of)
        for (int d = 0; d < l->view->of->rank; d++)
            if (l->view->at[d].given)
                add_digits(s, l->view->of, d,
                           scalar_find_stride(s->p->scalars, l->view->at[d].given));
    for (int d = 0; d < z->l->rank; d++) {
        int i = plan_given_factor(s->p, z->extent[d]);
        if (i < 0)
            continue;
        add_digits(s, z->l, d, i);
        add_phases(s, z, d);
        add_shifts(s, z, d);
    }
}

/* Adds values at and beside the largest narrow count of each nest with a variant. */
static void
add_few(Lister *s)
{
    for (int k = 0; k < s->p->n; k++)
        for (int i = 0; i < s->p->scalars->nextents && s->p->nest[k]->narrow; i++)
            for (i64 v = 0; v <= 2; v++)
                add_value(s, i, s->p->nest[k]->narrow + v);
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

/* Values of a stride: what it has beyond the least that fits; and of the fill. */
static void
add_slack(Lister *s, int i)
{
    static const i64 slack[] = {1, 2, 8}, fill[] = {1, -1};
    bool fills = i == s->p->scalars->fill;
    s->n[i] = 0;
    for (int k = 0; k < (fills ? LEN(fill) : LEN(slack)); k++)
        add_value(s, i, fills ? fill[k] : slack[k]);
}

/* Whether the extent is a factor of one that varies with another extent. */
static bool
is_factor(const Plan *p, int i)
{
    for (int d = 0; d < p->src->rank; d++) {
        int of = p->given[d].joined;
        if (p->given[d].scalar == i && plan_given_factor(p, p->from->extent[of]) != i)
            return true;
    }
    return false;
}

int
plan_given_factor(const Plan *p, int i)
{
    for (int d = 0; d < p->src->rank && i >= p->scalars->nextents; d++)
        if (p->given[d].scalar >= 0 && p->from->extent[p->given[d].joined] == i)
            return p->given[d].scalar;
    return i;
}

static i64
base_of(const Lister *s, int i, int off)
{
    if (is_factor(s->p, i))
        return 1;
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
        if (i < scalar_first_stride(p->scalars))
            add_blocks(s, i, residues);
        else
            add_slack(s, i);
        out.n[i] = s->n[i];
        out.value[i] = arena_copy(a, s->value[i], (size_t)s->n[i] * sizeof *s->value[i]);
        out.base[0][i] = base_of(s, i, 0);
        out.base[1][i] = base_of(s, i, 1);
        out.all &= s->n[i] < MAX_VALUES;
    }
    return out;
}

/* The shape of these extents, and the strides that fit them by so much as is in extent[]. */
static void
set_shape(Arena *a, const Plan *p, const i64 *extents, i64 *shape)
{
    const Scalars *s = p->scalars;
    i64 extent[MAX_RANK];
    memcpy(extent, extents, (size_t)s->nextents * sizeof *extent);
    plan_fit_strides(a, p, extent);
    for (int d = 0; d < p->src->rank; d++) {
        int i = p->given[d].scalar;
        shape[d] = i < 0 ? p->given[d].n : extent[i];
    }
    for (int k = 0; k < s->nstrides; k++)
        shape[p->src->rank + k] = extent[s->nextents - s->nstrides + k];
}

/* Whether an index selects what a shape of set_shape has: no extent of a tensor may do. */
static bool
holds(Arena *a, const Plan *p, const i64 *shape)
{
    i64 extent[MAX_RANK];
    plan_fill_extents(p, shape, extent);
    const i64 *val = p->ntests ? plan_values(a, p, extent) : NULL;
    return !val || !plan_tests_flaw(a, p, val);
}

/* The search for shapes at which the nests run that run at none of the list: nests with tests of
 * several loops. */
typedef struct {
    const Plan *p;
    Arena *a;
    bool *ran;                     /* each nest: at a shape of the list */
    i64 (*extent)[MAX_RANK];       /* each other nest: the smallest such shape so far ... */
    i64 *bytes;                    /* ... and the bytes of its destination; 0: there is none */
    int idle;                      /* so many have none */
} Search;

/* Whether a nest writes something at these values of the scalars. */
static bool
runs_at(const Plan *p, int k, const i64 *val)
{
    return !p->nest[k]->merged && nest_elements_at(p->nest[k], val) > 0;
}

static void
note_listed(Search *s, const i64 *shape)
{
    i64 extent[MAX_RANK];
    const char *why = plan_extents(s->a, s->p, shape, extent);
    const i64 *val = why ? NULL : plan_values(s->a, s->p, extent);
    for (int k = 0; val && k < s->p->n; k++)
        s->ran[k] |= runs_at(s->p, k, val);
}

static void
note_drawn(Search *s, const i64 *extent)
{
    enum { MOST_BYTES = 64 << 20 };        /* a larger shape is not worth its proof */
    i64 src, dst, fit[MAX_RANK];
    memcpy(fit, extent, sizeof fit);
    plan_fit_strides(s->a, s->p, fit);
    const i64 *val = plan_values(s->a, s->p, fit);
    if (!val || !plan_bytes_at(s->p, val, &src, &dst) || src > MOST_BYTES || dst > MOST_BYTES)
        return;
    for (int k = 0; k < s->p->n; k++) {
        if (s->ran[k] || !runs_at(s->p, k, val) || (s->bytes[k] && dst >= s->bytes[k]))
            continue;
        s->idle -= s->bytes[k] == 0;
        s->bytes[k] = dst;
        memcpy(s->extent[k], extent, sizeof s->extent[k]);
    }
}

static i64
draw(uint64_t *seed, int n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (i64)(*seed >> 33) % n;
}

/* Multiplies an extent such that the data is just too large for nests of small data. */
static void
enlarge(const Search *s, int i, i64 *extent)
{
    i64 src, dst, by;
    const i64 *val = plan_values(s->a, s->p, extent);
    if (!val || !plan_bytes_at(s->p, val, &src, &dst) || dst < 1 || dst >= CACHED_BYTES)
        return;
    by = int_ceil_div(CACHED_BYTES, dst);
    if (extent[i] * by <= s->p->scalars->most[i])
        extent[i] *= by;
}

static bool
has_sizes(const Plan *p)
{
    bool has = false;
    for (int k = 0; k < p->n; k++)
        has |= p->nest[k]->below > 0;
    return has;
}

/* Draws shapes whose extents have values of the list, any of them together. */
static void
draw_shapes(Search *s, const ExtentValues *v)
{
    enum { DRAWS = 2000, MORE = 100 };
    const int nextents = s->p->scalars->nextents, sizes = scalar_first_stride(s->p->scalars);
    const bool large = has_sizes(s->p) && sizes > 0;
    uint64_t seed = 1;
    for (int n = 0; n < DRAWS && (s->idle || n < MORE); n++) {
        i64 extent[MAX_RANK];
        for (int i = 0; i < nextents; i++)
            extent[i] = v->value[i][draw(&seed, v->n[i])];
        note_drawn(s, extent);
        if (large) {
            enlarge(s, (int)draw(&seed, sizes), extent);
            note_drawn(s, extent);
        }
    }
}

/* Adds a shape for each nest that runs at none of the list, unless it runs only at shapes that
 * are too large. */
static void
add_idle(Arena *a, const Plan *p, const ExtentValues *v, ShapeList *list)
{
    Search s = {p, a, arena_array(a, bool, p->n), NULL, NULL, 0};
    for (int i = 0; i < list->n; i++)
        note_listed(&s, list->shape[i]);
    for (int k = 0; k < p->n; k++) {
        s.ran[k] |= p->nest[k]->merged || p->nest[k]->far;
        s.idle += !s.ran[k];
    }
    if (s.idle == 0)
        return;
    s.extent = arena_alloc(a, (size_t)p->n * sizeof *s.extent);
    s.bytes = arena_array(a, i64, p->n);
    draw_shapes(&s, v);
    list->idle = s.idle;
    for (int k = p->n - 1; k >= 0; k--)
        list->first = s.ran[k] || s.bytes[k] ? list->first : k;
    for (int k = 0; k < p->n; k++) {
        if (!s.bytes[k] || s.ran[k])
            continue;
        set_shape(a, p, s.extent[k], list->shape[list->n]);
        if (holds(a, p, list->shape[list->n]))
            note_listed(&s, list->shape[list->n++]);
    }
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
        set_shape(a, p, (i64[1]){0}, list.shape[list.n++]);
    for (int off = 0; off < 2; off++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < v.n[i]; k++) {
                i64 extent[MAX_RANK];
                memcpy(extent, v.base[off], sizeof extent);
                extent[i] = v.value[i][k];
                set_shape(a, p, extent, list.shape[list.n]);
                list.n += holds(a, p, list.shape[list.n]);
            }
    list.sure = list.n;
    add_idle(a, p, &v, &list);
    return list;
}
