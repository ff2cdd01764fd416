/* A relayout by its definition: for every coordinate of the destination it evaluates the
 * expressions as written.
 *
 * The values of entries that depend on one dim only are tabulated for a strip of that
 * dim.  The walk goes from strip to strip, so the tables are short even for long dims.
 * All other entries are evaluated at every coordinate.  If neighbours in the destination lie
 * far apart in the source, the walk goes in tiles, so that the lines of both stay in caches. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { STRIP = 1 << 16, TILE = REFERENCE_TILE };

/* The addresses of one layout along the walk. */
typedef struct {
    const Layout *l;
    int of[MAX_RANK];              /* the layout's dim, by the walk's */
    bool clamped;                  /* beyond the extent, as at its last */
    i64 constant;                  /* of entries that no dim is in */
    int several[MAX_ENTRIES], nseveral;   /* entries of several dims */
    int alone[MAX_ENTRIES];        /* the layout's dim of an entry, or -1 */
    i64 *sum[MAX_RANK];            /* of the entries of a dim of the walk alone */
} Side;

typedef struct {
    const Layout *l;               /* its padded coordinates, */
    i64 lo[MAX_RANK], hi[MAX_RANK];   /* from lo on, below hi */
    i64 kind;                      /* what padding is: FROM_FILL, FROM_HOLE; else 0 */
    int order[MAX_RANK], inner;    /* dims, outermost first; the last, or -1 */
    int across;                    /* the dim that is tiled with the last; -1: none */
    i64 base[MAX_RANK], n[MAX_RANK], x[MAX_RANK];   /* the strips, the coordinate */
    Side to, from;
    ReferenceVisit *visit;
    ReferencePatchVisit *patch;    /* NULL: all is visited as rows */
    int *same[MAX_RANK];           /* for it, of `inner` and `across`: how many coordinates
                                    * lie at equal steps, from each of the strip on */
    bool patches;                  /* these are many, and addresses are sums */
    void *arg;
} Walk;

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
}

i64
reference_work(const Layout *l, i64 *made)
{
    i64 units = 1 + (l->ref->def->swizzle ? l->ref->def->swizzle->size : 0), table;
    *made = 0;
    for (int i = 0; i < l->nentry; i++) {
        unsigned set = dims_in(l, l->entry[i].x);
        int size = l->entry[i].x->size;
        units += int_is_pow2(set) ? 1 : size;
        if (int_is_pow2(set) && (!int_mul(l->dim[int_log2(set)].padded, size, &table) ||
                                 !int_add(*made, table, made)))
            return *made = INF;
    }
    return units;
}

static i64
strip_of(i64 coordinates)
{
    return coordinates < STRIP ? coordinates : STRIP;
}

static bool
side_new(Side *s, const Walk *w)
{
    sort_entries(s);
    for (int d = 0; d < w->l->rank; d++) {
        i64 n = strip_of(w->hi[d] - w->lo[d]);
        if (!(s->sum[d] = malloc((size_t)n * sizeof *s->sum[d])))
            return false;
    }
    return true;
}

/* Whether an address is the sum of what each dim gives. */
static bool
is_sum(const Side *s)
{
    return !s->nseveral && !s->l->ref->def->swizzle;
}

static void
side_free(Side *s)
{
    for (int d = 0; d < MAX_RANK; d++)
        free(s->sum[d]);
}

static i64
coordinate(const Side *s, int own, i64 x)
{
    i64 n = s->l->dim[own].n;
    return s->clamped && x >= n ? n - 1 : x;
}

static void
fill_strip(const Walk *w, Side *s, int d)
{
    i64 y[MAX_RANK] = {0}, v;
    int own = s->of[d];
    for (i64 k = 0; k < w->n[d]; k++) {
        i64 sum = 0;
        y[own] = coordinate(s, own, w->base[d] + k);
        for (int i = 0; i < s->l->nentry; i++)
            if (s->alone[i] == own && layout_entry(s->l, i, y, &v))
                sum += v;
        s->sum[d][k] = sum;
    }
}

/* The value of entries of several dims at the current coordinate. */
static i64
several_at(const Walk *w, const Side *s)
{
    i64 y[MAX_RANK], v, sum = 0;
    for (int d = 0; d < w->l->rank; d++)
        y[s->of[d]] = coordinate(s, s->of[d], w->x[d]);
    for (int i = 0; i < s->nseveral; i++)
        if (layout_entry(s->l, s->several[i], y, &v))
            sum += v;
    return sum;
}

