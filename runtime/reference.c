/* A relayout by its definition: for every coordinate of the destination it evaluates the
 * expressions as written.
 *
 * The values of entries that depend on one dim only are tabulated for a strip of that
 * dim.  The walk goes from strip to strip, so the tables are short even for long dims.
 * So are the parts of other entries that one dim is in; the rest is evaluated a row at a time.
 * If neighbours in the destination lie far apart in the source, the walk goes in tiles, so that
 * the lines of both stay in caches.  Where addresses are sums of what each dim gives, the tables
 * show which coordinates lie at equal steps: a patch of these is visited at once. */
#include "reference_walk.h"

#include <stdlib.h>
#include <string.h>

/* What padding holds, in place of the source's slots. */
static void
mark_padding(const ReferenceWalk *w, bool all, i64 at, ReferenceRow *r)
{
    i64 first = r->n;
    if (w->at.inner >= 0)
        first = w->l->dim[w->at.inner].n - w->at.base[w->at.inner] - at;
    for (i64 i = 0; i < r->n; i++) {
        r->pad[i] = all || i >= first;
        if (r->pad[i] && w->kind)
            r->from[i] = w->kind;
    }
}

/* Elements that are not moved have no slots. */
static void
mark_skipped(ReferenceWalk *w, i64 at, ReferenceRow *r)
{
    for (i64 i = 0; i < r->n; i++) {
        if (w->at.inner >= 0)
            w->at.x[w->at.inner] = w->at.base[w->at.inner] + at + i;
        if ((r->pad[i] && w->kind) || (!side_skips(&w->to, &w->at) &&
                                       !side_skips(&w->from, &w->at)))
            continue;
        r->to[i] = 0;
        r->from[i] = FROM_HOLE;
    }
}

/* Visit `all` coordinates of the innermost dim, from `at` of its strip on. */
static bool
walk_row(ReferenceWalk *w, i64 at, i64 all)
{
    ReferenceRow r;
    i64 to = side_row(&w->to, &w->at), from = w->from.l ? side_row(&w->from, &w->at) : 0;
    bool pad = walk_is_padding(w);
    r.x = w->at.x;
    r.inner = w->at.inner;
    for (i64 end = at + all; at < end; at += REFERENCE_ROW) {
        r.n = end - at < REFERENCE_ROW ? (int)(end - at) : REFERENCE_ROW;
        side_addresses(&w->to, &w->at, to, at, r.n, r.to);
        if (w->from.l)
            side_addresses(&w->from, &w->at, from, at, r.n, r.from);
        mark_padding(w, pad, at, &r);
        if (w->skips)
            mark_skipped(w, at, &r);
        if (w->at.inner >= 0)
            w->at.x[w->at.inner] = w->at.base[w->at.inner] + at;
        if (!w->visit.row(w->arg, &r))
            return false;
    }
    return true;
}

/* Some rows, from i of `across` and `at` on. */
static bool
walk_block(ReferenceWalk *w, i64 i, i64 rows, i64 at, i64 all)
{
    if (w->sums && w->visit.grid && walk_grid(w, i, (int)rows, at, (int)all))
        return true;
    for (i64 k = i; k < i + rows; k++) {
        w->at.x[w->across] = w->at.base[w->across] + k;
        if (!walk_row(w, at, all))
            return false;
    }
    return true;
}

/* Visit the strips of the innermost dim and the one across, in tiles. */
static bool
walk_tiles(ReferenceWalk *w)
{
    const ReferenceSteps one = {1, 0, 0};
    if (w->patches && w->sums) {
        if (w->across < 0)
            walk_patches(w, &one, 0, w->at.n[w->at.inner]);
        else
            walk_patch_tiles(w);
        return true;
    }
    if (w->patches) {
        walk_lines(w);
        return true;
    }
    if (w->across < 0)
        return walk_row(w, 0, w->at.inner < 0 ? 1 : w->at.n[w->at.inner]);
    i64 rows = w->at.n[w->across], all = w->at.n[w->at.inner], wide = w->turned ? w->tile : all;
    for (i64 i = 0; i < rows; i += w->tile)
        for (i64 at = 0; at < all; at += wide)
            if (!walk_block(w, i, rows - i < w->tile ? rows - i : w->tile, at,
                            all - at < wide ? all - at : wide))
                return false;
    return true;
}

/* Visit all rows of the current strips. */
static bool
walk_strips(ReferenceWalk *w)
{
    int rank = w->l->rank, i;
    memcpy(w->at.x, w->at.base, sizeof w->at.x);
    do {
        if (!walk_tiles(w))
            return false;
        for (i = rank - 2; i >= 0; i--) {
            int d = w->order[i];
            if (d == w->across)
                continue;
            if (++w->at.x[d] < w->at.base[d] + w->at.n[d])
                break;
            w->at.x[d] = w->at.base[d];
        }
    } while (i >= 0);
    return true;
}

/* Tabulate the strip of dim d that begins at `base`. */
static void
set_strip(ReferenceWalk *w, int d, i64 base)
{
    w->at.base[d] = base;
    w->at.n[d] = side_strip(w->at.hi[d] - base);
    side_fill(&w->to, &w->at, d);
    if (w->from.l)
        side_fill(&w->from, &w->at, d);
    if (w->same[d])
        walk_set_same(w, d);
    if (w->same[d] && w->run && d == w->at.inner)
        walk_set_runs(w);
}