/* The value of the outer dims. */
static i64
row_base(const Walk *w, const Side *s)
{
    i64 sum = s->constant;
    for (int d = 0; d < w->l->rank; d++)
        if (d != w->inner)
            sum += s->sum[d][w->x[d] - w->base[d]];
    return sum;
}

/* The addresses of n coordinates of a row. */
static void
row_addresses(Walk *w, const Side *s, i64 base, i64 at, int n, i64 *out)
{
    const i64 *sum = w->inner < 0 ? NULL : s->sum[w->inner] + at;
    for (int i = 0; i < n; i++)
        out[i] = base + (sum ? sum[i] : 0);
    if (is_sum(s))
        return;
    for (int i = 0; i < n; i++) {
        if (w->inner >= 0)
            w->x[w->inner] = w->base[w->inner] + at + i;
        layout_swizzle(s->l, out[i] + several_at(w, s), &out[i]);
    }
}

static bool
outer_padding(const Walk *w)
{
    for (int d = 0; d < w->l->rank; d++)
        if (d != w->inner && w->x[d] >= w->l->dim[d].n)
            return true;
    return false;
}

/* What padding holds, in place of the source's slots. */
static void
mark_padding(const Walk *w, bool all, i64 at, ReferenceRow *r)
{
    i64 first = r->n;
    if (w->inner >= 0)
        first = w->l->dim[w->inner].n - w->base[w->inner] - at;
    for (i64 i = 0; i < r->n; i++) {
        r->pad[i] = all || i >= first;
        if (r->pad[i] && w->kind)
            r->from[i] = w->kind;
    }
}

/* Visit `all` coordinates of the innermost dim, from `at` of its strip on. */
static bool
walk_row(Walk *w, i64 at, i64 all)
{
    ReferenceRow r;
    i64 to = row_base(w, &w->to), from = w->from.l ? row_base(w, &w->from) : 0;
    bool pad = outer_padding(w);
    r.x = w->x;
    r.inner = w->inner;
    for (i64 end = at + all; at < end; at += REFERENCE_ROW) {
        r.n = end - at < REFERENCE_ROW ? (int)(end - at) : REFERENCE_ROW;
        row_addresses(w, &w->to, to, at, r.n, r.to);
        if (w->from.l)
            row_addresses(w, &w->from, from, at, r.n, r.from);
        mark_padding(w, pad, at, &r);
        if (w->inner >= 0)
            w->x[w->inner] = w->base[w->inner] + at;
        if (!w->visit(w->arg, &r))
            return false;
    }
    return true;
}

/* The coordinates of dim d at equal steps, from `at` of its strip on and below `end`; padding
 * begins anew. */
static ReferenceSteps
steps_at(const Walk *w, int d, i64 at, i64 end)
{
    const i64 *to = w->to.sum[d], *from = w->from.sum[d];
    i64 data = w->l->dim[d].n - w->base[d], n = w->same[d][at];
    end = at < data && data < end ? data : end;
    if (n == 1)
        return (ReferenceSteps){1, 0, 0};
    return (ReferenceSteps){n < end - at ? n : end - at, to[at + 1] - to[at],
                            from[at + 1] - from[at]};
}

/* Visit `all` coordinates of the innermost dim, which `outer` is across. */
static void
walk_patches(Walk *w, const ReferenceSteps *outer, i64 at, i64 all)
{
    const i64 *to = w->to.sum[w->inner], *from = w->from.sum[w->inner];
    i64 to_row = row_base(w, &w->to), from_row = row_base(w, &w->from);
    i64 data = w->l->dim[w->inner].n - w->base[w->inner];
    bool all_pad = outer_padding(w);
    for (i64 end = at + all; at < end;) {
        ReferencePatch r = {to_row + to[at], from_row + from[at],
                            steps_at(w, w->inner, at, end), *outer};
        if (w->kind && (all_pad || at >= data)) {
            r.from = w->kind;
            r.inner.from = r.outer.from = 0;
        }
        w->patch(w->arg, &r);
        at += r.inner.n;
    }
}

/* The same, with several rows at once. */
static void
walk_patch_tiles(Walk *w)
{
    i64 rows = w->n[w->across], all = w->n[w->inner], *x = &w->x[w->across];
    for (i64 i = 0; i < rows; i += TILE)
        for (i64 at = 0; at < all; at += TILE)
            for (i64 k = i, end = rows - i < TILE ? rows : i + TILE; k < end;) {
                ReferenceSteps outer = steps_at(w, w->across, k, end);
                *x = w->base[w->across] + k;
                walk_patches(w, &outer, at, all - at < TILE ? all - at : TILE);
                k += outer.n;
            }
}

/* Visit the strips of the innermost dim and the one across, in tiles. */
static bool
walk_tiles(Walk *w)
{
    const ReferenceSteps one = {1, 0, 0};
    if (w->patches && w->across < 0)
        walk_patches(w, &one, 0, w->n[w->inner]);
    else if (w->patches)
        walk_patch_tiles(w);
    if (w->patches)
        return true;
    if (w->across < 0)
        return walk_row(w, 0, w->inner < 0 ? 1 : w->n[w->inner]);
    i64 rows = w->n[w->across], all = w->n[w->inner], *x = &w->x[w->across];
    for (i64 i = 0; i < rows; i += TILE)
        for (i64 at = 0; at < all; at += TILE)
            for (i64 k = i; k < rows && k < i + TILE; k++) {
                *x = w->base[w->across] + k;
                if (!walk_row(w, at, all - at < TILE ? all - at : TILE))
                    return false;
            }
    return true;
}

/* Visit all rows of the current strips. */
static bool
walk_strips(Walk *w)
{
    int rank = w->l->rank, i;
    memcpy(w->x, w->base, sizeof w->x);
    do {
        if (!walk_tiles(w))
            return false;
        for (i = rank - 2; i >= 0; i--) {
            int d = w->order[i];
            if (d == w->across)
                continue;
            if (++w->x[d] < w->base[d] + w->n[d])
                break;
            w->x[d] = w->base[d];
        }
    } while (i >= 0);
    return true;
}

/* Set for each coordinate of dim d's strip how many there are at equal steps. */
static void
set_same(Walk *w, int d)
{
    enum { SHORT = 4 };
    const i64 *to = w->to.sum[d], *from = w->from.sum[d];
    int n = (int)w->n[d], runs = 0, *same = w->same[d];
    for (int i = n - 1; i >= 0; i--) {
        bool on = i < n - 2 && to[i + 1] - to[i] == to[i + 2] - to[i + 1] &&
                  from[i + 1] - from[i] == from[i + 2] - from[i + 1];
        same[i] = on ? same[i + 1] + 1 : i < n - 1 ? 2 : 1;
    }
    for (int i = 0; i < n; i += same[i])
        runs++;
    if (d == w->inner)
        w->patches = n >= runs * SHORT;
}

/* Tabulate the strip of dim d that begins at `base`. */
static void
set_strip(Walk *w, int d, i64 base)
{
    w->base[d] = base;
    w->n[d] = strip_of(w->hi[d] - base);
    fill_strip(w, &w->to, d);
    if (w->from.l)
        fill_strip(w, &w->from, d);
    if (w->same[d])
        set_same(w, d);
}

static void
walk_all(Walk *w)
{
    int rank = w->l->rank, d;
    for (d = 0; d < rank; d++)
        set_strip(w, d, w->lo[d]);
    do {
        if (!walk_strips(w))
            return;
        for (d = rank - 1; d >= 0; d--) {
            i64 next = w->base[d] + w->n[d];
            bool more = next < w->hi[d];
            if (more || w->base[d] != w->lo[d])
                set_strip(w, d, more ? next : w->lo[d]);
            if (more)
                break;
        }
    } while (d >= 0);
}

/* How far apart neighbours along a dim lie; one of them alone lies far. */
static i64
step_of(const Layout *l, int d)
{
    i64 x[MAX_RANK] = {0}, zero = 0, one = 0;
    layout_address(l, x, &zero);
    x[d] = 1;
    if (l->dim[d].padded < 2 || !layout_address(l, x, &one))
        return INF;
    return one < zero ? zero - one : one - zero;
}

/* Sort the dims by their strides, so that the walk goes through the storage nearly in
 * order. */