static void
walk_all(ReferenceWalk *w)
{
    int rank = w->l->rank, d;
    for (d = 0; d < rank; d++)
        set_strip(w, d, w->at.lo[d]);
    do {
        if (!walk_strips(w))
            return;
        for (d = rank - 1; d >= 0; d--) {
            i64 next = w->at.base[d] + w->at.n[d];
            bool more = next < w->at.hi[d];
            if (more || w->at.base[d] != w->at.lo[d])
                set_strip(w, d, more ? next : w->at.lo[d]);
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
order_dims(ReferenceWalk *w)
{
    i64 step[MAX_RANK];
    int rank = w->at.rank = w->l->rank;
    for (int d = 0; d < rank; d++) {
        int i = d;
        step[d] = step_of(w->l, d);
        for (; i > 0 && step[w->order[i - 1]] < step[d]; i--)
            w->order[i] = w->order[i - 1];
        w->order[i] = d;
    }
    w->at.inner = rank ? w->order[rank - 1] : -1;
}

/* Set the dim along which neighbours lie closest in the source, if that is another; else, for
 * what is visited in two dims, the next in the destination. */
static void
set_across(ReferenceWalk *w)
{
    w->across = -1;
    w->tile = REFERENCE_TILE * (w->l->dtype->bits < 8 ? 8 / w->l->dtype->bits : 1);
    if (w->at.inner < 0 || !w->from.l)
        return;
    i64 least = step_of(w->from.l, w->from.of[w->at.inner]);
    for (int d = 0; d < w->l->rank; d++) {
        i64 step = step_of(w->from.l, w->from.of[d]);
        if (step < least) {
            least = step;
            w->across = d;
        }
    }
    w->turned = w->across >= 0;
    if (!w->turned && w->visit.patch && w->l->rank > 1)
        w->across = w->order[w->l->rank - 2];
}

/* Room for walk.same of dim d; -1: there is none. */
static bool
same_new(ReferenceWalk *w, int d)
{
    size_t n = d < 0 ? 0 : (size_t)side_strip(w->at.hi[d] - w->at.lo[d]);
    return d < 0 || (w->same[d] = malloc(n * sizeof(int)));
}

static bool
walk(ReferenceWalk *w)
{
    order_dims(w);
    bool ok = side_new(&w->to, &w->at) && (!w->from.l || side_new(&w->from, &w->at));
    w->sums = w->visit.patch && !w->skips && side_is_sum(&w->to) && side_is_sum(&w->from);
    bool leaves = w->visit.line && !w->skips && side_has_leaves(&w->to) &&
                  side_has_leaves(&w->from);
    set_across(w);
    if (ok && (w->sums || leaves))
        ok = same_new(w, w->at.inner) && (!w->sums || same_new(w, w->across));
    if (ok && leaves && !w->sums && w->at.inner >= 0)
        ok = runs_new(w, side_strip(w->at.hi[w->at.inner] - w->at.lo[w->at.inner]));
    if (ok)
        walk_all(w);
    side_free(&w->to);
    side_free(&w->from);
    for (int d = 0; d < MAX_RANK; d++)
        free(w->same[d]);
    free(w->run_at);
    free(w->run);
    return ok;
}

/* A walk through the coordinates of the destination, of which `at` has the box. */
static ReferenceWalk
walk_of(const Plan *p, const i64 *lo, const i64 *hi)
{
    FillKind fill = p->dst->ref->def->fill;
    ReferenceWalk w = {.l = p->dst, .to = {.l = p->dst}, .from = {.l = p->src, .clamped = true}};
    w.kind = fill == FILL_EDGE ? 0 : fill == FILL_NONE ? FROM_HOLE : FROM_FILL;
    w.skips = layout_may_skip(p->src) || layout_may_skip(p->dst);
    w.at.rank = p->dst->rank;
    for (int d = 0; d < p->dst->rank; d++) {
        w.at.lo[d] = lo[d];
        w.at.hi[d] = hi[d];
        w.to.of[d] = d;
        w.from.of[d] = p->map[d];
    }
    return w;
}

bool
reference_walk_by(const Plan *p, const i64 *lo, const i64 *hi, const ReferenceVisitor *v,
                  void *arg)
{
    ReferenceWalk w = walk_of(p, lo, hi);
    w.visit = *v;
    w.arg = arg;
    return walk(&w);
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
    return reference_walk_by(p, lo, hi, &(ReferenceVisitor){.row = visit}, arg);
}

i64
reference_bytes(const Plan *p)
{
    i64 lo[MAX_RANK], hi[MAX_RANK], longest = 0;
    all_coordinates(p->dst, lo, hi);
    ReferenceWalk w = walk_of(p, lo, hi);
    for (int d = 0; d < w.at.rank; d++)
        longest = side_strip(hi[d]) > longest ? side_strip(hi[d]) : longest;
    return side_bytes(&w.to, &w.at) + side_bytes(&w.from, &w.at) +
           2 * longest * (i64)sizeof **w.same + runs_bytes(longest);
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
    ReferenceWalk w = {.l = l, .to = {.l = l}, .visit.row = look, .arg = &s};
    for (int d = 0; d < l->rank; d++)
        w.to.of[d] = d;
    all_coordinates(l, w.at.lo, w.at.hi);
    return walk(&w) && s.found;
}