static void
order_dims(Walk *w)
{
    i64 step[MAX_RANK];
    int rank = w->l->rank;
    for (int d = 0; d < rank; d++) {
        int i = d;
        step[d] = step_of(w->l, d);
        for (; i > 0 && step[w->order[i - 1]] < step[d]; i--)
            w->order[i] = w->order[i - 1];
        w->order[i] = d;
    }
    w->inner = rank ? w->order[rank - 1] : -1;
}

/* Set the dim along which neighbours lie closest in the source, if that is another. */
static void
set_across(Walk *w)
{
    w->across = -1;
    if (w->inner < 0 || !w->from.l)
        return;
    i64 least = step_of(w->from.l, w->from.of[w->inner]);
    for (int d = 0; d < w->l->rank; d++) {
        i64 step = step_of(w->from.l, w->from.of[d]);
        if (step < least) {
            least = step;
            w->across = d;
        }
    }
}

/* Room for walk.same of dim d; -1: there is none. */
static bool
same_new(Walk *w, int d)
{
    return d < 0 || (w->same[d] = malloc((size_t)strip_of(w->hi[d] - w->lo[d]) * sizeof(int)));
}

static bool
walk(Walk *w)
{
    order_dims(w);
    set_across(w);
    bool ok = side_new(&w->to, w) && (!w->from.l || side_new(&w->from, w));
    if (ok && w->patch && is_sum(&w->to) && is_sum(&w->from))
        ok = same_new(w, w->inner) && same_new(w, w->across);
    if (ok)
        walk_all(w);
    side_free(&w->to);
    side_free(&w->from);
    for (int d = 0; d < MAX_RANK; d++)
        free(w->same[d]);
    return ok;
}

bool
reference_walk_patches(const Plan *p, const i64 *lo, const i64 *hi, ReferenceVisit *visit,
                       ReferencePatchVisit *patch, void *arg)
{
    FillKind fill = p->dst->ref->def->fill;
    Walk w = {.l = p->dst, .to = {.l = p->dst}, .from = {.l = p->src, .clamped = true},
              .visit = visit, .patch = patch, .arg = arg};
    w.kind = fill == FILL_EDGE ? 0 : fill == FILL_NONE ? FROM_HOLE : FROM_FILL;
    for (int d = 0; d < p->dst->rank; d++) {
        w.lo[d] = lo[d];
        w.hi[d] = hi[d];
        w.to.of[d] = d;
        w.from.of[d] = p->map[d];
    }
    return walk(&w);
}

bool
reference_walk_box(const Plan *p, const i64 *lo, const i64 *hi, ReferenceVisit *visit,
                   void *arg)
{
    return reference_walk_patches(p, lo, hi, visit, NULL, arg);
}

static void
all_coordinates(const Layout *l, i64 *lo, i64 *hi)
{
    for (int d = 0; d < l->rank; d++) {
        lo[d] = 0;
        hi[d] = l->dim[d].padded;
    }
}

bool
reference_walk(const Plan *p, ReferenceVisit *visit, void *arg)
{
    i64 lo[MAX_RANK], hi[MAX_RANK];
    all_coordinates(p->dst, lo, hi);
    return reference_walk_box(p, lo, hi, visit, arg);
}

i64
reference_bytes(const Plan *p)
{
    i64 n = 0;
    for (int d = 0; d < p->dst->rank; d++)
        n += 2 * strip_of(p->dst->dim[d].padded) * (i64)sizeof(i64);
    return n;
}

typedef struct {
    i64 slot, *x;
    int rank;
    bool found;
} Search;

static bool
look(void *arg, const ReferenceRow *r)
{
    Search *s = arg;
    for (int i = 0; i < r->n && !s->found; i++) {
        s->found = r->to[i] == s->slot;
        memcpy(s->x, r->x, (size_t)s->rank * sizeof *r->x);
        if (r->inner >= 0)
            s->x[r->inner] += i;
    }
    return !s->found;
}

bool
reference_find(const Layout *l, i64 slot, i64 *x)
{
    Search s = {slot, x, l->rank, false};
    Walk w = {.l = l, .to = {.l = l}, .visit = look, .arg = &s};
    for (int d = 0; d < l->rank; d++)
        w.to.of[d] = d;
    all_coordinates(l, w.lo, w.hi);
    return walk(&w) && s.found;
}
